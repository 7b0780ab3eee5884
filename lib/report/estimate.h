/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one model of how long reading takes: bytes and requests, each at the pace
 * of the device.  A forecast takes the pace from a probe; a running check
 * corrects it by what it has read so far (progress.h).
 */
#ifndef E2PF_ESTIMATE_H
#define E2PF_ESTIMATE_H

#include "device/probe.h"
#include "e2prefetch.h"
#include "engine/engine.h"
#include "report.h"

/* The time that something is likely to take, in seconds. */
struct e2pf_estimate {
	double expected, low, high;
};

/* What is to be read. */
struct e2pf_work {
	double bytes, requests;
};

/* Seconds for each of them. */
struct e2pf_pace {
	double byte, request;
};

/* The pace of reads that are requested ahead, many at a time and sorted, on a
 * device with so many heads.  If it was not measured, a usual one. */
struct e2pf_pace e2pf_pace_ahead(const struct e2pf_speed *speed, unsigned heads);

/* What `e2prefetch probe` finds out: a device, the metadata that a check would
 * read from it, and the time that is likely to take. */
struct e2pf_probe {
	struct e2pf_class_count plan[E2PF_CLASSES];
	struct e2pf_report report;	/* of a check: its disks, decisions,
					   block size and groups */
	uint32_t groups_sampled;	/* if fewer than `groups`, scaled up */
	uint64_t inodes;	/* in use */
	struct e2pf_speed speed;	/* has_head: a check would read in block
					   order, measured or not */
	struct e2pf_estimate stock, prefetch;	/* of a check */
	bool measured;		/* false: the other figures of `speed`, and the
				   estimates, are 0 */
	const char *unmeasured;	/* why nothing could be measured; NULL if it
				   was */
};

/* Fill in p->stock and p->prefetch, from its other members; 0 if the device was
 * not measured. */
void e2pf_estimate_check(struct e2pf_probe *p);

/*
 * How long a check that took so many seconds would have taken without
 * prefetching: what was read ahead for it would have been waited for, and what
 * it has waited for that all the same would not.  0 if the device was not
 * measured, or is so fast that the processor decides.
 */
double e2pf_estimate_without(const struct e2pf_report *r, double seconds);

#endif
