/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is to be read of a mounted filesystem, and in which order.  No I/O.
 * From one thread at a time.
 */
#ifndef E2PF_BTRFS_JOBS_H
#define E2PF_BTRFS_JOBS_H

#include "search.h"

/* What is more is not read ahead. */
#define E2PF_JOBS_MOST (1u << 18)

/* A leaf to be searched for, or data to be read. */
struct e2pf_job {
	uint64_t tree;
	struct e2pf_btrfs_key first, last;	/* of a leaf */
	unsigned device;
	uint64_t offset;		/* there; of data, where all devices
					   count as one, a logical address */
	bool parse;			/* what is found in the leaf is of use */
	uint64_t inode, from, length;	/* of data, bytes; length 0: a leaf */
	uint64_t order;			/* of e2pf_jobs_order() */
};

struct e2pf_jobs {
	struct e2pf_job *job;
	size_t count, room;
};

/* Add one; false without room. */
bool e2pf_jobs_add(struct e2pf_jobs *jobs, const struct e2pf_job *job);

/* Sort so that each device is gone over once, and all at the same time. */
void e2pf_jobs_order(struct e2pf_jobs *jobs);

/*
 * Keep data only, and of these as many bytes as there may be: those of the
 * files that come first.  Of each piece no more than `piece` bytes.  Returns
 * the bytes kept.
 */
uint64_t e2pf_jobs_keep_data(struct e2pf_jobs *jobs, uint64_t piece,
			     uint64_t most);

/* Keep those in which something is to be found.  Returns how many go. */
size_t e2pf_jobs_keep_parsed(struct e2pf_jobs *jobs);

void e2pf_jobs_free(struct e2pf_jobs *jobs);

#endif
