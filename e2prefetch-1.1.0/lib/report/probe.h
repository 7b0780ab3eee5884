/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device, the metadata that a check would read from it, and the time that is
 * likely to take. */
#ifndef E2PF_PROBE_H
#define E2PF_PROBE_H

#include "device/stack.h"
#include "e2prefetch.h"
#include "decisions.h"
#include "estimate.h"

struct e2pf_probe {
	/* The block devices below the filesystem.  Upper devices come first. */
	struct e2pf_stack_device stack[E2PF_STACK_DEVICES];
	unsigned stack_count;
	struct e2pf_class_plan plan[E2PF_CLASSES];
	struct e2pf_decisions decisions;	/* of a check */
	uint32_t block_size;	/* bytes */
	uint32_t groups;
	uint32_t groups_sampled;	/* if fewer than `groups`, scaled up */
	uint64_t inodes;	/* in use */
	uint64_t bytes_per_second;	/* of sequential reads */
	double latency;		/* of one small read, in seconds */
	double deep_latency;	/* of each of eight at once, in seconds */
	struct e2pf_estimate stock, prefetch;	/* of a check */
	bool measured;		/* false: speed, latencies and estimates are
				   0 */
	bool block_order;	/* a check would read in block order */
	bool virtual_disk;	/* what the disks declare may be wrong */
	unsigned metadata_places;	/* of the 11 at which it was measured:
					   those that a check reads, too */
	const char *unmeasured;	/* why nothing could be measured; NULL if it
				   was */
};

#endif
