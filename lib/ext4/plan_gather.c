/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All results of the planner pass through here: adjacent blocks of the same
 * kind become one reference, and each is limited to blocks inside the
 * filesystem and to wanted classes.  Does not know what the blocks are.
 */
#include "plan_gather.h"

void e2pf_gather_flush(struct e2pf_plan *plan)
{
	if (plan->pending.length)
		plan->sink(plan->ctx, &plan->pending);
	plan->pending.length = 0;
}

static bool follows(const struct e2pf_ref *ref, uint64_t cookie,
		    uint64_t offset, uint64_t length)
{
	return ref->length && ref->cookie == cookie &&
	       ref->offset + ref->length == offset &&
	       ref->length + length <= UINT32_MAX;
}

void e2pf_gather_add(struct e2pf_plan *plan, struct e2pf_kind kind,
		     uint64_t block, uint64_t count)
{
	uint64_t bs = plan->geo->block_size, most = UINT32_MAX / bs * bs;
	struct e2pf_ref *pending = &plan->pending;
	uint64_t left, offset = block * bs, length;
	uint64_t cookie = e2pf_cookie_of(kind);

	if (!count || !e2pf_block_ok(plan->geo, block) ||
	    (kind.parse == E2PF_LEAF && !(plan->classes & 1u << kind.cls)))
		return;
	if (count > plan->geo->blocks - block)
		count = plan->geo->blocks - block;
	for (left = count * bs; left; left -= length, offset += length) {
		length = left < most ? left : most;
		if (follows(pending, cookie, offset, length)) {
			pending->length += (uint32_t)length;
			continue;
		}
		e2pf_gather_flush(plan);
		*pending = (struct e2pf_ref) {
			.offset = offset,
			.length = (uint32_t)length,
			.cookie = cookie,
			.cls = kind.cls,
			/* Nothing need be parsed if nothing that it leads to
			 * is wanted. */
			.parse = kind.parse != E2PF_LEAF &&
				 plan->classes & E2PF_TREE_CLASSES
		};
	}
}
