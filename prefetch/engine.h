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

/* Stages of the checker that statistics are kept for, at most.  Their meaning
 * is the caller's. */
#define PF_MAX_STAGES 12u

struct pf_stage_stats {
	uint64_t ns;		/* wall time */
	uint64_t reads;		/* by the checker: */
	uint64_t stalls;	/* those that waited for the device; */
	uint64_t stall_ns;	/* their time, the gate included */
};

struct pf_engine_stats {
	uint64_t planned_bytes;		/* examined, cached or not */
	uint64_t prefetched_bytes;	/* not cached, and requested */
	uint64_t prefetched_requests;
	uint64_t checker_bytes;
	uint64_t wasted_bytes;		/* prefetched and not (yet) read */
	uint64_t errors;		/* reads of the engine that failed */
	uint64_t gate_waits;		/* reads that waited at the gate */
	uint64_t lost_ns;		/* at the gate, for blocks that no worker
					   has read */
	bool gave_up;			/* reading ahead has ended because of
					   errors, or because a total budget is
					   used up */
	uint64_t slow_or_failed;	/* reads that failed or took a second,
					   the checker's included */
	uint64_t degraded_at;		/* the first of them, bytes from the
					   start of its device */
	struct pf_speed speed;		/* as measured, or `seek_bound` as configured */
	const char *unmeasured;		/* why it is not known, a text that
					   follows the name of the device; or
					   NULL */
	uint64_t threads;		/* workers there were at most */
	struct pf_stage_stats stage[PF_MAX_STAGES];
	uint64_t stall_ns;		/* of all stages */
	/* At this moment: */
	unsigned at_stage;
	int at_phase;			/* the phase and unit that the checker */
	uint64_t at;			/* reported; no phase: PF_NO_PHASE */
	uint64_t reading_ns;		/* since its read began; 0: none */
	uint64_t reading_at;		/* bytes from the start of its device */
};

/* In place of a phase. */
#define PF_NO_PHASE (-1)

/* An idle engine, or NULL without memory.  Starts nothing.  The source and its
 * devices, one for each that it has, outlive it. */
struct pf_engine *pf_engine_new(struct pf_source *source,
				struct pf_device *const *devices);

/* Stop, wait for the workers, free.  NULL is allowed.  The caller must keep
 * other calls away. */
void pf_engine_free(struct pf_engine *e);

/* Begin the first phase at its first unit, with a copy of this configuration.  May be
 * called again after a stop that has succeeded, otherwise it returns EBUSY; while
 * the engine reads, it changes nothing.  A total budget counts from here.
 * Returns 0, or an errno when no thread could be created. */
int pf_engine_start(struct pf_engine *e,
		    const struct pf_options *config);

/* End all workers and wait for them at most `milliseconds` (-1: without limit).
 * Returns false when a worker is still waiting for the device.  One thread may stop
 * the engine at a time. */
bool pf_engine_stop(struct pf_engine *e, int milliseconds);

/* Wait until nothing is left to read ahead, or another thread stops the engine; at most
 * `milliseconds` (-1: without limit).  Returns false when the time has passed. */
bool pf_engine_wait(struct pf_engine *e, int milliseconds);

/* True if workers are reading ahead, and as much as the device can take, or did not
 * start because everything was cached.  Either way no other readahead is needed. */
bool pf_engine_reads_ahead(const struct pf_engine *e);

/* The checker's side.  These calls come from its threads and are cheap. */

/* The checker enters a stage (below PF_MAX_STAGES); it begins in stage 0.
 * Statistics are kept per stage. */
void pf_engine_begin_stage(struct pf_engine *e, unsigned stage);

/* The checker has reached this phase of the source, which begins now; what is left of
 * earlier ones is dropped.  It stays valid until the engine has been stopped, also over a
 * begin() of the source.  Returns false, and changes nothing, when the engine was not
 * started or is being stopped. */
bool pf_engine_begin_phase(struct pf_engine *e,
			   const struct pf_phase *phase);

/* The checker has reached this unit of a phase.  Counts while that phase is the
 * current one, until another report or pf_engine_begin_phase(). */
void pf_engine_report_position(struct pf_engine *e, unsigned phase, uint64_t unit);

/* The checker is about to read blocks that the samples did not cover: if all
 * samples were cached, start the workers now. */
void pf_engine_wake(struct pf_engine *e);

/* True if there are workers and this phase is the current one. */
bool pf_engine_is_in_phase(struct pf_engine *e, unsigned phase);

/* Add units to a phase of the source.  add() is called once, with the engine
 * locked, so that no worker looks for units between the addition and its
 * announcement.  add() must not call the engine. */
void pf_engine_add_units(struct pf_engine *e, unsigned phase,
			 void (*add)(void *ctx), void *ctx);

/* One read of the checker, from before_read() to after_read(). */
struct pf_read {
	uint64_t offset;	/* bytes from the start of the device */
	uint64_t length;
	unsigned device;	/* index, as in references */
	bool of_several;	/* a read of several blocks has failed, and so
				   each is read alone */
	uint64_t began;		/* ns */
	uint64_t passed_gate;	/* ns; when it was passed to the device, after
				   any wait at the gate */
	bool waited;		/* it was not cached, and came to the gate */
	bool missed;		/* it was not cached; checked only at the gate,
				   and while the device is stalled or degraded */
};

/* The checker is about to read: may wait at the gate.  The caller sets device, offset and
 * length, and `of_several` before a failure is reported; the engine sets the rest. */
void pf_engine_before_read(struct pf_engine *e, struct pf_read *read);
/* Returns true if some of it had been read ahead, and was not read since. */
bool pf_engine_after_read(struct pf_engine *e,
			  const struct pf_read *read);

/* Waits at most `milliseconds` for the engine's lock, which a checker may hold that a
 * signal handler ends.  Returns false, and leaves *stats as it is, without it. */
bool pf_engine_get_stats(struct pf_engine *e, int milliseconds,
			 struct pf_engine_stats *stats);

/* The checker's read has failed, which counts against the device.  The kernel reads a large
 * folio as a whole, the block layer merges adjacent requests, and a device may fail them as
 * one: a bad sector among what the engine asked for fails a read that is sound.  Returns
 * true if that may be so: the read should be made once more, alone. */
bool pf_engine_read_failed(struct pf_engine *e,
			   const struct pf_read *r);

#endif
