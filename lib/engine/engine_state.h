/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State shared by the engine's files, and what each provides to the others.
 *
 *	engine.c	life cycle and statistics
 *	residency.c	what is cached
 *	control.c	what a request and a byte cost, from the requests' times
 *	survey.c	where the device is measured
 *	batch.c		which units a worker takes
 *	phase.c		which phase is current, and which one follows
 *	worker.c	the threads
 *	inflight.c	how many requests may be in flight
 *	throttle.c	how far to read ahead, and the limits per second
 *	gate.c		the checker's reports, and when the checker waits
 *	count.c		counts of the planned blocks
 *	look.c		what the engine is doing, for a progress report
 *
 * One lock protects everything that is not atomic.  An atomic that threads
 * sleep on is also changed with the lock held; only readers that poll it do
 * without.
 */
#ifndef E2PF_ENGINE_STATE_H
#define E2PF_ENGINE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "device/rate.h"
#include "blockset.h"
#include "control.h"
#include "elevator.h"
#include "engine.h"
#include "inflight.h"
#include "trace.h"

/* The maximum number of units in a batch, however small their weight. */
#define BATCH_UNITS 8192u

/* The maximum number of batches in a worker's readahead window. */
#define WINDOW_BATCHES 64u

/* Failed reads of the engine, and of the checker on blocks the engine had asked
 * for, before the engine gives up: on a failing disk each costs seconds, and
 * the checker has to see the error itself. */
#define ERRORS_TOLERATED 16u

/* A device that takes this long for a request is stuck, whatever else was in
 * flight.  The engine then leaves it to the checker until it has served this
 * many of the checker's reads in a quarter of that time: anything the engine
 * asked for would delay each of those reads, and the end of the check. */
#define STUCK_NS 1000000000u
#define STUCK_PROOFS 4u

/* A small read that took longer than this waited for the device.  From memory
 * 4 KiB take 1 us; the fastest devices need 60 us for a request through the block
 * layer. */
#define STALL_NS 30000u

enum worker_state {
	WORKER_IDLE,		/* nothing to do in this phase */
	WORKER_READING,
	WORKER_THROTTLED	/* waits until the checker has used what was
				   read */
};

/* A batch that was read ahead and that the checker has not passed yet. */
struct batch {
	uint64_t last;		/* its last unit */
	uint64_t bytes;
	uint64_t unrecorded;	/* part of `bytes` that is not in the set of
				   places ahead */
};

struct worker {
	struct e2pf_engine *e;
	unsigned number;
	pthread_t thread;
	struct e2pf_elevator elevator;
	enum worker_state state;
	unsigned phase;			/* phase of its batch */
	unsigned epoch;			/* epoch of its batch */
	unsigned additions;		/* the engine's count when this worker
					   last looked for a batch */
	uint64_t next;			/* first unit not taken yet */
	uint64_t first, last;		/* units of the current batch */
	uint64_t bytes;			/* read ahead in it for this phase */
	uint64_t unrecorded;		/* part of `bytes` that is not in the
					   set of places ahead */
	unsigned step;			/* from one of its units to the next */
	uint64_t weight;		/* of its units */
	uint64_t target;		/* weight of the next batch */
	/* The readahead window: a ring of batches, oldest first. */
	struct batch window[WINDOW_BATCHES];
	unsigned window_first, window_used;
	bool window_full;		/* the window was full when this worker
					   last looked for a batch, so it has
					   not seen whether there are units */
	struct e2pf_inflight inflight;	/* its requests */
	/* Work since it last held the lock: see count_done(). */
	struct {
		uint64_t requests, bytes;	/* made */
		uint64_t came, came_bytes;	/* completed */
		uint64_t waited_ns;	/* waited for the device */
		/* The tracked ones of these. */
		struct {
			unsigned in_flight;
			uint64_t bytes, ns;
		} one[E2PF_INFLIGHT_SAMPLES];
		unsigned ones;
	} done;
	struct e2pf_class_count *count;	/* for e2pf_engine_plan() */
};

struct e2pf_engine {
	struct e2pf_engine_config cfg;
	struct e2pf_engine_config next;	/* settings from the next start on */
	pthread_mutex_t lock;
	pthread_cond_t work_cond;	/* workers wait for units, or for room
					   in the budget */
	pthread_cond_t gate_cond;	/* checkers wait at the gate */
	pthread_cond_t end_cond;	/* callers wait for the end */
	struct worker *worker;
	unsigned workers;		/* number of threads */
	unsigned running;		/* threads that have not returned yet */
	atomic_uint throttled;		/* threads in WORKER_THROTTLED */
	atomic_bool stop;
	atomic_bool gave_up;		/* too many errors, or a total budget
					   is used up */
	atomic_bool asleep;		/* everything was cached at the start */
	unsigned sleep_misses;
	uint64_t sleep_since;		/* number of reads at the first miss */
	atomic_uint unsampled;		/* reads while asleep */

	bool has_head;			/* rotational: as configured, or as
					   measured */
	struct e2pf_control control;
	bool together;			/* workers take adjacent units, not
					   alternate ones */
	atomic_bool gated;		/* in this phase the checker waits at
					   the gate */

	const struct e2pf_phase *phases;	/* the source's array; NULL
						   before the first start */
	unsigned phase_count;
	atomic_int phase;		/* the current one, or E2PF_NONE */
	atomic_uint epoch;		/* counts changes of phase: a batch of
					   an older epoch is dropped */
	unsigned additions;		/* counts additions of units */
	uint32_t ended_phases;		/* mask, since the workers started */
	uint64_t next_unit;		/* first unit not taken, where workers
					   take parts as they get to them */
	atomic_uint_fast64_t at;	/* the checker's phase and unit, packed
					   by e2pf_pack_at() */
	atomic_uint_fast64_t wake_beyond;	/* a worker sleeps until the
						   checker has passed this
						   unit */

	uint64_t budget;		/* now, bytes */
	atomic_uint_fast64_t budget_asked;	/* when the machine was asked
						   for its memory, ns */
	/* Sums over the workers' windows and current batches, and the lowest of
	 * the windows' oldest units, none of which the checker had passed when
	 * they were last checked. */
	uint64_t batch_bytes, batch_unrecorded;
	uint64_t oldest_last;
	struct e2pf_rate rate;		/* of the workers' requests */
	/* A place is the number of a unit of the grain, counted over all
	 * devices one after the other; base[] is a device's first place. */
	uint64_t base[E2PF_DEVICES];
	struct e2pf_blockset *ahead_now;	/* places read ahead for the
						   current phase */
	struct e2pf_blockset *ahead_later;	/* and for a later one */
	struct e2pf_blockset *deferred;	/* places left for a deferred phase */
	uint64_t deferred_next;		/* the first of them not taken */
	atomic_bool tracking;		/* one of the sets is not empty */
	atomic_uint gate_waiters;
	atomic_uint stuck;		/* the device is left to the checker
					   for this many more quick reads */
	bool ending;			/* a signal is ending the check */
	uint64_t unrecorded;		/* bytes ahead that had no room in a
					   set and belong to no batch */
	uint64_t gaps;			/* bytes of gaps read through */
	uint64_t left_over;		/* bytes still ahead at an earlier
					   stop */
	atomic_uint_fast64_t last_progress;	/* when a worker last read
						   something, ns */
	uint64_t units_done;		/* in the first phase */
	uint64_t total_from;		/* bytes prefetched before the start */

	struct e2pf_trace *trace;	/* NULL: none is wanted */
	struct e2pf_engine_stats stats;
	_Atomic unsigned stage;
	uint64_t stage_began;
	uint64_t stalled_until;		/* waits of the checker up to here are
					   counted */
	atomic_uint_fast64_t reads[E2PF_STAGES], hits[E2PF_STAGES];
	atomic_uint_fast64_t checker_bytes;
	/* The checker's read that has not returned; if several threads read,
	 * the last one that began. */
	atomic_uint_fast64_t reading_since;	/* ns; 0: none */
	atomic_uint reading_device;
	atomic_uint_fast64_t reading_at;	/* bytes */
};

/* Time of the first device's clock, which is used for all of them. */
static inline uint64_t e2pf_now(struct e2pf_engine *e)
{
	struct e2pf_device *dev = e->cfg.devices[0];

	return dev->ops->now(dev);
}

/* The phase when there is no current one: it has no units and is not
 * followed. */
extern const struct e2pf_phase e2pf_no_phase;

static inline const struct e2pf_phase *e2pf_phase_now(
		const struct e2pf_engine *e)
{
	int phase = atomic_load(&e->phase);

	return phase == E2PF_NONE ? &e2pf_no_phase : &e->phases[phase];
}

/* Does the checker report its position in this phase?  Its reports then tell
 * which batches it has passed, and each worker keeps a window of them. */
static inline bool e2pf_is_followed(const struct e2pf_phase *phase)
{
	return phase->order == E2PF_ORDER_WEIGHED ||
	       phase->order == E2PF_ORDER_EVEN;
}

/* Instead of a packed phase and unit: the checker has not reported one. */
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

/* Is the worker's batch obsolete? */
static inline bool e2pf_ended(const struct worker *w)
{
	return w->e->stop || w->epoch != w->e->epoch || w->e->gave_up;
}

/* Number of workers for these devices. */
static inline unsigned e2pf_wanted_workers(const struct e2pf_engine *e)
{
	unsigned n = e->has_head ? e->cfg.head_threads : e->cfg.threads;

	return n ? n : 1;
}

/* engine.c */
/* The time in so many nanoseconds. */
void e2pf_deadline(struct timespec *ts, uint64_t ns);
void e2pf_end_stage(struct e2pf_engine *e);
/* Take over the settings left by e2pf_engine_configure().  Only while there are
 * no workers, which read them without the lock. */
void e2pf_adopt_config(struct e2pf_engine *e);
/* Start the workers; the lock is held.  Returns 0 or an errno. */
int e2pf_wake(struct e2pf_engine *e);
/* Add a failed read to this counter of the statistics, and give up when there
 * are too many.  The lock is held. */
void e2pf_count_failure(struct e2pf_engine *e, uint64_t *count);

/* residency.c */
bool e2pf_is_resident(struct e2pf_engine *e, unsigned device,
		      uint64_t offset, uint64_t len);
/* Is everything cached already?  Checks samples spread over the devices. */
bool e2pf_looks_warm(struct e2pf_engine *e);

/* survey.c */
/* If has_head is a guess, measure it. */
void e2pf_probe_engine(struct e2pf_engine *e);

/* phase.c; with the lock held */
/* Ask the source for its phases.  Only while there are no workers, which read
 * them without the lock. */
void e2pf_load_phases(struct e2pf_engine *e, uint64_t budget, bool has_head);
void e2pf_set_phase(struct e2pf_engine *e, int phase);
/* Whether no worker has anything left to do in this phase. */
bool e2pf_all_idle(struct e2pf_engine *e);
/* If all workers are idle, go on to the next phase. */
void e2pf_next_phase(struct e2pf_engine *e);
/* The current phase has more units. */
void e2pf_note_addition(struct e2pf_engine *e);

/* batch.c; with the lock held, except for e2pf_seed_batch() */
/* Take a batch: true when w->first to w->last are the worker's, false when
 * there is nothing for it now. */
bool e2pf_take_batch(struct worker *w);
/* Put the references of the batch's units into the elevator. */
void e2pf_seed_batch(struct worker *w);
void e2pf_finish_batch(struct worker *w);
/* Weight of a worker's first batch. */
uint64_t e2pf_first_target(const struct e2pf_engine *e);
/* Follow the controller: share units out as the device is known now. */
void e2pf_follow_control(struct e2pf_engine *e);

/* worker.c */
void e2pf_worker_init_elevator(struct worker *w);
void *e2pf_worker_main(void *worker);

/* throttle.c; with the lock held, except for the first two */
/* Wait until a request of `bytes` may be made.  Returns false if the batch is
 * no longer wanted. */
bool e2pf_within_limits(struct worker *w, uint64_t bytes);
/* Query how much memory is available, unless that was queried recently.  It
 * reads files in /proc and /sys. */
void e2pf_ask_memory(struct e2pf_engine *e);
/* Bytes read ahead and not used yet; and the part of them that only a later
 * phase needs. */
uint64_t e2pf_ahead_bytes(struct e2pf_engine *e);
uint64_t e2pf_later_bytes(const struct e2pf_engine *e);
/* Has the checker passed this unit?  May be called without the lock. */
bool e2pf_passed(const struct e2pf_engine *e, uint64_t unit);
/* Drop a worker's batches: those the checker has passed; all in its window; the
 * current batch, which then goes into no window. */
void e2pf_drop_passed(struct worker *w);
void e2pf_drop_window(struct worker *w);
void e2pf_drop_batch(struct worker *w);
/* Add requested bytes to the totals of a worker's batch, and those of them for
 * which the set of places ahead has no room. */
void e2pf_count_bytes(struct worker *w, uint64_t bytes);
void e2pf_count_unrecorded(struct worker *w, uint64_t bytes);
/* Move the current batch into the worker's window. */
void e2pf_keep_batch(struct worker *w);
/* The unit that the checker has to pass before a throttled worker can go on. */
uint64_t e2pf_room_beyond(struct worker *w);
/* Adjust the budget to `left` bytes of available memory. */
void e2pf_follow_memory(struct e2pf_engine *e, uint64_t left);
/* Must this worker wait before it reads on? */
bool e2pf_over_budget(struct worker *w);
/* Largest gap to read through now, in bytes: from what a request costs, and what
 * is left of the source's limit. */
uint64_t e2pf_gap(const struct e2pf_engine *e);
/* How many bytes of gaps may still be read through: the source's limit. */
uint64_t e2pf_gap_room(const struct e2pf_engine *e);

#endif
