/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine: which blocks to read ahead, when, and how far.
 *
 * A checker reports where it is (inode, place in the directory list, each of
 * its reads); N threads, the lanes, keep a window ahead of it.  The engine
 * is told what the device is like and never looks for itself.
 *
 * doc/architecture.md has the state machine.
 */
#ifndef E2PF_ENGINE_H
#define E2PF_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device.h"
#include "plan.h"

struct e2pf_engine;

/* How it is to work; a lane's groups, device and geometry outlive it. */
struct e2pf_engine_config {
	const struct e2pf_geometry *geo;
	const struct e2pf_group *groups;	/* NULL until it is started */
	struct e2pf_device *dev;
	unsigned lanes;		/* threads where there is no head to move */
	unsigned sweeps;	/* threads on disks with a head */
	bool block_order;	/* sweep in block order, and let a checker wait
				   for the sweep: disks with a head */
	bool probe;		/* block_order is a guess: find out */
	bool paced;		/* a checker follows; else the budget is a
				   total */
	bool exact;		/* every read is timed for the statistics, also
				   while there is nothing to do */
	uint64_t budget;	/* bytes ahead of the checker, at most */
	uint64_t (*available)(void *ctx);	/* memory left, asked now and
						   then; may be NULL */
	void *available_ctx;
	size_t set_memory;	/* for each set of blocks, bytes; 0: 4 MiB */
	unsigned classes;	/* mask of 1 << enum e2pf_class */
};

/* What the checker is doing: the phases of the statistics. */
enum e2pf_phase {
	E2PF_PHASE_OPEN,	/* up to the first inode */
	E2PF_PHASE_PASS1,	/* inodes, block maps */
	E2PF_PHASE_PASS2,	/* directory blocks */
	E2PF_PHASE_PASS3,	/* connectivity, reference counts */
	E2PF_PHASE_PASS5,	/* bitmaps, and all to the end */
	E2PF_PHASES
};

struct e2pf_phase_stats {
	uint64_t ns;		/* wall time */
	uint64_t reads;		/* of the checker */
	uint64_t hits;		/* of them, served from memory */
	uint64_t stalls;	/* of them, waited for the device */
	uint64_t stall_ns;	/* in reads and behind the gate */
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
	uint64_t gate_waits;		/* reads that waited for the sweep */
	bool block_order;		/* as it was started */
	uint64_t latency_ns;		/* of one small read far away; 0 when
					   not measured */
	uint64_t deep_latency_ns;	/* for each of eight at once */
	uint64_t gap_bytes;		/* gaps up to this are read through */
	unsigned lanes;			/* threads that ran at most */
	struct e2pf_phase_stats phase[E2PF_PHASES];
};

/* An idle engine, or NULL without memory.  Starts nothing. */
struct e2pf_engine *e2pf_engine_new(const struct e2pf_engine_config *config);

/* Work like this from the next start on.  Geometry and device stay. */
void e2pf_engine_configure(struct e2pf_engine *e,
			   const struct e2pf_engine_config *config);

/* Stop, wait for the lanes, free.  NULL is allowed. */
void e2pf_engine_free(struct e2pf_engine *e);

/*
 * Start reading inode tables and what they refer to, from the first group.
 * Again after a stop; EBUSY after one that timed out, until another has not.
 * A total budget counts from here.  Returns 0, or an errno when no thread
 * could be had.
 */
int e2pf_engine_start(struct e2pf_engine *e);

/* End all lanes and wait for them: at most `milliseconds`, -1 for as long
 * as it takes.  False when one still waits for the device. */
bool e2pf_engine_stop(struct e2pf_engine *e, int milliseconds);

/* Wait until nothing is left to read ahead; true when that is so. */
bool e2pf_engine_wait(struct e2pf_engine *e, int milliseconds);

/* Are lanes at work, so that nobody else need read ahead? */
bool e2pf_engine_reads_ahead(struct e2pf_engine *e);

/* Has it stopped reading ahead because of errors, or because a total budget
 * is used up? */
bool e2pf_engine_gave_up(struct e2pf_engine *e);

/* Groups looked at so far by an engine that no checker paces. */
uint64_t e2pf_engine_progress(struct e2pf_engine *e);

/*
 * The checker's side; from the checker's threads, cheap.
 */

/* The statistics' phase changes; nothing else follows from it. */
void e2pf_engine_phase(struct e2pf_engine *e, enum e2pf_phase phase);

/* The inode scan has come to this group. */
void e2pf_engine_at_group(struct e2pf_engine *e, uint32_t group);

/* The directory list has `total` blocks, and its walk begins. */
void e2pf_engine_list_begin(struct e2pf_engine *e, uint64_t total);

/* Entries of the list the engine would take now: *first and the count. */
uint64_t e2pf_engine_list_wants(struct e2pf_engine *e, uint64_t *first);

/* Here they are, in the checker's order; a block of 0 means none. */
void e2pf_engine_list_put(struct e2pf_engine *e, const uint64_t *blocks,
			  size_t count);

/* The walk has come to this entry. */
void e2pf_engine_list_at(struct e2pf_engine *e, uint64_t index);

/* One read of the checker, between before and after. */
struct e2pf_read {
	uint64_t offset;	/* bytes */
	uint64_t length;	/* bytes */
	uint64_t began;		/* ns; 0: this one is not timed */
	uint64_t asked;		/* ns; when the device was, after any wait for
				   the sweep */
	bool waited;		/* for the sweep */
	bool missed;		/* not in memory; looked at when the device
				   is stuck */
};

/* About to read: may wait for the sweep.  Safe from several threads. */
void e2pf_engine_before_read(struct e2pf_engine *e, struct e2pf_read *read);
void e2pf_engine_after_read(struct e2pf_engine *e,
			    const struct e2pf_read *read);

void e2pf_engine_get_stats(struct e2pf_engine *e,
			   struct e2pf_engine_stats *stats);

/* Walk the whole plan in this thread, reading only what must be parsed, and
 * count it.  The engine is idle.  Returns 0 or an errno. */
int e2pf_engine_plan(struct e2pf_engine *e,
		     struct e2pf_class_plan plan[E2PF_CLASSES]);

#endif
