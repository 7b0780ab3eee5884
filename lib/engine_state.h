/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the engine share: its state, and what each does for the
 * others.
 *
 *	engine.c	life and figures
 *	start.c		what to find out before the first batch
 *	batch.c		what a lane does next
 *	lane.c		the threads
 *	window.c	how many requests may be under way
 *	pacing.c	how far ahead
 *	checker.c	what the checker reports, and when it waits
 *
 * All state is under one lock, but for what is atomic.
 */
#ifndef E2PF_ENGINE_STATE_H
#define E2PF_ENGINE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "blockset.h"
#include "engine.h"
#include "measure.h"
#include "sweep.h"
#include "window.h"

/* Directory list entries that are held. */
#define LIST_ROOM 65536u

/* Groups of one batch, however empty. */
#define BATCH_GROUPS 8192u

/* Batches a lane may be ahead of the checker. */
#define BATCH_RING 64u

/* Reads of ours, and of the checker's in what was asked for, that may fail
 * before the engine gives up: on a failing disk each costs seconds, and the
 * checker has to see the error for itself. */
#define ERRORS_TOLERATED 16u

/* A device that takes so long for a request is stuck, whatever was under way
 * besides.  It is the checker's alone until it has served so many reads of
 * its own in a quarter of that: what we ask for there makes each of them, and
 * the end of the check, so much longer. */
#define STUCK_NS 1000000000u
#define STUCK_PROOFS 4u

enum work {
	WORK_NONE,
	WORK_TABLES,	/* inode tables and what they refer to; by group */
	WORK_LATER,	/* what they refer to and pass 2 needs, as the first
			   pass goes on; in block order */
	WORK_LIST,	/* directory blocks; by place in the list */
	WORK_BITMAPS	/* by group */
};

enum lane_state {
	LANE_IDLE,	/* has nothing to do in this work */
	LANE_SWEEPING,
	LANE_WAITING	/* for the checker to use what was read ahead */
};

/* A batch the checker has not passed yet. */
struct batch {
	uint64_t last;
	uint64_t bytes;
	uint64_t unrecorded;	/* of them, not in the set of blocks ahead */
};

struct lane {
	struct e2pf_engine *e;
	unsigned number;
	pthread_t thread;
	struct e2pf_sweep sweep;
	enum lane_state state;
	unsigned generation;	/* of the work its batch belongs to */
	unsigned seen;		/* of the engine's news */
	uint64_t next;		/* first unit not taken yet */
	uint64_t first, last;	/* units of the batch at hand */
	uint64_t bytes;		/* read ahead in it, this phase's */
	uint64_t table_bytes;	/* of it, tables */
	uint64_t unrecorded;	/* of it, not in the set of blocks ahead */
	uint64_t target;	/* table bytes of the next batch */
	struct batch ring[BATCH_RING];
	unsigned ring_first, ring_used;
	struct e2pf_window window;	/* of its requests */
	/* For e2pf_engine_plan(). */
	struct e2pf_class_plan *plan;
};

struct e2pf_engine {
	struct e2pf_engine_config cfg;
	struct e2pf_engine_config next;	/* from the next start on */
	pthread_mutex_t lock;
	pthread_cond_t work_cond;	/* lanes: work, or room in the budget */
	pthread_cond_t gate_cond;	/* checkers behind the gate */
	pthread_cond_t end_cond;	/* whoever waits for the end */
	struct lane *lane;
	unsigned lanes;			/* threads there are */
	unsigned running;		/* of them, not yet returned */
	bool stop;
	bool gave_up;			/* too many errors, or a total budget
					   is used up */
	atomic_bool asleep;		/* all was resident at the start */
	unsigned sleep_misses;
	uint64_t sleep_since;		/* reads there were at the first */
	atomic_uint unsampled;		/* reads while asleep */

	bool block_order;		/* as configured, or as measured */
	atomic_bool gated;		/* a sweep is on that is waited for */
	struct e2pf_cost cost;

	enum work work;
	unsigned generation;		/* counts changes of work */
	unsigned news;			/* counts what was added to a work */
	bool bitmaps_inline;		/* with the tables, they are few; put off
					   where there is no head */
	uint64_t bitmaps_next;		/* the first group not taken */
	bool bitmaps_done;
	atomic_uint_fast64_t at;	/* the checker's unit */
	atomic_bool at_valid;		/* it has reported one */

	uint64_t *list;			/* ring of LIST_ROOM blocks */
	uint64_t list_total;
	uint64_t list_end;		/* entries handed over */

	uint64_t limit;			/* the budget now, bytes */
	uint64_t limit_asked;		/* when, ns */
	struct e2pf_blockset *ahead;	/* read ahead for this pass */
	struct e2pf_blockset *later;	/* for a later pass */
	struct e2pf_blockset *wanted;	/* put off, not read yet */
	uint64_t wanted_next;		/* the first of them not taken */
	uint64_t unrecorded;		/* bytes ahead that had no room in a
					   set and are of no batch */
	atomic_bool tracking;		/* one of the sets holds something */
	unsigned gate_waiters;
	atomic_uint stuck;		/* the device is the checker's alone,
					   for so many quick reads */
	bool ending;			/* a signal ends the check */
	uint64_t gaps;			/* bytes read through */
	uint64_t left_over;		/* bytes ahead at an earlier stop */
	uint64_t moved;			/* when a sweep last moved, ns */
	uint64_t groups_done;
	uint64_t total_from;		/* bytes prefetched before the start */

	struct e2pf_engine_stats stats;
	_Atomic enum e2pf_phase phase;
	uint64_t phase_began;
	atomic_uint_fast64_t reads[E2PF_PHASES], hits[E2PF_PHASES];
	atomic_uint_fast64_t checker_bytes;
};

static inline uint64_t e2pf_now(struct e2pf_engine *e)
{
	return e->cfg.dev->ops->now(e->cfg.dev);
}

static inline bool e2pf_is_resident(struct e2pf_engine *e, uint64_t offset, uint64_t len)
{
	struct e2pf_device *dev = e->cfg.dev;

	while (len) {
		bool resident;
		uint64_t n = dev->ops->span(dev, offset, len, &resident);

		if (!resident)
			return false;
		offset += n;
		len -= n;
	}
	return true;
}

/* Threads it should have, by what the device is. */
static inline unsigned e2pf_wanted_lanes(const struct e2pf_engine *e)
{
	unsigned n = e->block_order ? e->cfg.sweeps : e->cfg.lanes;

	return n ? n : 1;
}

/* engine.c */
void e2pf_deadline(struct timespec *ts, int milliseconds);
void e2pf_end_phase(struct e2pf_engine *e);
/* Start the lanes; the lock is held.  0 or an errno. */
int e2pf_wake(struct e2pf_engine *e);

/* A read failed: are these too many?  The lock is held. */
void e2pf_count_failure(struct e2pf_engine *e, uint64_t *count);

/* start.c */
bool e2pf_looks_warm(struct e2pf_engine *e);
void e2pf_probe_engine(struct e2pf_engine *e);

/* batch.c */
uint64_t e2pf_table_bytes(const struct e2pf_engine *e, uint64_t group);
/* Is anything wanted that is in the inode tables or found through them? */
bool e2pf_wants_tables(const struct e2pf_engine *e);
/* Into the sweep, if it is a bitmap. */
void e2pf_bitmap_sink(void *sweep, const struct e2pf_ref *ref);
/* True when l->first to l->last are the lane's, false when there is nothing
 * for it now. */
bool e2pf_take_batch(struct lane *l);
/* Put what the batch begins with into the sweep; without the lock. */
void e2pf_fill_batch(struct lane *l, enum work work);
void e2pf_finish_batch(struct lane *l);
/* Does the checker's place tell which batches of this work it has done with?
 * These are kept count of, in each lane's ring. */
bool e2pf_is_in_order(enum work work);
/* Table bytes of a lane's first batch. */
uint64_t e2pf_first_target(const struct e2pf_engine *e);
void e2pf_set_work(struct e2pf_engine *e, enum work work);
bool e2pf_all_idle(struct e2pf_engine *e);
void e2pf_next_work(struct e2pf_engine *e);

/* lane.c */
void e2pf_lane_init_sweep(struct lane *l);
void *e2pf_lane_main(void *lane);

/* pacing.c */
uint64_t e2pf_set_bytes(const struct e2pf_engine *e,
			const struct e2pf_blockset *set);
/* Bytes read ahead for a later pass, before that has begun. */
uint64_t e2pf_later_bytes(const struct e2pf_engine *e);
/* Bytes read ahead and not used yet. */
uint64_t e2pf_ahead_bytes(struct e2pf_engine *e);
/* Has the checker done with this unit? */
bool e2pf_passed(struct e2pf_engine *e, uint64_t unit);
/* Forget the batches of a lane that the checker has passed. */
void e2pf_drop_passed(struct lane *l);
void e2pf_ask_memory(struct e2pf_engine *e);
/* Must this lane wait before it reads on? */
bool e2pf_over_budget(struct lane *l);
/* Gaps that are read through, by what a request costs here. */
uint32_t e2pf_gap_blocks(struct e2pf_engine *e);

#endif
