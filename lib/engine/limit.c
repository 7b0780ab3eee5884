/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The limits: how many bytes and requests a second the workers of all checks on
 * this machine may ask for.  Decides when the next request may be made; what it
 * is for is decided elsewhere.
 *
 * Each limit is a time before which no request is made: each request moves it
 * on by its price.  A worker that comes late, since a sleep is never as short
 * as asked for, may catch up on so much and no more.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

#define SECOND_NS UINT64_C(1000000000)
#define CATCH_UP_NS UINT64_C(10000000)

/* More than share a machine anywhere. */
#define MOST_SHARERS 1000u

static uint64_t sharers(const struct e2pf_engine *e)
{
	unsigned n = e->cfg.sharers ? e->cfg.sharers(e->cfg.available_ctx) : 1;

	return n < 1 ? 1 : n > MOST_SHARERS ? MOST_SHARERS : n;
}

/* Time that `amount` takes at `rate` a second; one request is less than 16 GB,
 * which keeps the product in 64 bits. */
static uint64_t price(uint64_t amount, uint64_t rate)
{
	return rate ? amount * SECOND_NS / rate : 0;
}

static void move_on(uint64_t *not_before, uint64_t now, uint64_t ns)
{
	uint64_t from = now > CATCH_UP_NS ? now - CATCH_UP_NS : 0;

	*not_before = (*not_before > from ? *not_before : from) + ns;
}

/* Nanoseconds until a request of so many bytes may be made; 0, and it is
 * counted.  The lock is held. */
static uint64_t time_left(struct e2pf_engine *e, uint64_t bytes)
{
	uint64_t now = e2pf_now(e), n;
	uint64_t until = e->limit_bytes > e->limit_requests ?
			 e->limit_bytes : e->limit_requests;

	if (now < until)
		return until - now;
	n = sharers(e);
	if (e->cfg.bandwidth)
		move_on(&e->limit_bytes, now, price(bytes, e->cfg.bandwidth) *
					      n);
	if (e->cfg.requests)
		move_on(&e->limit_requests, now, price(1, e->cfg.requests) *
						 n);
	return 0;
}

/* To be woken when the batch is not wanted any more, too.  A checker at the
 * gate does not wait for a worker that is not reading. */
static void sleep_for(struct worker *w, uint64_t ns)
{
	struct e2pf_engine *e = w->e;
	struct timespec ts;

	w->state = WORKER_THROTTLED;
	if (e->gate_waiters)
		pthread_cond_broadcast(&e->gate_cond);
	e2pf_deadline(&ts, (int)(ns / 1000000));
	ts.tv_nsec += (long)(ns % 1000000);
	if (ts.tv_nsec >= (long)SECOND_NS) {
		ts.tv_nsec -= (long)SECOND_NS;
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
