/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The state that send.c and send_work.c share. */
#ifndef E2PF_SEND_STATE_H
#define E2PF_SEND_STATE_H

#include "items.h"
#include "mounted.h"
#include "send.h"

#define TREES_MOST 16u

/* Bytes of an extent that are read ahead.  After these, the kernel's own readahead
 * is at full speed. */
#define AHEAD_MOST (UINT64_C(1) << 20)

struct send {
	struct e2pf_session base;	/* base.last: sums over all sends */
	unsigned threads;
	struct e2pf_mounted fs;
	struct e2pf_slot_set asked;	/* tree blocks that were planned */
	struct e2pf_slot_set named;	/* leaves whose address records name */
	_Atomic(size_t) unfound;	/* of these, in this part */
	uint64_t tree, parent, flags;	/* as requested */
	struct e2pf_btrfs_ptr root, parent_root;

	/* The part that is being read; a sweep reads `jobs'. */
	struct e2pf_jobs jobs, data;
	struct {
		uint64_t tree;
		struct e2pf_ranges ranges;
	} wanted[TREES_MOST];
	struct e2pf_ranges files;	/* in the changed leaves */
	struct e2pf_ranges records;	/* of the extent tree */
	/* The least number of bytes that the send has written at the end of the
	 * window, and of the window before.  The bytes requested until then. */
	uint64_t stream, part_stream, part_bytes;

	pthread_mutex_t lock;		/* protects `data' and `wanted', while
					   workers run, and members below */
	pthread_cond_t changed;
	size_t next;			/* of the jobs, an index */
	pthread_t conductor;

	_Atomic(bool) running;		/* the conductor is */
	_Atomic(bool) stop, waiting;
	_Atomic(uint64_t) came_out;	/* bytes that the send has written */
	_Atomic(uint64_t) inline_bytes;	/* of files in the leaves of this part */
	_Atomic(uint64_t) bytes, requests, errors;	/* of this send */

	/* For the notes: the sums over all sends so far. */
	unsigned long long leaves_changed, leaves_cached;
};

static inline uint32_t send_nodesize(const struct send *s)
{
	return s->fs.map.super.nodesize;
}

/* Whether the planned changed leaves, and what belongs to them, seem to be cached:
 * reads a few of them. */
bool send_is_cached(struct send *s);
/* Do all jobs with all workers; this thread is one of them. */
void send_sweep(struct send *s);

#endif
