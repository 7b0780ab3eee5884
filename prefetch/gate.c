/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <signal.h>

#include "gate.h"
#include "state.h"
#include "trace.h"

/* A read waits at most this long at the gate.  One read of the checker's own in this time
 * hardly delays a worker's sweep. */
#define MAX_WAIT_NS 5000000000ull

/* How often a checker at the gate checks whether its block is cached. */
#define CHECK_NS 20000000u

/* The gate opens for the rest of the phase when it has cost too much time: more than
 * LOST_READS reads of the checker take, plus 1 / LOST_PART of the time of the reads
 * that it has saved.  A read takes the device's latency, or LATENCY_NS if that was not
 * measured. */
#define LOST_READS 4u
#define LOST_PART 20u
#define LATENCY_NS 10000000u

/* Signals by which a user ends the check.  A thread of the checker blocks them while it
 * waits at the gate. */
static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define ENDING (sizeof(ending) / sizeof(ending[0]))

void pf_gate_set_closed(struct pf_gate *gate, bool closed)
{
	gate->closed = closed;
}

/*
 * Returns true if a worker makes progress, and may be about to read the checker's
 * block.  If the checker reports its position, that position must be within the
 * worker's units, so that a checker that reads one block before it begins does not wait
 * for all units.
 */
static bool is_worth_waiting(const struct pf_engine *e, bool disks_read)
{
	unsigned epoch = e->schedule.epoch;
	uint64_t unit = 0;

	if (!e->gate.closed || !pf_state_is_reading(e) ||
	    pf_state_now(e) - e->pool.last_progress >=
	    (disks_read ? PF_GATE_PATIENCE_NS : PF_GATE_IDLE_PATIENCE_NS))
		return false;
	if (!pf_schedule_is_followed(&e->schedule))
		return pf_pool_is_reading(&e->pool, epoch, NULL);
	return pf_schedule_position(&e->schedule, &unit) &&
	       pf_pool_is_reading(&e->pool, epoch, &unit);
}

/* Wait for CHECK_NS.  Returns false, without a wait, if waiting is not worth it: the
 * checker has waited since `since`, and `disks_read` tells whether a disk is reading. */
static bool wait_a_moment(struct pf_engine *e, uint64_t since, bool disks_read)
{
	struct timespec ts = e2pf_deadline(CHECK_NS);
	bool worth;
	E2PF_LOCKED(e);

	worth = is_worth_waiting(e, disks_read) &&
		pf_state_now(e) - since < MAX_WAIT_NS;
	e->gate.waiters++;
	if (worth)
		pthread_cond_timedwait(&e->gate_opens, &e->lock, &ts);
	e->gate.waiters--;
	return worth;
}

void pf_gate_count_wait(struct pf_gate *gate, uint64_t latency, uint64_t ns,
			bool served)
{
	if (!latency)
		latency = LATENCY_NS;
	gate->waits++;
	gate->served += served;
	if (served)
		return;
	gate->lost_ns += ns;
	if (gate->lost_ns > latency * LOST_READS +
	    latency * gate->served / LOST_PART)
		gate->closed = false;
}

static void leave_gate(struct pf_engine *e, uint64_t since, bool served)
{
	E2PF_LOCKED(e);

	pf_gate_count_wait(&e->gate, e->health.speed.latency_ns,
			   pf_state_now(e) - since, served);
}

/* Returns true if a signal is about to end the check, or the gate is open.  Such a signal
 * opens the gate for the rest of the phase, because the checker notices it only between
 * reads. */
static bool is_check_ending(struct pf_gate *gate)
{
	sigset_t pending;
	size_t i;

	for (i = 0; i < ENDING && !sigpending(&pending); i++)
		if (sigismember(&pending, ending[i]) == 1)
			pf_gate_set_closed(gate, false);
	return !gate->closed;
}

/* Returns true if a disk is reading, or if a worker has made progress a moment ago: then
 * the disks' counters need not be read. */
static bool do_disks_read(const struct pf_engine *e)
{
	return pf_state_now(e) - e->pool.last_progress <
	       PF_GATE_IDLE_PATIENCE_NS ||
	       pf_health_query_disks(&e->health) == 1;
}

static void wait_at_gate(struct pf_engine *e, const struct pf_read *r)
{
	struct pf_device *dev = e->devices[r->device];
	bool cached = false, waited = false, disks_read = true;
	uint64_t began = pf_state_now(e);
	sigset_t block, mask;
	size_t i;

	sigemptyset(&block);
	for (i = 0; i < ENDING; i++)
		sigaddset(&block, ending[i]);
	pthread_sigmask(SIG_BLOCK, &block, &mask);
	PF_TRACE(gate_wait_begin, r->device, r->offset, r->length);
	/* Query the kernel without holding the lock: it takes a while, and the
	 * workers need the lock to make progress. */
	while (!cached && !is_check_ending(&e->gate) &&
	       wait_a_moment(e, began, disks_read)) {
		cached = pf_device_is_cached(dev, r->offset, r->length, false);
		disks_read = cached || do_disks_read(e);
		waited = true;
	}
	/* The block may have arrived while the wait ended. */
	cached = cached || pf_device_is_cached(dev, r->offset, r->length,
					       false);
	PF_TRACE(gate_wait_end, r->device, r->offset, cached);
	if (waited)
		leave_gate(e, began, cached);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* Returns false if a worker will not bring these blocks: one of their pages is in the
 * cache and not up to date, but no worker has requested it, so that perhaps no read of
 * it is under way. */
static bool may_be_brought(const struct pf_engine *e, const struct pf_read *r)
{
	struct pf_device *dev = e->devices[r->device];
	uint64_t at = r->offset, end = at + r->length, len;
	enum pf_residency state;

	for (; at < end; at += len) {
		len = dev->ops->span(dev, at, end - at, &state);
		if (state == PF_NOT_UPTODATE &&
		    !pf_pool_has_requested(&e->pool, r->device, at))
			return false;
	}
	return true;
}

void pf_gate_wait(struct pf_engine *e, struct pf_read *r)
{
	/* A query takes longer than a cached read, so make none while no worker reads.
	 * Pass 1D reads an extent block again for each block that it clones, and a query
	 * each time took a third of the check. */
	if (!e->health.stalled && !e->health.degraded &&
	    !(e->gate.closed && e->pool.reading))
		return;
	/* Only a read that was not cached shows whether the device is still stalled. */
	r->missed = !pf_device_is_cached(e->devices[r->device], r->offset,
					 r->length, false);
	r->waited = r->missed && e->gate.closed && may_be_brought(e, r);
	if (!r->waited)
		return;
	wait_at_gate(e, r);
	r->passed_gate = pf_state_now(e);
}
