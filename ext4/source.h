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
	EXT4_DIRECTORIES,		/* of directories.h alone */
	EXT4_PHASES
};

/* Copies one of the groups to *group, which is zero before. */
typedef void ext4_copy_group_fn(void *groups_owner, uint32_t number,
				struct ext4_group *group);

/* What is read, and how. */
struct ext4_source_options {
	unsigned classes;		/* a mask of 1u << enum ext4_class */
	/* A mounted filesystem: unused parts of inode tables are not read, not even
	 * in gaps; and with a page size, no page in which a block of one lies. */
	bool guarded;
	uint32_t page;			/* bytes; 0: any page */
	/* Inodes of directories: only what is below them is read (directories.h), and
	 * no bitmap with the tables, because they name none.  They outlive the source.
	 * If there are none, all is read. */
	const uint32_t *below;
	unsigned below_count;
};

struct ext4_source {
	struct pf_source source;
	/* The filesystem; and all of its groups, or who tells them to any
	 * thread: 60 TiB have 480,000, and e2fsck has them in memory. */
	const struct ext4_geometry *geo;
	const struct ext4_group *groups;
	ext4_copy_group_fn *copy_group;
	void *groups_owner;
	struct ext4_source_options options;
	void (*release)(struct ext4_source *ext4);	/* what is added to it, or NULL */
	/* Private; those up to the lock are written by begin() and next(). */
	bool ordered;			/* tables lie in the order of groups */
	uint64_t bytes;			/* of the filesystem */
	struct pf_phase phases[EXT4_PHASES];
	bool bitmaps_early;		/* they belong to the phase TABLES, */
	bool bitmaps_done;		/* which has ended */
	bool has_checker;
	pthread_mutex_t lock;		/* of the list, which is what follows */
	enum ext4_class list_class;
	uint64_t *list;			/* ring of blocks, allocated when a list
					   begins */
	uint64_t list_total;
	uint64_t list_end;		/* entries that were added */
};

/*
 * Create a source for a filesystem of this geometry, which must outlive it.
 * The source has one device.
 * Before an engine is started with it, set `groups`, which must outlive it, or
 * `copy_group`.  Returns NULL if memory runs out.
 */
struct ext4_source *ext4_source_new(const struct ext4_geometry *geo,
				    const struct ext4_source_options *options);
void ext4_source_free(struct ext4_source *ext4);

/* One of the groups; zero if there are none. */
struct ext4_group ext4_source_group(const struct ext4_source *ext4,
				    uint64_t number);

/* The used parts of all inode tables, in bytes. */
uint64_t ext4_source_table_bytes(const struct ext4_source *ext4);

/*
 * Reports from the checker, from one of its threads, for an engine that uses
 * this source.  Where it is in the inode scan, of which there is one at a time, and in the
 * list is told with pf_engine_report_position(), as a group, which is below geo->groups, of
 * EXT4_PHASE_TABLES or an index of EXT4_PHASE_LIST.
 */

/* How far the checker is: the allocated inodes of the groups before `passed`, which the
 * caller sets, and of all; and the length of the list.  The rest is zero before.  May be
 * called by any thread. */
struct ext4_progress {
	uint64_t passed;
	uint64_t passed_inodes, inodes;
	uint64_t list_total;
};
void ext4_source_get_progress(struct ext4_source *ext4,
			      struct ext4_progress *progress);

/* The checker begins to walk a list of `total` blocks of this class: its directory list,
 * or blocks that several files claim and that it clones. */
void ext4_source_list_begin(struct ext4_source *ext4, struct pf_engine *engine,
			    uint64_t total, enum ext4_class cls);

/* Returns how many more entries of the list are wanted now that the checker has reached
 * this one, starting at entry *first, which is not set if there are none. */
uint64_t ext4_source_list_wants(struct ext4_source *ext4,
				struct pf_engine *engine, uint64_t reached,
				uint64_t *first);

/* Add these entries, in the checker's order.  A block of 0 means none. */
void ext4_source_list_put(struct ext4_source *ext4, struct pf_engine *engine,
			  const uint64_t *blocks, size_t count);

/* The walk has ended, complete or not: no more entries are wanted. */
void ext4_source_list_end(struct ext4_source *ext4, struct pf_engine *engine);


#endif
