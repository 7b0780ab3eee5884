/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The engine: what to read ahead of a checker, when, and how far.
 *
 * Worker threads claim units of a source (source.h), phase by phase, and read the blocks
 * they refer to into the page cache.  The checker reports its position and each of its
 * reads; the workers keep a window in front of it.  The engine knows no filesystem.
 *
 * Every function may be called from any thread unless its comment says
 * otherwise, but not from those operations of the source that run with the
 * engine's lock held.
 */
#ifndef PREFETCH_ENGINE_H
#define PREFETCH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "speed.h"
#include "source.h"

struct pf_engine;

/* The engine keeps statistics for at most this many stages of the checker.  The caller
 * gives them their meaning. */
#define PF_MAX_STAGES 12u

struct pf_stage_stats {
	uint64_t ns;		/* wall time */
	uint64_t reads;		/* by the checker */
	uint64_t stalls;	/* reads that waited for the device */
	uint64_t stall_ns;	/* time of the stalls, including the gate */
};

struct pf_engine_stats {
	uint64_t planned_bytes;		/* examined, cached or not */
	uint64_t prefetched_bytes;	/* missing from the cache, and requested */
	uint64_t prefetched_requests;
	uint64_t checker_bytes;
	uint64_t wasted_bytes;		/* prefetched, and not read (yet) */
	uint64_t errors;		/* failed reads of the engine */
	uint64_t gate_waits;		/* reads that waited at the gate */
	uint64_t lost_ns;		/* time at the gate for blocks that no worker
					   has read */
	bool gave_up;			/* reading ahead ended because of errors, or
					   because the total budget is used up */
	uint64_t slow_or_failed;	/* reads that failed or took a second,
					   including the checker's */
	uint64_t degraded_at;		/* offset of the first of these reads, bytes
					   from the start of its device */
	struct pf_speed speed;		/* as measured, or `seek_bound` as configured */
	const char *unmeasured;		/* why the speed is not known: a text that
					   follows the device's name; or NULL */
	uint64_t threads;		/* the highest number of workers */
	struct pf_stage_stats stage[PF_MAX_STAGES];
	uint64_t stall_ns;		/* of all stages */
	/* At this moment: */
	unsigned at_stage;
	int at_phase;			/* phase of the checker's last report;
					   PF_NO_PHASE: no report */
	uint64_t at;			/* unit of that report */
	uint64_t reading_ns;		/* since the checker's read began; 0: no read */
	uint64_t reading_at;		/* bytes from the start of its device */
	uint64_t in_flight_bytes;	/* of those prefetched: not known to have come */
};

/* The checker has reported no phase. */
#define PF_NO_PHASE (-1)

/* Create an idle engine; NULL if memory has run out.  The caller keeps the source, and
 * one device for each of the source's devices, until the engine is freed. */
struct pf_engine *pf_engine_new(struct pf_source *source,
				struct pf_device *const *devices);

/* Stop the engine, wait for its workers, and free it.  `e` may be NULL.  No other call
 * may use the engine at the same time. */
void pf_engine_free(struct pf_engine *e);

/* Begin the first phase at its first unit, with a copy of these options.  A total budget
 * counts from here.  Does nothing, and returns 0, while the engine is reading.  Returns
 * EBUSY if a stop has begun and not succeeded, and another errno if no thread could be
 * created; otherwise 0. */
int pf_engine_start(struct pf_engine *e,
		    const struct pf_options *options);

/* End all workers, and wait for them at most `milliseconds` (-1: without limit).
 * Returns false if a worker still waits for the device.  Only one thread at a time may
 * stop the engine. */
bool pf_engine_stop(struct pf_engine *e, int milliseconds);

/* Wait until nothing is left to read ahead, or until another thread stops the engine; at
 * most `milliseconds` (-1: without limit).  Returns false if the time has run out. */
bool pf_engine_wait(struct pf_engine *e, int milliseconds);

/* Returns true if the checker needs no other readahead: the workers read as much as the
 * device can take, or they did not start because everything was cached. */
bool pf_engine_reads_ahead(const struct pf_engine *e);

/* The functions below are cheap.  The checker's threads call them. */

/* The checker enters a stage (below PF_MAX_STAGES).  It begins in stage 0. */
void pf_engine_begin_stage(struct pf_engine *e, unsigned stage);

/* The checker has reached this phase of the source: begin it, and drop what is left of
 * earlier phases.  `phase` must stay valid until the engine is stopped, even if the
 * source begins again.  Returns false, and changes nothing, if the engine was not
 * started or is being stopped. */
bool pf_engine_begin_phase(struct pf_engine *e,
			   const struct pf_phase *phase);

/* The checker has reached this unit of a phase.  The report counts while that phase is
 * the current one, until another report or pf_engine_begin_phase(). */
void pf_engine_report_position(struct pf_engine *e, unsigned phase, uint64_t unit);

/* Start the workers if they did not start because all samples were cached.  Called when
 * the checker is about to read blocks that the samples did not cover. */
void pf_engine_wake(struct pf_engine *e);

/* Returns true if there are workers and this phase is the current one. */
bool pf_engine_is_in_phase(struct pf_engine *e, unsigned phase);

/* Add units to a phase of the source.  Calls add() once, with the engine's lock, so that
 * no worker looks for units before they are announced.  add() must not call the
 * engine.  NULL: they were added already, in a phase that does not end meanwhile. */
void pf_engine_add_units(struct pf_engine *e, unsigned phase,
			 void (*add)(void *ctx), void *ctx);

/* One read of the checker, from before_read() to after_read(). */
struct pf_read {
	uint64_t offset;	/* bytes from the start of the device */
	uint64_t length;
	unsigned device;	/* index, as in references */
	bool of_several;	/* a read of several blocks failed, and this is
				   the read of one of them */
	uint64_t began;		/* ns */
	uint64_t passed_gate;	/* ns; when the device got it, after any wait at
				   the gate */
	bool waited;		/* not cached, and came to the gate */
	bool missed;		/* not cached; checked only at the gate, and
				   while the device is stalled or degraded */
};

/* The checker is about to read.  This call may wait at the gate.  The caller sets
 * device, offset and length, and sets `of_several` before it reports a failure; the
 * engine sets the other members. */
void pf_engine_before_read(struct pf_engine *e, struct pf_read *read);

/* The checker's read has returned.  Returns true if a part of it was read ahead, and had
 * not been read since. */
bool pf_engine_after_read(struct pf_engine *e,
			  const struct pf_read *read);

/* Copy the statistics.  Waits at most `milliseconds` for the engine's lock: a checker
 * that ends in a signal handler may hold it for ever.  Returns false, and leaves *stats
 * unchanged, if the lock was not free in time. */
bool pf_engine_get_stats(struct pf_engine *e, int milliseconds,
			 struct pf_engine_stats *stats);

/* The checker's read has failed.  The failure counts against the device.  Returns true
 * if the engine's requests may have caused it: then the caller should make the read
 * once more, on its own.  The kernel reads a large folio as a whole, the block layer
 * merges adjacent requests, and a device may fail them as one, so a bad sector in a
 * request of the engine may fail a read of sound sectors. */
bool pf_engine_read_failed(struct pf_engine *e,
			   const struct pf_read *r);

#endif
