/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The report of `e2prefetch probe` about an ext4. */
#ifndef E2PF_EXT4_PROBE_H
#define E2PF_EXT4_PROBE_H

#include "ext4_session.h"

/* A device, the metadata that a check would
 * read from it, and the time that is likely to take. */
struct e2pf_probe {
	struct e2pf_class_count plan[E2PF_CLASSES];
	struct e2pf_topology topo;
	uint32_t block_size, groups;
	uint32_t groups_sampled;	/* if fewer than `groups`, scaled up */
	uint64_t inodes;	/* in use */
	struct e2pf_speed speed;	/* seeks: a check would take it to seek,
					   measured or not */
	const char *unmeasured;	/* why nothing could be measured: the other
				   figures of `speed` are 0.  NULL if it was */
	double seconds;		/* of a check that prefetches; 0: not known */
};

/*
 * Fill in *probe.  Call it before the engine starts.  Reads samples and, on a large
 * filesystem, the inode tables of some groups; writes nothing.  Takes seconds on
 * a disk.
 */
errcode_t e2pf_probe(struct e2pf_session *session, struct e2pf_probe *probe);

/* How long a check that prefetches takes, from the other members (doc/probe.md): three
 * times less or more is possible.  0 if that is not known. */
double e2pf_probe_seconds(const struct e2pf_probe *p);

#endif
