/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <string.h>

#include "pool.h"

void pf_pool_note_progress(struct pf_pool *pool, uint64_t now)
{
	pool->last_progress = now;
}

void pf_pool_enter(struct pf_pool *pool)
{
	pool->running++;
}

void pf_pool_set_started(struct pf_pool *pool, unsigned workers)
{
	memset(pool->member, 0, sizeof(pool->member));
	pool->workers = workers;
	pool->running += workers;
	if (workers > pool->threads_most)
		pool->threads_most = workers;
}

void pf_pool_clear(struct pf_pool *pool)
{
	pool->workers = 0;
}

unsigned pf_pool_leave(struct pf_pool *pool)
{
	pool->running--;
	return PF_EVENT_ENDED;
}

unsigned pf_pool_set_state(struct pf_pool *pool, unsigned number,
			     enum pf_worker_state state, uint64_t now)
{
	struct pf_member *m = &pool->member[number];

	if (state == PF_WORKER_READING && m->state != state)
		pool->last_progress = now;
	pool->reading += state == PF_WORKER_READING;
	pool->reading -= m->state == PF_WORKER_READING;
	pool->throttled += state == PF_WORKER_THROTTLED;
	pool->throttled -= m->state == PF_WORKER_THROTTLED;
	m->state = state;
	/* A checker does not wait at the gate for a worker that sleeps. */
	return state == PF_WORKER_READING ? 0 :
	       state == PF_WORKER_IDLE ? PF_EVENT_GATE | PF_EVENT_ENDED :
					   PF_EVENT_GATE;
}

unsigned pf_pool_set_claimed(struct pf_pool *pool, unsigned number,
			   const struct pf_stripe *stripe, uint64_t now)
{
	pool->member[number].stripe = *stripe;
	/* A throttled one may now be the nearest to the checker, which is allowed
	 * more of the budget. */
	return PF_EVENT_ROOM |
	       pf_pool_set_state(pool, number, PF_WORKER_READING, now);
}

unsigned pf_pool_set_idle(struct pf_pool *pool, unsigned number,
				 unsigned news)
{
	struct pf_member *m = &pool->member[number];
	/* Another worker that is throttled may now be the nearest. */
	unsigned events = m->state == PF_WORKER_IDLE ? 0 : PF_EVENT_ROOM;

	m->news = news;
	return events | pf_pool_set_state(pool, number, PF_WORKER_IDLE, 0);
}

bool pf_pool_is_idle(const struct pf_pool *pool, unsigned news)
{
	unsigned i;

	/* An idle worker that has not heard the news may still be asleep. */
	for (i = 0; i < pool->workers; i++)
		if (pool->member[i].state != PF_WORKER_IDLE ||
		    pool->member[i].news != news)
			return false;
	return true;
}

bool pf_pool_is_reading(const struct pf_pool *pool, unsigned epoch,
			  const uint64_t *unit)
{
	unsigned i;

	for (i = 0; i < pool->workers; i++) {
		const struct pf_member *m = &pool->member[i];

		if (m->state == PF_WORKER_READING &&
		    m->stripe.epoch == epoch &&
		    (!unit || (m->stripe.first <= *unit &&
			       *unit <= m->stripe.last)))
			return true;
	}
	return false;
}

bool pf_pool_is_nearest(const struct pf_pool *pool, unsigned number)
{
	const struct pf_stripe *stripe = &pool->member[number].stripe;
	unsigned i;

	for (i = 0; i < pool->workers; i++) {
		const struct pf_member *other = &pool->member[i];

		if (i != number && other->state != PF_WORKER_IDLE &&
		    other->stripe.epoch == stripe->epoch &&
		    other->stripe.first < stripe->first)
			return false;
	}
	return true;
}
