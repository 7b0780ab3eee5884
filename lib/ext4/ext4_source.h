/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source of work for ext2, ext3 and ext4, in the order of e2fsck's passes:
 *
 *	E2PF_EXT4_TABLES	inode tables and what the first pass needs of
 *				what they refer to; a unit is a group, or
 *				several that lie together (units.h)
 *	E2PF_EXT4_LATER		directory blocks, and bitmaps if they are few,
 *				while the first pass goes on
 *	E2PF_EXT4_LIST		directory blocks in the order of pass 2, where
 *				that begins before LATER has ended; a unit is
 *				an entry of e2fsck's directory list
 *	E2PF_EXT4_BITMAPS	bitmaps, where they were not read before; a
 *				unit is a group
 */
#ifndef E2PF_EXT4_SOURCE_H
#define E2PF_EXT4_SOURCE_H

#include <stdbool.h>

#include "engine/engine.h"
#include "plan.h"

enum e2pf_ext4_phase {
	E2PF_EXT4_TABLES,
	E2PF_EXT4_LATER,
	E2PF_EXT4_LIST,
	E2PF_EXT4_BITMAPS,
	E2PF_EXT4_PHASES
};

/* What e2fsck is doing: the engine's stages. */
enum e2pf_ext4_stage {
	E2PF_EXT4_OPEN,		/* up to the first inode */
	E2PF_EXT4_PASS1,	/* inodes, block maps */
	E2PF_EXT4_PASS1B,	/* the same again: who claims a block twice? */
	E2PF_EXT4_PASS1C,	/* names of these files: directory blocks */
	E2PF_EXT4_PASS1D,	/* these files are cloned: bitmaps, data */
	E2PF_EXT4_PASS2,	/* directory blocks */
	E2PF_EXT4_PASS3,	/* connectivity */
	E2PF_EXT4_PASS3A,	/* directories are written anew */
	E2PF_EXT4_PASS4,	/* reference counts */
	E2PF_EXT4_PASS5,	/* bitmaps, and all to the end */
	E2PF_EXT4_STAGES
};

/* By enum e2pf_class, and by stage as doc/statistics.md has them. */
extern const char *const e2pf_ext4_class_names[E2PF_CLASSES];
extern const char *const e2pf_ext4_stage_names[E2PF_EXT4_STAGES];

struct e2pf_ext4;

/*
 * A source for a filesystem of this geometry, which outlives it, and for the
 * classes of the mask (1u << enum e2pf_class).  One device.  NULL without
 * memory.
 */
struct e2pf_ext4 *e2pf_ext4_new(const struct e2pf_geometry *geo,
				unsigned classes);
void e2pf_ext4_free(struct e2pf_ext4 *ext4);

/* The groups of the filesystem, geo->groups of them, which outlive the source.
 * Before an engine is started with it. */
void e2pf_ext4_set_groups(struct e2pf_ext4 *ext4,
			  const struct e2pf_group *groups);

struct e2pf_source *e2pf_ext4_source(struct e2pf_ext4 *ext4);

/*
 * The checker's reports, from one thread of it, for an engine that works from
 * this source.
 */

/* The inode scan, the only one there is, has come to this group, below
 * geo->groups. */
void e2pf_ext4_at_group(struct e2pf_ext4 *ext4, struct e2pf_engine *engine,
			uint32_t group);

/*
 * Of several scans at the same time, each through a part of the groups, from
 * any thread of the checker: one begins with this group, before
 * e2pf_ext4_set_groups() (false: one began there already, or there are too
 * many); the one that this group is in the part of has come to it; that one has
 * ended.
 */
bool e2pf_ext4_add_scan(struct e2pf_ext4 *ext4, uint32_t group);
void e2pf_ext4_scan_at(struct e2pf_ext4 *ext4, struct e2pf_engine *engine,
		       uint32_t group);
void e2pf_ext4_scan_ended(struct e2pf_ext4 *ext4, struct e2pf_engine *engine,
			  uint32_t group);

/* There are none from the next e2pf_ext4_set_groups() on. */
void e2pf_ext4_forget_scans(struct e2pf_ext4 *ext4);

/* Groups that so many units of the tables' phase are. */
uint32_t e2pf_ext4_groups_done(const struct e2pf_ext4 *ext4, uint64_t units);

/* The directory list has `total` blocks, and its walk begins. */
void e2pf_ext4_list_begin(struct e2pf_ext4 *ext4, struct e2pf_engine *engine,
			  uint64_t total);

/* How many entries of the list are wanted now, from *first on. */
uint64_t e2pf_ext4_list_wants(struct e2pf_ext4 *ext4,
			      struct e2pf_engine *engine, uint64_t *first);

/* Here they are, in the checker's order; a block of 0 means none. */
void e2pf_ext4_list_put(struct e2pf_ext4 *ext4, struct e2pf_engine *engine,
			const uint64_t *blocks, size_t count);

/* The walk has ended, wherever it was: no entry is wanted any more. */
void e2pf_ext4_list_end(struct e2pf_ext4 *ext4, struct e2pf_engine *engine);

/* The walk has come to this entry. */
void e2pf_ext4_list_at(struct e2pf_ext4 *ext4, struct e2pf_engine *engine,
		       uint64_t index);

#endif
