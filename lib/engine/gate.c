/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The checker's side of the engine: its position, its reads, and when it waits
 * at the gate for a worker to read the block that it needs next.
 */
#include <inttypes.h>
#include <signal.h>
#include <time.h>

#include "engine_state.h"

/* A checker at the gate goes on when no worker has made progress for
 * GATE_PATIENCE_NS, or after GATE_LIMIT_NS in all: a single read of its own in
 * this time hardly delays the elevator pass. */
#define GATE_PATIENCE_NS 1000000000ull
#define GATE_LIMIT_NS 5000000000ull

/* How often a checker at the gate checks whether its block is cached. */
#define GATE_LOOK_NS 20000000u

/* Large reads take longer than STALL_NS from memory, too: 128 KiB 20 us. */
#define STALL_NS_PER_KIB 500u

/* Everything seemed cached, but is not if this many reads had to wait, of at most
 * 16 times as many: a busy machine delays some, too. */
#define WARM_MISSES 128u

void e2pf_engine_stage(struct e2pf_engine *e, unsigned stage)
{
	pthread_mutex_lock(&e->lock);
	e2pf_end_stage(e);
	e->stage = stage;
	e2pf_trace(e, "[\"stage\",%" PRIu64 ",%u]\n",
			 e->stage_began, stage);
	pthread_mutex_unlock(&e->lock);
}

bool e2pf_engine_begin_phase(struct e2pf_engine *e,
			     const struct e2pf_phase *phase)
{
	bool begun;

	pthread_mutex_lock(&e->lock);
	begun = e->phase && !e->stop;
	if (begun) {
		atomic_store(&e->at, E2PF_NOWHERE);
		/* The checker is about to read the deferred blocks itself, in
		 * its own order, and this phase has to stay ahead of it. */
		e->later_bytes = 0;
		e2pf_set_phase(e, phase);
	}
	pthread_mutex_unlock(&e->lock);
	return begun;
}

void e2pf_engine_wake(struct e2pf_engine *e)
{
	pthread_mutex_lock(&e->lock);
	if (e->asleep)
		e2pf_wake(e);
	pthread_mutex_unlock(&e->lock);
}

void e2pf_engine_at(struct e2pf_engine *e, unsigned phase, uint64_t unit)
{
	uint64_t at = e2pf_pack_at(phase, unit);

	if (atomic_load(&e->at) == at)
		return;
	/* Store the position before checking for sleepers: a worker that goes
	 * to sleep does the two in the opposite order.  A throttled worker checks
	 * again at each report. */
	atomic_store(&e->at, at);
	if (!e->throttled)
		return;
	pthread_mutex_lock(&e->lock);
	pthread_cond_broadcast(&e->work_cond);
	pthread_mutex_unlock(&e->lock);
}

/* The lock is held. */
static bool is_in_phase(const struct e2pf_engine *e, unsigned number)
{
	const struct e2pf_phase *phase = e->phase;

	return phase && phase->number == number;
}

bool e2pf_engine_in_phase(struct e2pf_engine *e, unsigned phase)
{
	bool in_phase;

	pthread_mutex_lock(&e->lock);
	in_phase = is_in_phase(e, phase) && e->workers && !e->stop;
	pthread_mutex_unlock(&e->lock);
	return in_phase;
}

void e2pf_engine_add_units(struct e2pf_engine *e, unsigned phase,
			   void (*add)(void *ctx), void *ctx)
{
	pthread_mutex_lock(&e->lock);
	/* add() runs under the lock: a worker that looked for units between the
	 * addition and its announcement would find none, see all others asleep,
	 * and end the phase. */
	add(ctx);
	if (is_in_phase(e, phase))
		e2pf_tell_news(e);
	pthread_mutex_unlock(&e->lock);
}

/* Signals by which a user ends the check.  The checker blocks them while it
 * waits. */
static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define ENDING (sizeof(ending) / sizeof(ending[0]))

/* Is one of these signals pending?  From then on nothing may wait at the
 * gate. */
static bool is_ending(struct e2pf_engine *e)
{
	sigset_t pending;
	size_t i;

	for (i = 0; i < ENDING && !sigpending(&pending); i++)
		if (sigismember(&pending, ending[i]) == 1)
			e->ending = true;
	return e->ending;
}

/*
 * Whether a worker that makes progress is reading blocks that may include the
 * checker's next one.  If the checker reports its position, that is one within
 * the worker's units: a checker that reads one block before it begins must not
 * wait for all units.
 */
static bool is_worth_waiting(struct e2pf_engine *e)
{
	uint64_t at = 0;
	unsigned i;

	if (!e->gated || e->stop || e->gave_up || is_ending(e) ||
	    e2pf_now(e) - e->last_progress >= GATE_PATIENCE_NS ||
	    (e2pf_is_followed(e) && !e2pf_checker_at(e, &at)))
		return false;
	for (i = 0; i < e->workers; i++) {
		const struct worker *w = &e->worker[i];

		if (w->state == WORKER_READING && w->epoch == e->epoch &&
		    (!e2pf_is_followed(e) ||
		     (w->first <= at && at <= w->last)))
			return true;
	}
	return false;
}

/*
 * On a rotational disk a read by the checker moves the head away from the
 * elevator pass and back.  So the checker waits until a worker has read the
 * block, or until no worker that might read it is active, or until none has
 * made progress for a while.
 */
static void wait_at_gate(struct e2pf_engine *e, const struct e2pf_read *r)
{
	sigset_t block, mask;
	uint64_t began;
	bool cached = false;
	size_t i;

	sigemptyset(&block);
	for (i = 0; i < ENDING; i++)
		sigaddset(&block, ending[i]);
	pthread_sigmask(SIG_BLOCK, &block, &mask);
	pthread_mutex_lock(&e->lock);
	began = e2pf_now(e);
	e->gate_waiters++;
	e->stats.gate_waits += is_worth_waiting(e);
	while (!cached && is_worth_waiting(e) &&
	       e2pf_now(e) - began < GATE_LIMIT_NS) {
		struct timespec ts = e2pf_deadline(GATE_LOOK_NS);

		pthread_cond_timedwait(&e->gate_cond, &e->lock, &ts);
		/* Query the kernel without holding the lock: it takes a while,
		 * and the workers need the lock to make progress. */
		pthread_mutex_unlock(&e->lock);
		cached = e2pf_is_resident(e, r->device, r->offset, r->length);
		pthread_mutex_lock(&e->lock);
	}
	e->gate_waiters--;
	pthread_mutex_unlock(&e->lock);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* One of the last blocks is in memory, mostly in libext2fs's own cache: pass 1D
 * reads an extent block again for each block that it clones, and asking the kernel
 * each time took a third of the check. */
static bool was_read_lately(struct e2pf_engine *e, const struct e2pf_read *r)
{
	uint64_t place = r->offset / e->cfg.source->grain % LATELY;
	uint64_t key = (r->offset ^ (uint64_t)r->device << 56) + 1;

	return atomic_exchange_explicit(&e->lately[place], key,
					memory_order_relaxed) == key;
}

void e2pf_engine_before_read(struct e2pf_engine *e, struct e2pf_read *r)
{
	r->began = r->asked = e2pf_now(e);
	atomic_store_explicit(&e->reading_at, r->offset, memory_order_relaxed);
	atomic_store_explicit(&e->reading_since, r->began,
			      memory_order_relaxed);
	r->waited = r->missed = false;
	if (was_read_lately(e, r) ||
	    (!e->stuck && !e->gated))
		return;
	/* A cached read shows nothing about a stuck device. */
	r->missed = !e2pf_is_resident(e, r->device, r->offset, r->length);
	r->waited = r->missed && e->gated;
	if (!r->waited)
		return;
	wait_at_gate(e, r);
	r->asked = e2pf_now(e);
}

/* Whether this read waited for the device, judging by its time.  A query of the
 * kernel before each read would cost more than the read (mincore() 0.9 us, a
 * cached block 0.6 us). */
static bool was_stall(const struct e2pf_read *r, uint64_t ns)
{
	return r->waited || ns > STALL_NS + r->length / 1024 * STALL_NS_PER_KIB;
}

/* Everything seemed cached.  It is not if one read in sixteen waits; rarer
 * waits are due to other processes on this processor. */
static void count_sleep_miss(struct e2pf_engine *e)
{
	uint64_t reads = 0;
	unsigned i;

	for (i = 0; i < E2PF_STAGES; i++)
		reads += e->stats.stage[i].reads;
	if (!e->sleep_misses ||
	    reads - e->sleep_since > WARM_MISSES * 16) {
		e->sleep_since = reads;
		e->sleep_misses = 0;
	}
	if (++e->sleep_misses >= WARM_MISSES)
		e2pf_wake(e);
}

/* A checker's read shows whether the device is stuck, or no longer is. */
static void judge_device(struct e2pf_engine *e, const struct e2pf_read *r,
			 uint64_t ns)
{
	if (ns >= STUCK_NS)
		e->stuck = STUCK_PROOFS;
	else if (r->missed && e->stuck && ns < STUCK_NS / 4 && !--e->stuck)
		pthread_cond_broadcast(&e->work_cond);
}

/* The part of this wait that is not counted yet.  Reads of several threads may
 * wait at the same time, but the waits of a stage must not add up to more than
 * the stage. */
static uint64_t new_wait(struct e2pf_engine *e, const struct e2pf_read *r,
			 uint64_t now)
{
	uint64_t from = r->began;

	if (from < e->stalled_until)
		from = e->stalled_until;
	if (from < e->stage_began)
		from = e->stage_began;
	if (from >= now)
		return 0;
	e->stalled_until = now;
	return now - from;
}

/* The checker has read these places: they are no longer ahead of it.  Returns
 * true if any of them was.  The lock is held. */
static bool forget_read(struct e2pf_engine *e, const struct e2pf_read *r)
{
	uint64_t bytes = e->cfg.source->bytes[r->device], first, n;
	uint64_t end = r->offset + r->length;

	if (r->offset >= bytes || !r->length)
		return false;
	first = e2pf_place(e, r->device, r->offset);
	n = e2pf_place(e, r->device, (end < bytes ? end : bytes) - 1) - first;
	n = e2pf_blockset_remove(&e->ahead, first, n + 1);
	/* If the checker does not report its position, its reads make room in
	 * the budget. */
	if (n && e->throttled && !e2pf_is_followed(e) &&
	    e2pf_ahead_bytes(e) < e->budget)
		pthread_cond_broadcast(&e->work_cond);
	return n;
}

/* Count a read that waited until `now`; `ahead`: for what had been read ahead.
 * The lock is held. */
static void count_stall(struct e2pf_engine *e, const struct e2pf_read *r,
			uint64_t now, bool ahead)
{
	uint64_t ns = new_wait(e, r, now);

	judge_device(e, r, now - r->asked);
	e->stats.stage[e->stage].stalls++;
	e->stats.stage[e->stage].stall_ns += ns;
	e->stats.own_stall_ns += ahead ? 0 : ns;
	if (e->asleep)
		count_sleep_miss(e);
}

bool e2pf_engine_after_read(struct e2pf_engine *e, const struct e2pf_read *r)
{
	struct e2pf_stage_stats *stage;
	bool stalled, ahead;
	uint64_t ns, t;

	atomic_store_explicit(&e->reading_since, 0, memory_order_relaxed);
	t = e2pf_now(e);
	ns = t - r->began;
	stalled = was_stall(r, ns);
	e2pf_trace(e, "[\"%s\",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		   "]\n", stalled ? "wait" : "hit", r->began, r->offset,
		   r->length, ns);
	pthread_mutex_lock(&e->lock);
	stage = &e->stats.stage[e->stage];
	stage->reads++;
	stage->hits += !stalled;
	e->stats.checker_bytes += r->length;
	ahead = forget_read(e, r);
	if (stalled)
		count_stall(e, r, t, ahead);
	pthread_mutex_unlock(&e->lock);
	return ahead;
}
