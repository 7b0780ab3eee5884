/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When a worker waits because the limits of a second are used up (device/rate.h),
 * and when it stops waiting.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

#define SECOND_NS 1000000000l

/* Nanoseconds until a request of so many bytes may be made.  If 0, the request
 * has been counted.  The lock is held. */
static uint64_t time_left(struct e2pf_engine *e, uint64_t bytes)
{
	return e2pf_rate_take(&e->rate, e2pf_now(e), bytes, e->cfg.sharers,
			      e->cfg.available_ctx);
}

/* Sleep on work_cond, to be woken also when the batch is no longer wanted.  The
 * state is THROTTLED because a checker at the gate must not wait for a worker
 * that sleeps. */
static void sleep_for(struct worker *w, uint64_t ns)
{
	struct e2pf_engine *e = w->e;
	struct timespec ts;

	w->state = WORKER_THROTTLED;
	if (e->gate_waiters)
		pthread_cond_broadcast(&e->gate_cond);
	e2pf_deadline(&ts, (int)(ns / 1000000));
	ts.tv_nsec += (long)(ns % 1000000);
	if (ts.tv_nsec >= SECOND_NS) {
		ts.tv_nsec -= SECOND_NS;
		ts.tv_sec++;
	}
	pthread_cond_timedwait(&e->work_cond, &e->lock, &ts);
}

bool e2pf_within_limits(struct worker *w, uint64_t bytes)
{
	struct e2pf_engine *e = w->e;
	uint64_t ns = 0;
	bool wanted;

	if (!e->cfg.bandwidth && !e->cfg.requests)
		return true;
	pthread_mutex_lock(&e->lock);
	while ((wanted = !e2pf_ended(w) && !e2pf_passed(e, w->last)) &&
	       (ns = time_left(e, bytes)))
		sleep_for(w, ns);
	if (w->state != WORKER_READING) {
		w->state = WORKER_READING;
		atomic_store(&e->last_progress, e2pf_now(e));
	}
	pthread_mutex_unlock(&e->lock);
	return wanted;
}
