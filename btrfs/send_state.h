/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The state that send.c and send_work.c share. */
#ifndef BTRFS_SEND_STATE_H
#define BTRFS_SEND_STATE_H

#include "send.h"
#include "sweep.h"

#define MAX_TREES 16u

struct send {
	struct pf_session base;		/* base.last: sums over all sends */
	struct bt_mounted fs;
	struct bt_slot_set asked;	/* tree blocks that were planned */
	struct bt_slot_set named;	/* leaves whose address records name */
	_Atomic(size_t) unfound;	/* of these, in this part */
	uint64_t tree, parent, flags;	/* as requested */
	struct bt_ptr root, parent_root;

	/* The part that is being read; a sweep reads its jobs.  Its lock also protects
	 * `data' and `wanted' while threads run. */
	struct bt_sweep sweep;
	struct bt_jobs data;
	struct {
		uint64_t tree;
		struct bt_ranges ranges;
	} wanted[MAX_TREES];
	struct bt_ranges files;		/* in the changed leaves */
	struct bt_ranges records;	/* of the extent tree */
	/* The least number of bytes that the send has written at the end of the
	 * window, and of the window before.  The bytes requested until then. */
	uint64_t stream, part_stream, part_bytes;

	pthread_cond_t changed;		/* came_out, stop */
	pthread_t conductor;

	_Atomic(bool) running;		/* the conductor is */
	_Atomic(bool) waiting;
	_Atomic(uint64_t) came_out;	/* bytes that the send has written */
	_Atomic(uint64_t) inline_bytes;	/* of files in the leaves of this part */

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
/* The items of a changed leaf, or of a leaf of the extent tree: a sink. */
void send_accept_item(void *ctx, const struct bt_item *item);

#endif
