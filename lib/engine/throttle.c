/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The throttle: how much may be ahead of the checker, and what it has passed.
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
#define HEAD_LEAST_GAP (64u << 10)
#define HEAD_MOST_GAP (256u << 10)
#define FLASH_MOST_GAP (64u << 10)

/* How often the machine is asked for the memory it has left. */
#define BUDGET_INTERVAL_NS 100000000ull
#define BUDGET_LEAST (1ull << 20)

bool e2pf_passed(struct e2pf_engine *e, uint64_t unit)
{
	return e->cfg.paced && e->at_valid &&
	       e2pf_is_followed(e2pf_phase_now(e)) &&
	       unit < atomic_load(&e->at);
}

void e2pf_drop_passed(struct worker *w)
{
	while (w->window_used &&
	       e2pf_passed(w->e, w->window[w->window_first].last)) {
		w->window_first = (w->window_first + 1) % WINDOW_BATCHES;
		w->window_used--;
	}
}

/* Bytes read ahead in this phase that the checker has not passed. */
static uint64_t outstanding(struct e2pf_engine *e)
{
	uint64_t bytes = 0;
	unsigned i, j;

	for (i = 0; i < e->workers; i++) {
		struct worker *w = &e->worker[i];

		e2pf_drop_passed(w);
		for (j = 0; j < w->window_used; j++)
			bytes += w->window[(w->window_first + j) %
					   WINDOW_BATCHES].bytes;
		bytes += w->bytes;
	}
	return bytes;
}

/* Bytes of batches the checker has not passed that had no room in the set. */
static uint64_t unrecorded(struct e2pf_engine *e)
{
	uint64_t bytes = e->unrecorded;
	unsigned i, j;

	for (i = 0; i < e->workers; i++) {
		struct worker *w = &e->worker[i];

		e2pf_drop_passed(w);
		for (j = 0; j < w->window_used; j++)
			bytes += w->window[(w->window_first + j) %
					   WINDOW_BATCHES].unrecorded;
		bytes += w->unrecorded;
	}
	return bytes;
}

uint64_t e2pf_ahead_bytes(struct e2pf_engine *e)
{
	return e2pf_set_bytes(e, e->ahead_now) +
	       e2pf_set_bytes(e, e->ahead_later) + unrecorded(e);
}

uint64_t e2pf_later_bytes(const struct e2pf_engine *e)
{
	return e2pf_set_bytes(e, e->ahead_later) + e->unrecorded;
}

/* The budget follows the memory that the machine has left, and is never more
 * than what was configured. */
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

/* Is no other worker at something the checker comes to sooner? */
static bool is_nearest(const struct worker *w)
{
	const struct e2pf_engine *e = w->e;
	unsigned i;

	for (i = 0; i < e->workers; i++) {
		const struct worker *o = &e->worker[i];

		if (o != w && o->state != WORKER_IDLE &&
		    o->epoch == w->epoch && o->first < w->first)
			return false;
	}
	return true;
}

bool e2pf_over_budget(struct worker *w)
{
	struct e2pf_engine *e = w->e;

	e2pf_ask_memory(e);
	if (!e->cfg.paced)
		return e->stats.prefetched_bytes - e->total_from >= e->limit;
	switch (e2pf_phase_now(e)->order) {
	case E2PF_ORDER_NONE:
		return e2pf_ahead_bytes(e) >= e->limit;
	case E2PF_ORDER_DEFERRED:
		/* What only a later phase needs may have half: the phase the
		 * checker is in needs the rest. */
		return e2pf_later_bytes(e) >= e->limit / 2;
	default:
		/* Half of the budget is for the worker whose batch the checker
		 * comes to first: those further ahead must not starve it. */
		return outstanding(e) >=
		       (is_nearest(w) ? e->limit : e->limit / 2);
	}
}

uint64_t e2pf_gap(struct e2pf_engine *e)
{
	uint64_t gap = e2pf_cost_gap(&e->cost);
	uint64_t most = e->has_head ? HEAD_MOST_GAP : FLASH_MOST_GAP;

	if (e->has_head && gap < HEAD_LEAST_GAP)
		gap = HEAD_LEAST_GAP;
	if (gap > most)
		gap = most;
	e->stats.gap_bytes = gap;
	return gap;
}
