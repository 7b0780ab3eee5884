/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <string.h>

#include "pool.h"

void e2pf_pool_progressed(struct e2pf_pool *pool, uint64_t now)
{
	pool->last_progress = now;
}

void e2pf_pool_enter(struct e2pf_pool *pool)
{
	pool->running++;
}

void e2pf_pool_started(struct e2pf_pool *pool, unsigned workers)
{
	memset(pool->member, 0, sizeof(pool->member));
	pool->workers = workers;
	pool->running += workers;
	if (workers > pool->threads_most)
		pool->threads_most = workers;
}

void e2pf_pool_clear(struct e2pf_pool *pool)
{
	pool->workers = 0;
}

unsigned e2pf_pool_leave(struct e2pf_pool *pool)
{
	pool->running--;
	return E2PF_EV_ENDED;
}

unsigned e2pf_pool_set_state(struct e2pf_pool *pool, unsigned number,
			     enum e2pf_worker_state state, uint64_t now)
{
	struct e2pf_member *m = &pool->member[number];

	if (state == E2PF_WORKER_READING && m->state != state)
		pool->last_progress = now;
	pool->reading += state == E2PF_WORKER_READING;
	pool->reading -= m->state == E2PF_WORKER_READING;
	pool->throttled += state == E2PF_WORKER_THROTTLED;
	pool->throttled -= m->state == E2PF_WORKER_THROTTLED;
	m->state = state;
	/* A checker does not wait at the gate for a worker that sleeps. */
	return state == E2PF_WORKER_READING ? 0 :
	       state == E2PF_WORKER_IDLE ? E2PF_EV_GATE | E2PF_EV_ENDED :
					   E2PF_EV_GATE;
}

unsigned e2pf_pool_claimed(struct e2pf_pool *pool, unsigned number,
			   const struct e2pf_stripe *stripe, uint64_t now)
{
	pool->member[number].stripe = *stripe;
	/* A throttled one may now be the nearest to the checker, which is allowed
	 * more of the budget. */
	return E2PF_EV_ROOM |
	       e2pf_pool_set_state(pool, number, E2PF_WORKER_READING, now);
}

unsigned e2pf_pool_found_nothing(struct e2pf_pool *pool, unsigned number,
				 unsigned news)
{
	struct e2pf_member *m = &pool->member[number];
	/* Another worker that is throttled may now be the nearest. */
	unsigned events = m->state == E2PF_WORKER_IDLE ? 0 : E2PF_EV_ROOM;

	m->news = news;
	return events | e2pf_pool_set_state(pool, number, E2PF_WORKER_IDLE, 0);
}

bool e2pf_pool_all_idle(const struct e2pf_pool *pool, unsigned news)
{
	unsigned i;

	/* An idle worker that has not heard the news may still be asleep. */
	for (i = 0; i < pool->workers; i++)
		if (pool->member[i].state != E2PF_WORKER_IDLE ||
		    pool->member[i].news != news)
			return false;
	return true;
}

bool e2pf_pool_is_reading(const struct e2pf_pool *pool, unsigned epoch,
			  const uint64_t *unit)
{
	unsigned i;

	for (i = 0; i < pool->workers; i++) {
		const struct e2pf_member *m = &pool->member[i];

		if (m->state == E2PF_WORKER_READING &&
		    m->stripe.epoch == epoch &&
		    (!unit || (m->stripe.first <= *unit &&
			       *unit <= m->stripe.last)))
			return true;
	}
	return false;
}

bool e2pf_pool_is_nearest(const struct e2pf_pool *pool, unsigned number)
{
	const struct e2pf_stripe *stripe = &pool->member[number].stripe;
	unsigned i;

	for (i = 0; i < pool->workers; i++) {
		const struct e2pf_member *other = &pool->member[i];

		if (i != number && other->state != E2PF_WORKER_IDLE &&
		    other->stripe.epoch == stripe->epoch &&
		    other->stripe.first < stripe->first)
			return false;
	}
	return true;
}
