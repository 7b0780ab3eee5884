/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The striped pool: what each worker is doing.  With workers of one speed worker T of N would
 * read the stripes T + N*i; a faster one reads more, for each claims the next stripe that
 * schedule.c cuts.  doc/measurements.md, "Stripes", compares fixed ones.  The pool knows the
 * workers' numbers; worker.c has their threads.
 */
#ifndef E2PF_POOL_H
#define E2PF_POOL_H

#include <stdatomic.h>

#include "engine.h"
#include "schedule.h"

enum e2pf_worker_state {
	E2PF_WORKER_IDLE,	/* found nothing to claim */
	E2PF_WORKER_READING,
	E2PF_WORKER_THROTTLED	/* waits until the checker has used what was
				   read, or for a stuck device */
};

/* Needs the lock. */
struct e2pf_member {
	enum e2pf_worker_state state;
	struct e2pf_stripe stripe;	/* what it reads */
	unsigned news;		/* the schedule's count when it last found
				   nothing to claim */
};

struct e2pf_pool {
	/* Any thread reads these without the lock. */
	atomic_uint throttled;		/* workers in that state */
	/* When one last read or requested something, ns; written by any worker. */
	atomic_uint_fast64_t last_progress;

	/* These need the lock. */
	struct e2pf_member *member;	/* an element for each worker */
	unsigned workers;		/* number of threads; 0: not all of them
					   have been created */
	unsigned running;		/* that have not returned yet */
	unsigned threads_most;
};

/* A worker has read something, or requests something.  Needs no lock. */
void e2pf_pool_progressed(struct e2pf_pool *pool, uint64_t now);

/* The others need the lock. */

/* Room for this many workers; false without memory.  Somebody begins to start them, and
 * counts as running; this many were started; they have all ended. */
bool e2pf_pool_make(struct e2pf_pool *pool, unsigned workers);
void e2pf_pool_join(struct e2pf_pool *pool);
void e2pf_pool_started(struct e2pf_pool *pool, unsigned workers);
void e2pf_pool_clear(struct e2pf_pool *pool);

/* Somebody who was running has ended. */
unsigned e2pf_pool_leave(struct e2pf_pool *pool);

/* The state of a worker, what it has claimed, and that it has found nothing. */
unsigned e2pf_pool_set_state(struct e2pf_pool *pool, unsigned number,
			     enum e2pf_worker_state state, uint64_t now);
unsigned e2pf_pool_claimed(struct e2pf_pool *pool, unsigned number,
			   const struct e2pf_stripe *stripe, uint64_t now);
unsigned e2pf_pool_found_nothing(struct e2pf_pool *pool, unsigned number,
				 unsigned news);

/* Have all of them found nothing to claim since these news? */
bool e2pf_pool_is_idle(const struct e2pf_pool *pool, unsigned news);

/* Is a worker reading for this epoch; with `unit`, units that include it? */
bool e2pf_pool_is_reading(const struct e2pf_pool *pool, unsigned epoch,
			  const uint64_t *unit);

/* Does the checker reach this worker's stripe before those of all others? */
bool e2pf_pool_is_nearest(const struct e2pf_pool *pool, unsigned number);

#endif
