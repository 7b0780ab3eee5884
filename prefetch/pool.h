/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The pool: the workers' threads, and what each is doing.  Each worker claims the next
 * stripe that schedule.c cuts, so that a faster worker reads more.
 * doc/performance.md, "Stripes", compares that with fixed stripes for each worker.
 */
#ifndef PREFETCH_POOL_H
#define PREFETCH_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "cost.h"
#include "elevator.h"
#include "inflight.h"
#include "schedule.h"

/* The limit of the setting. */
#define PF_MAX_WORKERS 256u

enum pf_worker_state {
	PF_WORKER_IDLE,		/* found nothing to claim */
	PF_WORKER_READING,
	PF_WORKER_THROTTLED	/* waits until the checker has used what was read,
				   or until the device is no longer stalled */
};

struct pf_engine;

struct pf_worker {
	/* Const while the thread runs. */
	struct pf_engine *engine;
	pthread_t thread;
	unsigned number;
	unsigned sharers;		/* workers that share the memory */

	/* These need pf_engine.lock.  Only this worker's thread writes them. */
	enum pf_worker_state state;
	struct pf_stripe stripe;	/* that it reads */
	unsigned news;			/* the schedule's count when this worker last
					   found nothing to claim */

	/* Written by worker.c.  Any thread may read the requests in flight. */
	struct pf_elevator elevator;
	struct pf_inflight inflight;
	struct pf_cost cost;
	unsigned char piece[PF_MAX_PIECE];	/* to parse */
};

struct pf_pool {
	/* Any thread reads these without the lock. */
	atomic_uint reading, throttled;	/* workers in these states */
	/* Time of the last read or request of any worker, ns.  Any worker writes it. */
	atomic_uint_fast64_t last_progress;
	/* Each exists from its first start until the pool is freed. */
	_Atomic(struct pf_worker *) worker[PF_MAX_WORKERS];

	/* These need pf_engine.lock. */
	unsigned workers;		/* number of threads; 0 until all of them
					   are created */
	unsigned running;		/* threads that have not ended, and the one
					   that is creating them */
	unsigned max_workers;		/* the highest `workers` of any start */
};

/* Create `wanted` threads, 1 to PF_MAX_WORKERS, which run body() with a struct pf_worker.
 * Returns how many were created, and sets *err to an errno if that is 0. */
unsigned pf_pool_create_threads(struct pf_pool *pool, struct pf_engine *engine,
				unsigned wanted, void *(*body)(void *), int *err);

/* Wait for the threads, which have been told to end. */
void pf_pool_join_threads(struct pf_pool *pool);

/* Bytes that were requested and may not have been read yet.  Safe from any thread. */
uint64_t pf_pool_in_flight_bytes(const struct pf_pool *pool);

/* Free the workers. */
void pf_pool_free(struct pf_pool *pool);

/* A worker has read or requested something. */
void pf_pool_note_progress(struct pf_pool *pool, uint64_t now);

/* Returns true if this byte is in one of the last requests of any worker. */
bool pf_pool_has_requested(const struct pf_pool *pool, unsigned device,
			   uint64_t offset);

/* The others need pf_engine.lock. */

/* Count a running thread.  The thread that creates the workers counts until it has
 * created them, and each worker counts until it ends. */
void pf_pool_add_running(struct pf_pool *pool);
unsigned pf_pool_remove_running(struct pf_pool *pool);

/* Set the number of workers that were created; 0: all of them have ended. */
void pf_pool_set_workers(struct pf_pool *pool, unsigned workers);

/* Set what a worker is doing. */
unsigned pf_pool_set_state(struct pf_pool *pool, struct pf_worker *w,
			   enum pf_worker_state state, uint64_t now);

/* Returns true if each worker has found nothing to claim since the schedule's `news`. */
bool pf_pool_is_idle(const struct pf_pool *pool, unsigned news);

/* Returns true if a worker is reading a stripe of this epoch, and, unless `unit` is
 * NULL, one that includes this unit. */
bool pf_pool_is_reading(const struct pf_pool *pool, unsigned epoch,
			const uint64_t *unit);

/* Returns true if the checker reaches this worker's stripe before those of all others. */
bool pf_pool_is_nearest(const struct pf_pool *pool, const struct pf_worker *w);

#endif
