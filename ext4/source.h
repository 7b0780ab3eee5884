/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The source of work for ext2, ext3 and ext4.  The phases follow e2fsck's
 * passes:
 *
 *	EXT4_PHASE_TABLES	inode tables, the blocks they refer to, and
 *				bitmaps if they are few; a unit is a group
 *	EXT4_PHASE_LIST		blocks in an order that the checker gives:
 *				directory blocks in that of pass 2, or what
 *				pass 1D clones; a unit is a block
 *	EXT4_PHASE_BITMAPS	bitmaps that were not read before; a unit is a
 *				group
 */
#ifndef EXT4_SOURCE_H
#define EXT4_SOURCE_H

#include <pthread.h>

#include "prefetch/engine.h"
#include "plan.h"

/* The parts of a check.  These are the engine's stages. */
enum ext4_stage {
	EXT4_OPEN,		/* until the first inode is read */
	EXT4_PASS1,		/* inodes and block maps */
	EXT4_PASS1B,		/* again, to find who claims a block twice */
	EXT4_PASS1C,		/* names of these files: directory blocks */
	EXT4_PASS1D,		/* cloning of these files: bitmaps, data */
	EXT4_PASS2,		/* directory blocks */
	EXT4_PASS3,		/* connectivity; directories are rewritten;
				   then pass 4, which reads nothing */
	EXT4_PASS5,		/* bitmaps, and everything after them */
	EXT4_STAGES
};

/* Names as in doc/statistics.md. */
extern const char *const ext4_class_names[EXT4_CLASSES];
extern const char *const ext4_stage_names[EXT4_STAGES];

enum ext4_phase {
	EXT4_PHASE_TABLES,
	EXT4_PHASE_LIST,
	EXT4_PHASE_BITMAPS,
	EXT4_DIRECTORIES,		/* these two of directories.h alone */
	EXT4_WALK,
	EXT4_PHASES
};

/* Copy a group to *group, which is zero before the call. */
typedef void ext4_copy_group_fn(void *groups_owner, uint32_t number,
				struct ext4_group *group);

/* What the source reads. */
struct ext4_source_options {
	unsigned classes;		/* a mask of 1u << enum ext4_class */
	/* The filesystem is mounted: do not read unused parts of inode tables, not
	 * even in gaps. */
	bool guarded;
	/* If not 0: do not read a page, of this many bytes, that contains a block of
	 * an unused part. */
	uint32_t page;
	/* Inodes of directories: read only what is below them (directories.h), and no
	 * bitmaps with the tables.  NULL: read everything.  Must outlive the source. */
	const uint32_t *below;
	unsigned below_count;
	ext4_hash_fn *follow;		/* keep ahead of a program that walks them; NULL:
					   read all that is below them */
};

struct ext4_source {
	struct pf_source source;
	/* The filesystem, and either all of its groups or a function that any thread
	 * calls to copy one.  60 TiB have 480,000 groups, which e2fsck has in memory. */
	const struct ext4_geometry *geo;
	const struct ext4_group *groups;
	ext4_copy_group_fn *copy_group;
	void *groups_owner;
	struct ext4_source_options options;
	void (*release)(struct ext4_source *ext4);	/* free what directories.c has
							   added; or NULL */
	/* Private.  begin() and next() write the members before the lock. */
	bool ordered;			/* tables lie in the order of groups */
	uint64_t bytes;			/* of the filesystem */
	struct pf_phase phases[EXT4_PHASES];
	bool bitmaps_early;		/* bitmaps are read in the phase TABLES */
	bool bitmaps_done;		/* ... and that phase has ended */
	bool has_checker;
	pthread_mutex_t lock;		/* of the members below, which are the list */
	enum ext4_class list_class;
	uint64_t *list;			/* ring of blocks, allocated when a list
					   begins */
	uint64_t list_total;
	uint64_t list_end;		/* entries that were added */
};

/*
 * Create a source with one device for a filesystem of this geometry.  Before an engine is
 * started with it, set `copy_group`, or `groups`.  Geometry and groups must outlive the
 * source.  Returns NULL if memory has run out.
 */
struct ext4_source *ext4_source_new(const struct ext4_geometry *geo,
				    const struct ext4_source_options *options);
void ext4_source_free(struct ext4_source *ext4);

/* Return a group; all zero if the groups are not known. */
struct ext4_group ext4_source_group(const struct ext4_source *ext4,
				    uint64_t number);

/* Return the size of the used parts of all inode tables, in bytes. */
uint64_t ext4_source_table_bytes(const struct ext4_source *ext4);

/*
 * Reports of the checker, from one of its threads, for an engine that uses this
 * source.  The checker reports its position with pf_engine_report_position(): in the
 * inode scan as a group (below geo->groups) of EXT4_PHASE_TABLES, in the list as an
 * index of EXT4_PHASE_LIST.  There is at most one inode scan at a time.
 */

struct ext4_progress {
	uint64_t passed;		/* groups; the caller sets it */
	uint64_t passed_inodes;		/* allocated inodes of these groups */
	uint64_t inodes;		/* allocated inodes of all groups */
	uint64_t list_total;		/* length of the list */
};

/* Set the checker's progress in *progress, which must be zero but for `passed`.  Safe
 * from any thread. */
void ext4_source_get_progress(struct ext4_source *ext4,
			      struct ext4_progress *progress);

/* The checker begins to walk a list of `total` blocks of this class: its directory list,
 * or blocks that several files claim and that it clones. */
void ext4_source_list_begin(struct ext4_source *ext4, struct pf_engine *engine,
			    uint64_t total, enum ext4_class cls);

/* The checker has reached this entry of the list.  Returns how many more entries are
 * wanted, and sets *first to the first of them, unless the result is 0. */
uint64_t ext4_source_list_count_wanted(struct ext4_source *ext4,
				       struct pf_engine *engine,
				       uint64_t reached, uint64_t *first);

/* Add these entries, in the checker's order.  A block of 0 stands for no block. */
void ext4_source_list_add(struct ext4_source *ext4, struct pf_engine *engine,
			  const uint64_t *blocks, size_t count);

/* The walk has ended, complete or not, so no more entries are wanted. */
void ext4_source_list_end(struct ext4_source *ext4, struct pf_engine *engine);

#endif
