/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The pool: the worker threads, what each of them is doing, and who is woken when
 * that changes.
 */
#ifndef E2PF_POOL_H
#define E2PF_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "elevator.h"
#include "engine.h"
#include "schedule.h"

struct e2pf_worker;

enum e2pf_worker_state {
	E2PF_WORKER_IDLE,	/* found nothing to take */
	E2PF_WORKER_READING,
	E2PF_WORKER_THROTTLED	/* waits until the checker has used what was
				   read, or for a stuck device */
};

/* What the pool knows of a worker.  Needs the lock. */
struct e2pf_member {
	pthread_t thread;
	enum e2pf_worker_state state;
	struct e2pf_taken taken;	/* what it reads */
	unsigned news;		/* the schedule's count when it last found
				   nothing to take */
	/* As it was when the worker last held the lock: */
	uint64_t most_held;	/* references */
	uint64_t requests;	/* made */
	size_t buffer;		/* bytes, of what is parsed */
};

/* Written by pool.c alone. */
struct e2pf_pool {
	/* Any thread reads these without the lock. */
	atomic_uint throttled;		/* workers in that state */
	atomic_uint_fast64_t last_progress;	/* when a worker last read
						   something, ns; written by
						   any worker */
	atomic_uint_fast64_t last_request;	/* the same for a request */

	/* These need the lock. */
	pthread_cond_t work;		/* workers that are idle or throttled */
	pthread_cond_t ended;		/* callers that wait for them to end, or
					   to have nothing left to do */
	struct e2pf_member *member;	/* an element for each worker */
	struct e2pf_worker *worker;	/* and what is its thread's alone */
	unsigned workers;		/* number of threads */
	unsigned running;		/* that have not returned yet */
	unsigned threads_most;
	uint64_t errors, requests;
	/* Memory of workers that have ended, at most: references, and buffers. */
	uint64_t refs_bytes, buffer_bytes;
};

void e2pf_pool_init(struct e2pf_engine *e);
void e2pf_pool_destroy(struct e2pf_engine *e);

/* A worker has read something.  Needs no lock. */
void e2pf_pool_progressed(struct e2pf_engine *e);

/* A worker is about to request something, or just has. */
void e2pf_pool_requests(struct e2pf_engine *e);

/* Join and free the workers, which have all returned.  Takes the lock. */
void e2pf_pool_join(struct e2pf_engine *e);

/* These need the lock. */

/* Start the workers for the kind of device.  Returns 0 or an errno. */
int e2pf_pool_start(struct e2pf_engine *e);

/* Is there nothing left to do now for any worker? */
bool e2pf_pool_is_idle(const struct e2pf_engine *e);

/* Is a worker reading for the current phase; with `unit`, units that include
 * it? */
bool e2pf_pool_is_reading(const struct e2pf_engine *e, const uint64_t *unit);

/* Does the checker reach what this worker has taken before what any other one
 * has? */
bool e2pf_pool_is_nearest(const struct e2pf_engine *e, unsigned number);

void e2pf_pool_set_state(struct e2pf_engine *e, unsigned number,
			 enum e2pf_worker_state state);

/* What a worker has taken; or that it found nothing to take. */
void e2pf_pool_taken(struct e2pf_engine *e, unsigned number,
		     const struct e2pf_taken *taken);
void e2pf_pool_found_nothing(struct e2pf_engine *e, unsigned number);

/* What a worker has held and requested. */
void e2pf_pool_publish(struct e2pf_engine *e, unsigned number,
		       uint64_t most_held, uint64_t requests, size_t buffer);

/* A worker's read has failed. */
void e2pf_pool_count_error(struct e2pf_engine *e);

/* A worker's thread returns. */
void e2pf_pool_leave(struct e2pf_engine *e);

/* Wake all workers; those that are throttled, if there are any; whoever waits for
 * the end. */
void e2pf_pool_wake_workers(struct e2pf_engine *e);
void e2pf_pool_wake_throttled(struct e2pf_engine *e);
void e2pf_pool_tell_end(struct e2pf_engine *e);

void e2pf_pool_stats(const struct e2pf_engine *e,
		     struct e2pf_engine_stats *stats);

#endif
