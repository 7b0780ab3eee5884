/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The source of work for ext2, ext3 and ext4.  The phases follow e2fsck's
 * passes:
 *
 *	E2PF_EXT4_TABLES	inode tables, the blocks they refer to, and
 *				bitmaps if they are few; a unit is a group
 *	E2PF_EXT4_LIST		blocks in an order that the checker gives:
 *				directory blocks in that of pass 2, or what
 *				pass 1D clones; a unit is a block
 *	E2PF_EXT4_BITMAPS	bitmaps that were not read before; a unit is a
 *				group
 */
#ifndef E2PF_EXT4_SOURCE_H
#define E2PF_EXT4_SOURCE_H

#include <pthread.h>

#include "engine/engine.h"
#include "plan.h"

/* The parts of a check.  These are the engine's stages. */
enum e2pf_ext4_stage {
	E2PF_EXT4_OPEN,		/* until the first inode is read */
	E2PF_EXT4_PASS1,	/* inodes and block maps */
	E2PF_EXT4_PASS1B,	/* again, to find who claims a block twice */
	E2PF_EXT4_PASS1C,	/* names of these files: directory blocks */
	E2PF_EXT4_PASS1D,	/* cloning of these files: bitmaps, data */
	E2PF_EXT4_PASS2,	/* directory blocks */
	E2PF_EXT4_PASS3,	/* connectivity; directories are rewritten;
				   then pass 4, which reads nothing */
	E2PF_EXT4_PASS5,	/* bitmaps, and everything after them */
	E2PF_EXT4_STAGES
};

/* Names as in doc/statistics.md. */
extern const char *const e2pf_class_names[E2PF_CLASSES];
extern const char *const e2pf_ext4_stage_names[E2PF_EXT4_STAGES];

enum e2pf_ext4_phase {
	E2PF_EXT4_TABLES,
	E2PF_EXT4_LIST,
	E2PF_EXT4_BITMAPS,
	E2PF_EXT4_DIRECTORIES,		/* of directories.h alone */
	E2PF_EXT4_PHASES
};

/* Copies one of the groups to *group, which is zero before. */
typedef void e2pf_copy_group_fn(void *groups_owner, uint32_t number,
				struct e2pf_group *group);

/* What is read, and how. */
struct e2pf_ext4_options {
	unsigned classes;		/* a mask of 1u << enum e2pf_class */
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

struct e2pf_ext4 {
	struct pf_source source;
	/* The filesystem; and all of its groups, or who tells them to any
	 * thread: 60 TiB have 480,000, and e2fsck has them in memory. */
	const struct e2pf_geometry *geo;
	const struct e2pf_group *groups;
	e2pf_copy_group_fn *copy_group;
	void *groups_owner;
	struct e2pf_ext4_options options;
	void (*release)(struct e2pf_ext4 *ext4);	/* what is added to it, or NULL */
	/* Private; those up to the lock are written by begin() and next(). */
	bool ordered;			/* tables lie in the order of groups */
	uint64_t bytes;			/* of the filesystem */
	struct pf_phase phases[E2PF_EXT4_PHASES];
	bool bitmaps_early;		/* they belong to the phase TABLES, */
	bool bitmaps_done;		/* which has ended */
	bool has_checker;
	pthread_mutex_t lock;		/* of the list, which is what follows */
	enum e2pf_class list_class;
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
struct e2pf_ext4 *e2pf_ext4_new(const struct e2pf_geometry *geo,
				const struct e2pf_ext4_options *options);
void e2pf_ext4_free(struct e2pf_ext4 *ext4);

/* One of the groups; zero if there are none. */
struct e2pf_group e2pf_ext4_group(const struct e2pf_ext4 *ext4,
				  uint64_t number);

/* The used parts of all inode tables, in bytes. */
uint64_t e2pf_ext4_table_bytes(const struct e2pf_ext4 *ext4);

/*
 * Reports from the checker, from one of its threads, for an engine that uses
 * this source.  Where it is in the inode scan, of which there is one at a time, and in the
 * list is told with pf_engine_report_position(), as a group, which is below geo->groups, of
 * E2PF_EXT4_TABLES or an index of E2PF_EXT4_LIST.
 */

/* How far the checker is: the allocated inodes of the groups before `passed`, which the
 * caller sets, and of all; and the length of the list.  The rest is zero before.  May be
 * called by any thread. */
struct e2pf_ext4_progress {
	uint64_t passed;
	uint64_t passed_inodes, inodes;
	uint64_t list_total;
};
void e2pf_ext4_get_progress(struct e2pf_ext4 *ext4,
			    struct e2pf_ext4_progress *progress);

/* The checker begins to walk a list of `total` blocks of this class: its directory list,
 * or blocks that several files claim and that it clones. */
void e2pf_ext4_list_begin(struct e2pf_ext4 *ext4, struct pf_engine *engine,
			  uint64_t total, enum e2pf_class cls);

/* Returns how many more entries of the list are wanted now that the checker has reached
 * this one, starting at entry *first, which is not set if there are none. */
uint64_t e2pf_ext4_list_wants(struct e2pf_ext4 *ext4,
			      struct pf_engine *engine, uint64_t reached,
			      uint64_t *first);

/* Add these entries, in the checker's order.  A block of 0 means none. */
void e2pf_ext4_list_put(struct e2pf_ext4 *ext4, struct pf_engine *engine,
			const uint64_t *blocks, size_t count);

/* The walk has ended, complete or not: no more entries are wanted. */
void e2pf_ext4_list_end(struct e2pf_ext4 *ext4, struct pf_engine *engine);


#endif
