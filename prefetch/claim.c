/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "claim.h"
#include "trace.h"

void pf_claim_begin_phase(struct pf_engine *e, const struct pf_phase *phase)
{
	unsigned events = pf_schedule_begin_phase(&e->schedule, phase);

	if (phase) {
		PF_TRACE(phase_begin, phase->number);
		pf_pool_note_progress(&e->pool, pf_state_now(e));
		pf_gate_set_closed(&e->gate, phase->gated && e->pool.workers &&
				   e->options.has_checker &&
				   e->health.speed.seek_bound &&
				   !e->devices[0]->asks_by_reading);
		pf_window_begin_phase(&e->window);
	}
	pf_state_handle_events(e, events);
}

bool pf_claim_has_finished(const struct pf_engine *e)
{
	return e->state != PF_STATE_STARTING &&
	       pf_pool_is_idle(&e->pool, e->schedule.news) &&
	       e->schedule.next != PF_NEXT_CHOOSING;
}

/* Set the worker's state, and act on what follows from it and on these events. */
static void set_state(struct pf_worker *w, enum pf_worker_state state,
		      unsigned events)
{
	struct pf_engine *e = w->engine;

	pf_state_handle_events(e, events | pf_pool_set_state(&e->pool, w, state,
							     pf_state_now(e)));
}

/*
 * Stripes.
 */

/* Begin the next phase if the current one has ended.  Releases the lock while the source
 * chooses the phase. */
static void choose_next_phase(struct pf_engine *e)
{
	const struct pf_phase *next, *phase = e->schedule.phase;
	unsigned epoch = e->schedule.epoch;

	if (!pf_state_is_reading(e) || !pf_claim_has_finished(e) ||
	    !pf_schedule_may_end(&e->schedule))
		return;
	pf_schedule_set_next(&e->schedule, PF_NEXT_CHOOSING);
	pthread_mutex_unlock(&e->lock);
	next = e->source->ops->next(e->source, phase);
	pthread_mutex_lock(&e->lock);
	pf_schedule_set_next(&e->schedule, PF_NEXT_UNKNOWN);
	if (!pf_state_is_reading(e))
		return;
	/* If the checker has begun another phase meanwhile, idle workers must look
	 * again: they could claim nothing while the source was being asked. */
	if (e->schedule.epoch != epoch)
		pf_state_handle_events(e, pf_schedule_announce_units(&e->schedule));
	else if (next)
		pf_claim_begin_phase(e, next);
	else
		pf_state_handle_events(e, pf_schedule_set_next(&e->schedule,
							       PF_NEXT_NONE));
}

static bool claim_stripe(struct pf_worker *w)
{
	struct pf_engine *e = w->engine;

	if (!pf_state_is_reading(e) ||
	    !pf_schedule_claim(&e->schedule, pf_window_max_claim(&e->window),
			       e->pool.workers, &w->stripe))
		return false;
	pf_window_add_stripe(&e->window, &w->stripe);
	/* A throttled worker may now be the nearest to the checker, which may use more
	 * of the budget. */
	set_state(w, PF_WORKER_READING, PF_EVENT_ROOM);
	return true;
}

/* There are no units to claim: begin the next phase, or sleep. */
static void wait_for_units(struct pf_worker *w)
{
	struct pf_engine *e = w->engine;

	w->news = e->schedule.news;
	/* Another worker that is throttled may now be the nearest. */
	set_state(w, PF_WORKER_IDLE,
		  w->state == PF_WORKER_IDLE ? 0 : PF_EVENT_ROOM);
	choose_next_phase(e);
	/* Look again, without sleeping, if there was news meanwhile. */
	if (w->news == e->schedule.news && e->state != PF_STATE_STOPPING)
		pthread_cond_wait(&e->work, &e->lock);
}

bool pf_claim_next_stripe(struct pf_worker *w)
{
	struct pf_engine *e = w->engine;
	bool claimed = false;
	E2PF_LOCKED(e);

	/* Wait until all workers exist; their number is not known before. */
	while (w->number >= e->pool.workers)
		pthread_cond_wait(&e->work, &e->lock);
	while (e->state != PF_STATE_STOPPING && !(claimed = claim_stripe(w)))
		wait_for_units(w);
	if (!claimed)
		set_state(w, PF_WORKER_IDLE, 0);
	return claimed;
}

void pf_claim_end_worker(struct pf_worker *w)
{
	struct pf_engine *e = w->engine;
	E2PF_LOCKED(e);

	pf_state_handle_events(e, pf_pool_remove_running(&e->pool));
}

void pf_claim_announce_units(struct pf_engine *e)
{
	E2PF_LOCKED(e);

	pf_state_handle_events(e, pf_schedule_announce_units(&e->schedule));
}

/*
 * Room.
 */

/* Wait until there may be room, or nobody may want this worker's stripe. */
static void wait_for_change(struct pf_worker *w)
{
	struct pf_engine *e = w->engine;

	PF_TRACE(room_wait_begin, w->number);
	pthread_cond_wait(&e->work, &e->lock);
	PF_TRACE(room_wait_end, w->number);
}

/* Leave a stalled device to the checker.  The worker is THROTTLED meanwhile, because a
 * checker at the gate must not wait for a worker that sleeps. */
static void wait_while_stalled(struct pf_worker *w)
{
	struct pf_engine *e = w->engine;

	while (e->health.stalled && !pf_state_is_obsolete(w)) {
		set_state(w, PF_WORKER_THROTTLED, 0);
		wait_for_change(w);
	}
	set_state(w, PF_WORKER_READING, 0);
}

static bool has_room(const struct pf_worker *w)
{
	struct pf_engine *e = w->engine;

	return !e->options.has_checker ||
	       !pf_window_is_full(&e->window, pf_pool_is_nearest(&e->pool, w));
}

bool pf_claim_wait_for_room(struct pf_worker *w)
{
	struct pf_engine *e = w->engine;
	bool throttled = false;
	E2PF_LOCKED(e);

	wait_while_stalled(w);
	/* Without a checker the budget is never freed, so reading ahead ends. */
	if (pf_window_is_used_up(&e->window))
		pf_state_handle_events(e, PF_EVENT_GIVE_UP);
	while (!pf_state_is_obsolete(w) && !has_room(w)) {
		/* The checker wakes only workers that are throttled, so check once more
		 * in that state before the first wait. */
		if (!throttled) {
			set_state(w, PF_WORKER_THROTTLED, 0);
			throttled = true;
			continue;
		}
		wait_for_change(w);
		pthread_mutex_unlock(&e->lock);
		pf_window_query_memory(&e->window);
		pthread_mutex_lock(&e->lock);
	}
	set_state(w, PF_WORKER_READING, 0);
	return !pf_state_is_obsolete(w);
}

bool pf_claim_count_span(struct pf_worker *w, const struct pf_run *run,
			 uint64_t pos, uint64_t len, bool missing)
{
	struct pf_engine *e = w->engine;
	E2PF_LOCKED(e);

	if (pf_state_is_obsolete(w))
		return false;
	pf_window_count_span(&e->window, run, &w->stripe, pos, len, missing);
	return true;
}

/*
 * Reads of the worker.
 */

bool pf_claim_read_returned(struct pf_worker *w, uint64_t offset, int error,
			    uint64_t ns)
{
	struct pf_engine *e = w->engine;

	pf_pool_note_progress(&e->pool, pf_state_now(e));
	if (error || ns >= PF_STALLED_NS || e->gate.waiters ||
	    e->health.stalled) {
		pthread_mutex_lock(&e->lock);
		pf_state_handle_events(e, PF_EVENT_GATE |
				       pf_health_judge_own_read(&e->health, offset,
								error, ns));
		wait_while_stalled(w);
		pthread_mutex_unlock(&e->lock);
	}
	return !pf_state_is_obsolete(w);
}

void pf_claim_read_stalls(struct pf_worker *w, uint64_t offset, uint64_t ns)
{
	struct pf_engine *e = w->engine;
	E2PF_LOCKED(e);

	pf_state_handle_events(e, pf_health_judge_own_read(&e->health, offset, 0,
							   ns));
	set_state(w, PF_WORKER_THROTTLED, 0);
}

void pf_claim_read_ended(struct pf_worker *w)
{
	struct pf_engine *e = w->engine;
	E2PF_LOCKED(e);

	set_state(w, PF_WORKER_READING, 0);
}
