/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>
#include <stdlib.h>

#include "claim.h"
#include "survey.h"
#include "state.h"
#include "worker.h"

/* Without limit. */
#define YEAR_NS (UINT64_C(365) * 86400 * 1000000000)

struct pf_engine *pf_engine_new(struct pf_source *source,
				struct pf_device *const *devices)
{
	struct pf_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->source = source;
	e->devices = devices;
	pthread_mutex_init(&e->lock, NULL);
	e2pf_cond_init(&e->work);
	e2pf_cond_init(&e->gate_opens);
	e2pf_cond_init(&e->ended);
	pf_schedule_init(&e->schedule, source);
	pf_window_init(&e->window, &e->schedule, &e->options, devices[0]);
	pf_health_init(&e->health, &e->options, devices[0]);
	pf_stats_begin_stage(&e->stats, 0, pf_state_now(e));
	return e;
}

void pf_engine_free(struct pf_engine *e)
{
	if (!e)
		return;
	pf_engine_stop(e, -1);
	pf_pool_free(&e->pool);
	pf_window_free(&e->window);
	pthread_cond_destroy(&e->work);
	pthread_cond_destroy(&e->gate_opens);
	pthread_cond_destroy(&e->ended);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

/*
 * Start.
 */

/* Call the source's begin(), with the options as they are known now. */
static void begin_source(struct pf_engine *e, bool asleep)
{
	struct pf_options options = e->options;

	options.budget = e->window.budget;
	options.seek_bound = e->health.speed.seek_bound;
	pf_schedule_begin_source(&e->schedule, &options, asleep);
}

/* Begin to start an engine that is idle.  Returns true if the caller must continue the
 * start; otherwise sets *err to 0 or an errno. */
static bool begin_start(struct pf_engine *e, const struct pf_options *options,
			int *err)
{
	E2PF_LOCKED(e);

	*err = e->state == PF_STATE_STOPPING ? EBUSY : 0;
	if (e->state != PF_STATE_IDLE)
		return false;
	/* Parts read this copy by their pointers. */
	e->options = *options;
	pf_schedule_forget_report(&e->schedule);
	pf_health_start(&e->health);
	pf_window_start(&e->window);
	pf_stats_start(&e->stats);
	/* A checker may begin a phase even while the engine is asleep. */
	begin_source(e, true);
	pf_state_set(e, PF_STATE_STARTING);
	pf_pool_add_running(&e->pool);
	return true;
}

/* Measure the device if its kind is a guess. */
static void measure(struct pf_engine *e)
{
	struct pf_speed speed = { .seek_bound = false };
	const char *unmeasured = "the device was too slow from the start";
	uint64_t began;

	if (!pf_health_needs_speed(&e->health))
		return;
	began = pf_state_now(e);
	/* Measure nothing if the checker's first reads have shown that the device is
	 * stalled, because the measurement would take just as long. */
	if (!e->health.stalled)
		unmeasured = pf_survey_measure(e->source, e->devices[0], false,
						&speed);
	pthread_mutex_lock(&e->lock);
	pf_health_set_speed(&e->health, unmeasured, &speed,
			    pf_state_now(e) - began);
	pthread_mutex_unlock(&e->lock);
}

/* Let the source begin with what is known about the device by now.  Returns how many
 * workers to create, which wait for end_start(); 0: the engine was stopped. */
static unsigned choose_workers(struct pf_engine *e)
{
	unsigned workers;
	E2PF_LOCKED(e);

	if (e->state != PF_STATE_STARTING)
		return 0;
	begin_source(e, false);
	workers = e->health.speed.seek_bound ? e->options.seek_threads :
					  e->options.threads;
	if (workers > PF_MAX_WORKERS)
		workers = PF_MAX_WORKERS;
	return workers ? workers : 1;
}

/* The caller has created these workers.  If there are none, the engine becomes
 * `otherwise`: idle, or asleep if everything is cached. */
static void end_start(struct pf_engine *e, unsigned workers,
		      enum pf_state otherwise)
{
	E2PF_LOCKED(e);

	pf_pool_set_workers(&e->pool, workers);
	if (e->state == PF_STATE_STARTING) {
		pf_state_set(e, workers ? PF_STATE_READING : otherwise);
		/* The source's first phase, or one that the checker began meanwhile. */
		if (workers || otherwise == PF_STATE_IDLE)
			pf_claim_begin_phase(e, workers ? e->schedule.phase : NULL);
	}
	pf_state_handle_events(e, pf_pool_remove_running(&e->pool) | PF_EVENT_WORK);
}

/* Start the workers.  Returns an errno, or 0, even if the engine was stopped
 * meanwhile. */
static int start_workers(struct pf_engine *e)
{
	unsigned workers;
	int err = 0;

	measure(e);
	workers = choose_workers(e);
	if (workers && e->options.before_threads) {
		workers = e->options.before_threads(e->options.ctx, workers);
		err = workers ? 0 : EAGAIN;
	}
	if (workers)
		workers = pf_pool_create_threads(&e->pool, e, workers,
						 pf_worker_run, &err);
	end_start(e, workers, PF_STATE_IDLE);
	return err;
}

int pf_engine_start(struct pf_engine *e, const struct pf_options *options)
{
	int err;

	if (!begin_start(e, options, &err))
		return err;
	if (!(options->has_checker || options->sampled) ||
	    !pf_survey_is_cached(e->source, e->devices))
		return start_workers(e);
	end_start(e, 0, PF_STATE_ASLEEP);
	return 0;
}

/* Act on these events; if they wake an engine that is asleep, start the workers. */
static void handle_events(struct pf_engine *e, unsigned events)
{
	bool wake;

	pthread_mutex_lock(&e->lock);
	wake = pf_state_handle_events(e, events);
	pthread_mutex_unlock(&e->lock);
	if (wake)
		start_workers(e);
}

void pf_engine_wake(struct pf_engine *e)
{
	handle_events(e, PF_EVENT_WAKE);
}

/*
 * End.
 */

static struct timespec deadline_of(int milliseconds)
{
	return e2pf_deadline(milliseconds < 0 ? YEAR_NS :
			     (uint64_t)milliseconds * 1000000u);
}

/* Tell the workers to end, and wait for them.  Returns false if some have not ended in
 * time. */
static bool end_workers(struct pf_engine *e, int milliseconds)
{
	struct timespec ts = deadline_of(milliseconds);
	bool gone;

	if (!e2pf_lock_within(&e->lock, milliseconds))
		return false;
	if (e->state != PF_STATE_IDLE)
		pf_state_set(e, PF_STATE_STOPPING);
	pf_gate_set_closed(&e->gate, false);
	pf_state_handle_events(e, PF_EVENT_WORK | PF_EVENT_GATE);
	while (e->pool.running &&
	       !pthread_cond_timedwait(&e->ended, &e->lock, &ts))
		;
	gone = !e->pool.running;
	pthread_mutex_unlock(&e->lock);
	return gone;
}

static void become_idle(struct pf_engine *e)
{
	E2PF_LOCKED(e);

	pf_pool_set_workers(&e->pool, 0);
	pf_state_set(e, PF_STATE_IDLE);
	pf_claim_begin_phase(e, NULL);
	/* Another thread may be waiting for the end of reading. */
	pf_state_handle_events(e, PF_EVENT_ENDED);
}

bool pf_engine_stop(struct pf_engine *e, int milliseconds)
{
	if (!end_workers(e, milliseconds))
		return false;
	pf_pool_join_threads(&e->pool);
	become_idle(e);
	return true;
}

/* In a phase that the source paces there may be more although all workers are idle. */
static bool has_ended(const struct pf_engine *e)
{
	return pf_claim_has_finished(e) &&
	       !(pf_state_is_reading(e) && pf_schedule_waits(&e->schedule));
}

bool pf_engine_wait(struct pf_engine *e, int milliseconds)
{
	struct timespec ts = deadline_of(milliseconds);
	E2PF_LOCKED(e);

	while (!has_ended(e) && !pthread_cond_timedwait(&e->ended, &e->lock, &ts))
		;
	return has_ended(e);
}

/*
 * The checker's position.
 */

void pf_engine_begin_stage(struct pf_engine *e, unsigned stage)
{
	E2PF_LOCKED(e);

	pf_stats_begin_stage(&e->stats, stage, pf_state_now(e));
}

bool pf_engine_begin_phase(struct pf_engine *e, const struct pf_phase *phase)
{
	E2PF_LOCKED(e);

	if (e->state == PF_STATE_IDLE || e->state == PF_STATE_STOPPING)
		return false;
	pf_schedule_forget_report(&e->schedule);
	/* The checker is about to read the deferred blocks in its own order, and this
	 * phase must stay ahead of it. */
	pf_window_drop_deferred(&e->window);
	pf_claim_begin_phase(e, phase);
	return true;
}

void pf_engine_report_position(struct pf_engine *e, unsigned phase,
			       uint64_t unit)
{
	/* Store the position before checking for throttled workers, because a worker
	 * that goes to sleep does the two in the opposite order.  A throttled worker
	 * checks again at each report. */
	if (!pf_schedule_report(&e->schedule, phase, unit) ||
	    !e->pool.throttled)
		return;
	handle_events(e, PF_EVENT_ROOM);
}

static bool is_in_phase(const struct pf_engine *e, unsigned number)
{
	const struct pf_phase *phase = e->schedule.phase;

	return phase && phase->number == number;
}

bool pf_engine_is_in_phase(struct pf_engine *e, unsigned phase)
{
	E2PF_LOCKED(e);

	return is_in_phase(e, phase) && pf_state_is_reading(e);
}

void pf_engine_add_units(struct pf_engine *e, unsigned phase,
			 void (*add)(void *ctx), void *ctx)
{
	E2PF_LOCKED(e);

	/* add() runs with the lock, because a worker that looked for units between the
	 * addition and its announcement would find none, see all others asleep,
	 * and end the phase. */
	if (add)
		add(ctx);
	if (is_in_phase(e, phase))
		pf_state_handle_events(e, pf_schedule_announce_units(&e->schedule));
}

/*
 * The checker's reads.
 */

void pf_engine_before_read(struct pf_engine *e, struct pf_read *r)
{
	pf_stats_begin_read(&e->stats, r, pf_state_now(e));
	pf_gate_wait(e, r);
}

static bool count_read(struct pf_engine *e, const struct pf_read *r, bool *ahead)
{
	uint64_t now = pf_state_now(e);
	bool stalled = pf_stats_end_read(&e->stats, r, now - r->began);
	unsigned events;
	E2PF_LOCKED(e);

	events = pf_window_mark_read(&e->window, r, ahead);
	if (stalled)
		events |= pf_health_judge_checker_read(&e->health, r,
						       now - r->passed_gate);
	events |= pf_stats_count_read(&e->stats, r, stalled, now);
	return pf_state_handle_events(e, events);
}

bool pf_engine_after_read(struct pf_engine *e, const struct pf_read *r)
{
	bool ahead;

	if (count_read(e, r, &ahead))
		start_workers(e);
	return ahead;
}

/* Returns true if the page of this byte is in the cache and not up to date.  Unless
 * `one_block`, the page counts only if a worker has requested it: a read of several
 * blocks may also fail without the engine, because of a block behind them that the
 * kernel has read ahead. */
static bool is_not_uptodate(const struct pf_engine *e, unsigned device,
			    uint64_t offset, bool one_block)
{
	struct pf_device *dev = e->devices[device];
	enum pf_residency state;

	if (offset >= dev->size ||
	    (!one_block && !pf_pool_has_requested(&e->pool, device, offset)))
		return false;
	dev->ops->span(dev, offset, 1, &state);
	return state == PF_NOT_UPTODATE;
}

/* Returns true if a read may have failed because of a page beside it that is not up to
 * date.  That page may belong to the same large folio, which is read as a whole, or to a
 * request that the block layer has merged with the read. */
static bool may_fail_by_neighbour(const struct pf_engine *e, const struct pf_read *r)
{
	bool one_block = r->length <= e->source->grain && !r->of_several;

	return !e->devices[r->device]->sees_not_uptodate ||
	       (r->offset && is_not_uptodate(e, r->device, r->offset - 1,
					     one_block)) ||
	       is_not_uptodate(e, r->device, r->offset + r->length, one_block);
}

bool pf_engine_read_failed(struct pf_engine *e, const struct pf_read *r)
{
	/* Without a request of the engine, the read has failed by itself. */
	bool again = may_fail_by_neighbour(e, r) && e->stats.requests;
	E2PF_LOCKED(e);

	pf_state_handle_events(e, pf_health_judge_failed_read(&e->health,
							      r->offset));
	return again;
}

bool pf_engine_reads_ahead(const struct pf_engine *e)
{
	return (pf_state_is_reading(e) &&
		!pf_health_limits_requests(&e->health)) ||
	       e->state == PF_STATE_ASLEEP;
}

bool pf_engine_get_stats(struct pf_engine *e, int milliseconds,
			 struct pf_engine_stats *stats)
{
	if (!e2pf_lock_within(&e->lock, milliseconds))
		return false;
	pf_stats_collect(e, stats);
	pthread_mutex_unlock(&e->lock);
	return true;
}
