/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine's life: made, configured, started, stopped, and its figures.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine_state.h"

/* Runs of the sets of blocks read ahead: with the levels of the lanes the
 * helper stays below 32 MiB. */
#define SET_MEMORY (4u << 20)

#define LANE_STACK (256u << 10)

#define STATS_PATIENCE_MS 1000

static void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

struct e2pf_engine *e2pf_engine_new(const struct e2pf_engine_config *config)
{
	struct e2pf_engine *e = calloc(1, sizeof(*e));
	size_t room = config->set_memory ? config->set_memory : SET_MEMORY;

	if (!e)
		return NULL;
	e->cfg = e->next = *config;
	e->limit = config->budget;
	e->ahead = e2pf_blockset_new(config->geo->blocks, room);
	e->later = e2pf_blockset_new(config->geo->blocks, room);
	e->wanted = e2pf_blockset_new(config->geo->blocks, room);
	if (!e->ahead || !e->later || !e->wanted) {
		e2pf_blockset_free(e->ahead);
		e2pf_blockset_free(e->later);
		e2pf_blockset_free(e->wanted);
		free(e);
		return NULL;
	}
	pthread_mutex_init(&e->lock, NULL);
	cond_init(&e->work_cond);
	cond_init(&e->gate_cond);
	cond_init(&e->end_cond);
	e->phase_began = e2pf_now(e);
	return e;
}

void e2pf_engine_configure(struct e2pf_engine *e,
			   const struct e2pf_engine_config *config)
{
	pthread_mutex_lock(&e->lock);
	e->next = *config;
	pthread_mutex_unlock(&e->lock);
}

/* The lanes read it without the lock: only while there are none. */
static void adopt_config(struct e2pf_engine *e)
{
	e->cfg = e->next;
	e->limit = e->cfg.budget;
	e->limit_asked = 0;
}

/* Threads of ours take no signal: they are all the checker's. */
static int start_thread(struct lane *l)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	err = pthread_attr_init(&attr);
	if (err)
		return err;
	sigfillset(&all);
	pthread_attr_setstacksize(&attr, LANE_STACK);
	err = pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!err) {
		err = pthread_create(&l->thread, &attr, e2pf_lane_main, l);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	pthread_attr_destroy(&attr);
	return err;
}

/* Called with the lock held, which keeps the threads from looking at a
 * number of lanes that is not final. */
static int start_lanes(struct e2pf_engine *e)
{
	unsigned i;
	int err = 0;

	e->lane = calloc(e2pf_wanted_lanes(e), sizeof(*e->lane));
	if (!e->lane)
		return ENOMEM;
	for (i = 0; i < e2pf_wanted_lanes(e); i++) {
		struct lane *l = &e->lane[i];

		l->e = e;
		l->number = i;
		l->next = i;
		l->target = e2pf_first_target(e);
		e2pf_lane_init_sweep(l);
		err = start_thread(l);
		if (err)
			break;
		e->running++;
	}
	e->lanes = i;
	if (i > e->stats.lanes)
		e->stats.lanes = i;
	if (i)
		return 0;
	free(e->lane);
	e->lane = NULL;
	return err;
}

/* Bitmaps are 1/4096 of the device at most: an eighth of the budget holds
 * them on any filesystem it is not small for. */
static bool bitmaps_are_few(const struct e2pf_engine *e)
{
	return 2ull * e->cfg.geo->groups * e->cfg.geo->block_size <=
	       e->limit / 8;
}

void e2pf_count_failure(struct e2pf_engine *e, uint64_t *count)
{
	++*count;
	if (e->stats.errors + e->stats.failed_ahead < ERRORS_TOLERATED)
		return;
	e->gave_up = true;
	pthread_cond_broadcast(&e->work_cond);
	pthread_cond_broadcast(&e->gate_cond);
}

int e2pf_wake(struct e2pf_engine *e)
{
	int err;

	e->asleep = false;
	e2pf_probe_engine(e);
	e->stats.block_order = e->block_order;
	e->bitmaps_inline = bitmaps_are_few(e);
	e->bitmaps_done = false;
	err = start_lanes(e);
	/* The lanes wait for the lock, and find their work. */
	e2pf_set_work(e, e->work);
	if (err)
		e->gated = false;
	return err;
}

int e2pf_engine_start(struct e2pf_engine *e)
{
	int err = 0;

	pthread_mutex_lock(&e->lock);
	if (e->lane && e->stop) {
		err = EBUSY;
	} else if (!e->lane) {
		adopt_config(e);
		e->stop = false;
		e->gave_up = false;
		e->work = WORK_TABLES;
		e->at_valid = false;
		e->groups_done = 0;
		e->total_from = e->stats.prefetched_bytes;
		/* What an earlier start brought may be gone by now. */
		e->left_over += e2pf_ahead_bytes(e);
		e->unrecorded = 0;
		e2pf_blockset_clear(e->ahead);
		e2pf_blockset_clear(e->later);
		e2pf_blockset_clear(e->wanted);
		e->wanted_next = 0;
		e->sleep_misses = 0;
		if (!e->stats.latency_ns || !e->cfg.probe)
			e->block_order = e->cfg.block_order;
		e2pf_ask_memory(e);
		e->asleep = e->cfg.paced && e2pf_looks_warm(e);
		if (!e->asleep)
			err = e2pf_wake(e);
	}
	pthread_mutex_unlock(&e->lock);
	return err;
}

static void set_deadline(struct timespec *ts, clockid_t clock,
			 int milliseconds)
{
	clock_gettime(clock, ts);
	ts->tv_sec += milliseconds / 1000;
	ts->tv_nsec += milliseconds % 1000 * 1000000l;
	if (ts->tv_nsec >= 1000000000l) {
		ts->tv_sec++;
		ts->tv_nsec -= 1000000000l;
	}
}

void e2pf_deadline(struct timespec *ts, int milliseconds)
{
	set_deadline(ts, CLOCK_MONOTONIC, milliseconds);
}

/* Wait on end_cond; false when the time is up.  The lock is held. */
static bool wait_end(struct e2pf_engine *e, int milliseconds,
		     const struct timespec *ts)
{
	if (milliseconds < 0)
		return pthread_cond_wait(&e->end_cond, &e->lock) == 0;
	return pthread_cond_timedwait(&e->end_cond, &e->lock, ts) == 0;
}

/* Take the lock, waiting for it at most so long: a checker that ends in a
 * signal handler may have been holding it. */
static bool lock_within(struct e2pf_engine *e, int milliseconds)
{
	struct timespec ts;

	if (milliseconds < 0)
		return pthread_mutex_lock(&e->lock) == 0;
#ifdef HAVE_PTHREAD_MUTEX_CLOCKLOCK
	e2pf_deadline(&ts, milliseconds);
	return pthread_mutex_clocklock(&e->lock, CLOCK_MONOTONIC, &ts) == 0;
#else
	/* A clock that is set meanwhile makes it longer or shorter. */
	set_deadline(&ts, CLOCK_REALTIME, milliseconds);
	return pthread_mutex_timedlock(&e->lock, &ts) == 0;
#endif
}

bool e2pf_engine_stop(struct e2pf_engine *e, int milliseconds)
{
	struct lane *lane = NULL;
	struct timespec ts;
	unsigned n = 0, i;
	bool gone;

	e2pf_deadline(&ts, milliseconds < 0 ? 0 : milliseconds);
	if (!lock_within(e, milliseconds))
		return false;
	e->stop = true;
	e->asleep = false;
	e->gated = false;
	pthread_cond_broadcast(&e->work_cond);
	pthread_cond_broadcast(&e->gate_cond);
	while (e->running && wait_end(e, milliseconds, &ts))
		;
	gone = !e->running;
	if (gone) {
		lane = e->lane;
		n = e->lanes;
		e->lane = NULL;
		e->lanes = 0;
		e->work = WORK_NONE;
	}
	pthread_mutex_unlock(&e->lock);
	for (i = 0; i < n; i++) {
		pthread_join(lane[i].thread, NULL);
		e2pf_sweep_fini(&lane[i].sweep);
	}
	free(lane);
	return gone;
}

bool e2pf_engine_wait(struct e2pf_engine *e, int milliseconds)
{
	struct timespec ts;
	bool idle;

	e2pf_deadline(&ts, milliseconds < 0 ? 0 : milliseconds);
	pthread_mutex_lock(&e->lock);
	while (!e2pf_all_idle(e) && wait_end(e, milliseconds, &ts))
		;
	idle = e2pf_all_idle(e);
	pthread_mutex_unlock(&e->lock);
	return idle;
}

bool e2pf_engine_reads_ahead(struct e2pf_engine *e)
{
	bool at_work;

	pthread_mutex_lock(&e->lock);
	at_work = e->lanes && !e->stop && !e->gave_up;
	pthread_mutex_unlock(&e->lock);
	return at_work;
}

bool e2pf_engine_gave_up(struct e2pf_engine *e)
{
	bool gave_up;

	pthread_mutex_lock(&e->lock);
	gave_up = e->gave_up;
	pthread_mutex_unlock(&e->lock);
	return gave_up;
}

uint64_t e2pf_engine_progress(struct e2pf_engine *e)
{
	uint64_t done;

	pthread_mutex_lock(&e->lock);
	done = e->groups_done;
	pthread_mutex_unlock(&e->lock);
	return done;
}

void e2pf_engine_free(struct e2pf_engine *e)
{
	if (!e)
		return;
	e2pf_engine_stop(e, -1);
	e2pf_blockset_free(e->ahead);
	e2pf_blockset_free(e->later);
	e2pf_blockset_free(e->wanted);
	free(e->list);
	pthread_cond_destroy(&e->work_cond);
	pthread_cond_destroy(&e->gate_cond);
	pthread_cond_destroy(&e->end_cond);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

void e2pf_end_phase(struct e2pf_engine *e)
{
	uint64_t t = e2pf_now(e);

	e->stats.phase[e->phase].ns += t - e->phase_began;
	e->phase_began = t;
}

void e2pf_engine_get_stats(struct e2pf_engine *e,
			   struct e2pf_engine_stats *stats)
{
	unsigned i;

	memset(stats, 0, sizeof(*stats));
	if (!lock_within(e, STATS_PATIENCE_MS))
		return;
	e2pf_end_phase(e);
	e->stats.wasted_bytes = e2pf_ahead_bytes(e) + e->gaps +
				e->left_over;
	*stats = e->stats;
	pthread_mutex_unlock(&e->lock);
	stats->checker_bytes = atomic_load(&e->checker_bytes);
	for (i = 0; i < E2PF_PHASES; i++) {
		stats->phase[i].reads = atomic_load(&e->reads[i]);
		stats->phase[i].hits = atomic_load(&e->hits[i]);
	}
}

/*
 * The plan, counted.
 */

static bool count_issue(void *ctx, const struct e2pf_ref *refs, size_t n)
{
	struct lane *l = ctx;
	unsigned last = E2PF_CLASSES;
	size_t i;

	for (i = 0; i < n; i++) {
		l->plan[refs[i].cls].blocks += refs[i].count;
		l->plan[refs[i].cls].runs += refs[i].cls != last;
		last = refs[i].cls;
	}
	return true;
}

static bool count_arrived(void *ctx, int error, uint64_t waited_ns)
{
	struct lane *l = ctx;

	(void)waited_ns;
	if (error)
		l->e->stats.errors++;
	return l->e->stats.errors < ERRORS_TOLERATED;
}

static const struct e2pf_sweep_ops count_ops = {
	.issue = count_issue,
	.arrived = count_arrived,
};

int e2pf_engine_plan(struct e2pf_engine *e,
		     struct e2pf_class_plan plan[E2PF_CLASSES])
{
	struct lane l = { .e = e, .plan = plan, .target = UINT64_MAX };
	uint64_t g;
	int err = 0;

	adopt_config(e);
	memset(plan, 0, E2PF_CLASSES * sizeof(*plan));
	e2pf_lane_init_sweep(&l);
	l.sweep.ops = &count_ops;
	for (g = 0; g < e->cfg.geo->groups && !err; g++) {
		if (!e2pf_wants_tables(e))
			e2pf_plan_group(e->cfg.geo, &e->cfg.groups[g],
					e2pf_bitmap_sink, &l.sweep);
		else if (!e2pf_sweep_add_group(&l.sweep, (uint32_t)g))
			err = ENOMEM;
		if (g % BATCH_GROUPS == BATCH_GROUPS - 1)
			e2pf_sweep_run(&l.sweep);
	}
	e2pf_sweep_run(&l.sweep);
	e2pf_sweep_fini(&l.sweep);
	if (!err && e->stats.errors >= ERRORS_TOLERATED)
		err = EIO;
	return err;
}
