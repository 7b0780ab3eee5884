/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "monitor.h"

/* Without limit. */
#define YEAR_NS (UINT64_C(365) * 86400 * 1000000000)

/* A checker goes on after this time at the gate in all: a single read of its own in this
 * time hardly delays a worker's sweep. */
#define GATE_LIMIT_NS 5000000000ull

/* Signals by which a user ends the check.  The checker blocks them while it
 * waits. */
static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define ENDING (sizeof(ending) / sizeof(ending[0]))

/* How often a checker at the gate checks whether its block is cached. */
#define GATE_CHECK_NS 20000000u

/* The one place where the state changes. */
static void set_state(struct pf_engine *e, enum pf_state state)
{
	e->state = state;
}

/* Act on the events that parts have returned.  Returns true if an engine that was asleep is
 * now starting: then the caller goes on with that. */
static bool settle(struct pf_engine *e, unsigned events)
{
	bool wake = events & PF_EVENT_WAKE && e->state == PF_STATE_ASLEEP;

	if (wake) {
		set_state(e, PF_STATE_STARTING);
		pf_pool_enter(&e->pool);
	}
	if (events & PF_EVENT_GIVE_UP && pf_state_is_reading(e)) {
		set_state(e, PF_STATE_GAVE_UP);
		e->gave_up = true;
		events |= PF_EVENT_WORK | PF_EVENT_GATE;
	}
	if (events & PF_EVENT_WORK ||
	    (events & PF_EVENT_ROOM && e->pool.throttled))
		pthread_cond_broadcast(&e->work);
	if (events & PF_EVENT_GATE && e->gate_waiters)
		pthread_cond_broadcast(&e->gate);
	if (events & PF_EVENT_ENDED)
		pthread_cond_broadcast(&e->ended);
	return wake;
}

/*
 * Start.
 */

void pf_monitor_init(struct pf_engine *e)
{
	struct e2pf_device *dev = e->devices[0];

	pthread_mutex_init(&e->lock, NULL);
	e2pf_cond_init(&e->work);
	e2pf_cond_init(&e->gate);
	e2pf_cond_init(&e->ended);
	pf_schedule_init(&e->schedule, e->source);
	pf_window_init(&e->window, &e->schedule, &e->cfg, dev);
	pf_health_init(&e->health, &e->cfg, dev);
	pf_stats_begin_stage(&e->reads, 0, pf_state_now(e));
}

void pf_monitor_destroy(struct pf_engine *e)
{
	pf_window_free(&e->window);
	pthread_cond_destroy(&e->work);
	pthread_cond_destroy(&e->gate);
	pthread_cond_destroy(&e->ended);
	pthread_mutex_destroy(&e->lock);
}

/* Begin this phase at its first unit, or, with NULL, none. */
static void begin_phase(struct pf_engine *e, const struct pf_phase *phase)
{
	unsigned events = pf_schedule_begin_phase(&e->schedule, phase);

	if (phase) {
		pf_pool_note_progress(&e->pool, pf_state_now(e));
		pf_gate_set(&e->reads, phase->gated &&
				     e->pool.workers && e->cfg.has_checker &&
				     e->health.speed.seeks);
		pf_window_begin_phase(&e->window);
	}
	settle(e, events);
}

static void prepare(struct pf_engine *e, bool asleep)
{
	const struct pf_start start = {
		.budget = e->window.budget,
		.has_checker = e->cfg.has_checker,
		.seeks = e->health.speed.seeks,
		.asleep = asleep
	};

	pf_schedule_begin_source(&e->schedule, &start);
}

bool pf_monitor_start(struct pf_engine *e,
			const struct pf_options *config, int *err)
{
	E2PF_LOCKED(e);

	*err = e->state == PF_STATE_STOPPING ? EBUSY : 0;
	if (e->state != PF_STATE_IDLE)
		return false;
	/* Parts read this copy by their pointers. */
	e->cfg = *config;
	e->gave_up = false;
	pf_schedule_forget_report(&e->schedule);
	pf_health_start(&e->health);
	pf_window_start(&e->window);
	pf_stats_start(&e->reads);
	/* Also for a checker that begins a phase while the engine is asleep. */
	prepare(e, true);
	set_state(e, PF_STATE_STARTING);
	pf_pool_enter(&e->pool);
	return true;
}

bool pf_monitor_wake(struct pf_engine *e)
{
	E2PF_LOCKED(e);

	return settle(e, PF_EVENT_WAKE);
}

void pf_monitor_measured(struct pf_engine *e, const char *unmeasured,
			   const struct e2pf_speed *speed, uint64_t ns)
{
	E2PF_LOCKED(e);

	pf_health_set_speed(&e->health, unmeasured, speed, ns);
}

unsigned pf_monitor_prepare(struct pf_engine *e)
{
	unsigned workers;
	E2PF_LOCKED(e);

	if (e->state != PF_STATE_STARTING)
		return 0;
	prepare(e, false);
	workers = e->health.speed.seeks ? e->cfg.seek_threads : e->cfg.threads;
	if (workers > PF_MAX_WORKERS)
		workers = PF_MAX_WORKERS;
	return workers ? workers : 1;
}

void pf_monitor_started(struct pf_engine *e, unsigned workers,
			  enum pf_state otherwise)
{
	E2PF_LOCKED(e);

	if (workers)
		pf_pool_set_started(&e->pool, workers);
	else
		pf_pool_clear(&e->pool);
	if (e->state == PF_STATE_STARTING) {
		set_state(e, workers ? PF_STATE_READING : otherwise);
		/* The first one, or that which the checker began meanwhile. */
		if (workers || otherwise == PF_STATE_IDLE)
			begin_phase(e, workers ? e->schedule.phase : NULL);
	}
	settle(e, pf_pool_leave(&e->pool) | PF_EVENT_WORK);
}

/*
 * End.
 */

static uint64_t ns_of(int milliseconds)
{
	return milliseconds < 0 ? YEAR_NS : (uint64_t)milliseconds * 1000000u;
}

bool pf_monitor_stop(struct pf_engine *e, int milliseconds)
{
	struct timespec ts = e2pf_deadline(ns_of(milliseconds));
	bool gone;

	if (!e2pf_lock_within(&e->lock, milliseconds))
		return false;
	if (e->state != PF_STATE_IDLE)
		set_state(e, PF_STATE_STOPPING);
	pf_gate_set(&e->reads, false);
	settle(e, PF_EVENT_WORK | PF_EVENT_GATE);
	while (e->pool.running &&
	       !pthread_cond_timedwait(&e->ended, &e->lock, &ts))
		;
	gone = !e->pool.running;
	pthread_mutex_unlock(&e->lock);
	return gone;
}

void pf_monitor_stopped(struct pf_engine *e)
{
	E2PF_LOCKED(e);

	pf_pool_clear(&e->pool);
	set_state(e, PF_STATE_IDLE);
	begin_phase(e, NULL);
	/* Another thread may wait for the end of reading. */
	settle(e, PF_EVENT_ENDED);
}

/* Is nothing left to read?  Then all workers sleep, or there are none. */
static bool has_finished(const struct pf_engine *e)
{
	return e->state != PF_STATE_STARTING &&
	       pf_pool_is_idle(&e->pool, e->schedule.news) &&
	       e->schedule.next != PF_NEXT_CHOOSING;
}

bool pf_engine_wait(struct pf_engine *e, int milliseconds)
{
	struct timespec ts = e2pf_deadline(ns_of(milliseconds));
	E2PF_LOCKED(e);

	while (!has_finished(e) && !pthread_cond_timedwait(&e->ended, &e->lock, &ts))
		;
	return has_finished(e);
}

const struct pf_phase *pf_monitor_begin_source(struct pf_engine *e)
{
	/* With room for everything, no phase repeats another. */
	const struct pf_start start = {
		.budget = UINT64_MAX, .seeks = true
	};
	E2PF_LOCKED(e);

	e->source->ops->begin(e->source, &start);
	return e->source->ops->next(e->source, NULL);
}

/*
 * A worker's turn.
 */

static void set_worker_state(struct pf_engine *e,
			     const struct pf_turn *turn,
			     enum pf_worker_state state)
{
	settle(e, pf_pool_set_state(&e->pool, turn->number, state,
				      pf_state_now(e)));
}

/* Ask the source for the next phase if the current one has ended.  Releases the lock
 * while the source chooses. */
static void next_phase(struct pf_engine *e)
{
	const struct pf_phase *next, *phase = e->schedule.phase;
	unsigned epoch = e->schedule.epoch;

	if (!pf_state_is_reading(e) || !has_finished(e) ||
	    !pf_schedule_may_end(&e->schedule))
		return;
	pf_schedule_set_next(&e->schedule, PF_NEXT_CHOOSING);
	pthread_mutex_unlock(&e->lock);
	next = e->source->ops->next(e->source, phase);
	pthread_mutex_lock(&e->lock);
	pf_schedule_set_next(&e->schedule, PF_NEXT_UNKNOWN);
	if (!pf_state_is_reading(e))
		return;
	/* If the checker has begun another phase meanwhile, others found nothing to
	 * claim, because the source was being asked. */
	if (e->schedule.epoch != epoch)
		settle(e, pf_schedule_announce_units(&e->schedule));
	else if (next)
		begin_phase(e, next);
	else
		settle(e, pf_schedule_set_next(&e->schedule,
						 PF_NEXT_NONE));
}

static bool claim(struct pf_engine *e, struct pf_turn *turn)
{
	if (!pf_state_is_reading(e) ||
	    !pf_schedule_claim(&e->schedule,
				 pf_window_max_claim(&e->window),
				 e->pool.workers, &turn->stripe))
		return false;
	pf_window_add_stripe(&e->window, &turn->stripe);
	settle(e, pf_pool_set_claimed(&e->pool, turn->number, &turn->stripe,
				    pf_state_now(e)));
	return true;
}

/* There are no units to claim: begin the next phase, or sleep. */
static void be_idle(struct pf_engine *e, const struct pf_turn *turn)
{
	settle(e, pf_pool_set_idle(&e->pool, turn->number,
					  e->schedule.news));
	next_phase(e);
	/* Unless there was something new meanwhile. */
	if (e->pool.member[turn->number].news == e->schedule.news &&
	    e->state != PF_STATE_STOPPING)
		pthread_cond_wait(&e->work, &e->lock);
}

bool pf_claim_units(struct pf_engine *e, struct pf_turn *turn)
{
	bool claimed = false;
	E2PF_LOCKED(e);

	/* Until pf_monitor_started(): then it is known how many there are. */
	while (turn->number >= e->pool.workers)
		pthread_cond_wait(&e->work, &e->lock);
	while (e->state != PF_STATE_STOPPING && !(claimed = claim(e, turn)))
		be_idle(e, turn);
	if (!claimed)
		set_worker_state(e, turn, PF_WORKER_IDLE);
	return claimed;
}

void pf_claim_leave(struct pf_engine *e)
{
	E2PF_LOCKED(e);

	settle(e, pf_pool_leave(&e->pool));
}

/* Leave a stalled device to the checker.  The state is THROTTLED because a checker at the
 * gate must not wait for a worker that sleeps. */
static void wait_while_stuck(struct pf_engine *e,
			     const struct pf_turn *turn)
{
	while (e->health.stalled && !pf_state_is_obsolete(e, &turn->stripe)) {
		set_worker_state(e, turn, PF_WORKER_THROTTLED);
		pthread_cond_wait(&e->work, &e->lock);
	}
	set_worker_state(e, turn, PF_WORKER_READING);
}

static bool has_room(struct pf_engine *e, const struct pf_turn *turn)
{
	return !e->cfg.has_checker ||
	       !pf_window_is_full(&e->window,
				    pf_pool_is_nearest(&e->pool,
							   turn->number));
}

bool pf_claim_wait_for_room(struct pf_engine *e, struct pf_turn *turn)
{
	bool throttled = false;
	E2PF_LOCKED(e);

	wait_while_stuck(e, turn);
	/* A total budget is never freed again: reading ahead ends here. */
	if (pf_window_is_used_up(&e->window))
		settle(e, PF_EVENT_GIVE_UP);
	while (!pf_state_is_obsolete(e, &turn->stripe) && !has_room(e, turn)) {
		/* The checker wakes those it finds throttled: check again once
		 * this one can be found. */
		if (!throttled) {
			set_worker_state(e, turn, PF_WORKER_THROTTLED);
			throttled = true;
			continue;
		}
		pthread_cond_wait(&e->work, &e->lock);
		pthread_mutex_unlock(&e->lock);
		pf_window_query_memory(&e->window);
		pthread_mutex_lock(&e->lock);
	}
	set_worker_state(e, turn, PF_WORKER_READING);
	return !pf_state_is_obsolete(e, &turn->stripe);
}

bool pf_claim_count_span(struct pf_engine *e, struct pf_turn *turn,
			     struct pf_run *run, uint64_t pos,
			     uint64_t len, bool missing)
{
	E2PF_LOCKED(e);

	if (pf_state_is_obsolete(e, &turn->stripe))
		return false;
	pf_window_count_span(&e->window, run, &turn->stripe, pos, len,
			       missing);
	return true;
}

bool pf_claim_read_returned(struct pf_engine *e, struct pf_turn *turn,
				uint64_t offset, int error, uint64_t ns)
{
	pf_pool_note_progress(&e->pool, pf_state_now(e));
	if (error || ns >= PF_STALLED_NS || e->gate_waiters ||
	    e->health.stalled) {
		pthread_mutex_lock(&e->lock);
		settle(e, PF_EVENT_GATE |
			  pf_health_judge_own_read(&e->health, offset, error, ns));
		wait_while_stuck(e, turn);
		pthread_mutex_unlock(&e->lock);
	}
	return !pf_state_is_obsolete(e, &turn->stripe);
}

void pf_claim_read_stalls(struct pf_engine *e, struct pf_turn *turn,
			     uint64_t offset, uint64_t ns)
{
	E2PF_LOCKED(e);

	settle(e, pf_health_judge_own_read(&e->health, offset, 0, ns));
	set_worker_state(e, turn, PF_WORKER_THROTTLED);
}

void pf_claim_resume(struct pf_engine *e, struct pf_turn *turn)
{
	E2PF_LOCKED(e);

	set_worker_state(e, turn, PF_WORKER_READING);
}

void pf_claim_announce_units(struct pf_engine *e)
{
	E2PF_LOCKED(e);

	settle(e, pf_schedule_announce_units(&e->schedule));
}

/*
 * The checker: where it is.
 */

void pf_engine_begin_stage(struct pf_engine *e, unsigned stage)
{
	E2PF_LOCKED(e);

	pf_stats_begin_stage(&e->reads, stage, pf_state_now(e));
}

bool pf_engine_begin_phase(struct pf_engine *e,
			     const struct pf_phase *phase)
{
	E2PF_LOCKED(e);

	if (e->state == PF_STATE_IDLE || e->state == PF_STATE_STOPPING)
		return false;
	pf_schedule_forget_report(&e->schedule);
	/* The checker is about to read the blocks that were found for later, in
	 * its own order, and this phase has to stay ahead of it. */
	pf_window_drop_deferred(&e->window);
	begin_phase(e, phase);
	return true;
}

void pf_engine_report_position(struct pf_engine *e, unsigned phase, uint64_t unit)
{
	/* Store the position before checking for sleepers: a worker that goes
	 * to sleep does the two in the opposite order.  A throttled worker checks
	 * again at each report. */
	if (!pf_schedule_report(&e->schedule, phase, unit) ||
	    !e->pool.throttled)
		return;
	pthread_mutex_lock(&e->lock);
	settle(e, PF_EVENT_ROOM);
	pthread_mutex_unlock(&e->lock);
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

	/* add() runs under the lock: a worker that looked for units between the
	 * addition and its announcement would find none, see all others asleep,
	 * and end the phase. */
	add(ctx);
	if (is_in_phase(e, phase))
		settle(e, pf_schedule_announce_units(&e->schedule));
}

/*
 * Its reads, and the gate.
 */

/*
 * Whether a worker that makes progress is reading blocks that may include the
 * checker's next one.  If the checker reports its position, that is one within
 * the worker's units: a checker that reads one block before it begins must not
 * wait for all units.
 */
static bool is_worth_waiting(const struct pf_engine *e, bool disks_read)
{
	unsigned epoch = e->schedule.epoch;
	uint64_t at = 0;

	if (!e->reads.gated || !pf_state_is_reading(e) ||
	    pf_state_now(e) - e->pool.last_progress >=
	    (disks_read ? PF_GATE_PATIENCE_NS : PF_GATE_IDLE_PATIENCE_NS))
		return false;
	if (!pf_schedule_is_followed(&e->schedule))
		return pf_pool_is_reading(&e->pool, epoch, NULL);
	return pf_schedule_position(&e->schedule, &at) &&
	       pf_pool_is_reading(&e->pool, epoch, &at);
}

/* Wait for a moment.  Returns false if that is not worth it, considering that the checker
 * has waited since then, and whether a disk reads. */
static bool wait_a_moment(struct pf_engine *e, uint64_t since, bool disks_read)
{
	struct timespec ts = e2pf_deadline(GATE_CHECK_NS);
	bool worth;
	E2PF_LOCKED(e);

	worth = is_worth_waiting(e, disks_read) &&
		pf_state_now(e) - since < GATE_LIMIT_NS;
	e->gate_waiters++;
	if (worth)
		pthread_cond_timedwait(&e->gate, &e->lock, &ts);
	e->gate_waiters--;
	return worth;
}

static void left_gate(struct pf_engine *e, uint64_t since, bool served)
{
	E2PF_LOCKED(e);

	pf_gate_count_wait(&e->reads, e->health.speed.latency_ns,
			     pf_state_now(e) - since, served);
}

/* Does a signal end the check?  Then nothing waits at the gate in this phase, for the checker
 * looks only now and then whether it is to end. */
static bool is_ending(struct pf_reads *reads)
{
	sigset_t pending;
	size_t i;

	for (i = 0; i < ENDING && !sigpending(&pending); i++)
		if (sigismember(&pending, ending[i]) == 1)
			pf_gate_set(reads, false);
	return !reads->gated;
}

/* Does a disk read something?  The disks are asked only if the workers have made no
 * progress for a while. */
static bool disks_read(const struct pf_engine *e)
{
	return pf_state_now(e) - e->pool.last_progress < PF_GATE_IDLE_PATIENCE_NS ||
	       pf_health_query_disks(&e->health) == 1;
}

/*
 * Where the device seeks a read by the checker moves the head away from the
 * sweep and back.  So the checker waits until a worker has read the
 * block, or until no worker that might read it is active, or until none has
 * made progress for a while.
 */
static void wait_at_gate(struct pf_engine *e, const struct pf_read *r)
{
	struct e2pf_device *dev = e->devices[r->device];
	bool cached = false, waited = false, reads = true;
	uint64_t began = pf_state_now(e);
	sigset_t block, mask;
	size_t i;

	sigemptyset(&block);
	for (i = 0; i < ENDING; i++)
		sigaddset(&block, ending[i]);
	pthread_sigmask(SIG_BLOCK, &block, &mask);
	/* Query the kernel without holding the lock: it takes a while, and the
	 * workers need the lock to make progress. */
	while (!cached && !is_ending(&e->reads) &&
	       wait_a_moment(e, began, reads)) {
		cached = e2pf_is_cached(dev, r->offset, r->length, false);
		reads = cached || disks_read(e);
		waited = true;
	}
	/* It may have come with what ended the wait. */
	cached = cached || e2pf_is_cached(dev, r->offset, r->length, false);
	if (waited)
		left_gate(e, began, cached);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void pf_engine_before_read(struct pf_engine *e, struct pf_read *r)
{
	struct pf_reads *reads = &e->reads;
	struct e2pf_device *dev = e->devices[r->device];

	pf_stats_begin_read(reads, r, pf_state_now(e));
	/* A query takes longer than a cached read: while no worker reads, the gate needs
	 * none.  Pass 1D reads an extent block again for each block that it clones, and
	 * asking the kernel each time took a third of the check. */
	if (!e->health.stalled && !e->health.degraded &&
	    !(reads->gated && e->pool.reading))
		return;
	/* A cached read shows nothing about a stalled device. */
	r->missed = !e2pf_is_cached(dev, r->offset, r->length, false);
	r->waited = r->missed && reads->gated &&
		    pf_gate_may_come(reads, dev, r);
	if (!r->waited)
		return;
	wait_at_gate(e, r);
	r->passed_gate = pf_state_now(e);
}

bool pf_monitor_checker_read(struct pf_engine *e,
			       const struct pf_read *r, bool *ahead)
{
	uint64_t now = pf_state_now(e);
	bool stalled = pf_stats_is_stall(&e->reads, r, now - r->began);
	unsigned events;
	E2PF_LOCKED(e);

	events = pf_window_mark_read(&e->window, r, ahead);
	if (stalled)
		events |= pf_health_judge_checker_read(&e->health, r,
						    now - r->passed_gate);
	return settle(e, events |
			 pf_stats_count_read(&e->reads, r, stalled, now));
}

bool pf_engine_read_failed(struct pf_engine *e,
			     const struct pf_read *r)
{
	/* Without a request of ours the read has failed by itself. */
	bool again = pf_reads_failed(&e->reads, e->devices[r->device], r,
				       e->source->grain) &&
		     e->reads.requests;
	E2PF_LOCKED(e);

	settle(e, pf_health_judge_failed_read(&e->health, r->offset));
	return again;
}

/*
 * Statistics.
 */

bool pf_engine_reads_ahead(struct pf_engine *e)
{
	return (pf_state_is_reading(e) && !pf_health_limits_requests(&e->health)) ||
	       e->state == PF_STATE_ASLEEP;
}

/* What is known of the checker. */
static void count_checker(struct pf_engine *e,
			  struct pf_engine_stats *stats)
{
	const struct pf_reads *c = &e->reads;
	uint64_t since = c->reading_since, now = pf_state_now(e);

	memcpy(stats->stage, c->stages, sizeof(stats->stage));
	stats->stage[c->stage].ns += now - c->stage_began;
	stats->at_stage = c->stage;
	stats->stall_ns = c->stall_ns;
	stats->checker_bytes = c->bytes;
	stats->gate_waits = c->gate_waits;
	stats->lost_ns = c->lost_ns;
	stats->reading_ns = since && since < now ? now - since : 0;
	stats->reading_at = c->reading_at;
	if (!pf_schedule_last_report(&e->schedule, &stats->at_phase, &stats->at)) {
		stats->at_phase = PF_NO_PHASE;
		stats->at = 0;
	}
}

/* What the workers have done, and what is known of the device. */
static void count_workers(struct pf_engine *e,
			  struct pf_engine_stats *stats)
{
	const struct pf_window *w = &e->window;
	const struct pf_health *p = &e->health;
	const struct pf_pool *pool = &e->pool;

	*stats = (struct pf_engine_stats) {
		.planned_bytes = w->planned_bytes,
		.prefetched_bytes = w->prefetched_bytes,
		.prefetched_requests = e->reads.requests,
		.wasted_bytes = pf_window_unread_bytes(w) + w->unused,
		.errors = p->errors,
		.gave_up = e->gave_up,
		.slow_or_failed = p->degraded,
		.degraded_at = p->degraded_at,
		.speed = p->speed,
		.unmeasured = p->unmeasured,
		.threads = pool->threads_most
	};
}

bool pf_engine_get_stats(struct pf_engine *e, int milliseconds,
			   struct pf_engine_stats *stats)
{
	if (!e2pf_lock_within(&e->lock, milliseconds))
		return false;
	count_workers(e, stats);
	count_checker(e, stats);
	pthread_mutex_unlock(&e->lock);
	return true;
}
