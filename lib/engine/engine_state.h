/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State shared by the engine's files, and what each provides to the others.
 *
 *	engine.c	life cycle and statistics
 *	work.c		which phase is current, and what a worker takes next
 *	worker.c	the threads
 *	inflight.c	how many requests may be in flight
 *	ahead.c		how far to read ahead, gaps, and the limits per second
 *	gate.c		the checker's reports, and when the checker waits
 *	cached.c	what is cached, and what the device is like
 *	count.c		counts of the planned blocks
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
#include "elevator.h"
#include "engine.h"
#include "inflight.h"
#include "trace.h"

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

/* Units that were taken at once and that the checker has not passed, with what
 * was read ahead for them. */
struct range {
	uint64_t first, last, bytes;
};

/* So many are told apart; if there are more, the newest ones are one. */
#define RANGES 256u

enum worker_state {
	WORKER_IDLE,		/* found nothing to take */
	WORKER_READING,
	WORKER_THROTTLED	/* waits until the checker has used what was
				   read, or for a limit per second */
};

struct worker {
	struct e2pf_engine *e;
	unsigned number;
	pthread_t thread;
	struct e2pf_elevator elevator;
	enum worker_state state;
	const struct e2pf_phase *phase;	/* of what it has taken, */
	unsigned epoch;			/* and the engine's count then */
	unsigned news;			/* the engine's count when it last
					   found nothing to take */
	uint64_t first, last;		/* units it has taken; all that it
					   cannot be passed in, if these are
					   deferred references */
	uint64_t range;			/* the number of their range */
	struct e2pf_inflight inflight;	/* its requests */
	/* Work since it last held the lock: see count_done(). */
	struct {
		uint64_t requests, bytes;
		struct e2pf_completed one[E2PF_INFLIGHT_SAMPLES];
		unsigned ones;
	} done;
	struct e2pf_class_count *count;	/* for e2pf_engine_plan() */
};

/* References left for later, adjacent ones joined. */
struct deferred {
	struct e2pf_ref *ref;
	size_t used, room;
	uint64_t bytes;
	bool sorted;			/* the first place last */
};

/* As many as libext2fs's cache has blocks, and some more. */
#define LATELY 64u

struct e2pf_engine {
	struct e2pf_engine_config cfg;
	struct e2pf_engine_config next;	/* settings from the next start on */
	pthread_mutex_t lock;
	pthread_cond_t work_cond;	/* workers wait for work, or for room
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
	bool has_head;			/* rotational: as configured, or as
					   measured */

	/* Everything was cached at the start: see gate.c. */
	atomic_bool asleep;
	unsigned sleep_misses;
	uint64_t sleep_since;		/* number of reads at the first miss */
	atomic_uint unsampled;		/* reads while asleep */

	/* What is being read: see work.c. */
	_Atomic(const struct e2pf_phase *) phase;	/* NULL: none */
	const struct e2pf_phase *first_phase;
	atomic_uint epoch;		/* counts changes of phase: what was
					   taken in an older one is dropped */
	unsigned news;			/* counts whatever may give an idle
					   worker work */
	bool choosing;			/* a worker asks the source what
					   follows */
	bool ended;			/* nothing follows by itself */
	uint64_t next_unit;		/* the first one not taken */
	uint64_t take_bytes;		/* weight of the units taken next */
	uint64_t units_done;		/* in the first phase */
	struct deferred deferred;

	/* How far the checker is, and how far ahead the workers: ahead.c. */
	atomic_uint_fast64_t at;	/* its phase and unit, packed by
					   e2pf_pack_at() */
	atomic_bool gated;		/* in this phase the checker waits at
					   the gate */
	uint64_t budget;		/* now, bytes */
	atomic_uint_fast64_t budget_asked;	/* when the machine was asked
						   for its memory, ns */
	struct range range[RANGES];	/* a ring */
	uint64_t oldest_range, next_range;	/* numbers */
	uint64_t range_bytes;		/* of all of them */
	uint64_t weighed, brought;	/* bytes of units taken, and read for
					   them */
	uint64_t later_bytes;		/* read, or about to be, for a later
					   phase */
	uint64_t total_from;		/* bytes prefetched before the start */
	struct e2pf_rate rate;		/* of the workers' requests */
	double request_ns;		/* what a request costs, smoothed */
	double recent_requests, recent_bytes;	/* asked for lately */

	/* A place is the number of a unit of the grain, counted over all
	 * devices one after the other; base[] is a device's first place. */
	uint64_t base[E2PF_DEVICES];
	struct e2pf_blockset *ahead;	/* places read ahead and not used */
	atomic_bool tracking;		/* it is not empty */
	uint64_t gaps;			/* bytes of gaps read through */
	uint64_t left_over;		/* bytes still ahead at an earlier
					   stop */

	atomic_uint gate_waiters;
	atomic_uint stuck;		/* the device is left to the checker
					   for this many more quick reads */
	bool ending;			/* a signal is ending the check */
	atomic_uint_fast64_t last_progress;	/* when a worker last read
						   something, ns */

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
	/* The checker's last reads, by their place; 0: none. */
	atomic_uint_fast64_t lately[LATELY];
	atomic_uint_fast64_t reading_at;	/* bytes */
};

/* Time of the first device's clock, which is used for all of them. */
static inline uint64_t e2pf_now(struct e2pf_engine *e)
{
	struct e2pf_device *dev = e->cfg.devices[0];

	return dev->ops->now(dev);
}

/* Does the checker report its position in the current phase? */
static inline bool e2pf_is_followed(const struct e2pf_engine *e)
{
	const struct e2pf_phase *phase = atomic_load(&e->phase);

	return phase && phase->followed && e->cfg.paced;
}

/* Instead of a packed phase and unit: the checker has not reported one. */
#define E2PF_NOWHERE UINT64_MAX
#define E2PF_AT_UNIT_BITS 56
#define E2PF_AT_UNITS (UINT64_MAX >> (64 - E2PF_AT_UNIT_BITS))

static inline uint64_t e2pf_pack_at(unsigned phase, uint64_t unit)
{
	return (uint64_t)phase << E2PF_AT_UNIT_BITS | (unit & E2PF_AT_UNITS);
}

/* Has the checker reported a unit of the current phase? */
static inline bool e2pf_checker_at(const struct e2pf_engine *e, uint64_t *unit)
{
	const struct e2pf_phase *phase = atomic_load(&e->phase);
	uint64_t at = atomic_load(&e->at);

	*unit = at & E2PF_AT_UNITS;
	return at != E2PF_NOWHERE && phase &&
	       at >> E2PF_AT_UNIT_BITS == phase->number;
}

/* Has the checker passed this unit?  May be called without the lock. */
static inline bool e2pf_passed(const struct e2pf_engine *e, uint64_t unit)
{
	uint64_t at;

	return e2pf_is_followed(e) && e2pf_checker_at(e, &at) && unit < at;
}

/* The place of a byte of a device. */
static inline uint64_t e2pf_place(const struct e2pf_engine *e,
				  unsigned device, uint64_t offset)
{
	return e->base[device] + offset / e->cfg.source->grain;
}

/* Bytes read ahead and not used yet. */
static inline uint64_t e2pf_ahead_bytes(const struct e2pf_engine *e)
{
	return e2pf_blockset_size(e->ahead) * e->cfg.source->grain;
}

/* Is what the worker has taken obsolete? */
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
/* Take over the settings left by e2pf_engine_configure(), and tell the source.
 * Only while there are no workers, which read them without the lock. */
void e2pf_adopt_config(struct e2pf_engine *e);
void e2pf_begin_source(struct e2pf_engine *e, uint64_t budget, bool has_head,
		       bool asleep);
/* Start the workers; the lock is held.  Returns 0 or an errno. */
int e2pf_wake(struct e2pf_engine *e);
/* Add a failed read to this counter of the statistics, and give up when there
 * are too many.  The lock is held. */
void e2pf_count_failure(struct e2pf_engine *e, uint64_t *count);

/* cached.c */
bool e2pf_is_resident(struct e2pf_engine *e, unsigned device,
		      uint64_t offset, uint64_t len);
/* Is everything cached already?  Checks samples spread over the devices. */
bool e2pf_looks_warm(struct e2pf_engine *e);
/* If has_head is a guess, measure it. */
void e2pf_probe_engine(struct e2pf_engine *e);

/* work.c; with the lock held, except for e2pf_seed() */
void e2pf_set_phase(struct e2pf_engine *e, const struct e2pf_phase *phase);
/* Whether no worker has anything left to do now. */
bool e2pf_all_idle(const struct e2pf_engine *e);
/* There may be work for an idle worker. */
void e2pf_tell_news(struct e2pf_engine *e);
/* Take units or deferred references for this worker; false when there is
 * nothing for it now. */
bool e2pf_take(struct worker *w);
/* If nothing can be taken and no worker is busy, go on to the next phase. */
void e2pf_next_phase(struct e2pf_engine *e);
/* Put the references of the units that were taken into the elevator. */
void e2pf_seed(struct worker *w);
/* What was taken has been read. */
void e2pf_finish(struct worker *w);
/* Leave a reference for later; false if it belongs into the current pass. */
bool e2pf_defer(struct e2pf_engine *e, const struct e2pf_ref *ref);
void e2pf_forget_deferred(struct e2pf_engine *e);

/* worker.c */
void e2pf_worker_init(struct worker *w);
void *e2pf_worker_main(void *worker);

/* ahead.c; with the lock held, except for the first two */
/* Wait until a request of `bytes` may be made.  Returns false if it is no longer
 * wanted. */
bool e2pf_within_limits(struct worker *w, uint64_t bytes);
/* Query how much memory is available, unless that was queried recently.  It
 * reads files in /proc and /sys. */
void e2pf_ask_memory(struct e2pf_engine *e);
/* Adjust the budget to `left` bytes of available memory. */
void e2pf_follow_memory(struct e2pf_engine *e, uint64_t left);
/* The worker has taken its units, which weigh so much. */
void e2pf_add_range(struct worker *w, uint64_t weight);
void e2pf_forget_ranges(struct e2pf_engine *e);
/* Bytes will be read for what the worker has taken. */
void e2pf_count_ahead(struct worker *w, uint64_t bytes);
/* Must this worker wait before it reads on? */
bool e2pf_over_budget(struct worker *w);
/* Requests of so many bytes were made; a tracked one has completed. */
void e2pf_count_requests(struct e2pf_engine *e, uint64_t requests,
			 uint64_t bytes);
void e2pf_learn(struct e2pf_engine *e, const struct e2pf_completed *one);
/* Largest gap to read through now, bytes: from what a request costs, and what
 * is left of the source's limit.  And how many bytes of gaps that is. */
uint64_t e2pf_gap(const struct e2pf_engine *e);
uint64_t e2pf_gap_room(const struct e2pf_engine *e);
/* The largest gap that is ever read through, as far as is known. */
uint64_t e2pf_widest_gap(const struct e2pf_engine *e);

#endif
