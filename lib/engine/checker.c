/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Decides whether a read of the checker waits at the gate, and how long. */
#include <signal.h>

#include "monitor.h"

/* Signals by which a user ends the check.  The checker blocks them while it
 * waits. */
static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
#define ENDING (sizeof(ending) / sizeof(ending[0]))

/* Does a signal end the check?  Then nothing waits at the gate in this phase, for the checker
 * looks only now and then whether it is to end. */
static bool is_ending(struct e2pf_reads *reads)
{
	sigset_t pending;
	size_t i;

	for (i = 0; i < ENDING && !sigpending(&pending); i++)
		if (sigismember(&pending, ending[i]) == 1)
			e2pf_reads_set_gated(reads, false);
	return !reads->gated;
}

/* Does a disk read something?  The disks are asked only if the workers have made no
 * progress for a while. */
static bool disks_read(const struct e2pf_engine *e)
{
	return e2pf_now(e) - e->pool.last_progress < E2PF_IDLE_PATIENCE_NS ||
	       e2pf_pacing_disks_read(&e->pacing) == 1;
}

/*
 * Where the device seeks a read by the checker moves the head away from the
 * sweep and back.  So the checker waits until a worker has read the
 * block, or until no worker that might read it is active, or until none has
 * made progress for a while.
 */
static void wait_at_gate(struct e2pf_engine *e, const struct e2pf_read *r)
{
	struct e2pf_device *dev = e->devices[r->device];
	bool cached = false, waited = false, reads = true;
	uint64_t began = e2pf_now(e);
	sigset_t block, mask;
	size_t i;

	sigemptyset(&block);
	for (i = 0; i < ENDING; i++)
		sigaddset(&block, ending[i]);
	pthread_sigmask(SIG_BLOCK, &block, &mask);
	/* Query the kernel without holding the lock: it takes a while, and the
	 * workers need the lock to make progress. */
	while (!cached && !is_ending(&e->reads) &&
	       e2pf_monitor_wait_at_gate(e, began, reads)) {
		cached = e2pf_is_cached(dev, r->offset, r->length, false);
		reads = cached || disks_read(e);
		waited = true;
	}
	/* It may have come with what ended the wait. */
	cached = cached || e2pf_is_cached(dev, r->offset, r->length, false);
	if (waited)
		e2pf_monitor_left_gate(e, began, cached);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void e2pf_engine_before_read(struct e2pf_engine *e, struct e2pf_read *r)
{
	struct e2pf_reads *reads = &e->reads;
	struct e2pf_device *dev = e->devices[r->device];
	bool lately = e2pf_reads_begin(reads, r, e2pf_now(e),
				       e->source->grain);

	if (lately || (!e->pacing.stuck && !e->pacing.suspects && !reads->gated))
		return;
	/* A cached read shows nothing about a stuck device. */
	r->missed = !e2pf_is_cached(dev, r->offset, r->length, false);
	r->waited = r->missed && reads->gated &&
		    e2pf_reads_may_come(reads, dev, r);
	if (!r->waited)
		return;
	wait_at_gate(e, r);
	r->passed_gate = e2pf_now(e);
}
