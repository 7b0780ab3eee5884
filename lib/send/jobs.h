/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What to read from a mounted filesystem, and in which order.  No I/O.  To be
 * used by one thread at a time.
 */
#ifndef E2PF_SEND_JOBS_H
#define E2PF_SEND_JOBS_H

#include "btrfs/plan.h"

/* The maximum length of a list.  Whatever is beyond it is not read ahead. */
#define E2PF_JOBS_MOST (1u << 18)

/* A leaf to search for, or data to read. */
struct e2pf_job {
	uint64_t tree;
	struct e2pf_btrfs_range keys;	/* of a leaf, or of the record of the
					   data's extent */
	unsigned device;
	uint64_t offset;		/* on the device; for data, a logical
					   address, as if there were one
					   device */
	bool parse;			/* the items in the leaf are needed */
	uint64_t inode, from, length;	/* of data, in bytes; length 0: a
					   leaf */
	bool done;
	uint64_t order;			/* set by e2pf_jobs_order() */
};

struct e2pf_jobs {
	struct e2pf_job *job;
	size_t count, room;
};

/* Add a job.  Returns false if there is no room. */
bool e2pf_jobs_add(struct e2pf_jobs *jobs, const struct e2pf_job *job);

/* Sort the jobs so that they sweep over each device once, and over all devices
 * at the same time. */
void e2pf_jobs_order(struct e2pf_jobs *jobs);

/*
 * Keep only data, and at most `most` bytes of it: that of the files that come
 * first.  Each piece is cut to at most `piece` bytes.  Returns the number of
 * bytes kept.
 */
uint64_t e2pf_jobs_keep_data(struct e2pf_jobs *jobs, uint64_t piece,
			     uint64_t most);

#endif
