/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smallest filesystem that needs all of the engine's interface: trees of
 * nodes on two devices.  Nodes refer to each other by number; the map, which
 * has to be read first, says at which place a number lies.  A tree may contain
 * the number of another tree's root: a unit that was not known before.
 */
#ifndef TOY_FS_H
#define TOY_FS_H

#include "engine/source.h"

#define TOY_BLOCK 1024u
#define TOY_BLOCKS 512u			/* on each device */
#define TOY_NODES (2 * TOY_BLOCKS)	/* number of places, and of numbers */
#define TOY_ENTRIES 127u

enum toy_class { TOY_MAP, TOY_NODE, TOY_DATA, TOY_ROOT, TOY_CLASSES };
enum toy_phase { TOY_READ_MAP, TOY_READ_TREES, TOY_READ_LIST };

/* The phase that the checker begins. */
extern const struct e2pf_phase toy_list_phase;

/* Stages of its check (toy-check.c). */
enum toy_stage { TOY_STAGE_TREES, TOY_STAGE_LIST, TOY_STAGES };

/* Each entry of a node is the class and number of a child.  The entries of a
 * map part are the places of the numbers from `first` on; an entry of class
 * TOY_MAP is the place of another map part. */
struct toy_block {
	uint32_t first, count;
	struct toy_entry { uint32_t cls, value; } entry[TOY_ENTRIES];
};

struct toy_fs {
	struct e2pf_source source;
	struct toy_block *image[2];	/* filled by toy_make() */
	uint32_t place[TOY_NODES + 1];	/* by number; 0: not known */
	uint32_t root[TOY_NODES + 1];	/* numbers of the roots, by unit */
	unsigned roots;			/* number of units */
	uint32_t list[TOY_NODES];	/* numbers of data blocks, in the order
					   in which the checker reads them
					   last */
	unsigned listed;
};

/* Initialise an empty one: only the place of the first map part, 0, and one
 * root, node 0, are known.  Places on the second device follow those on the
 * first. */
void toy_new(struct toy_fs *fs);

/* Set the list; called through e2pf_engine_add_units(). */
void toy_list(struct toy_fs *fs, const uint32_t *list, unsigned count);

#endif
