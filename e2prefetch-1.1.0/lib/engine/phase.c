/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which phase is current, when it has ended, and which one follows.  Called
 * with the engine's lock held.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

const struct e2pf_phase e2pf_no_phase = {
	.order = E2PF_ORDER_DEFERRED,
	.covered_by = E2PF_NONE,
	.stage = E2PF_NONE
};

void e2pf_load_phases(struct e2pf_engine *e, uint64_t budget, bool has_head)
{
	const struct e2pf_start start = {
		.budget = budget,
		.paced = e->cfg.paced,
		.has_head = has_head
	};
	struct e2pf_source *source = e->cfg.source;

	e->phases = source->ops->begin(source, &start, &e->phase_count);
	e->ended_phases = 0;
}

void e2pf_set_phase(struct e2pf_engine *e, int number)
{
	/* While deferred references are read, the checker is still in the phase
	 * before and uses what is in the windows. */
	bool goes_on = e->phases[number].order == E2PF_ORDER_DEFERRED;
	uint64_t now = e2pf_now(e);
	unsigned i;

	e->phase = number;
	e2pf_trace_phase(e->trace, now, number);
	e->last_progress = now;
	e->gated = e->workers && e->cfg.paced && e->has_head &&
		   !e->cfg.ungated && !goes_on;
	e->next_unit = 0;
	/* The new phase requests whatever is not cached again. */
	if (!goes_on) {
		e->unrecorded = 0;
		e->oldest_last = UINT64_MAX;
	}
	e->epoch++;
	for (i = 0; i < e->workers; i++) {
		e->worker[i].next = 0;
		if (!goes_on)
			e2pf_drop_window(&e->worker[i]);
	}
	pthread_cond_broadcast(&e->work_cond);
}

void e2pf_note_addition(struct e2pf_engine *e)
{
	e->additions++;
	pthread_cond_broadcast(&e->work_cond);
}

bool e2pf_all_idle(struct e2pf_engine *e)
{
	unsigned i;

	for (i = 0; i < e->workers; i++) {
		const struct worker *w = &e->worker[i];

		/* An idle worker counts as idle only if it has looked for units
		 * since the last addition (it may still be asleep), with room
		 * in its window.  If its window was full it has not looked,
		 * even if another worker has since dropped passed batches from
		 * that window. */
		if (w->state != WORKER_IDLE || w->epoch != e->epoch ||
		    w->additions != e->additions || w->window_full)
			return false;
	}
	return true;
}

static bool has_units(const struct e2pf_engine *e, unsigned phase)
{
	struct e2pf_source *source = e->cfg.source;
	bool more;

	return source->ops->units(source, phase, &more) || more;
}

static bool is_covered(const struct e2pf_engine *e,
		       const struct e2pf_phase *phase)
{
	return phase->covered_by != E2PF_NONE &&
	       (e->ended_phases & UINT32_C(1) << phase->covered_by);
}

/* The phase that begins by itself after this one; E2PF_NONE if there is none or
 * if the checker begins it. */
static int following(const struct e2pf_engine *e)
{
	unsigned i;

	for (i = (unsigned)e->phase + 1; i < e->phase_count; i++) {
		const struct e2pf_phase *phase = &e->phases[i];

		if (phase->by_checker && e->cfg.paced)
			return E2PF_NONE;
		if (!phase->by_checker && !is_covered(e, phase) &&
		    (phase->order == E2PF_ORDER_DEFERRED || has_units(e, i)))
			return (int)i;
	}
	return E2PF_NONE;
}

void e2pf_next_phase(struct e2pf_engine *e)
{
	struct e2pf_source *source = e->cfg.source;
	unsigned ended = (unsigned)e->phase;
	bool more = false;
	int next;

	if (e->phase == E2PF_NONE || !e2pf_all_idle(e))
		return;
	if (e2pf_phase_now(e)->order == E2PF_ORDER_DEFERRED) {
		e2pf_blockset_clear(e->deferred);
		e->deferred_next = 0;
	} else {
		source->ops->units(source, ended, &more);
	}
	if (more)
		return;
	e->ended_phases |= UINT32_C(1) << ended;
	next = following(e);
	if (next != E2PF_NONE)
		e2pf_set_phase(e, next);
}
