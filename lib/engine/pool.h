/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The striped pool: what each worker is doing.  With workers of one speed worker T of N would
 * read the stripes T + N*i; a faster one reads more, for each claims the next stripe that
 * schedule.c cuts.  doc/measurements.md, "Stripes", compares fixed ones.  The pool knows the
 * workers' numbers; worker.c has their threads.
 */
#ifndef PF_POOL_H
#define PF_POOL_H

#include <stdatomic.h>

#include "engine.h"
#include "schedule.h"

/* The limit of the setting. */
#define PF_MAX_WORKERS 256u

enum pf_worker_state {
	PF_WORKER_IDLE,	/* found nothing to claim */
	PF_WORKER_READING,
	PF_WORKER_THROTTLED	/* waits until the checker has used what was
				   read, or for a stalled device */
};

/* Needs the lock. */
struct pf_member {
	enum pf_worker_state state;
	struct pf_stripe stripe;	/* what it reads */
	unsigned news;		/* the schedule's, when it last found nothing
				   to claim: more since then wake it */
};

struct pf_pool {
	/* Any thread reads these without the lock. */
	atomic_uint reading, throttled;	/* workers in these states */
	/* When one last read or requested something, ns; written by any worker. */
	atomic_uint_fast64_t last_progress;

	/* These need the lock. */
	struct pf_member member[PF_MAX_WORKERS];
	unsigned workers;		/* number of threads; 0: not all of them
					   have been created */
	unsigned running;		/* that have not left, and whoever is
					   creating them */
	unsigned threads_most;		/* `workers` of any start */
};

/* A worker has read something, or requests something.  Needs no lock. */
void pf_pool_note_progress(struct pf_pool *pool, uint64_t now);

/* The others need the lock. */

/* The thread that is going to create the workers counts as running, from enter to leave.
 * Each worker that was created leaves when it ends. */
void pf_pool_enter(struct pf_pool *pool);
unsigned pf_pool_leave(struct pf_pool *pool);

/* This many were created. */
void pf_pool_set_started(struct pf_pool *pool, unsigned workers);

/* All of them have ended. */
void pf_pool_clear(struct pf_pool *pool);

/* Set the state of a worker: as given; reading what it has claimed; or idle, because it
 * has found nothing to claim since these news. */
unsigned pf_pool_set_state(struct pf_pool *pool, unsigned number,
			     enum pf_worker_state state, uint64_t now);
unsigned pf_pool_set_claimed(struct pf_pool *pool, unsigned number,
			   const struct pf_stripe *stripe, uint64_t now);
unsigned pf_pool_set_idle(struct pf_pool *pool, unsigned number,
				 unsigned news);

/* Have all of them found nothing to claim since these news? */
bool pf_pool_is_idle(const struct pf_pool *pool, unsigned news);

/* Is a worker reading a stripe of this epoch?  With `unit`, one that includes it. */
bool pf_pool_is_reading(const struct pf_pool *pool, unsigned epoch,
			  const uint64_t *unit);

/* Does the checker reach this worker's stripe before those of all others? */
bool pf_pool_is_nearest(const struct pf_pool *pool, unsigned number);

#endif
