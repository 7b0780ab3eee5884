/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <errno.h>
#include <stdlib.h>

#include "core.h"
#include "device/thread.h"
#include "worker.h"

void e2pf_pool_init(struct e2pf_engine *e)
{
	e2pf_cond_init(&e->pool.work);
	e2pf_cond_init(&e->pool.ended);
}

void e2pf_pool_destroy(struct e2pf_engine *e)
{
	pthread_cond_destroy(&e->pool.work);
	pthread_cond_destroy(&e->pool.ended);
}

/*
 * Threads.
 */

/* Raise what workers took at most by what these do: each one's most only grows, and
 * they may be at the same time. */
static void count_memory(const struct e2pf_pool *p, uint64_t *refs_most,
			 uint64_t *buffers_most)
{
	uint64_t refs = 0, buffers = 0;
	unsigned i;

	for (i = 0; i < p->workers; i++) {
		refs += p->member[i].most_held * sizeof(struct e2pf_ref);
		buffers += p->member[i].buffer;
	}
	if (refs > *refs_most)
		*refs_most = refs;
	if (buffers > *buffers_most)
		*buffers_most = buffers;
}

static void free_workers(struct e2pf_pool *p)
{
	free(p->worker);
	free(p->member);
	p->worker = NULL;
	p->member = NULL;
	p->workers = 0;
}

int e2pf_pool_start(struct e2pf_engine *e)
{
	struct e2pf_pool *p = &e->pool;
	unsigned wanted = e->pacing.speed.has_head ? e->cfg.head_threads :
						     e->cfg.threads;
	int err = ENOMEM;
	unsigned i = 0;

	/* The lock is held, so that no thread sees a number of workers that is
	 * not final. */
	e2pf_assert_held(e);
	if (!wanted)
		wanted = 1;
	p->worker = calloc(wanted, sizeof(*p->worker));
	p->member = calloc(wanted, sizeof(*p->member));
	if (p->worker && p->member) {
		if (e->cfg.before_threads)
			e->cfg.before_threads();
		for (; i < wanted; i++) {
			e2pf_worker_init(&p->worker[i], e, i, wanted);
			err = e2pf_thread_start(&p->member[i].thread,
						e2pf_worker_main,
						&p->worker[i]);
			if (err)
				break;
		}
	}
	p->workers = p->running = i;
	if (i > p->threads_most)
		p->threads_most = i;
	if (i)
		return 0;
	free_workers(p);
	return err;
}

void e2pf_pool_join(struct e2pf_engine *e)
{
	struct e2pf_pool *p = &e->pool;
	unsigned i;

	/* Nobody else frees them: there is one that stops the engine. */
	for (i = 0; i < p->workers; i++) {
		pthread_join(p->member[i].thread, NULL);
		e2pf_worker_free(&p->worker[i]);
	}
	e2pf_lock(&e->lock);
	count_memory(p, &p->refs_bytes, &p->buffer_bytes);
	free_workers(p);
	e2pf_unlock(&e->lock);
}

void e2pf_pool_leave(struct e2pf_engine *e)
{
	e2pf_assert_held(e);
	e->pool.running--;
	e2pf_pool_tell_end(e);
}

/*
 * States.
 */

void e2pf_pool_progressed(struct e2pf_engine *e)
{
	e->pool.last_progress = e2pf_now(e);
}

void e2pf_pool_requests(struct e2pf_engine *e)
{
	e->pool.last_progress = e->pool.last_request = e2pf_now(e);
}

void e2pf_pool_wake_workers(struct e2pf_engine *e)
{
	pthread_cond_broadcast(&e->pool.work);
}

void e2pf_pool_wake_throttled(struct e2pf_engine *e)
{
	if (e->pool.throttled)
		e2pf_pool_wake_workers(e);
}

void e2pf_pool_tell_end(struct e2pf_engine *e)
{
	pthread_cond_broadcast(&e->pool.ended);
}

void e2pf_pool_set_state(struct e2pf_engine *e, unsigned number,
			 enum e2pf_worker_state state)
{
	struct e2pf_pool *p = &e->pool;
	struct e2pf_member *m = &p->member[number];

	e2pf_assert_held(e);
	if (state == E2PF_WORKER_READING && m->state != state)
		e2pf_pool_progressed(e);
	p->throttled += state == E2PF_WORKER_THROTTLED;
	p->throttled -= m->state == E2PF_WORKER_THROTTLED;
	m->state = state;
	/* A checker does not wait at the gate for a worker that sleeps. */
	if (state != E2PF_WORKER_READING)
		e2pf_checker_open_gate(e);
	if (state == E2PF_WORKER_IDLE)
		e2pf_pool_tell_end(e);
}

void e2pf_pool_taken(struct e2pf_engine *e, unsigned number,
		     const struct e2pf_taken *taken)
{
	e->pool.member[number].taken = *taken;
	e2pf_pool_set_state(e, number, E2PF_WORKER_READING);
	/* A throttled one may now be the nearest to the checker, which is allowed
	 * more of the budget. */
	e2pf_pool_wake_throttled(e);
}

void e2pf_pool_found_nothing(struct e2pf_engine *e, unsigned number)
{
	struct e2pf_member *m = &e->pool.member[number];

	e2pf_assert_held(e);
	/* As above. */
	if (m->state != E2PF_WORKER_IDLE)
		e2pf_pool_wake_throttled(e);
	m->news = e->schedule.news;
	e2pf_pool_set_state(e, number, E2PF_WORKER_IDLE);
}

bool e2pf_pool_is_idle(const struct e2pf_engine *e)
{
	const struct e2pf_pool *p = &e->pool;
	unsigned i;

	e2pf_assert_held(e);
	/* An idle worker that has not heard the news may still be asleep. */
	for (i = 0; i < p->workers; i++)
		if (p->member[i].state != E2PF_WORKER_IDLE ||
		    p->member[i].news != e->schedule.news)
			return false;
	return e->schedule.end != E2PF_PHASE_CHOOSING;
}

bool e2pf_pool_is_reading(const struct e2pf_engine *e, const uint64_t *unit)
{
	const struct e2pf_pool *p = &e->pool;
	unsigned i;

	e2pf_assert_held(e);
	for (i = 0; i < p->workers; i++) {
		const struct e2pf_member *m = &p->member[i];

		if (m->state == E2PF_WORKER_READING &&
		    m->taken.epoch == e->schedule.epoch &&
		    (!unit || (m->taken.first <= *unit &&
			       *unit <= m->taken.last)))
			return true;
	}
	return false;
}

bool e2pf_pool_is_nearest(const struct e2pf_engine *e, unsigned number)
{
	const struct e2pf_pool *p = &e->pool;
	const struct e2pf_taken *taken = &p->member[number].taken;
	unsigned i;

	e2pf_assert_held(e);
	for (i = 0; i < p->workers; i++) {
		const struct e2pf_member *other = &p->member[i];

		if (i != number && other->state != E2PF_WORKER_IDLE &&
		    other->taken.epoch == taken->epoch &&
		    other->taken.first < taken->first)
			return false;
	}
	return true;
}

void e2pf_pool_count_error(struct e2pf_engine *e)
{
	e2pf_assert_held(e);
	e->pool.errors++;
}

/*
 * What is known of them.
 */

void e2pf_pool_publish(struct e2pf_engine *e, unsigned number,
		       uint64_t most_held, uint64_t requests, size_t buffer)
{
	struct e2pf_member *m = &e->pool.member[number];

	e2pf_assert_held(e);
	e->pool.requests += requests - m->requests;
	m->most_held = most_held;
	m->requests = requests;
	m->buffer = buffer;
}

void e2pf_pool_stats(const struct e2pf_engine *e,
		     struct e2pf_engine_stats *stats)
{
	stats->prefetched_requests = e->pool.requests;
	stats->errors = e->pool.errors;
	stats->threads = e->pool.threads_most;
	stats->refs_bytes = e->pool.refs_bytes;
	stats->buffer_bytes = e->pool.buffer_bytes;
	count_memory(&e->pool, &stats->refs_bytes, &stats->buffer_bytes);
}
