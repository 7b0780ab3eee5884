/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The engine as a whole: its parts, the lock, the conditions, and the state.
 * doc/architecture.md, "The engine", has the order in which the files call each other.
 *
 * gate.c, claim.c and engine.c take the lock, call the parts, pass the events that
 * these return to pf_state_handle_events(), and release the lock.  Only the file of a
 * part's name writes that part.  Everything here is advisory: if reads fail, memory
 * runs out or a thread does not start, the checker reads for itself, as it would
 * without an engine.
 */
#ifndef PREFETCH_STATE_H
#define PREFETCH_STATE_H

#include "engine.h"
#include "gate.h"
#include "health.h"
#include "lib/lock.h"
#include "pool.h"
#include "schedule.h"
#include "stats.h"
#include "window.h"

/* What the engine does; doc/architecture.md has a picture of the transitions. */
enum pf_state {
	PF_STATE_IDLE,		/* there are no workers */
	PF_STATE_ASLEEP,	/* there are no workers because all samples were
				   cached; stalls of the checker wake the engine */
	PF_STATE_STARTING,	/* a thread, which counts as running, reads samples,
				   measures the device, and creates the workers */
	PF_STATE_READING,	/* also when nothing is left to read */
	PF_STATE_GAVE_UP,	/* too many errors, or the total budget is used up:
				   the workers claim nothing */
	PF_STATE_STOPPING	/* the workers have been told to end */
};

/* The consequences of a change to a part.  The part's function returns a mask of them,
 * and pf_state_handle_events() acts on it. */
enum pf_event {
	PF_EVENT_WORK = 1,	/* idle and throttled workers check again */
	PF_EVENT_ROOM = 2,	/* the same, but only if a worker is throttled */
	PF_EVENT_GATE = 4,	/* a checker that waits at the gate checks again */
	PF_EVENT_ENDED = 8,	/* callers that wait until the workers have ended, or
				   until nothing is left to read, check again */
	PF_EVENT_GIVE_UP = 16,	/* the workers claim nothing from now on */
	PF_EVENT_WAKE = 32	/* the engine starts to read if it is asleep */
};

struct pf_engine {
	/* Const from the creation on. */
	struct pf_source *source;
	struct pf_device *const *devices;

	/* Written by engine.c. */
	struct pf_options options;	/* const while reading */

	/* Written by state.c. */
	pthread_mutex_t lock;
	_Atomic(enum pf_state) state;	/* any thread reads it */
	bool gave_up;			/* the engine has given up since the start;
					   kept after a stop, for the statistics */
	pthread_cond_t work;		/* for workers that are idle or throttled */
	pthread_cond_t gate_opens;	/* for the checker's threads at the gate */
	pthread_cond_t ended;		/* for callers that wait until the workers
					   have ended, or nothing is left to read */

	struct pf_schedule schedule;
	struct pf_window window;
	struct pf_health health;
	struct pf_gate gate;
	struct pf_stats stats;
	struct pf_pool pool;
};

/* These need no lock. */

/* The time by the first device's clock, which the engine uses for all devices. */
static inline uint64_t pf_state_now(const struct pf_engine *e)
{
	return e->devices[0]->ops->now(e->devices[0]);
}

static inline bool pf_state_is_reading(const struct pf_engine *e)
{
	return e->state == PF_STATE_READING;
}

/* Returns true if nothing of this worker's stripe is wanted any more. */
static inline bool pf_state_is_obsolete(const struct pf_worker *w)
{
	const struct pf_engine *e = w->engine;

	return !pf_state_is_reading(e) || w->stripe.epoch != e->schedule.epoch ||
	       pf_schedule_has_passed(&e->schedule, w->stripe.last);
}

/* The others need the lock. */

/* Change the state.  Nothing else changes it. */
void pf_state_set(struct pf_engine *e, enum pf_state state);

/* Act on the events that parts have returned.  Nothing else wakes threads.  Returns
 * true if the engine was asleep and is now starting: then the caller must continue the
 * start. */
bool pf_state_handle_events(struct pf_engine *e, unsigned events);

#endif
