/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One elevator pass over a batch: from the references of its units down to
 * all they lead to, level by level, each level in the order of the device and
 * merged into runs.
 */
#ifndef E2PF_ELEVATOR_H
#define E2PF_ELEVATOR_H

#include "device/device.h"
#include "source.h"

/* Levels of references: those of the units, and eight below, as deep as a
 * tree of btrfs is.  References that are not parsed may have a level of their
 * own behind all others. */
#define E2PF_LEVELS 9u

struct e2pf_level {
	struct e2pf_ref *ref;
	size_t used;
	size_t room;
	unsigned char *buf;		/* what is being parsed */
	size_t buf_size;		/* bytes */
};

/* What a pass asks of its owner; called in the thread of the pass. */
struct e2pf_elevator_ops {
	/*
	 * A run is next: `refs` are `n` references on one device, adjacent but
	 * for gaps.  Start reading what is missing.  May wait.  False ends the
	 * pass.
	 */
	bool (*issue)(void *ctx, const struct e2pf_ref *refs, size_t n);
	/* A reference of one of the deferred classes was found. */
	void (*defer)(void *ctx, const struct e2pf_ref *ref);
	/* Bytes to parse have come, after so long; `error` is an errno or 0.
	 * False ends the pass. */
	bool (*arrived)(void *ctx, int error, uint64_t waited_ns);
	/* Parsing has added units to a phase. */
	void (*units_added)(void *ctx);
};

struct e2pf_elevator {
	struct e2pf_source *source;
	struct e2pf_device *const *devices;
	const struct e2pf_elevator_ops *ops;
	void *ctx;
	uint32_t deferred;		/* mask of classes: references that are
					   not parsed are handed to the owner
					   and not read */
	bool leaves_last;		/* what needs no parsing waits for all
					   levels: one pass less of a disk */
	uint64_t gap;			/* bytes between two references that
					   still are one run; may change
					   between runs */
	uint64_t issue_ahead;		/* bytes issued before waiting */
	size_t level_cap;		/* references held per level below the
					   first */
	uint64_t parse_left;		/* pieces below the first level that
					   may still be parsed */
	struct e2pf_level level[E2PF_LEVELS + 1];
	unsigned filling;		/* level that references are added to */
	bool ended;
	bool incomplete;		/* a reference of the first level was
					   lost for want of memory */
};

/* The fields up to parse_left are the caller's to set first, and stay as they
 * are. */
void e2pf_elevator_init(struct e2pf_elevator *elevator);
void e2pf_elevator_fini(struct e2pf_elevator *elevator);

/* Add a reference: a sink, `ctx` is the elevator.  Before the pass, those of
 * the units; the first level holds them all, so the caller keeps a batch to
 * some thousands of units.  One that is not inside its device is dropped. */
void e2pf_elevator_add(void *ctx, const struct e2pf_ref *ref);

/* Read all that was added and all that it refers to, then be empty. */
void e2pf_elevator_run(struct e2pf_elevator *elevator);

#endif
