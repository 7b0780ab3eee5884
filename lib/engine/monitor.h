/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The engine, and its monitor: the lock, the conditions, and the state of the whole.
 * doc/architecture.md, "The engine", has the order in which the files call each other.
 *
 * Each function of the monitor takes the lock, calls parts, settles the events that they
 * return, and releases the lock; settle() is the only place that wakes anybody.  A part is
 * written by the file of its name alone.  All of it is advisory: if reads fail, memory runs
 * out or a thread does not start, the checker reads for itself, as it would without.
 */
#ifndef PF_MONITOR_H
#define PF_MONITOR_H

#include "engine.h"
#include "lock.h"
#include "health.h"
#include "reads.h"
#include "pool.h"
#include "schedule.h"
#include "window.h"

/* What the engine does as a whole; doc/architecture.md has a picture of what leads where. */
enum pf_state {
	PF_STATE_IDLE,	/* there are no workers */
	PF_STATE_ASLEEP,	/* there are none because all samples were cached;
				   reads of the checker that stall wake it */
	PF_STATE_STARTING,	/* a thread reads samples, measures the device, and
				   creates the workers; it counts as running */
	PF_STATE_READING,	/* also when nothing is left to read */
	PF_STATE_GAVE_UP,	/* too many errors, or a total budget is used
				   up: the workers claim nothing */
	PF_STATE_STOPPING	/* the workers have been told to end */
};

struct pf_engine {
	/* Const from the creation on. */
	struct pf_source *source;
	struct e2pf_device *const *devices;

	struct pf_worker *worker;	/* worker.c: an array; from the start to
					   the end of the threads */

	/* The others are monitor.c's. */
	struct pf_options cfg;	/* const while reading */
	pthread_mutex_t lock;
	_Atomic(enum pf_state) state;	/* any thread reads it */
	bool gave_up;			/* at any time since the start, for the
					   statistics: a stop ends the state */
	pthread_cond_t work;		/* workers that are idle or throttled */
	pthread_cond_t gate;		/* the checker's threads that wait there, */
	atomic_uint gate_waiters;	/* and how many do */
	pthread_cond_t ended;		/* callers that wait for the workers to end,
					   or to have nothing left to read */

	struct pf_schedule schedule;
	struct pf_window window;
	struct pf_health health;
	struct pf_reads reads;
	struct pf_pool pool;
};

/* What a worker does with one stripe: its thread's alone. */
struct pf_turn {
	unsigned number;		/* of the worker */
	struct pf_stripe stripe;
};

/* A checker at the gate goes on when no worker has made progress for
 * PF_GATE_PATIENCE_NS, or, where no disk is known to read, for PF_GATE_IDLE_PATIENCE_NS. */
#define PF_GATE_PATIENCE_NS 1000000000ull
#define PF_GATE_IDLE_PATIENCE_NS 50000000ull

/* These need no lock. */

/* Time of the first device's clock, which is used for all of them. */
static inline uint64_t pf_state_now(const struct pf_engine *e)
{
	return e->devices[0]->ops->now(e->devices[0]);
}

static inline bool pf_state_is_reading(const struct pf_engine *e)
{
	return e->state == PF_STATE_READING;
}

/* Are the units that were claimed obsolete? */
static inline bool pf_state_is_obsolete(const struct pf_engine *e,
				    const struct pf_stripe *stripe)
{
	return !pf_state_is_reading(e) || stripe->epoch != e->schedule.epoch ||
	       pf_schedule_has_passed(&e->schedule, stripe->last);
}

/* Threads (worker.c). */

/* Create this many workers, as the configuration, the budget and the speed of the device
 * say now.  Returns how many there are; *err is an errno if there is none. */
unsigned pf_workers_start(struct pf_engine *e, unsigned wanted, int *err);

/* Wait for the threads, which have been told to end. */
void pf_workers_join(struct pf_engine *e);

/* The life of an engine. */

void pf_monitor_init(struct pf_engine *e);
void pf_monitor_destroy(struct pf_engine *e);

/* Begin to start an engine that is idle, or one that is asleep.  Each returns true if the
 * caller is to go on with that; if pf_monitor_start() does not, *err is 0 or an errno. */
bool pf_monitor_start(struct pf_engine *e,
			const struct pf_options *config, int *err);
bool pf_monitor_wake(struct pf_engine *e);

/* The device was measured, as pf_health_set_speed() has it. */
void pf_monitor_measured(struct pf_engine *e, const char *unmeasured,
			   const struct e2pf_speed *speed, uint64_t ns);

/* Have the source begin, as what is known of the device by now demands.  Returns how many
 * workers to create, which wait for pf_monitor_started(); 0: the engine was stopped. */
unsigned pf_monitor_prepare(struct pf_engine *e);

/* The caller has started these workers.  If there are none the engine is `otherwise`:
 * idle, or asleep if everything is cached. */
void pf_monitor_started(struct pf_engine *e, unsigned workers,
			  enum pf_state otherwise);

/* Tell the workers to end, and wait at most so long; returns false if some have not.  When
 * their threads were joined, the engine is idle. */
bool pf_monitor_stop(struct pf_engine *e, int milliseconds);
void pf_monitor_stopped(struct pf_engine *e);

/* Have the source of an idle engine begin, for a caller that uses it without workers.
 * Returns its first phase. */
const struct pf_phase *pf_monitor_begin_source(struct pf_engine *e);

/* A worker. */

/* Claim what comes next, and sleep while there is nothing.  Returns false when the worker
 * has to end; then it leaves. */
bool pf_claim_units(struct pf_engine *e, struct pf_turn *turn);
void pf_claim_leave(struct pf_engine *e);

/* Wait for room in the window.  Returns false if the stripe is obsolete. */
bool pf_claim_wait_for_room(struct pf_engine *e, struct pf_turn *turn);

/* Count a span of a run, as pf_window_count_span().  Returns false if the stripe is
 * obsolete. */
bool pf_claim_count_span(struct pf_engine *e, struct pf_turn *turn,
			     struct pf_run *run, uint64_t pos,
			     uint64_t len, bool missing);

/* A worker's read at this place has returned after `ns`; `error` is an errno or 0.  Waits
 * while the device is stalled.  Returns false if the stripe is obsolete.  Takes the lock only
 * if somebody has to know. */
bool pf_claim_read_returned(struct pf_engine *e, struct pf_turn *turn,
				uint64_t offset, int error, uint64_t ns);

/* A read at this place has not returned after `ns`: the worker counts as throttled, for a
 * checker at the gate must not wait for it, until the read has ended. */
void pf_claim_read_stalls(struct pf_engine *e, struct pf_turn *turn,
			     uint64_t offset, uint64_t ns);
void pf_claim_resume(struct pf_engine *e, struct pf_turn *turn);

/* There are more units to claim. */
void pf_claim_announce_units(struct pf_engine *e);

/* The checker, beside the functions of engine.h: a read has returned.  Sets *ahead as
 * pf_engine_after_read() returns it.  Returns true if the caller is to start the engine. */
bool pf_monitor_checker_read(struct pf_engine *e,
			       const struct pf_read *read, bool *ahead);

#endif
