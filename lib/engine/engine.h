/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine: what to read ahead of a checker, when, and how far.
 *
 * Worker threads take the units of a source of work (source.h), phase by
 * phase, and read what they refer to into the page cache.  The checker
 * reports where it is and each of its reads; the workers keep a window ahead
 * of it.  The engine knows no filesystem, and is told what the devices are
 * like.
 *
 * Unless a function says otherwise it may be called from any thread, but not
 * by the source's operations that the engine calls with its lock held.
 *
 * doc/architecture.md has the state machine and a glossary.
 */
#ifndef E2PF_ENGINE_H
#define E2PF_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"
#include "source.h"

struct e2pf_engine;
struct e2pf_trace;

/* How it is to work.  Source and devices outlive the engine. */
struct e2pf_engine_config {
	struct e2pf_source *source;
	struct e2pf_device *const *devices;	/* as many as the source has */
	unsigned threads;	/* workers where no disk has a head */
	unsigned head_threads;	/* workers where disks have heads: as many
				   elevator passes at a time as they stand */
	bool has_head;		/* a disk with a head: read in the order of
				   the device, and let the checker wait at the
				   gate */
	bool probe;		/* has_head is a guess: measure it */
	bool paced;		/* a checker follows; else the budget is a
				   total */
	bool exact;		/* every read is timed for the statistics, also
				   while there is nothing to do */
	uint64_t budget;	/* bytes ahead of the checker, at most */
	uint64_t (*available)(void *ctx);	/* bytes of memory left, asked
						   now and then; may be
						   NULL */
	void *available_ctx;
	/* Bytes and requests that the workers may ask for in a second, 0: any;
	 * divided by how many share them, asked with the lock held (NULL: this
	 * engine alone).  The checker's own reads are not counted. */
	uint64_t bandwidth;
	unsigned requests;
	unsigned (*sharers)(void *ctx);
	/* Called by each worker when it begins, with available_ctx; may be
	 * NULL. */
	void (*thread_begins)(void *ctx);
	bool ungated;		/* the checker never waits at the gate: workers
				   are not served as it is */
	size_t set_memory;	/* for each set of places, bytes; 0: 4 MiB */
};

/* Stages of the checker that statistics are kept for, at most.  What they are
 * is the caller's business. */
#define E2PF_STAGES 12u

struct e2pf_stage_stats {
	uint64_t ns;		/* wall time */
	uint64_t reads;		/* of the checker */
	uint64_t hits;		/* of them, served from memory */
	uint64_t stalls;	/* of them, waited for the device */
	uint64_t stall_ns;	/* in reads and at the gate */
};

struct e2pf_engine_stats {
	uint64_t planned_bytes;		/* looked at, resident or not */
	uint64_t prefetched_bytes;	/* missing, and asked for */
	uint64_t prefetched_requests;
	uint64_t checker_bytes;
	uint64_t wasted_bytes;		/* prefetched, not read (yet) */
	uint64_t peak_lookahead_bytes;
	uint64_t errors;		/* reads of ours that failed */
	uint64_t failed_ahead;		/* reads of the checker that failed in
					   what was asked for */
	uint64_t gate_waits;		/* reads that waited at the gate */
	uint64_t own_stall_ns;		/* in reads of what was not read ahead */
	bool has_head;			/* as it was started */
	uint64_t latency_ns;		/* of one small read far away; 0 when
					   not measured */
	uint64_t deep_latency_ns;	/* for each of eight at once */
	uint64_t gap_bytes;		/* gaps up to this are read through */
	unsigned threads;		/* workers there were at most */
	struct e2pf_stage_stats stage[E2PF_STAGES];
};

/* The most that may be read ahead when so many bytes of memory are left.  Half
 * where a checker follows, which needs memory itself and uses what was read
 * ahead; three quarters where none does. */
uint64_t e2pf_engine_budget(uint64_t memory, bool paced);

/* An idle engine, or NULL without memory.  Starts nothing. */
struct e2pf_engine *e2pf_engine_new(const struct e2pf_engine_config *config);

/* Work like this from the next start on.  Source and devices stay. */
void e2pf_engine_configure(struct e2pf_engine *e,
			   const struct e2pf_engine_config *config);

/* Record what happens in `trace`, which outlives the engine; before anything
 * is read. */
void e2pf_engine_trace(struct e2pf_engine *e, struct e2pf_trace *trace);

/* Stop, wait for the workers, free.  NULL is allowed.  Nothing else may be
 * called at the same time. */
void e2pf_engine_free(struct e2pf_engine *e);

/*
 * Begin the first phase, at its first unit.  Again after a stop; EBUSY after
 * one that timed out, until another has not.  A total budget counts from
 * here.  Returns 0, or an errno when no thread could be had.
 */
int e2pf_engine_start(struct e2pf_engine *e);

/* End all workers and wait for them: at most `milliseconds`, -1 for as long
 * as it takes.  False when one still waits for the device. */
bool e2pf_engine_stop(struct e2pf_engine *e, int milliseconds);

/* Wait until nothing is left to read ahead, at most `milliseconds` (-1:
 * without limit); true when that is so. */
bool e2pf_engine_wait(struct e2pf_engine *e, int milliseconds);

/* Are workers reading, or was all in memory when they should have begun, so
 * that nobody else need read ahead? */
bool e2pf_engine_reads_ahead(struct e2pf_engine *e);

/* Has it stopped reading ahead because of errors, or because a total budget
 * is used up? */
bool e2pf_engine_gave_up(struct e2pf_engine *e);

/* What the device does, measured at samples that are not in memory. */
struct e2pf_measured {
	bool has_head;
	uint64_t latency_ns;	/* of a small read far from the last */
	uint64_t deep_latency_ns;	/* for each of eight at once */
	uint64_t bytes_per_second;	/* of a sample read in a row */
	/* How it would be read: known whatever could be measured. */
	unsigned depth;		/* requests of each worker in flight, to begin
				   with */
	bool dear;		/* their number is limited, not their bytes */
	uint64_t least_gap, most_gap;	/* bytes read through: where requests
					   are no limit, and where they are */
};

/* More requests of a worker than this are never in flight. */
#define E2PF_DEPTH_MOST 1024u

/* Measure, in this thread, whatever the configuration says of a head; the
 * engine is idle.  False when too little is not in memory, or a read fails. */
bool e2pf_engine_measure(struct e2pf_engine *e, struct e2pf_measured *measured);

/* Units of the first phase that are done with, since the start. */
uint64_t e2pf_engine_progress(struct e2pf_engine *e);

/*
 * The checker's side; from the checker's threads, cheap.
 */

/* The checker enters a stage (below E2PF_STAGES): for the statistics, and for
 * phases that are of use in one stage only. */
void e2pf_engine_stage(struct e2pf_engine *e, unsigned stage);

/* The checker has come to a phase that is begun by it.  False when the engine
 * was not started, or is being stopped: nothing changes then. */
bool e2pf_engine_begin_phase(struct e2pf_engine *e, unsigned phase);

/* The checker has come to this unit of a phase.  Heard only while that phase
 * is the current one. */
void e2pf_engine_at(struct e2pf_engine *e, unsigned phase, uint64_t unit);

/* Are there workers, and is this phase the current one? */
bool e2pf_engine_in_phase(struct e2pf_engine *e, unsigned phase);

/* The source gets more units of this phase: add() gives them to it, and is
 * called once, with the engine locked, so that no worker looks for units
 * between the addition and the news of it.  It must not call the engine. */
void e2pf_engine_add_units(struct e2pf_engine *e, unsigned phase,
			   void (*add)(void *ctx), void *ctx);

/* One read of the checker, between before and after. */
struct e2pf_read {
	uint64_t offset;	/* bytes, on the device */
	uint64_t length;	/* bytes */
	unsigned device;	/* index, as in references */
	uint64_t began;		/* ns; 0: this one is not timed */
	uint64_t asked;		/* ns; when the device was, after any wait at
				   the gate */
	bool waited;		/* at the gate */
	bool missed;		/* not in memory; looked at when the device
				   is stuck */
};

/* About to read: may wait at the gate.  The caller sets device, offset and
 * length, and leaves the rest to the engine. */
void e2pf_engine_before_read(struct e2pf_engine *e, struct e2pf_read *read);
void e2pf_engine_after_read(struct e2pf_engine *e,
			    const struct e2pf_read *read);

/* True if the checker's own readahead of this may be dropped: it is cached, or
 * a worker is going to read it (`planned`) and the checker will wait for that. */
bool e2pf_engine_brings(struct e2pf_engine *e, const struct e2pf_ref *ref,
			bool planned);

void e2pf_engine_get_stats(struct e2pf_engine *e,
			   struct e2pf_engine_stats *stats);

/* What there is of one class. */
struct e2pf_class_count {
	uint64_t bytes;
	uint64_t runs;		/* adjacent references of the class */
};

/* Walk all phases that no checker begins, in this thread, reading only what
 * must be parsed, and count what would be read ahead; `count` has an element
 * for each class.  The engine is idle.  Returns 0 or an errno. */
int e2pf_engine_plan(struct e2pf_engine *e, struct e2pf_class_count *count);

#endif
