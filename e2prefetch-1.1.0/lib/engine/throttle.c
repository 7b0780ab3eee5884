/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The throttle: how much may be read ahead of the checker, which batches the
 * checker has passed, and when a worker waits because a limit per second is
 * reached.  Called with the engine's lock held, except e2pf_ask_memory() and
 * e2pf_within_limits().
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

/* Interval between queries of the machine's available memory. */
#define BUDGET_INTERVAL_NS 100000000ull
#define BUDGET_LEAST (1ull << 20)

bool e2pf_passed(const struct e2pf_engine *e, uint64_t unit)
{
	uint64_t at;

	return e->cfg.paced && e2pf_is_followed(e2pf_phase_now(e)) &&
	       e2pf_checker_at(e, &at) && unit < at;
}

static struct batch *oldest(struct worker *w)
{
	return &w->window[w->window_first];
}

static void drop_oldest(struct worker *w)
{
	w->e->batch_bytes -= oldest(w)->bytes;
	w->e->batch_unrecorded -= oldest(w)->unrecorded;
	w->window_first = (w->window_first + 1) % WINDOW_BATCHES;
	w->window_used--;
}

void e2pf_drop_passed(struct worker *w)
{
	while (w->window_used && e2pf_passed(w->e, oldest(w)->last))
		drop_oldest(w);
}

void e2pf_drop_window(struct worker *w)
{
	while (w->window_used)
		drop_oldest(w);
}

void e2pf_drop_batch(struct worker *w)
{
	w->e->batch_bytes -= w->bytes;
	w->e->batch_unrecorded -= w->unrecorded;
	w->bytes = 0;
	w->unrecorded = 0;
}

void e2pf_count_bytes(struct worker *w, uint64_t bytes)
{
	w->bytes += bytes;
	w->e->batch_bytes += bytes;
}

void e2pf_count_unrecorded(struct worker *w, uint64_t bytes)
{
	w->unrecorded += bytes;
	w->e->batch_unrecorded += bytes;
}

void e2pf_keep_batch(struct worker *w)
{
	struct batch *b = &w->window[(w->window_first + w->window_used) %
				     WINDOW_BATCHES];

	b->last = w->last;
	b->bytes = w->bytes;
	b->unrecorded = w->unrecorded;
	w->window_used++;
	w->bytes = 0;
	w->unrecorded = 0;
	if (w->e->oldest_last > b->last)
		w->e->oldest_last = b->last;
}

/* Drop the batches that the checker has passed from all windows.  Called for
 * each run, so the workers are examined only when there is something to
 * drop. */
static void drop_all_passed(struct e2pf_engine *e)
{
	unsigned i;

	if (!e2pf_passed(e, e->oldest_last))
		return;
	e->oldest_last = UINT64_MAX;
	for (i = 0; i < e->workers; i++) {
		struct worker *w = &e->worker[i];

		e2pf_drop_passed(w);
		if (w->window_used && oldest(w)->last < e->oldest_last)
			e->oldest_last = oldest(w)->last;
	}
}

uint64_t e2pf_room_beyond(struct worker *w)
{
	if (!e2pf_is_followed(e2pf_phase_now(w->e)))
		return UINT64_MAX;
	return w->last < w->e->oldest_last ? w->last : w->e->oldest_last;
}

static uint64_t outstanding(struct e2pf_engine *e)
{
	drop_all_passed(e);
	return e->batch_bytes;
}

/* Bytes that had no room in the set and that the checker has not passed. */
static uint64_t unrecorded(struct e2pf_engine *e)
{
	drop_all_passed(e);
	return e->unrecorded + e->batch_unrecorded;
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

/* The budget follows the machine's available memory, to which blocks that were
 * read ahead and not used yet are added.  It never exceeds the configured
 * one. */
void e2pf_follow_memory(struct e2pf_engine *e, uint64_t left)
{
	left = e2pf_engine_budget(left, e->cfg.paced);
	e->budget = left < e->cfg.budget ? left : e->cfg.budget;
	if (e->budget < BUDGET_LEAST)
		e->budget = BUDGET_LEAST;
}

void e2pf_ask_memory(struct e2pf_engine *e)
{
	uint64_t asked = atomic_load(&e->budget_asked), t, left;

	if (!e->cfg.available)
		return;
	t = e2pf_now(e);
	if (asked && t - asked < BUDGET_INTERVAL_NS)
		return;
	/* One worker makes the query for all. */
	if (!atomic_compare_exchange_strong(&e->budget_asked, &asked, t))
		return;
	left = e->cfg.available(e->cfg.available_ctx);
	pthread_mutex_lock(&e->lock);
	e2pf_follow_memory(e, left);
	pthread_mutex_unlock(&e->lock);
}

/* Is this the worker whose batch the checker reaches first? */
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
	uint64_t ahead;

	if (!e->cfg.paced)
		return e->stats.prefetched_bytes - e->total_from >= e->budget;
	switch (e2pf_phase_now(e)->order) {
	case E2PF_ORDER_NONE:
		return e2pf_ahead_bytes(e) >= e->budget;
	case E2PF_ORDER_DEFERRED:
		/* Blocks that only a later phase needs may use half of the
		 * budget: the checker's current phase needs the rest. */
		return e2pf_later_bytes(e) >= e->budget / 2;
	default:
		/* Half of the budget is reserved for the worker whose batch the
		 * checker reaches first: workers further ahead must not starve
		 * it. */
		ahead = outstanding(e);
		return ahead >= e->budget ||
		       (ahead >= e->budget / 2 && !is_nearest(w));
	}
}

uint64_t e2pf_gap_room(const struct e2pf_engine *e)
{
	unsigned part = e->cfg.source->gap_part;
	uint64_t most;

	if (!part)
		return UINT64_MAX;
	most = e->stats.prefetched_bytes / part;
	return most > e->gaps ? most - e->gaps : 0;
}

/* As the source's limit is used up the gap shrinks, so that the smallest gaps,
 * which are worth the most, are read through. */
uint64_t e2pf_gap(const struct e2pf_engine *e)
{
	uint64_t gap = e2pf_control_gap(&e->control);
	uint64_t room = e2pf_gap_room(e);

	if (room == UINT64_MAX)
		return gap;
	return (uint64_t)((double)gap * (double)room /
			  (double)(room + e->gaps + 1));
}

/*
 * Limits per second (device/rate.h).
 */

/* Nanoseconds until a request of so many bytes may be made.  If 0, the request
 * has been counted.  The lock is held. */
static uint64_t time_left(struct e2pf_engine *e, uint64_t bytes)
{
	return e2pf_rate_take(&e->rate, e2pf_now(e), bytes, e->cfg.sharers,
			      e->cfg.available_ctx);
}

/* Sleep on work_cond, to be woken also when the batch is no longer wanted.  The
 * state is THROTTLED because a checker at the gate must not wait for a worker
 * that sleeps. */
static void sleep_for(struct worker *w, uint64_t ns)
{
	struct e2pf_engine *e = w->e;
	struct timespec ts;

	w->state = WORKER_THROTTLED;
	if (e->gate_waiters)
		pthread_cond_broadcast(&e->gate_cond);
	e2pf_deadline(&ts, ns);
	pthread_cond_timedwait(&e->work_cond, &e->lock, &ts);
}

bool e2pf_within_limits(struct worker *w, uint64_t bytes)
{
	struct e2pf_engine *e = w->e;
	uint64_t ns = 0;
	bool wanted;

	if (!e->cfg.bandwidth && !e->cfg.requests)
		return true;
	pthread_mutex_lock(&e->lock);
	while ((wanted = !e2pf_ended(w) && !e2pf_passed(e, w->last)) &&
	       (ns = time_left(e, bytes)))
		sleep_for(w, ns);
	if (w->state != WORKER_READING) {
		w->state = WORKER_READING;
		atomic_store(&e->last_progress, e2pf_now(e));
	}
	pthread_mutex_unlock(&e->lock);
	return wanted;
}
