/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smallest filesystem that needs all of the interface to the engine: trees
 * of nodes on two devices.  Nodes name each other by number; where a number
 * lies is in the map, which has to be read first.  A tree may name the root of
 * another one: that is a unit which nobody knew of before.
 */
#ifndef TOY_FS_H
#define TOY_FS_H

#include "engine/source.h"

#define TOY_BLOCK 1024u
#define TOY_BLOCKS 512u			/* of each device */
#define TOY_NODES (2 * TOY_BLOCKS)	/* places there are, and numbers */
#define TOY_ENTRIES 127u

enum toy_class { TOY_MAP, TOY_NODE, TOY_DATA, TOY_ROOT, TOY_CLASSES };
enum toy_phase {
	TOY_READ_MAP, TOY_READ_TREES, TOY_READ_DATA, TOY_READ_LIST, TOY_PHASES
};

/* What the check of it is doing (toy-check.c). */
enum toy_stage { TOY_STAGE_TREES, TOY_STAGE_LIST, TOY_STAGES };

/* A node's entries are the class and number of a child.  Those of a part of
 * the map are the places of numbers `first` and following, but for one of
 * class TOY_MAP, which is the place of another part. */
struct toy_block {
	uint32_t first, count;
	struct toy_entry { uint32_t cls, value; } entry[TOY_ENTRIES];
};

struct toy_fs {
	struct e2pf_source source;
	struct toy_block *image[2];	/* what toy_make() has made */
	uint32_t place[TOY_NODES + 1];	/* of a number; 0: not known */
	uint32_t root[TOY_NODES + 1];	/* numbers of roots, by unit */
	unsigned roots;			/* units there are */
	uint32_t list[TOY_NODES];	/* numbers of data, as the checker
					   reads them in the end */
	unsigned listed;
};

/* One of which nothing is known: the first part of the map is at place 0, and
 * node 0 is a root.  Places of the second device follow those of the first. */
void toy_new(struct toy_fs *fs);

/* The list is known now: for e2pf_engine_add_units(). */
void toy_list(struct toy_fs *fs, const uint32_t *list, unsigned count);

#endif
