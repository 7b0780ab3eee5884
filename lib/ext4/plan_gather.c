/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All results of the planner pass through here: adjacent blocks of the same
 * kind become one run, and each run is limited to blocks inside the filesystem.
 * Does not know what the blocks are.
 */
#include "plan_gather.h"

void e2pf_gather_flush(struct e2pf_gather *out)
{
	if (out->pending.count)
		out->sink(out->ctx, &out->pending);
	out->pending.count = 0;
}

static bool same_kind(const struct e2pf_run *a, const struct e2pf_run *b)
{
	return a->cls == b->cls && a->parse == b->parse &&
	       a->depth == b->depth && a->data == b->data;
}

void e2pf_gather_add(struct e2pf_gather *out, const struct e2pf_run *like,
		     uint64_t block, uint64_t count)
{
	struct e2pf_run *pending = &out->pending;

	if (!count || !e2pf_block_ok(out->geo, block))
		return;
	if (count > out->geo->blocks - block)
		count = out->geo->blocks - block;
	if (count > UINT32_MAX)
		count = UINT32_MAX;

	if (pending->count && same_kind(pending, like)) {
		uint64_t end = pending->block + pending->count;

		if (block == end && pending->count + count <= UINT32_MAX) {
			pending->count += count;
			return;
		}
	}
	e2pf_gather_flush(out);
	*pending = *like;
	pending->block = block;
	pending->count = count;
}
