/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <signal.h>

#include "cached.h"
#include "core.h"

/* A checker at the gate goes on when no worker has made progress for
 * GATE_PATIENCE_NS, or, where no disk is known to read, for IDLE_PATIENCE_NS; or after
 * GATE_LIMIT_NS in all: a single read of its own in this time hardly delays the
 * elevator pass. */
#define GATE_PATIENCE_NS 1000000000ull
#define IDLE_PATIENCE_NS 50000000ull
#define GATE_LIMIT_NS 5000000000ull

/* The gate stays open for the rest of the phase when more time was lost at it than
 * LOST_READS reads of the checker's own take, and a LOST_PART of what those took that
 * it has saved.  A read for which the latency was not measured takes LATENCY_NS. */
#define LOST_READS 4u
#define LOST_PART 20u
#define LATENCY_NS 10000000u

/* How often a checker at the gate checks whether its block is cached. */
#define GATE_CHECK_NS 20000000u

/* Large reads take longer than E2PF_STALL_NS from memory, too: 128 KiB 20 us. */
#define STALL_NS_PER_KIB 500u

/* After this time nothing that was asked for is in flight: longer than disks try a bad
 * sector. */
#define IN_FLIGHT_NS 120000000000ull

/* Everything seemed cached, but is not if this many reads had to wait, of at most
 * 16 times as many: a busy machine delays some, too. */
#define WARM_MISSES 128u

/* The checker ends a stage; the lock is held. */
static void end_stage(struct e2pf_engine *e)
{
	struct e2pf_checker *c = &e->checker;
	uint64_t now = e2pf_now(e);

	c->stages[c->stage].ns += now - c->stage_began;
	c->stage_began = now;
}

void e2pf_checker_init(struct e2pf_engine *e)
{
	struct e2pf_checker *c = &e->checker;

	atomic_init(&c->at, E2PF_NOWHERE);
	e2pf_cond_init(&c->gate);
	c->stage_began = e2pf_now(e);
}

void e2pf_checker_destroy(struct e2pf_engine *e)
{
	pthread_cond_destroy(&e->checker.gate);
}

void e2pf_checker_start(struct e2pf_engine *e)
{
	e2pf_assert_held(e);
	e->checker.at = E2PF_NOWHERE;
	e->checker.sleep_misses = 0;
}

void e2pf_checker_stop(struct e2pf_engine *e)
{
	e2pf_assert_held(e);
	e->checker.gated = false;
	e2pf_checker_open_gate(e);
}

void e2pf_checker_phase_begins(struct e2pf_engine *e)
{
	e2pf_assert_held(e);
	e->checker.gated = e->pool.workers && e->cfg.paced &&
			   e->pacing.speed.has_head && !e->cfg.ungated &&
			   e->schedule.phase->gated;
}

void e2pf_checker_open_gate(struct e2pf_engine *e)
{
	if (e->checker.gate_waiters)
		pthread_cond_broadcast(&e->checker.gate);
}

/*
 * Its position.
 */

static uint64_t pack_at(unsigned phase, uint64_t unit)
{
	return (uint64_t)phase << E2PF_AT_UNIT_BITS | (unit & E2PF_AT_UNITS);
}

bool e2pf_checker_at(const struct e2pf_engine *e, uint64_t *unit)
{
	const struct e2pf_phase *phase = e->schedule.phase;
	uint64_t at = e->checker.at;

	*unit = at & E2PF_AT_UNITS;
	return at != E2PF_NOWHERE && phase &&
	       at >> E2PF_AT_UNIT_BITS == phase->number;
}

bool e2pf_passed(const struct e2pf_engine *e, uint64_t unit)
{
	uint64_t at;

	return e2pf_is_followed(e) && e2pf_checker_at(e, &at) && unit < at;
}

void e2pf_engine_stage(struct e2pf_engine *e, unsigned stage)
{
	e2pf_lock(&e->lock);
	end_stage(e);
	e->checker.stage = stage;
	e2pf_unlock(&e->lock);
}

bool e2pf_engine_begin_phase(struct e2pf_engine *e,
			     const struct e2pf_phase *phase)
{
	bool begun;

	e2pf_lock(&e->lock);
	begun = e->run != E2PF_RUN_IDLE && e->run != E2PF_RUN_STOPPING;
	if (begun) {
		e->checker.at = E2PF_NOWHERE;
		/* What was found for later is about to be read by the checker, in
		 * its own order, and this phase has to stay ahead of it. */
		e2pf_window_drop_later(e);
		e2pf_schedule_begin(e, phase);
	}
	e2pf_unlock(&e->lock);
	return begun;
}

void e2pf_engine_wake(struct e2pf_engine *e)
{
	e2pf_lock(&e->lock);
	if (e->run == E2PF_RUN_ASLEEP)
		e2pf_start_reading(e);
	e2pf_unlock(&e->lock);
}

void e2pf_engine_at(struct e2pf_engine *e, unsigned phase, uint64_t unit)
{
	uint64_t at = pack_at(phase, unit);

	if (e->checker.at == at)
		return;
	/* Store the position before checking for sleepers: a worker that goes
	 * to sleep does the two in the opposite order.  A throttled worker checks
	 * again at each report. */
	e->checker.at = at;
	if (!e->pool.throttled)
		return;
	e2pf_lock(&e->lock);
	e2pf_pool_wake_throttled(e);
	e2pf_unlock(&e->lock);
}

/* The lock is held. */
static bool is_in_phase(const struct e2pf_engine *e, unsigned number)
{
	const struct e2pf_phase *phase = e->schedule.phase;

	return phase && phase->number == number;
}

bool e2pf_engine_in_phase(struct e2pf_engine *e, unsigned phase)
{
	bool in_phase;

	e2pf_lock(&e->lock);
	in_phase = is_in_phase(e, phase) && e2pf_is_reading(e);
	e2pf_unlock(&e->lock);
	return in_phase;
}

void e2pf_engine_add_units(struct e2pf_engine *e, unsigned phase,
			   void (*add)(void *ctx), void *ctx)
{
	e2pf_lock(&e->lock);
	/* add() runs under the lock: a worker that looked for units between the
	 * addition and its announcement would find none, see all others asleep,
	 * and end the phase. */
	add(ctx);
	if (is_in_phase(e, phase))
		e2pf_schedule_tell_news(e);
	e2pf_unlock(&e->lock);
}

/*
 * The gate.
 */

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
			e->checker.ending = true;
	return e->checker.ending;
}

/*
 * Whether a worker that makes progress is reading blocks that may include the
 * checker's next one.  If the checker reports its position, that is one within
 * the worker's units: a checker that reads one block before it begins must not
 * wait for all units.
 */
static bool is_worth_waiting(struct e2pf_engine *e, bool disks_read)
{
	uint64_t at = 0;

	e2pf_assert_held(e);
	if (!e->checker.gated || !e2pf_is_reading(e) || is_ending(e) ||
	    e2pf_now(e) - e->pool.last_progress >=
	    (disks_read ? GATE_PATIENCE_NS : IDLE_PATIENCE_NS))
		return false;
	if (!e2pf_is_followed(e))
		return e2pf_pool_is_reading(e, NULL);
	return e2pf_checker_at(e, &at) && e2pf_pool_is_reading(e, &at);
}

/* Does a disk read something?  Asked only if the workers seem to wait in vain. */
static bool disks_read(const struct e2pf_engine *e)
{
	return e2pf_now(e) - e->pool.last_progress < IDLE_PATIENCE_NS ||
	       e2pf_pacing_disks_read(e) == 1;
}

/* A wait at the gate has ended after `ns`; `served`: with the block. */
static void settle_wait(struct e2pf_engine *e, uint64_t ns, bool served)
{
	struct e2pf_checker *c = &e->checker;
	uint64_t latency = e->pacing.speed.latency_ns;

	e2pf_assert_held(e);
	if (!latency)
		latency = LATENCY_NS;
	c->served += served;
	if (served)
		return;
	c->lost_ns += ns;
	if (!c->gated || c->lost_ns <=
	    latency * LOST_READS + latency * c->served / LOST_PART)
		return;
	c->gated = false;
	c->gate_opened = "blocks that were waited for did not come";
}

/*
 * On a rotational disk a read by the checker moves the head away from the
 * elevator pass and back.  So the checker waits until a worker has read the
 * block, or until no worker that might read it is active, or until none has
 * made progress for a while.
 */
static void wait_at_gate(struct e2pf_engine *e, const struct e2pf_read *r)
{
	struct e2pf_checker *c = &e->checker;
	struct e2pf_device *dev = e->devices[r->device];
	sigset_t block, mask;
	bool cached = false, reads = true;
	uint64_t began;
	size_t i;

	sigemptyset(&block);
	for (i = 0; i < ENDING; i++)
		sigaddset(&block, ending[i]);
	pthread_sigmask(SIG_BLOCK, &block, &mask);
	e2pf_lock(&e->lock);
	began = e2pf_now(e);
	c->gate_waiters++;
	c->gate_waits += is_worth_waiting(e, reads);
	while (!cached && is_worth_waiting(e, reads) &&
	       e2pf_now(e) - began < GATE_LIMIT_NS) {
		struct timespec ts = e2pf_deadline(GATE_CHECK_NS);

		e2pf_wait_until(&c->gate, &e->lock, &ts);
		/* Query the kernel without holding the lock: it takes a while,
		 * and the workers need the lock to make progress. */
		e2pf_unlock(&e->lock);
		cached = e2pf_is_cached(dev, r->offset, r->length);
		reads = cached || disks_read(e);
		e2pf_lock(&e->lock);
	}
	c->gate_waiters--;
	if (!cached) {
		/* It may have come with what ended the wait. */
		e2pf_unlock(&e->lock);
		cached = e2pf_is_cached(dev, r->offset, r->length);
		e2pf_lock(&e->lock);
	}
	settle_wait(e, e2pf_now(e) - began, cached);
	e2pf_unlock(&e->lock);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/*
 * Its reads.
 */

/* One of the last blocks is in memory, mostly in libext2fs's own cache: pass 1D
 * reads an extent block again for each block that it clones, and asking the kernel
 * each time took a third of the check. */
static bool was_read_lately(struct e2pf_engine *e, const struct e2pf_read *r)
{
	uint64_t slot = r->offset / e->source->grain % E2PF_LATELY;
	uint64_t key = (r->offset ^ (uint64_t)r->device << 56) + 1;

	return atomic_exchange_explicit(&e->checker.lately[slot], key,
					memory_order_relaxed) == key;
}

unsigned e2pf_checker_request(struct e2pf_engine *e, unsigned device,
			      uint64_t offset, uint32_t length)
{
	struct e2pf_device *dev = e->devices[device];
	struct e2pf_checker *c = &e->checker;
	unsigned slot = atomic_fetch_add(&c->next_requested, 1) % E2PF_REQUESTED;
	struct e2pf_requested *r = &c->requested[slot];
	unsigned requests;

	/* Whoever looks meanwhile may take two requests for one that is as long as
	 * the first and where the second is: then something counts as in flight
	 * that is not. */
	r->offset = offset;
	r->device = device;
	r->length = length;
	r->asking = true;
	if (offset <= c->alone_end && offset + length >= c->alone_at)
		c->alone_at = E2PF_NOWHERE;
	/* This may block while the device's queue is full. */
	requests = dev->ops->willneed(dev, offset, length);
	r->asking = false;
	return requests;
}

/* The request for this byte among the last ones of the workers, or NULL. */
static const struct e2pf_requested *request_of(const struct e2pf_engine *e,
					       unsigned device, uint64_t offset)
{
	const struct e2pf_requested *r = e->checker.requested;
	unsigned i;

	for (i = 0; i < E2PF_REQUESTED; i++, r++)
		if (r->length && r->device == device &&
		    offset - r->offset < r->length)
			return r;
	return NULL;
}

/* Might the page of this byte be in flight?  A page that no worker has requested may
 * have been written in part.  The kernel drops a page that could not be read, but not
 * one that is being read. */
static bool may_be_in_flight(struct e2pf_engine *e, unsigned device,
			     uint64_t offset)
{
	struct e2pf_device *dev = e->devices[device];
	const struct e2pf_requested *request;
	enum e2pf_residency state;

	if (offset >= dev->size || e2pf_is_cached(dev, offset, 1))
		return false;
	request = request_of(e, device, offset);
	if (!request || request->asking)
		return request;
	if (dev->ops->forget)
		dev->ops->forget(dev, offset - offset % dev->page_size,
				 dev->page_size);
	dev->ops->span(dev, offset, 1, &state);
	return state == E2PF_HELD || !dev->sees_held;
}

/* Is nothing in flight beside this read, which the block layer could merge with it? */
static bool is_alone(struct e2pf_engine *e, const struct e2pf_read *r)
{
	return (!r->offset || !may_be_in_flight(e, r->device, r->offset - 1)) &&
	       !may_be_in_flight(e, r->device, r->offset + r->length);
}

/* Will a worker read this for the checker, or has it been requested?  Not if a page of
 * it is in the cache that no worker has requested: nobody may be reading that. */
static bool may_come(struct e2pf_engine *e, const struct e2pf_read *r)
{
	struct e2pf_device *dev = e->devices[r->device];
	uint64_t at = r->offset, end = at + r->length, len;
	enum e2pf_residency state;

	for (; at < end; at += len) {
		len = dev->ops->span(dev, at, end - at, &state);
		if (state == E2PF_HELD && !request_of(e, r->device, at))
			return false;
	}
	return true;
}

void e2pf_engine_before_read(struct e2pf_engine *e, struct e2pf_read *r)
{
	struct e2pf_checker *c = &e->checker;

	r->began = r->passed_gate = e2pf_now(e);
	atomic_store_explicit(&c->reading_at, r->offset, memory_order_relaxed);
	atomic_store_explicit(&c->reading_since, r->began,
			      memory_order_relaxed);
	c->alone_at = E2PF_NOWHERE;
	r->waited = r->missed = false;
	if (was_read_lately(e, r) ||
	    (!e->pacing.stuck && !e->pacing.suspect && !c->gated))
		return;
	/* A cached read shows nothing about a stuck device. */
	r->missed = !e2pf_is_cached(e->devices[r->device], r->offset,
				    r->length);
	if (r->missed) {
		/* Said before it is looked at: what is requested later takes it
		 * back. */
		c->alone_end = r->offset + r->length;
		c->alone_at = r->offset;
		if (!is_alone(e, r))
			c->alone_at = E2PF_NOWHERE;
	}
	r->waited = r->missed && c->gated && may_come(e, r);
	if (!r->waited)
		return;
	wait_at_gate(e, r);
	r->passed_gate = e2pf_now(e);
}

/* Whether this read waited for the device, judging by its time.  A query of the
 * kernel before each read would cost more than the read (mincore() 0.9 us, a
 * cached block 0.6 us). */
static bool was_stall(const struct e2pf_read *r, uint64_t ns)
{
	return r->waited ||
	       ns > E2PF_STALL_NS + r->length / 1024 * STALL_NS_PER_KIB;
}

/* Everything seemed cached.  It is not if one read in sixteen waits; rarer
 * waits are due to other processes on this processor. */
static void count_sleep_miss(struct e2pf_engine *e)
{
	struct e2pf_checker *c = &e->checker;
	uint64_t reads = 0;
	unsigned i;

	for (i = 0; i < E2PF_STAGES; i++)
		reads += c->stages[i].reads;
	if (!c->sleep_misses || reads - c->sleep_since > WARM_MISSES * 16) {
		c->sleep_since = reads;
		c->sleep_misses = 0;
	}
	if (++c->sleep_misses >= WARM_MISSES)
		e2pf_start_reading(e);
}

/* The part of this wait that is not counted yet.  Reads of several threads may
 * wait at the same time, but the waits of a stage must not add up to more than
 * the stage. */
static uint64_t new_wait(struct e2pf_engine *e, const struct e2pf_read *r,
			 uint64_t now)
{
	struct e2pf_checker *c = &e->checker;
	uint64_t from = r->began;

	if (from < c->stalled_until)
		from = c->stalled_until;
	if (from < c->stage_began)
		from = c->stage_began;
	if (from >= now)
		return 0;
	c->stalled_until = now;
	return now - from;
}

/* Count a read that waited until `now`. */
static void count_stall(struct e2pf_engine *e, const struct e2pf_read *r,
			uint64_t now)
{
	struct e2pf_checker *c = &e->checker;
	uint64_t ns = new_wait(e, r, now);

	e2pf_assert_held(e);
	c->stages[c->stage].stalls++;
	c->stages[c->stage].stall_ns += ns;
	if (e->run == E2PF_RUN_ASLEEP)
		count_sleep_miss(e);
}

bool e2pf_engine_after_read(struct e2pf_engine *e, const struct e2pf_read *r)
{
	struct e2pf_checker *c = &e->checker;
	bool stalled, ahead;
	uint64_t ns, now;

	atomic_store_explicit(&c->reading_since, 0, memory_order_relaxed);
	now = e2pf_now(e);
	ns = now - r->began;
	stalled = was_stall(r, ns);
	e2pf_lock(&e->lock);
	c->stages[c->stage].reads++;
	c->stages[c->stage].hits += !stalled;
	c->bytes += r->length;
	ahead = e2pf_window_forget(e, r->device, r->offset, r->length);
	if (stalled) {
		e2pf_pacing_judge_checker(e, r, now - r->passed_gate);
		count_stall(e, r, now);
	}
	e2pf_unlock(&e->lock);
	return ahead;
}

bool e2pf_engine_may_read_again(struct e2pf_engine *e, uint64_t offset)
{
	struct e2pf_checker *c = &e->checker;
	uint64_t requested = e->pool.last_request;
	bool in_flight;

	e2pf_lock(&e->lock);
	/* Workers that have ended or given up have left theirs in flight. */
	in_flight = requested && e2pf_now(e) - requested < IN_FLIGHT_NS &&
		    c->alone_at != offset;
	e2pf_pacing_read_failed(e, offset);
	e2pf_unlock(&e->lock);
	/* It is not in memory. */
	c->lately[offset / e->source->grain % E2PF_LATELY] = 0;
	return in_flight;
}

/*
 * What is known of it.
 */

void e2pf_checker_stats(struct e2pf_engine *e, struct e2pf_engine_stats *stats)
{
	const struct e2pf_checker *c = &e->checker;
	unsigned i;

	e2pf_assert_held(e);
	end_stage(e);
	for (i = 0; i < E2PF_STAGES; i++)
		stats->stage[i] = c->stages[i];
	stats->checker_bytes = c->bytes;
	stats->gate_waits = c->gate_waits;
	stats->lost_ns = c->lost_ns;
	stats->gate_opened = c->gate_opened;
}

void e2pf_checker_get_progress(struct e2pf_engine *e,
			       struct e2pf_engine_progress *progress)
{
	const struct e2pf_checker *c = &e->checker;
	uint64_t now = e2pf_now(e), at = c->at, since = c->reading_since;
	unsigned i;

	e2pf_assert_held(e);
	progress->stage = c->stage;
	for (i = 0; i < E2PF_STAGES; i++)
		progress->stall_ns += c->stages[i].stall_ns;
	progress->checker_bytes = c->bytes;
	progress->reading_ns = since && since < now ? now - since : 0;
	progress->reading_at = c->reading_at;
	if (at != E2PF_NOWHERE) {
		progress->at_phase = (int)(at >> E2PF_AT_UNIT_BITS);
		progress->at = at & E2PF_AT_UNITS;
	}
}
