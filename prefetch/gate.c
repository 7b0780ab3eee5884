/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <signal.h>

#include "gate.h"
#include "state.h"

/* A checker goes on after this time at the gate in all: a single read of its own in this
 * time hardly delays a worker's sweep. */
#define MAX_WAIT_NS 5000000000ull

/* How often a checker at the gate checks whether its block is cached. */
#define CHECK_NS 20000000u

/* The gate stays open for the rest of the phase when more time was lost at it than
 * LOST_READS reads of the checker's own take, and a LOST_PART of what those took that
 * it has saved.  A read for which the latency was not measured takes LATENCY_NS. */
#define LOST_READS 4u
#define LOST_PART 20u
#define LATENCY_NS 10000000u

/* Signals by which a user ends the check.  The checker blocks them while it
 * waits. */
static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define ENDING (sizeof(ending) / sizeof(ending[0]))

void pf_gate_set_closed(struct pf_gate *gate, bool closed)
{
	gate->closed = closed;
}

/*
 * Whether a worker that makes progress is reading blocks that may include the
 * checker's next one.  If the checker reports its position, that is one within
 * the worker's units: a checker that reads one block before it begins must not
 * wait for all units.
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

/* Wait for a moment.  Returns false if that is not worth it, considering that the checker
 * has waited since then, and whether a disk reads. */
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

/* Does a signal end the check?  Then nothing waits at the gate in this phase, for the checker
 * looks only now and then whether it is to end. */
static bool is_check_ending(struct pf_gate *gate)
{
	sigset_t pending;
	size_t i;

	for (i = 0; i < ENDING && !sigpending(&pending); i++)
		if (sigismember(&pending, ending[i]) == 1)
			pf_gate_set_closed(gate, false);
	return !gate->closed;
}

/* Does a disk read something?  The disks are asked only if the workers have made no
 * progress for a while. */
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
	/* Query the kernel without holding the lock: it takes a while, and the
	 * workers need the lock to make progress. */
	while (!cached && !is_check_ending(&e->gate) &&
	       wait_a_moment(e, began, disks_read)) {
		cached = pf_device_is_cached(dev, r->offset, r->length, false);
		disks_read = cached || do_disks_read(e);
		waited = true;
	}
	/* It may have come with what ended the wait. */
	cached = cached || pf_device_is_cached(dev, r->offset, r->length,
					       false);
	if (waited)
		leave_gate(e, began, cached);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* Is it possible that a worker brings these blocks?  It is not if a page of them is in the
 * cache that no worker has requested: nobody may be reading that. */
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
	/* A query takes longer than a cached read: while no worker reads, the gate needs
	 * none.  Pass 1D reads an extent block again for each block that it clones, and
	 * asking the kernel each time took a third of the check. */
	if (!e->health.stalled && !e->health.degraded &&
	    !(e->gate.closed && e->pool.reading))
		return;
	/* A cached read shows nothing about a stalled device. */
	r->missed = !pf_device_is_cached(e->devices[r->device], r->offset,
					 r->length, false);
	r->waited = r->missed && e->gate.closed && may_be_brought(e, r);
	if (!r->waited)
		return;
	wait_at_gate(e, r);
	r->passed_gate = pf_state_now(e);
}
