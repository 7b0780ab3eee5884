/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State shared by the engine's files, and what each provides to the others.
 *
 * One lock protects everything that is not atomic, except those fields of a
 * worker that only its thread uses.  An atomic that threads sleep on is also
 * changed with the lock held; only readers that poll it do without.
 */
#ifndef E2PF_ENGINE_STATE_H
#define E2PF_ENGINE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "device/thread.h"
#include "blockset.h"
#include "engine.h"

/* Failed reads before the engine gives up: on a failing disk each costs seconds,
 * and the checker has to see the error itself. */
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

/* Levels of references: those of the units, and eight below, the depth of a
 * btrfs tree.  Those found by parsing that are not parsed themselves come after
 * all others of a pass; deferred ones, after many passes. */
#define E2PF_LEVELS 9u
#define E2PF_LEAVES E2PF_LEVELS
#define E2PF_DEFERRED (E2PF_LEVELS + 1u)
#define E2PF_ALL_LEVELS (E2PF_LEVELS + 2u)

struct level {
	struct e2pf_ref *ref;
	size_t used, room;
	uint64_t bytes;
	void *buf;			/* the piece being parsed */
	size_t buf_size;
};

/* A request in flight.  MOST: sorted requests on arrays of disks gain up to
 * this. */
#define E2PF_IN_FLIGHT_MOST 1024u

struct request {
	unsigned device;
	uint64_t offset;	/* of one block it reads, bytes */
	uint64_t bytes;
	uint64_t asked;		/* ns */
	unsigned depth;		/* requests in flight then, with it, */
	uint64_t queued;	/* and their bytes */
};

/* What a worker has found and asked for since it was started.  References that
 * were dropped count as asked for. */
struct found {
	uint64_t bytes, refs, asked_bytes, asked_refs, requests;
	uint64_t unit_bytes, parsed_bytes;	/* of the units' references */
	unsigned in_flight;			/* requests */
};

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
				   read, for a stuck device, or for a limit per
				   second */
};

struct worker {
	struct e2pf_engine *e;
	unsigned number;
	pthread_t thread;
	enum worker_state state;
	const struct e2pf_phase *phase;	/* of what it has taken, and */
	unsigned epoch;			/* the engine's count then */
	unsigned news;			/* the engine's count when it last found
					   nothing to take */
	uint64_t first, last;		/* units it has taken; after the last
					   one, none: deferred references */
	uint64_t range;			/* the number of their range */
	struct found found;		/* when it last held the lock */

	/* Only the worker's thread uses these. */
	struct level level[E2PF_ALL_LEVELS];
	size_t level_most;	/* references per level below the first */
	uint64_t parse_left;	/* pieces below the first level that may still
				   be parsed */
	unsigned filling;	/* the level that parsing adds to */
	bool ended;		/* nobody wants the rest of the pass */
	bool incomplete;	/* memory ran out for a unit's reference */
	struct found now;
	struct request request[E2PF_IN_FLIGHT_MOST];	/* a ring */
	unsigned oldest, in_flight;
	unsigned in_flight_most;	/* at present */
	uint64_t in_flight_bytes;
	double request_ns;	/* what a request costs, smoothed */
	double recent_requests, recent_bytes;	/* asked for lately */
	struct e2pf_class_count *count;	/* instead of reading ahead, for
					   e2pf_engine_plan() */
};

/* As many as libext2fs's cache has blocks, and some more. */
#define LATELY 64u

struct e2pf_engine {
	struct e2pf_engine_config cfg;
	pthread_mutex_t lock;
	pthread_cond_t work_cond;	/* workers that are idle or throttled */
	pthread_cond_t gate_cond;	/* checkers at the gate */
	pthread_cond_t end_cond;	/* callers that wait for the end */

	struct worker *worker;
	unsigned workers;		/* number of threads */
	unsigned running;		/* that have not returned yet */
	atomic_uint throttled;
	atomic_bool stop;
	atomic_bool gave_up;		/* too many errors, or a total budget
					   is used up */
	struct e2pf_speed speed;	/* as measured, or has_head as
					   configured */

	/* Everything was cached at the start: see gate.c. */
	atomic_bool asleep;
	unsigned sleep_misses;
	uint64_t sleep_since;		/* number of reads at the first miss */

	/* What is being read: see work.c. */
	_Atomic(const struct e2pf_phase *) phase;	/* NULL: none */
	const struct e2pf_phase *first_phase;
	atomic_uint epoch;		/* changes of phase: what was taken in
					   an older one is dropped */
	unsigned news;			/* counts whatever may give an idle
					   worker work */
	bool choosing;			/* a worker asks the source what
					   follows */
	bool ended;			/* nothing follows by itself */
	atomic_bool left_out;		/* there was no room for some of it: the
					   phase does not end */
	uint64_t next_unit;		/* the first one not taken */
	uint64_t take_bytes;		/* weight of the units taken next */

	/* How far the checker is, and how far ahead the workers: ahead.c. */
	atomic_uint_fast64_t at;	/* its phase and unit: e2pf_pack_at() */
	atomic_bool gated;		/* in this phase it waits at the gate */
	atomic_uint_fast64_t budget;	/* now, bytes */
	atomic_uint_fast64_t budget_asked;	/* when memory was queried,
						   ns */
	struct range range[RANGES];	/* a ring */
	uint64_t oldest_range, next_range;	/* numbers */
	uint64_t taken_bytes, read_bytes;	/* of units, and read for
						   them */
	atomic_uint_fast64_t later_bytes;	/* found for a later phase */
	uint64_t total_from;		/* bytes prefetched before the start */
	struct e2pf_rate rate;		/* of the workers' requests */

	uint64_t base[E2PF_DEVICES];	/* first place of each device */
	struct e2pf_blockset ahead;	/* places read ahead and not used */
	uint64_t unused;		/* other bytes that nobody has used: of
					   gaps, and ahead at an earlier stop */

	atomic_uint gate_waiters;
	atomic_uint stuck;		/* the device is left to the checker for
					   this many more quick reads */
	bool ending;			/* a signal is ending the check */
	atomic_uint_fast64_t last_progress;	/* when a worker last read
						   something, ns */

	FILE *trace;			/* NULL: none is wanted */
	struct e2pf_engine_stats stats;
	unsigned stage;
	uint64_t stage_began;
	uint64_t stalled_until;		/* waits of the checker up to here are
					   counted */
	/* The checker's read that has not returned; if several threads read,
	 * the last one that began. */
	atomic_uint_fast64_t reading_since;	/* ns; 0: none */
	atomic_uint_fast64_t reading_at;	/* bytes */
	/* Its last reads, by their place; 0: none. */
	atomic_uint_fast64_t lately[LATELY];
};

/* Write an event to the trace, as printf() would, if there is one. */
#define e2pf_trace(e, ...) \
	do { \
		if ((e)->trace) \
			fprintf((e)->trace, __VA_ARGS__); \
	} while (0)

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
	return e->ahead.size * e->cfg.source->grain;
}

/* Has the worker taken deferred references, not units? */
static inline bool e2pf_is_deferred(const struct worker *w)
{
	return w->first > w->last;
}

/* Does nobody want it? */
static inline bool e2pf_is_obsolete(const struct worker *w)
{
	return w->e->stop || w->epoch != w->e->epoch || w->e->gave_up ||
	       e2pf_passed(w->e, w->last);
}

/* Number of workers for these devices. */
static inline unsigned e2pf_wanted_workers(const struct e2pf_engine *e)
{
	unsigned n = e->speed.has_head ? e->cfg.head_threads : e->cfg.threads;

	return n ? n : 1;
}

/* engine.c */
/* The time in so many nanoseconds. */
struct timespec e2pf_deadline(uint64_t ns);
void e2pf_end_stage(struct e2pf_engine *e);
/* Start the workers; the lock is held.  Returns 0 or an errno. */
int e2pf_wake(struct e2pf_engine *e);
/* Prepare the source for a walk over everything that is not read ahead, by an idle
 * engine. */
void e2pf_begin_walk(struct e2pf_engine *e);

/* cached.c */
bool e2pf_is_resident(struct e2pf_engine *e, unsigned device,
		      uint64_t offset, uint64_t len);
/* Is everything cached already?  Checks samples spread over the devices. */
bool e2pf_samples_are_cached(struct e2pf_engine *e);
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
/* Pass the references of the units that were taken to the elevator. */
void e2pf_seed(struct worker *w);

/* elevator.c */
/* Is the reference of a class and a device of the source, not empty, and within
 * that device?  In any thread. */
bool e2pf_is_sound(const struct e2pf_source *source,
		   const struct e2pf_ref *ref);

/* elevator.c; in the worker's thread, without the lock */
/* Add a reference; a sink whose `ctx` is the worker.  Before the pass it
 * receives those of the units: the first level holds them all, so the caller
 * limits how many units it takes.  One that is not sound is dropped. */
void e2pf_add(void *ctx, const struct e2pf_ref *ref);
/* Read what was added and everything it refers to; or, if the worker has taken
 * these, the deferred references. */
void e2pf_pass(struct worker *w);
/* Drop the references of a level. */
void e2pf_drop_level(struct worker *w, unsigned number);
void e2pf_free_levels(struct worker *w);

/* worker.c */
void e2pf_worker_init(struct worker *w);
void *e2pf_worker_main(void *worker);
/* With the lock held. */
void e2pf_set_state(struct worker *w, enum worker_state state);
/* Request a run of `n` references on one device, adjacent except for gaps, as
 * far as they are not cached.  May wait.  Returns false if nobody wants it. */
bool e2pf_request_run(struct worker *w, const struct e2pf_ref *refs, size_t n);
/* A worker's read has returned after a wait of `waited_ns`; `error` is an errno
 * or 0.  Returns false if nobody wants the rest. */
bool e2pf_read_returned(struct worker *w, int error, uint64_t waited_ns);

/* ahead.c */
/* Wait until a request of `bytes` may be made.  Returns false if nobody wants it
 * any more. */
bool e2pf_within_limits(struct worker *w, uint64_t bytes);
/* Wait for room in the budget.  Returns false as above. */
bool e2pf_wait_for_room(struct worker *w);
/* Leave a stuck device to the checker.  The lock is held. */
void e2pf_wait_while_stuck(struct worker *w);
/* Query how much memory is available, unless that was queried recently.  It
 * reads files in /proc and /sys. */
void e2pf_ask_memory(struct e2pf_engine *e);
/* The worker has taken its units, of so many bytes.  The lock is held. */
void e2pf_add_range(struct worker *w, uint64_t bytes);
/* Bytes will be read for what the worker has taken.  The lock is held. */
void e2pf_count_ahead(struct worker *w, uint64_t bytes);
/* May this be read for a later phase?  If so, it counts. */
bool e2pf_has_room_later(struct e2pf_engine *e, uint32_t bytes);
/* Requests of so many bytes were made; one has completed. */
void e2pf_count_requests(struct worker *w, uint64_t requests, uint64_t bytes);
void e2pf_learn(struct worker *w, const struct request *r, uint64_t now);
/* Largest gap to read through now, bytes; the largest that ever is, as far as is
 * known. */
uint64_t e2pf_gap(const struct worker *w);
uint64_t e2pf_widest_gap(const struct e2pf_engine *e, double request_ns);

#endif
