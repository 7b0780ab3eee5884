/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>
#include <sys/mman.h>

#include "lib/thread.h"
#include "pool.h"
#include "state.h"

/*
 * Threads.
 */

/* Return the worker of this number.  One that has ended is used again, because the
 * checker may be reading its requests.  A worker has pages of its own, and does not
 * change the checker's heap. */
static struct pf_worker *get_worker(struct pf_pool *pool, unsigned number)
{
	void *mem = pool->worker[number];

	if (!mem)
		mem = mmap(NULL, sizeof(struct pf_worker),
			   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	if (mem != MAP_FAILED)
		pool->worker[number] = mem;
	return pool->worker[number];
}

unsigned pf_pool_create_threads(struct pf_pool *pool, struct pf_engine *engine,
				unsigned wanted, void *(*body)(void *), int *err)
{
	struct pf_worker *w;
	unsigned i;

	*err = 0;
	for (i = 0; i < wanted; i++) {
		w = get_worker(pool, i);
		*err = ENOMEM;
		if (!w)
			break;
		w->engine = engine;
		w->number = i;
		w->sharers = wanted;
		w->state = PF_WORKER_IDLE;
		w->news = 0;
		*err = e2pf_thread_start(&w->thread, body, w);
		if (*err)
			break;
	}
	if (i)
		*err = 0;
	return i;
}

void pf_pool_join_threads(struct pf_pool *pool)
{
	unsigned i;

	for (i = 0; i < pool->workers; i++)
		pthread_join(pool->worker[i]->thread, NULL);
}

void pf_pool_free(struct pf_pool *pool)
{
	unsigned i;

	for (i = 0; i < PF_MAX_WORKERS; i++)
		if (pool->worker[i])
			munmap(pool->worker[i], sizeof(struct pf_worker));
}

/*
 * What the workers are doing.
 */

void pf_pool_note_progress(struct pf_pool *pool, uint64_t now)
{
	pool->last_progress = now;
}

bool pf_pool_has_requested(const struct pf_pool *pool, unsigned device,
			   uint64_t offset)
{
	const struct pf_worker *w;
	unsigned i;

	for (i = 0; i < PF_MAX_WORKERS && (w = pool->worker[i]); i++)
		if (pf_inflight_includes(&w->inflight, device, offset))
			return true;
	return false;
}

uint64_t pf_pool_in_flight_bytes(const struct pf_pool *pool)
{
	const struct pf_worker *w;
	uint64_t bytes = 0;
	unsigned i;

	for (i = 0; i < PF_MAX_WORKERS && (w = pool->worker[i]); i++)
		bytes += w->inflight.bytes;
	return bytes;
}

void pf_pool_add_running(struct pf_pool *pool)
{
	pool->running++;
}

unsigned pf_pool_remove_running(struct pf_pool *pool)
{
	pool->running--;
	return PF_EVENT_ENDED;
}

void pf_pool_set_workers(struct pf_pool *pool, unsigned workers)
{
	pool->workers = workers;
	pool->running += workers;
	if (workers > pool->max_workers)
		pool->max_workers = workers;
}

unsigned pf_pool_set_state(struct pf_pool *pool, struct pf_worker *w,
			   enum pf_worker_state state, uint64_t now)
{
	if (state == PF_WORKER_READING && w->state != state)
		pool->last_progress = now;
	pool->reading += state == PF_WORKER_READING;
	pool->reading -= w->state == PF_WORKER_READING;
	pool->throttled += state == PF_WORKER_THROTTLED;
	pool->throttled -= w->state == PF_WORKER_THROTTLED;
	w->state = state;
	/* A checker does not wait at the gate for a worker that sleeps. */
	return state == PF_WORKER_READING ? 0 :
	       state == PF_WORKER_IDLE ? PF_EVENT_GATE | PF_EVENT_ENDED :
					 PF_EVENT_GATE;
}

bool pf_pool_is_idle(const struct pf_pool *pool, unsigned news)
{
	unsigned i;

	/* An idle worker that has not seen the news may still find something. */
	for (i = 0; i < pool->workers; i++)
		if (pool->worker[i]->state != PF_WORKER_IDLE ||
		    pool->worker[i]->news != news)
			return false;
	return true;
}

bool pf_pool_is_reading(const struct pf_pool *pool, unsigned epoch,
			const uint64_t *unit)
{
	unsigned i;

	for (i = 0; i < pool->workers; i++) {
		const struct pf_worker *w = pool->worker[i];

		if (w->state == PF_WORKER_READING &&
		    w->stripe.epoch == epoch &&
		    (!unit || (w->stripe.first <= *unit &&
			       *unit <= w->stripe.last)))
			return true;
	}
	return false;
}

bool pf_pool_is_nearest(const struct pf_pool *pool, const struct pf_worker *w)
{
	unsigned i;

	for (i = 0; i < pool->workers; i++) {
		const struct pf_worker *other = pool->worker[i];

		if (other != w && other->state != PF_WORKER_IDLE &&
		    other->stripe.epoch == w->stripe.epoch &&
		    other->stripe.first < w->stripe.first)
			return false;
	}
	return true;
}
