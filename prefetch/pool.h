/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The pool: the workers' threads, and what each is doing.  With workers of one speed worker T
 * of N would read the stripes T + N*i; a faster one reads more, for each claims the next
 * stripe that schedule.c cuts.  doc/performance.md, "Stripes", compares fixed ones.
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
	PF_WORKER_THROTTLED	/* waits until the checker has used what was
				   read, or for a stalled device */
};

struct pf_engine;

struct pf_worker {
	/* Const while the thread runs. */
	struct pf_engine *engine;
	pthread_t thread;
	unsigned number;
	unsigned sharers;		/* workers that share the memory */

	/* These need the lock; the thread alone writes them. */
	enum pf_worker_state state;
	struct pf_stripe stripe;	/* what it reads */
	unsigned news;			/* the schedule's, when it last found nothing
					   to claim: more since then wake it */

	/* worker.c's; any thread may ask for the requests. */
	struct pf_elevator elevator;
	struct pf_inflight inflight;
	struct pf_cost cost;
	unsigned char piece[PF_MAX_PIECE];	/* that is parsed */
};

struct pf_pool {
	/* Any thread reads these without the lock. */
	atomic_uint reading, throttled;	/* workers in these states */
	/* When one last read or requested something, ns; written by any worker. */
	atomic_uint_fast64_t last_progress;
	/* From the first start of each until the pool is freed. */
	_Atomic(struct pf_worker *) worker[PF_MAX_WORKERS];

	/* These need the lock. */
	unsigned workers;		/* number of threads; 0: not all of them
					   have been created */
	unsigned running;		/* that have not ended, and whoever is
					   creating them */
	unsigned max_workers;		/* `workers` of any start */
};

/* Create this many threads, 1 to PF_MAX_WORKERS, that run body() with a struct pf_worker.
 * Returns how many there are; *err is an errno if there is none. */
unsigned pf_pool_create_threads(struct pf_pool *pool, struct pf_engine *engine,
				unsigned wanted, void *(*body)(void *), int *err);

/* Wait for the threads, which have been told to end. */
void pf_pool_join_threads(struct pf_pool *pool);

/* Free the workers. */
void pf_pool_free(struct pf_pool *pool);

/* A worker has read something, or requests something. */
void pf_pool_note_progress(struct pf_pool *pool, uint64_t now);

/* Is this byte in one of the last requests of any worker? */
bool pf_pool_has_requested(const struct pf_pool *pool, unsigned device,
			   uint64_t offset);

/* The others need the lock. */

/* The thread that is going to create the workers counts as running, until it has done so;
 * and each worker that was created until it ends. */
void pf_pool_add_running(struct pf_pool *pool);
unsigned pf_pool_remove_running(struct pf_pool *pool);

/* This many were created; or all of them have ended: 0. */
void pf_pool_set_workers(struct pf_pool *pool, unsigned workers);

unsigned pf_pool_set_state(struct pf_pool *pool, struct pf_worker *w,
			   enum pf_worker_state state, uint64_t now);

/* Have all of them found nothing to claim since these news? */
bool pf_pool_is_idle(const struct pf_pool *pool, unsigned news);

/* Is a worker reading a stripe of this epoch?  With `unit`, one that includes it. */
bool pf_pool_is_reading(const struct pf_pool *pool, unsigned epoch,
			const uint64_t *unit);

/* Does the checker reach this worker's stripe before those of all others? */
bool pf_pool_is_nearest(const struct pf_pool *pool, const struct pf_worker *w);

#endif
