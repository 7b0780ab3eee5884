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

/* The limit of the setting. */
#define E2PF_WORKERS_MOST 256u

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
	unsigned news;		/* the schedule's, when it last found nothing
				   to claim: more since then wake it */
};

struct e2pf_pool {
	/* Any thread reads these without the lock. */
	atomic_uint reading, throttled;	/* workers in these states */
	/* When one last read or requested something, ns; written by any worker. */
	atomic_uint_fast64_t last_progress;

	/* These need the lock. */
	struct e2pf_member member[E2PF_WORKERS_MOST];
	unsigned workers;		/* number of threads; 0: not all of them
					   have been created */
	unsigned running;		/* that have not left, and whoever is
					   creating them */
	unsigned threads_most;		/* `workers` of any start */
};

/* A worker has read something, or requests something.  Needs no lock. */
void e2pf_pool_progressed(struct e2pf_pool *pool, uint64_t now);

/* The others need the lock. */

/* The thread that is going to create the workers counts as running, from enter to leave.
 * Each worker that was created leaves when it ends. */
void e2pf_pool_enter(struct e2pf_pool *pool);
unsigned e2pf_pool_leave(struct e2pf_pool *pool);

/* This many were created. */
void e2pf_pool_started(struct e2pf_pool *pool, unsigned workers);

/* All of them have ended. */
void e2pf_pool_clear(struct e2pf_pool *pool);

/* Set the state of a worker: as given; reading what it has claimed; or idle, because it
 * has found nothing to claim since these news. */
unsigned e2pf_pool_set_state(struct e2pf_pool *pool, unsigned number,
			     enum e2pf_worker_state state, uint64_t now);
unsigned e2pf_pool_claimed(struct e2pf_pool *pool, unsigned number,
			   const struct e2pf_stripe *stripe, uint64_t now);
unsigned e2pf_pool_found_nothing(struct e2pf_pool *pool, unsigned number,
				 unsigned news);

/* Have all of them found nothing to claim since these news? */
bool e2pf_pool_all_idle(const struct e2pf_pool *pool, unsigned news);

/* Is a worker reading a stripe of this epoch?  With `unit`, one that includes it. */
bool e2pf_pool_is_reading(const struct e2pf_pool *pool, unsigned epoch,
			  const uint64_t *unit);

/* Does the checker reach this worker's stripe before those of all others? */
bool e2pf_pool_is_nearest(const struct e2pf_pool *pool, unsigned number);

#endif
