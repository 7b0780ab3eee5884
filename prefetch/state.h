/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The engine as a whole: its parts, the lock, the conditions, and the state.
 * doc/architecture.md, "The engine", has the order in which the files call each other.
 *
 * gate.c, claim.c and engine.c take the lock, call parts, have pf_state_handle_events() act on
 * the events that they return, and release the lock.  A part is written by the file of its
 * name alone.  All of it is advisory: if reads fail, memory runs out or a thread does not
 * start, the checker reads for itself, as it would without.
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

/* What the engine does; doc/architecture.md has a picture of what leads where. */
enum pf_state {
	PF_STATE_IDLE,		/* there are no workers */
	PF_STATE_ASLEEP,	/* there are none because all samples were cached;
				   reads of the checker that stall wake it */
	PF_STATE_STARTING,	/* a thread reads samples, measures the device, and
				   creates the workers; it counts as running */
	PF_STATE_READING,	/* also when nothing is left to read */
	PF_STATE_GAVE_UP,	/* too many errors, or a total budget is used
				   up: the workers claim nothing */
	PF_STATE_STOPPING	/* the workers have been told to end */
};

/* What follows from a change of a part.  The part's function returns a mask of these, and
 * pf_state_handle_events() acts on it. */
enum pf_event {
	PF_EVENT_WORK = 1,	/* idle and throttled workers check again */
	PF_EVENT_ROOM = 2,	/* the same, if one of them is throttled */
	PF_EVENT_GATE = 4,	/* a checker that waits at the gate checks again */
	PF_EVENT_ENDED = 8,	/* callers that wait for the workers to end, or to
				   have nothing left to read, check again */
	PF_EVENT_GIVE_UP = 16,	/* the workers claim nothing any more */
	PF_EVENT_WAKE = 32	/* an engine that is asleep starts to read */
};

struct pf_engine {
	/* Const from the creation on. */
	struct pf_source *source;
	struct pf_device *const *devices;

	/* engine.c's. */
	struct pf_options options;	/* const while reading */

	/* state.c's. */
	pthread_mutex_t lock;
	_Atomic(enum pf_state) state;	/* any thread reads it */
	bool gave_up;			/* at any time since the start, for the
					   statistics: a stop ends the state */
	pthread_cond_t work;		/* workers that are idle or throttled */
	pthread_cond_t gate_opens;	/* the checker's threads that wait there */
	pthread_cond_t ended;		/* callers that wait for the workers to end,
					   or to have nothing left to read */

	struct pf_schedule schedule;
	struct pf_window window;
	struct pf_health health;
	struct pf_gate gate;
	struct pf_stats stats;
	struct pf_pool pool;
};

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

/* Is this worker's stripe obsolete? */
static inline bool pf_state_is_obsolete(const struct pf_worker *w)
{
	const struct pf_engine *e = w->engine;

	return !pf_state_is_reading(e) || w->stripe.epoch != e->schedule.epoch ||
	       pf_schedule_has_passed(&e->schedule, w->stripe.last);
}

/* The others need the lock. */

/* The one place where the state changes. */
void pf_state_set(struct pf_engine *e, enum pf_state state);

/* Act on the events that parts have returned: the one place that wakes threads.  Returns
 * true if an engine that was asleep is now starting: then the caller goes on with that. */
bool pf_state_handle_events(struct pf_engine *e, unsigned events);

#endif
