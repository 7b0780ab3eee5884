/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pacing: how much may be ahead of the checker, and what it has passed.
 * Called with the engine's lock held.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

/* Gaps are read through up to these sizes at most: they take memory.  Past a
 * head 64 KiB go by in half a millisecond anyway, less than any request
 * takes: of sorted replays with gaps of 0, 64 KiB and 1 MiB that one is the
 * fastest on most disks (doc/timing.md). */
#define SWEEP_LEAST_GAP (64u << 10)
#define SWEEP_MOST_GAP (256u << 10)
#define FLASH_MOST_GAP (64u << 10)

/* How often the machine is asked for the memory it has left. */
#define BUDGET_INTERVAL_NS 100000000ull
#define BUDGET_LEAST (1ull << 20)

uint64_t e2pf_set_bytes(const struct e2pf_engine *e,
			  const struct e2pf_blockset *set)
{
	return e2pf_blockset_size(set) * e->cfg.geo->block_size;
}

uint64_t e2pf_later_bytes(const struct e2pf_engine *e)
{
	return e2pf_set_bytes(e, e->later) + e->unrecorded;
}

/* Has the checker done with this unit? */
bool e2pf_passed(struct e2pf_engine *e, uint64_t unit)
{
	return e->cfg.paced && e->at_valid && e->work != WORK_LATER &&
	       unit < atomic_load(&e->at);
}

/* Forget the batches the checker has done with. */
void e2pf_drop_passed(struct lane *l)
{
	while (l->ring_used && e2pf_passed(l->e, l->ring[l->ring_first].last)) {
		l->ring_first = (l->ring_first + 1) % BATCH_RING;
		l->ring_used--;
	}
}

/* Bytes of this pass that are ahead of the checker. */
static uint64_t outstanding(struct e2pf_engine *e)
{
	uint64_t bytes = 0;
	unsigned i, j;

	for (i = 0; i < e->lanes; i++) {
		struct lane *l = &e->lane[i];

		e2pf_drop_passed(l);
		for (j = 0; j < l->ring_used; j++)
			bytes += l->ring[(l->ring_first + j) %
					 BATCH_RING].bytes;
		bytes += l->bytes;
	}
	return bytes;
}

/* Bytes of batches the checker has not passed that had no room in the set. */
static uint64_t unrecorded(struct e2pf_engine *e)
{
	uint64_t bytes = e->unrecorded;
	unsigned i, j;

	for (i = 0; i < e->lanes; i++) {
		struct lane *l = &e->lane[i];

		e2pf_drop_passed(l);
		for (j = 0; j < l->ring_used; j++)
			bytes += l->ring[(l->ring_first + j) %
					 BATCH_RING].unrecorded;
		bytes += l->unrecorded;
	}
	return bytes;
}

uint64_t e2pf_ahead_bytes(struct e2pf_engine *e)
{
	return e2pf_set_bytes(e, e->ahead) + e2pf_set_bytes(e, e->later) +
	       unrecorded(e);
}

/* What the machine has left moves the budget, never above the configured. */
void e2pf_ask_memory(struct e2pf_engine *e)
{
	uint64_t t, left;

	if (!e->cfg.available)
		return;
	t = e2pf_now(e);
	if (e->limit_asked && t - e->limit_asked < BUDGET_INTERVAL_NS)
		return;
	e->limit_asked = t;
	left = e->cfg.available(e->cfg.available_ctx) / 2;
	if (left < UINT64_MAX / 4)
		left += e2pf_ahead_bytes(e);
	e->limit = left < e->cfg.budget ? left : e->cfg.budget;
	if (e->limit < BUDGET_LEAST)
		e->limit = BUDGET_LEAST;
}

/* Is no other lane at something the checker comes to sooner? */
static bool is_nearest(const struct lane *l)
{
	const struct e2pf_engine *e = l->e;
	unsigned i;

	for (i = 0; i < e->lanes; i++) {
		const struct lane *o = &e->lane[i];

		if (o != l && o->state != LANE_IDLE &&
		    o->generation == l->generation && o->first < l->first)
			return false;
	}
	return true;
}

bool e2pf_over_budget(struct lane *l)
{
	struct e2pf_engine *e = l->e;

	e2pf_ask_memory(e);
	if (!e->cfg.paced)
		return e->stats.prefetched_bytes - e->total_from >= e->limit;
	if (e->work == WORK_BITMAPS)
		return e2pf_ahead_bytes(e) >= e->limit;
	/* What a later pass needs may have half; its own work does the
	 * rest. */
	if (e->work == WORK_LATER)
		return e2pf_later_bytes(e) >= e->limit / 2;
	/* Half is for the lane whose batch the checker comes to first: those
	 * further ahead must not starve it. */
	return outstanding(e) >= (is_nearest(l) ? e->limit : e->limit / 2);
}

/* Gaps that are read through, by what a request costs here. */
uint32_t e2pf_gap_blocks(struct e2pf_engine *e)
{
	uint64_t gap = e2pf_cost_gap(&e->cost);
	uint64_t most = e->block_order ? SWEEP_MOST_GAP : FLASH_MOST_GAP;

	if (e->block_order && gap < SWEEP_LEAST_GAP)
		gap = SWEEP_LEAST_GAP;
	if (gap > most)
		gap = most;
	e->stats.gap_bytes = gap;
	return (uint32_t)(gap / e->cfg.geo->block_size);
}
