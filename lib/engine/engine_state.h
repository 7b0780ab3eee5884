/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the engine share: its state, and what each does for the
 * others.
 *
 *	engine.c	life and figures
 *	survey.c	what to find out before the first batch
 *	batch.c		which units a worker takes
 *	phase.c		which phase is on, and what follows it
 *	worker.c	the threads
 *	inflight.c	how many requests may be in flight
 *	throttle.c	how far ahead
 *	limit.c		when a worker waits for the limits of a second
 *	gate.c		what the checker reports, and when it waits
 *	count.c		the plan, counted
 *
 * All state is under one lock, but for what is atomic.  That is changed with
 * the lock as well where others wait for the change: only who looks now and then
 * does without.
 */
#ifndef E2PF_ENGINE_STATE_H
#define E2PF_ENGINE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "device/rate.h"
#include "blockset.h"
#include "elevator.h"
#include "engine.h"
#include "inflight.h"
#include "measure.h"
#include "trace.h"

/* Units of one batch, however little they weigh. */
#define BATCH_UNITS 8192u

/* Batches a worker may be ahead of the checker. */
#define WINDOW_BATCHES 64u

/* Reads of ours, and of the checker's in what was asked for, that may fail
 * before the engine gives up: on a failing disk each costs seconds, and the
 * checker has to see the error for itself. */
#define ERRORS_TOLERATED 16u

/* A device that takes so long for a request is stuck, whatever was in flight
 * besides.  It is the checker's alone until it has served so many reads of
 * its own in a quarter of that: what we ask for there makes each of them, and
 * the end of the check, so much longer. */
#define STUCK_NS 1000000000u
#define STUCK_PROOFS 4u

enum worker_state {
	WORKER_IDLE,		/* has nothing to do in this phase */
	WORKER_READING,
	WORKER_THROTTLED	/* until the checker has used what was read */
};

/* A batch that was read ahead and that the checker has not passed yet. */
struct batch {
	uint64_t last;		/* its last unit */
	uint64_t bytes;
	uint64_t unrecorded;	/* of them, not in the set of places ahead */
};

struct worker {
	struct e2pf_engine *e;
	unsigned number;
	pthread_t thread;
	struct e2pf_elevator elevator;
	enum worker_state state;
	unsigned phase;			/* that its batch belongs to */
	unsigned epoch;			/* of it */
	unsigned additions;		/* the engine's, when it last looked
					   for a batch */
	uint64_t next;			/* first unit not taken yet */
	uint64_t first, last;		/* units of the batch at hand */
	uint64_t bytes;			/* read ahead in it for this phase */
	uint64_t unrecorded;		/* of it, not in the set of places
					   ahead */
	uint64_t weight;		/* of its units */
	uint64_t target;		/* weight of the next batch */
	/* The readahead window: a ring of batches, the oldest first. */
	struct batch window[WINDOW_BATCHES];
	unsigned window_first, window_used;
	bool window_full;		/* when it last looked for a batch, so
					   that it has not seen what there is */
	struct e2pf_inflight inflight;	/* its requests */
	/* What it has done since it last had the lock: count_done(). */
	struct {
		uint64_t requests;
		uint64_t bytes;		/* of them */
		uint64_t waited_ns;	/* for the device */
	} done;
	struct e2pf_class_count *count;	/* for e2pf_engine_plan() */
};

struct e2pf_engine {
	struct e2pf_engine_config cfg;
	struct e2pf_engine_config next;	/* from the next start on */
	pthread_mutex_t lock;
	pthread_cond_t work_cond;	/* workers: units, or room in the
					   budget */
	pthread_cond_t gate_cond;	/* checkers at the gate */
	pthread_cond_t end_cond;	/* whoever waits for the end */
	struct worker *worker;
	unsigned workers;		/* threads there are */
	unsigned running;		/* of them, not yet returned */
	atomic_uint throttled;		/* of them, in that state */
	atomic_bool stop;
	atomic_bool gave_up;		/* too many errors, or a total budget
					   is used up */
	atomic_bool asleep;		/* all was resident at the start */
	unsigned sleep_misses;
	uint64_t sleep_since;		/* reads there were at the first */
	atomic_uint unsampled;		/* reads while asleep */

	bool has_head;			/* as configured, or as measured */
	bool dear;			/* no head, and requests are limited
					   by their number */
	struct e2pf_balance balance;	/* where they are */
	atomic_bool gated;		/* in this phase the checker waits at
					   the gate */
	struct e2pf_cost cost;

	const struct e2pf_phase *phases;	/* the source's array; NULL
						   before the first start */
	unsigned phase_count;
	atomic_int phase;		/* the current one, or E2PF_NONE */
	atomic_uint epoch;		/* counts changes of phase: a batch of
					   an older one is dropped */
	unsigned additions;		/* counts additions of units */
	uint32_t ended_phases;		/* mask, since the workers' start */
	uint64_t next_unit;		/* first not taken, where the workers
					   take parts as they come to them */
	atomic_uint_fast64_t at;	/* the checker's phase and unit, as
					   e2pf_pack_at() has them */
	atomic_uint_fast64_t wake_beyond;	/* a worker sleeps until the
						   checker has passed this
						   unit */

	uint64_t budget;		/* now, bytes */
	atomic_uint_fast64_t budget_asked;	/* when the machine was asked
						   for its memory, ns */
	/* Of the workers' windows and the batches at hand: sums, and the least
	 * of the windows' oldest units, which the checker has not passed when
	 * they were last looked at. */
	uint64_t batch_bytes, batch_unrecorded;
	uint64_t oldest_last;
	struct e2pf_rate rate;		/* of the workers' requests */
	/* Places are units of the grain, all devices one behind the other;
	 * base[] is the place that a device begins with. */
	uint64_t base[E2PF_DEVICES];
	struct e2pf_blockset *ahead_now;	/* places read ahead for the
						   current phase */
	struct e2pf_blockset *ahead_later;	/* and for a later one */
	struct e2pf_blockset *deferred;	/* places not read yet */
	uint64_t deferred_next;		/* the first of them not taken */
	atomic_bool tracking;		/* one of the sets holds something */
	atomic_uint gate_waiters;
	atomic_uint stuck;		/* the device is the checker's alone,
					   for so many quick reads */
	bool ending;			/* a signal ends the check */
	uint64_t unrecorded;		/* bytes ahead that had no room in a
					   set and are of no batch */
	uint64_t gaps;			/* bytes read through */
	uint64_t left_over;		/* bytes ahead at an earlier stop */
	atomic_uint_fast64_t last_progress;	/* when a worker last read
						   something, ns */
	uint64_t units_done;		/* of the first phase */
	uint64_t total_from;		/* bytes prefetched before the start */

	struct e2pf_trace *trace;	/* NULL: none is wanted */
	struct e2pf_engine_stats stats;
	_Atomic unsigned stage;
	uint64_t stage_began;
	atomic_uint_fast64_t reads[E2PF_STAGES], hits[E2PF_STAGES];
	atomic_uint_fast64_t checker_bytes;
};

/* The clock of all devices is the first one's. */
static inline uint64_t e2pf_now(struct e2pf_engine *e)
{
	struct e2pf_device *dev = e->cfg.devices[0];

	return dev->ops->now(dev);
}

/* In place of a phase: without units, and not followed. */
extern const struct e2pf_phase e2pf_no_phase;

/* The current phase. */
static inline const struct e2pf_phase *e2pf_phase_now(
		const struct e2pf_engine *e)
{
	int phase = atomic_load(&e->phase);

	return phase == E2PF_NONE ? &e2pf_no_phase : &e->phases[phase];
}

/* Does the checker report its place in this phase?  Then it tells which
 * batches it has passed, and each worker keeps a window of them. */
static inline bool e2pf_is_followed(const struct e2pf_phase *phase)
{
	return phase->order == E2PF_ORDER_WEIGHED ||
	       phase->order == E2PF_ORDER_EVEN;
}

/* No phase has this number. */
#define E2PF_NOWHERE UINT64_MAX
#define E2PF_AT_UNIT_BITS 56

static inline uint64_t e2pf_pack_at(unsigned phase, uint64_t unit)
{
	return (uint64_t)phase << E2PF_AT_UNIT_BITS |
	       (unit & (UINT64_MAX >> (64 - E2PF_AT_UNIT_BITS)));
}

/* Has the checker reported a unit of the current phase? */
static inline bool e2pf_checker_at(const struct e2pf_engine *e, uint64_t *unit)
{
	uint64_t at = atomic_load(&e->at);
	int phase = atomic_load(&e->phase);

	*unit = at & (UINT64_MAX >> (64 - E2PF_AT_UNIT_BITS));
	return at != E2PF_NOWHERE && phase != E2PF_NONE &&
	       at >> E2PF_AT_UNIT_BITS == (uint64_t)phase;
}

/* The place of a byte of a device. */
static inline uint64_t e2pf_place(const struct e2pf_engine *e,
				  unsigned device, uint64_t offset)
{
	return e->base[device] + offset / e->cfg.source->grain;
}

static inline uint64_t e2pf_set_bytes(const struct e2pf_engine *e,
				      const struct e2pf_blockset *set)
{
	return e2pf_blockset_size(set) * e->cfg.source->grain;
}

/* Is there nothing to be done any more for the worker's batch? */
static inline bool e2pf_ended(const struct worker *w)
{
	return w->e->stop || w->epoch != w->e->epoch || w->e->gave_up;
}

/* Threads it should have, by what the devices are. */
static inline unsigned e2pf_wanted_workers(const struct e2pf_engine *e)
{
	unsigned n = e->has_head ? e->cfg.head_threads : e->cfg.threads;

	return n ? n : 1;
}

/* engine.c */
void e2pf_deadline(struct timespec *ts, int milliseconds);
void e2pf_end_stage(struct e2pf_engine *e);
/* Adopt what e2pf_engine_configure() left; only while there are no workers,
 * who read it without the lock. */
void e2pf_adopt_config(struct e2pf_engine *e);
/* Start the workers; the lock is held.  0 or an errno. */
int e2pf_wake(struct e2pf_engine *e);
/* A read failed, which is added to this count of the statistics; give up when
 * there are too many.  The lock is held. */
void e2pf_count_failure(struct e2pf_engine *e, uint64_t *count);

/* survey.c */
bool e2pf_is_resident(struct e2pf_engine *e, unsigned device,
		      uint64_t offset, uint64_t len);
/* Is all in memory already, by a look at samples all over the devices? */
bool e2pf_looks_warm(struct e2pf_engine *e);
/* Measure whether there is a head, where that is a guess. */
void e2pf_probe_engine(struct e2pf_engine *e);

/* phase.c; with the lock held */
/* Ask the source for its phases; only while there are no workers, who look
 * at them without the lock. */
void e2pf_load_phases(struct e2pf_engine *e, uint64_t budget, bool has_head);
void e2pf_set_phase(struct e2pf_engine *e, int phase);
/* Has no worker anything left to do in this phase? */
bool e2pf_all_idle(struct e2pf_engine *e);
/* If that is so, go on to the phase that follows. */
void e2pf_next_phase(struct e2pf_engine *e);
/* The current phase has more units. */
void e2pf_note_addition(struct e2pf_engine *e);

/* batch.c; with the lock held, but for e2pf_seed_batch() */
/* True when w->first to w->last are the worker's, false when there is nothing
 * for it now. */
bool e2pf_take_batch(struct worker *w);
/* Put the references of the batch's units into the elevator. */
void e2pf_seed_batch(struct worker *w);
void e2pf_finish_batch(struct worker *w);
/* The weight of a worker's first batch. */
uint64_t e2pf_first_target(const struct e2pf_engine *e);

/* worker.c */
void e2pf_worker_init_elevator(struct worker *w);
void *e2pf_worker_main(void *worker);

/* limit.c */
/* Wait until a request of so many bytes may be made.  False when the batch is
 * no longer wanted. */
bool e2pf_within_limits(struct worker *w, uint64_t bytes);

/* throttle.c; with the lock held */
/* Bytes read ahead and not used yet; and those of them that only a later phase
 * needs, before that has begun. */
uint64_t e2pf_ahead_bytes(struct e2pf_engine *e);
uint64_t e2pf_later_bytes(const struct e2pf_engine *e);
/* Has the checker done with this unit?  Also without the lock. */
bool e2pf_passed(const struct e2pf_engine *e, uint64_t unit);
/* Forget the batches of a worker that the checker has passed; all that are in
 * its window; the batch at hand, which goes into no window. */
void e2pf_drop_passed(struct worker *w);
void e2pf_drop_window(struct worker *w);
void e2pf_drop_batch(struct worker *w);
/* Count what a worker asks for to its batch: bytes, and of them those that have
 * no room in the set of places ahead. */
void e2pf_count_bytes(struct worker *w, uint64_t bytes);
void e2pf_count_unrecorded(struct worker *w, uint64_t bytes);
/* The batch at hand has gone into the worker's window. */
void e2pf_keep_batch(struct worker *w);
/* The unit the checker has to pass for a worker that is throttled to go on. */
uint64_t e2pf_room_beyond(struct worker *w);
/* Ask how much memory there is, if that is to be done again; without the
 * lock, for it reads files of the kernel. */
void e2pf_ask_memory(struct e2pf_engine *e);
/* So many bytes of memory are left: the budget follows. */
void e2pf_follow_memory(struct e2pf_engine *e, uint64_t left);
/* Must this worker wait before it reads on? */
bool e2pf_over_budget(struct worker *w);
/* Gaps that are read through, in bytes, by what a request costs here. */
uint64_t e2pf_gap(struct e2pf_engine *e);
/* Between which bytes that is: where a request turns out to cost nothing, and
 * where it costs much. */
void e2pf_gap_range(const struct e2pf_engine *e, uint64_t *least,
		    uint64_t *most);

#endif
