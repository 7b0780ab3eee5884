/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How the engine works, and what it consists of.
 *
 * A checker reads one block after the other, in an order that follows from what it
 * finds.  The engine's workers read the same blocks before it.  A source (source.h)
 * knows which these are: it divides the work into phases, and a phase into units.
 *
 * The schedule has one cursor.  A worker that is free takes the units behind it, so
 * that all workers read what the checker needs next, and asks the source which places
 * they refer to (worker.c).  Its elevator sorts these, merges them into runs and hands
 * them back: first the runs to request, then the pieces to parse, which lead to further
 * places, one level after the other (elevator.h).  A disk with a head so serves one
 * sweep a level; a device without one always has a queue.
 *
 * Before a run is requested there must be room in the window: the bytes that are ahead
 * of the checker stay below a budget that follows the memory, because what is evicted
 * before it is used is read twice.  The pacing says which gaps are read through, and
 * whether the device is stuck, and then left to the checker.  Requests go to the page cache by fadvise(); the number in flight follows
 * the time that one takes, because the end of a check waits for all of them.
 *
 * The checker reports its position and each read.  Where it reports positions, what it
 * has passed makes room; elsewhere its reads do.  When it overtakes a worker, that
 * worker drops what it has taken and takes units in front of the checker.  On a head
 * the checker may wait at the gate for a worker that is about to read its block: its
 * own read would move the head away and back.  When the checker reaches another phase,
 * what was taken in the one before is dropped (the epoch has changed).
 *
 * All of this is advisory.  If reads fail, memory runs out or a thread does not start,
 * the checker reads for itself, as it would without the engine.
 *
 * Each part below is written by the file of its name, and by no other: the others read
 * it, or call its functions (tests/tools/owners.py).  One lock protects everything that
 * a part's header does not say needs none.  The parts call each other with it held;
 * only a worker outside of the lock, and the checker's calls (engine.h), take it.
 */
#ifndef E2PF_CORE_H
#define E2PF_CORE_H

#include "checker.h"
#include "engine.h"
#include "lock.h"
#include "pacing.h"
#include "pool.h"
#include "schedule.h"
#include "window.h"

enum e2pf_run {
	E2PF_RUN_IDLE,		/* there are no workers */
	E2PF_RUN_ASLEEP,	/* nor here: everything was cached at the start */
	E2PF_RUN_STARTING,	/* a thread measures the device, and then starts
				   them; it counts as one of them */
	E2PF_RUN_READING,
	E2PF_RUN_GAVE_UP,	/* too many errors, or a total budget is used
				   up: the workers take nothing */
	E2PF_RUN_STOPPING	/* the workers have been told to end */
};

struct e2pf_engine {
	/* Const from the creation on. */
	struct e2pf_source *source;
	struct e2pf_device *const *devices;
	/* Const while reading: e2pf_engine_start() sets it. */
	struct e2pf_engine_config cfg;

	struct e2pf_lock lock;
	_Atomic(enum e2pf_run) run;	/* engine.c; any thread reads it */
	bool gave_up;			/* engine.c: since the start, for the
					   statistics */

	struct e2pf_schedule schedule;
	struct e2pf_window window;
	struct e2pf_pacing pacing;
	struct e2pf_checker checker;
	struct e2pf_pool pool;
};

/* Time of the first device's clock, which is used for all of them. */
static inline uint64_t e2pf_now(const struct e2pf_engine *e)
{
	return e->devices[0]->ops->now(e->devices[0]);
}

static inline bool e2pf_is_reading(const struct e2pf_engine *e)
{
	return e->run == E2PF_RUN_READING;
}

/* Does the checker report its position in the current phase? */
static inline bool e2pf_is_followed(const struct e2pf_engine *e)
{
	const struct e2pf_phase *phase = e->schedule.phase;

	return phase && phase->followed && e->cfg.paced;
}

/* These need the lock. */

/* Measure the device if its kind is a guess, with the lock released, and start the
 * workers.  Returns 0, also when the engine was stopped meanwhile, or an errno. */
int e2pf_start_reading(struct e2pf_engine *e);

/* The workers take nothing any more. */
void e2pf_give_up(struct e2pf_engine *e);

#endif
