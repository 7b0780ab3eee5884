/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One elevator pass over some references: reads them and, level by level, all
 * blocks that these lead to.  Each level is sorted in device order and merged
 * into runs.
 */
#ifndef E2PF_ELEVATOR_H
#define E2PF_ELEVATOR_H

#include <stdatomic.h>

#include "device/device.h"
#include "source.h"

/* Levels of references: those of the units, and eight below, the depth of a
 * btrfs tree.  References that are not parsed may have a level of their own
 * after all others. */
#define E2PF_LEVELS 9u

struct e2pf_level {
	struct e2pf_ref *ref;
	size_t used;
	size_t room;
	size_t runs;			/* that are not issued; before they are
					   sorted, those in which they came */
	unsigned char *buf;		/* the piece being parsed */
	size_t buf_size;		/* bytes */
};

/* Callbacks to the owner of a pass, made in the thread of the pass. */
struct e2pf_elevator_ops {
	/*
	 * A run is next: `n` references on one device, adjacent except for
	 * gaps.  Start reading the blocks that are not cached.  May wait.
	 * Returning false ends the pass.
	 */
	bool (*issue)(void *ctx, const struct e2pf_ref *refs, size_t n);
	/* A reference of a deferred class was found.  Returning false keeps it
	 * in this pass. */
	bool (*defer)(void *ctx, const struct e2pf_ref *ref);
	/* Bytes to parse have arrived, after a wait of `waited_ns`; `error` is
	 * an errno or 0.  Returning false ends the pass. */
	bool (*arrived)(void *ctx, int error, uint64_t waited_ns);
	/* Parsing has added units to a phase. */
	void (*units_added)(void *ctx);
};

struct e2pf_elevator {
	struct e2pf_source *source;
	struct e2pf_device *const *devices;
	const struct e2pf_elevator_ops *ops;
	void *ctx;
	uint32_t deferred;		/* mask of classes: references not to
					   be parsed go to defer() first */
	bool leaves_last;		/* references that need no parsing wait
					   until all levels are done: one pass
					   less over a disk */
	uint64_t gap;			/* largest number of bytes between two
					   references of a run; may change
					   between runs */
	uint64_t gap_room;		/* bytes of gaps in the next run, at
					   most */
	uint64_t issue_ahead;		/* bytes issued before waiting */
	size_t level_cap;		/* references held per level below the
					   first */
	uint64_t parse_left;		/* pieces below the first level that
					   may still be parsed */
	struct e2pf_level level[E2PF_LEVELS + 1];
	unsigned filling;		/* level to which references are
					   added */
	/* The bytes of references that were found, and that were issued or
	 * dropped; runs that were issued, and that are likely to be.  Any thread
	 * may read them. */
	atomic_uint_fast64_t found_bytes, issued_bytes;
	atomic_uint_fast64_t issued_runs, queued_runs;
	/* The bytes of the units' references, found and parsed. */
	atomic_uint_fast64_t unit_bytes, parsed_bytes;
	bool ended;
	bool incomplete;		/* a reference of the first level was
					   lost because memory ran out */
};

/* The caller sets the fields up to parse_left first; init and fini leave them
 * alone. */
void e2pf_elevator_init(struct e2pf_elevator *elevator);
void e2pf_elevator_fini(struct e2pf_elevator *elevator);

/* Add a reference; a sink whose `ctx` is the elevator.  Before the pass it
 * receives those of the units: the first level holds them all, so the caller
 * limits how many units it takes.  A reference outside its device is
 * dropped. */
void e2pf_elevator_add(void *ctx, const struct e2pf_ref *ref);

/* Read everything that was added and everything it refers to; the elevator is
 * then empty. */
void e2pf_elevator_run(struct e2pf_elevator *elevator);

#endif
