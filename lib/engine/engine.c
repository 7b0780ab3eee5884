/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The engine's life: create, start, stop, free; and its statistics, which are put
 * together from those of its parts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cached.h"
#include "core.h"

#define STATS_PATIENCE_MS 1000

/* Without limit. */
#define YEAR_NS (UINT64_C(365) * 86400 * 1000000000)

/* The one place where `run` changes. */
static void set_run(struct e2pf_engine *e, enum e2pf_run run)
{
	e2pf_assert_held(e);
	e->run = run;
}

struct e2pf_engine *e2pf_engine_new(struct e2pf_source *source,
				    struct e2pf_device *const *devices)
{
	struct e2pf_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->source = source;
	e->devices = devices;
	e2pf_lock_init(&e->lock);
	e2pf_pool_init(e);
	e2pf_checker_init(e);
	e2pf_window_init(&e->window, source);
	return e;
}

void e2pf_engine_free(struct e2pf_engine *e)
{
	if (!e)
		return;
	e2pf_engine_stop(e, -1);
	e2pf_window_free(&e->window);
	e2pf_checker_destroy(e);
	e2pf_pool_destroy(e);
	e2pf_lock_destroy(&e->lock);
	free(e);
}

/*
 * Start.
 */

int e2pf_start_reading(struct e2pf_engine *e)
{
	int err;

	e2pf_assert_held(e);
	e2pf_pacing_measure(e);
	/* Order and budget are final now. */
	e2pf_schedule_prepare(e, e->pacing.speed.has_head, false);
	err = e2pf_pool_start(e);
	if (err) {
		set_run(e, E2PF_RUN_IDLE);
		e2pf_schedule_begin(e, NULL);
		return err;
	}
	set_run(e, E2PF_RUN_READING);
	/* The workers wait for the lock, and then find their phase: the first
	 * one, or that which the checker began while the engine was asleep. */
	e2pf_schedule_begin(e, e->schedule.phase);
	return 0;
}

int e2pf_engine_start(struct e2pf_engine *e,
		      const struct e2pf_engine_config *config)
{
	int err = 0;

	e2pf_lock(&e->lock);
	if (e->run == E2PF_RUN_STOPPING) {
		err = EBUSY;
	} else if (e->run == E2PF_RUN_IDLE) {
		e->cfg = *config;
		e->gave_up = false;
		e2pf_pacing_start(e);
		e2pf_window_start(e);
		e2pf_checker_start(e);
		/* Also for a checker that begins a phase while the engine is
		 * asleep. */
		e2pf_schedule_prepare(e, e->pacing.speed.has_head, true);
		if ((config->paced || config->sampled) &&
		    e2pf_samples_are_cached(e->source, e->devices))
			set_run(e, E2PF_RUN_ASLEEP);
		else
			err = e2pf_start_reading(e);
	}
	e2pf_unlock(&e->lock);
	return err;
}

/*
 * End.
 */

void e2pf_give_up(struct e2pf_engine *e)
{
	e2pf_assert_held(e);
	if (e->run != E2PF_RUN_READING)
		return;
	set_run(e, E2PF_RUN_GAVE_UP);
	e->gave_up = true;
	e2pf_pool_wake_workers(e);
	e2pf_checker_open_gate(e);
}

static uint64_t ns_of(int milliseconds)
{
	return milliseconds < 0 ? YEAR_NS : (uint64_t)milliseconds * 1000000u;
}

bool e2pf_engine_stop(struct e2pf_engine *e, int milliseconds)
{
	struct timespec ts = e2pf_deadline(ns_of(milliseconds));
	bool gone;

	if (!e2pf_lock_within(&e->lock, milliseconds))
		return false;
	if (e->run != E2PF_RUN_IDLE)
		set_run(e, E2PF_RUN_STOPPING);
	e2pf_checker_stop(e);
	e2pf_pool_wake_workers(e);
	while (e->pool.running &&
	       e2pf_wait_until(&e->pool.ended, &e->lock, &ts))
		;
	gone = !e->pool.running;
	e2pf_unlock(&e->lock);
	if (!gone)
		return false;
	e2pf_pool_join(e);
	e2pf_lock(&e->lock);
	set_run(e, E2PF_RUN_IDLE);
	e2pf_schedule_begin(e, NULL);
	e2pf_pool_tell_end(e);
	e2pf_unlock(&e->lock);
	return true;
}

bool e2pf_engine_wait(struct e2pf_engine *e, int milliseconds)
{
	struct timespec ts = e2pf_deadline(ns_of(milliseconds));
	bool idle;

	e2pf_lock(&e->lock);
	while (!e2pf_pool_is_idle(e) &&
	       e2pf_wait_until(&e->pool.ended, &e->lock, &ts))
		;
	idle = e2pf_pool_is_idle(e);
	e2pf_unlock(&e->lock);
	return idle;
}

bool e2pf_engine_reads_ahead(struct e2pf_engine *e)
{
	return (e2pf_is_reading(e) && !e->pacing.careful) ||
	       e->run == E2PF_RUN_ASLEEP;
}

/*
 * Statistics.
 */

void e2pf_engine_get_stats(struct e2pf_engine *e,
			   struct e2pf_engine_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	if (!e2pf_lock_within(&e->lock, STATS_PATIENCE_MS))
		return;
	stats->gave_up = e->gave_up;
	e2pf_window_stats(e, stats);
	e2pf_pacing_stats(e, stats);
	e2pf_checker_stats(e, stats);
	e2pf_pool_stats(e, stats);
	e2pf_unlock(&e->lock);
}

void e2pf_engine_get_progress(struct e2pf_engine *e,
			      struct e2pf_engine_progress *p)
{
	const struct e2pf_phase *phase;

	memset(p, 0, sizeof(*p));
	p->phase = p->at_phase = E2PF_NONE;
	e2pf_lock(&e->lock);
	phase = e->schedule.phase;
	if (phase)
		p->phase = (int)phase->number;
	e2pf_checker_get_progress(e, p);
	e2pf_pool_get_progress(e, p);
	p->speed = e->pacing.speed;
	e2pf_unlock(&e->lock);
}
