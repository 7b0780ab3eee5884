/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine's life cycle and statistics: create, configure, start, stop, free.
 * Does not know what the workers do (worker.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine_state.h"

/* The most memory for the set of places ahead, bytes: if all of them are alone, 4
 * MiB hold 196,000. */
#define SET_MEMORY (4u << 20)

#define STATS_PATIENCE_MS 1000

/* Without limit. */
#define YEAR_NS (UINT64_C(365) * 86400 * 1000000000)

static void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

/* Lay all devices end to end. */
static void lay_out_places(struct e2pf_engine *e)
{
	const struct e2pf_source *source = e->cfg.source;
	uint64_t places = 0;
	unsigned i;

	for (i = 0; i < source->devices; i++) {
		e->base[i] = places;
		places += (source->bytes[i] + source->grain - 1) /
			  source->grain;
	}
}

struct e2pf_engine *e2pf_engine_new(const struct e2pf_engine_config *config)
{
	struct e2pf_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->cfg = *config;
	e->budget = config->budget;
	atomic_init(&e->at, E2PF_NOWHERE);
	lay_out_places(e);
	pthread_mutex_init(&e->lock, NULL);
	cond_init(&e->work_cond);
	cond_init(&e->gate_cond);
	cond_init(&e->end_cond);
	e->stage_began = e2pf_now(e);
	return e;
}

void e2pf_engine_trace(struct e2pf_engine *e, FILE *trace)
{
	e->trace = trace;
}

void e2pf_engine_configure(struct e2pf_engine *e,
			   const struct e2pf_engine_config *config)
{
	pthread_mutex_lock(&e->lock);
	e->cfg = *config;
	pthread_mutex_unlock(&e->lock);
}

uint64_t e2pf_engine_budget(uint64_t memory, bool paced)
{
	return paced ? memory / 2 : memory / 4 * 3;
}

/* Called with the lock held, so that no thread sees a number of workers that is
 * not final. */
static int start_workers(struct e2pf_engine *e)
{
	unsigned wanted = e2pf_wanted_workers(e), i;
	int err = 0;

	e->worker = calloc(wanted, sizeof(*e->worker));
	if (!e->worker)
		return ENOMEM;
	if (e->cfg.before_threads)
		e->cfg.before_threads();
	for (i = 0; i < wanted; i++) {
		struct worker *w = &e->worker[i];

		w->e = e;
		w->number = i;
		e2pf_worker_init(w);
		err = e2pf_thread_start(&w->thread, e2pf_worker_main, w);
		if (err)
			break;
		e->running++;
	}
	e->workers = i;
	if (i > e->stats.threads)
		e->stats.threads = i;
	if (i)
		return 0;
	free(e->worker);
	e->worker = NULL;
	return err;
}

static void begin_source(struct e2pf_engine *e, uint64_t budget, bool has_head,
			 bool asleep)
{
	const struct e2pf_start start = {
		.budget = budget,
		.paced = e->cfg.paced,
		.has_head = has_head,
		.asleep = asleep
	};
	struct e2pf_source *source = e->cfg.source;

	source->ops->begin(source, &start);
	e->first_phase = source->ops->next(source, NULL);
}

void e2pf_begin_walk(struct e2pf_engine *e)
{
	e->stop = false;
	e->gave_up = false;
	/* With room for everything, no phase repeats another. */
	begin_source(e, UINT64_MAX, true, false);
}

int e2pf_wake(struct e2pf_engine *e)
{
	int err;

	e->asleep = false;
	e2pf_probe_engine(e);
	e->stats.has_head = e->speed.has_head;
	/* Order and budget are final now. */
	begin_source(e, e->budget, e->speed.has_head, false);
	err = start_workers(e);
	/* The workers wait for the lock, and then find their phase. */
	e2pf_set_phase(e, e->phase);
	if (err)
		e->gated = false;
	return err;
}

/* What an earlier start read may have been evicted since. */
static void forget_last_start(struct e2pf_engine *e)
{
	e->unused += e2pf_ahead_bytes(e);
	e2pf_blockset_clear(&e->ahead, SET_MEMORY);
	atomic_store(&e->at, E2PF_NOWHERE);
	e->later_bytes = 0;
	e->total_from = e->stats.prefetched_bytes;
	e->sleep_misses = 0;
}

int e2pf_engine_start(struct e2pf_engine *e)
{
	int err = 0;

	pthread_mutex_lock(&e->lock);
	if (e->worker && e->stop) {
		err = EBUSY;
	} else if (!e->worker) {
		e->stop = false;
		e->gave_up = false;
		e->rate.bandwidth = e->cfg.bandwidth;
		e->rate.requests = e->cfg.requests;
		e->budget = e->cfg.budget;
		e->budget_asked = 0;
		if (!e->speed.latency_ns || !e->cfg.probe)
			e->speed = (struct e2pf_speed) {
				.has_head = e->cfg.has_head
			};
		e2pf_ask_memory(e);
		forget_last_start(e);
		/* Also for a checker that begins a phase while the engine is
		 * asleep. */
		begin_source(e, e->budget, e->speed.has_head, true);
		e->phase = e->first_phase;
		e->asleep = e->cfg.paced && e2pf_samples_are_cached(e);
		if (!e->asleep)
			err = e2pf_wake(e);
	}
	pthread_mutex_unlock(&e->lock);
	return err;
}

struct timespec e2pf_deadline(uint64_t ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ns += (uint64_t)ts.tv_nsec;
	ts.tv_sec += (time_t)(ns / 1000000000u);
	ts.tv_nsec = (long)(ns % 1000000000u);
	return ts;
}

static uint64_t ns_of(int milliseconds)
{
	return milliseconds < 0 ? YEAR_NS : (uint64_t)milliseconds * 1000000u;
}

/* Take the lock, but wait a limited time: a checker that ends in a signal
 * handler may have been holding it. */
static bool lock_within(struct e2pf_engine *e, int milliseconds)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (pthread_mutex_trylock(&e->lock)) {
		if (!milliseconds--)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

bool e2pf_engine_stop(struct e2pf_engine *e, int milliseconds)
{
	struct worker *worker = NULL;
	struct timespec ts = e2pf_deadline(ns_of(milliseconds));
	unsigned n = 0, i;
	bool gone;

	if (!lock_within(e, milliseconds))
		return false;
	e->stop = true;
	e->asleep = false;
	e->gated = false;
	pthread_cond_broadcast(&e->work_cond);
	pthread_cond_broadcast(&e->gate_cond);
	while (e->running &&
	       !pthread_cond_timedwait(&e->end_cond, &e->lock, &ts))
		;
	gone = !e->running;
	if (gone) {
		worker = e->worker;
		n = e->workers;
		e->worker = NULL;
		e->workers = 0;
		e->phase = NULL;
	}
	pthread_mutex_unlock(&e->lock);
	for (i = 0; i < n; i++) {
		pthread_join(worker[i].thread, NULL);
		e2pf_free_levels(&worker[i]);
	}
	free(worker);
	return gone;
}

bool e2pf_engine_wait(struct e2pf_engine *e, int milliseconds)
{
	struct timespec ts = e2pf_deadline(ns_of(milliseconds));
	bool idle;

	pthread_mutex_lock(&e->lock);
	while (!e2pf_all_idle(e) &&
	       !pthread_cond_timedwait(&e->end_cond, &e->lock, &ts))
		;
	idle = e2pf_all_idle(e);
	pthread_mutex_unlock(&e->lock);
	return idle;
}

bool e2pf_engine_reads_ahead(struct e2pf_engine *e)
{
	bool at_work;

	pthread_mutex_lock(&e->lock);
	at_work = (e->workers || e->asleep) && !e->stop && !e->gave_up;
	pthread_mutex_unlock(&e->lock);
	return at_work;
}

bool e2pf_engine_gave_up(struct e2pf_engine *e)
{
	return atomic_load(&e->gave_up);
}

void e2pf_engine_free(struct e2pf_engine *e)
{
	if (!e)
		return;
	e2pf_engine_stop(e, -1);
	e2pf_blockset_clear(&e->ahead, 0);
	pthread_cond_destroy(&e->work_cond);
	pthread_cond_destroy(&e->gate_cond);
	pthread_cond_destroy(&e->end_cond);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

void e2pf_end_stage(struct e2pf_engine *e)
{
	uint64_t t = e2pf_now(e);

	e->stats.stage[e->stage].ns += t - e->stage_began;
	e->stage_began = t;
}

void e2pf_engine_get_stats(struct e2pf_engine *e,
			   struct e2pf_engine_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	if (!lock_within(e, STATS_PATIENCE_MS))
		return;
	e2pf_end_stage(e);
	*stats = e->stats;
	stats->wasted_bytes = e2pf_ahead_bytes(e) + e->unused;
	stats->latency_ns = e->speed.latency_ns;
	stats->deep_latency_ns = e->speed.deep_latency_ns;
	pthread_mutex_unlock(&e->lock);
}

/* What is left is taken to need as many requests as what was asked for. */
static void add_worker(const struct worker *w, struct e2pf_engine_look *look)
{
	const struct found *f = &w->found;

	look->unit_bytes += f->unit_bytes;
	look->parsed_bytes += f->parsed_bytes;
	look->found_bytes += f->bytes;
	look->asked_bytes += f->asked_bytes;
	look->asked_requests += f->requests;
	if (f->asked_refs)
		look->queued_requests += (f->refs - f->asked_refs) *
					 f->requests / f->asked_refs;
	look->in_flight += f->in_flight;
}

void e2pf_engine_look(struct e2pf_engine *e, struct e2pf_engine_look *look)
{
	const struct e2pf_phase *phase;
	uint64_t now, at, since;
	unsigned i;

	memset(look, 0, sizeof(*look));
	look->phase = look->at_phase = E2PF_NONE;
	pthread_mutex_lock(&e->lock);
	now = e2pf_now(e);
	look->stage = e->stage;
	for (i = 0; i < E2PF_STAGES; i++)
		look->stall_ns += e->stats.stage[i].stall_ns;
	look->checker_bytes = e->stats.checker_bytes;
	since = atomic_load(&e->reading_since);
	look->reading_ns = since && since < now ? now - since : 0;
	look->reading_at = atomic_load(&e->reading_at);
	phase = e->phase;
	if (phase)
		look->phase = (int)phase->number;
	at = atomic_load(&e->at);
	if (at != E2PF_NOWHERE) {
		look->at_phase = (int)(at >> E2PF_AT_UNIT_BITS);
		look->at = at & E2PF_AT_UNITS;
	}
	for (i = 0; i < e->workers; i++)
		add_worker(&e->worker[i], look);
	look->speed = e->speed;
	pthread_mutex_unlock(&e->lock);
}
