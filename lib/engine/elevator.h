/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One sweep: from a batch of groups' own blocks down the trees, level by
 * level, each level in block order and merged into runs.
 */
#ifndef E2PF_SWEEP_H
#define E2PF_SWEEP_H

#include "engine.h"

/* Inode table, five levels of extent nodes, directory blocks; and the leaves
 * of all of them where they come last. */
#define E2PF_SWEEP_LEVELS 8
#define E2PF_SWEEP_LEAVES (E2PF_SWEEP_LEVELS - 1)

struct e2pf_level {
	struct e2pf_ref *ref;
	size_t used;
	size_t room;
	unsigned char *buf;		/* what is being parsed */
};

/* What a sweep asks of whoever owns it; called from the sweep's thread. */
struct e2pf_sweep_ops {
	/*
	 * A run of blocks is next, `refs` of them adjacent but for gaps.
	 * Start reading what is missing.  May wait.  False ends the sweep.
	 */
	bool (*issue)(void *ctx, const struct e2pf_ref *refs, size_t n);
	/* A run of one of the `put_off` classes was found. */
	void (*put_off)(void *ctx, const struct e2pf_ref *ref);
	/* Bytes to parse have come, after so long; `error` as read gave
	 * it.  False ends the sweep. */
	bool (*arrived)(void *ctx, int error, uint64_t waited_ns);
};

struct e2pf_sweep {
	const struct e2pf_geometry *geo;
	const struct e2pf_group *groups;
	struct e2pf_device *dev;
	const struct e2pf_sweep_ops *ops;
	void *ctx;
	unsigned classes;
	unsigned put_off;		/* of them, leaves that are handed to
					   the owner and not read */
	bool leaves_last;		/* what needs no parsing waits for all
					   levels: one sweep less of a disk */
	uint32_t gap;			/* blocks; may change between runs */
	uint64_t issue_ahead;		/* bytes issued before waiting */
	size_t level_cap;		/* refs held per level */
	uint64_t parse_left;		/* tree blocks it may still parse */
	struct e2pf_level level[E2PF_SWEEP_LEVELS];
	unsigned filling;		/* level that refs are added to */
	uint32_t *group;		/* groups of the batch */
	size_t groups_used, groups_room;
	size_t next_table;		/* of them, by inode table block */
	bool ended;
};

/* The other fields are the caller's to set first, and stay as they are. */
void e2pf_sweep_init(struct e2pf_sweep *s);
void e2pf_sweep_fini(struct e2pf_sweep *s);

/* Add a group's own blocks to the batch, which holds them all: the caller
 * keeps it to some thousands.  False without memory. */
bool e2pf_sweep_add_group(struct e2pf_sweep *s, uint32_t group);

/* Add a run that is not of a group.  `ctx` is the sweep: a sink. */
void e2pf_sweep_add(void *ctx, const struct e2pf_ref *ref);

/* Read all that was added and all that it refers to, then be empty. */
void e2pf_sweep_run(struct e2pf_sweep *s);

#endif
