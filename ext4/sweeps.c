/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <stdlib.h>

#include "lib/array.h"
#include "lib/lock.h"
#include "prefetch/blockset.h"
#include "sweeps.h"
#include "tables.h"

/* With an inode such a part of its table is read; with a directory's block those of
 * others in half of that.  On aged60, find of 34, 708, 2173 and 6767 inodes took with
 * 512 KiB 0.27, 0.88, 1.13 and 1.36 s on a disk (with half as much the last took 1.43,
 * and as much around blocks as of tables 0.34, 0.97, 1.07 and 1.22), and 34 inodes 0.10
 * on the network volume, twice as long as alone. */
#define SEEK_PART (512u << 10)
#define FLASH_PART (128u << 10)

/* What is kept in memory at most, whatever the size of the filesystem: references of 24
 * bytes, names of 8, sets of 50 million inodes that lie side by side, of parts of
 * 96 TiB's tables, and of stretches; and how many references and names are gone through,
 * 0.4 s.  Beyond that everything is read. */
#define MAX_REFS (1u << 19)
#define MAX_NAMES (1u << 20)
#define MAX_WANTED_BYTES (16u << 20)
#define MAX_TABLE_BYTES (4u << 20)
#define MAX_NEAR_BYTES (2u << 20)
#define MAX_STEPS (1u << 27)

/* On a seek-bound device so many names in so many directories are few: as long as no more
 * are known, only directories are read, with nothing around them, because a command that
 * reads only names would wait for inodes longer than it takes itself.  ls -f of a
 * directory of 17 files on aged60 took 0.05 s alone, 0.17 with their inodes and 0.08
 * without, and find 0.13, 0.12 and 0.13.  With 64 directories find of 708 inodes took
 * 0.97 s in place of 0.87. */
#define FEW_NAMES 64u
#define FEW_DIRECTORIES 4u

/* At most so many parts of the filesystem's blocks are blocks of directories: with one
 * inode in 16 KiB each of them may have one. */
#define DIRECTORY_PART 2u

/* A block of a directory that is not known to be wanted names an inode. */
struct name {
	uint32_t directory, ino;
};

struct ext4_sweeps {
	const struct ext4_source *ext4;
	const struct ext4_geometry *geo;
	pthread_mutex_t lock;		/* of what follows */
	uint64_t units, seeded;		/* sweeps: known, and passed on */
	bool found_more;		/* there may be something to sweep */
	bool full;			/* more than can be kept: everything is to
					   be read, when the last unit has been */
	bool few;			/* few names are known so far: */
	uint32_t few_names;		/* their number; */
	uint32_t few_ino[FEW_DIRECTORIES];	/* the directories that are read, */
	uint32_t few_directories;	/* and their number */
	uint32_t part;			/* bytes: SEEK_PART or FLASH_PART */
	struct pf_blockset wanted;	/* inodes; */
	struct pf_blockset table;	/* parts of tables that were requested; */
	struct pf_blockset near;	/* and stretches of the device in which a
					   wanted directory has a block */
	/* What tables refer to and was not read. */
	struct pf_ref *ref;
	size_t refs, ref_room;
	struct name *name;
	size_t names, name_room;
	uint64_t left;			/* bytes that may still be read */
	bool limited;			/* by the caller: with fewer than are wanted it is
					   full */
	uint64_t steps;			/* of MAX_STEPS */
};

/* Whose blocks are found: those of the inode that is being parsed, or, in want_inode(),
 * the table of a group.  Their kinds keep that number. */
struct parent {
	struct ext4_sweeps *s;
	uint32_t number;
};

/* Returns false if it was in the set before. */
static bool add_to(struct ext4_sweeps *s, struct pf_blockset *set, uint64_t at)
{
	bool added = pf_blockset_add(set, at, 1);

	s->full |= pf_blockset_is_full(set);
	return added;
}

static bool is_wanted(const struct ext4_sweeps *s, const struct pf_ref *ref)
{
	struct ext4_kind kind = ext4_kind_of(ref);

	return kind.parse == EXT4_DIRECTORY_TABLE ||
	       pf_blockset_has(&s->wanted, kind.from_ino);
}

/* A sink, whose `ctx` is the parent. */
static void keep_ref(void *ctx, const struct pf_ref *found)
{
	const struct parent *parent = ctx;
	struct ext4_sweeps *s = parent->s;
	const struct pf_ref ref = ext4_ref_from(found, parent->number);

	s->full |= s->refs == MAX_REFS ||
		   !e2pf_have_room((void **)&s->ref, &s->ref_room, s->refs, 1,
				   sizeof(*s->ref));
	if (s->full)
		return;
	s->ref[s->refs++] = ref;
	s->found_more |= is_wanted(s, &ref);
}

static uint64_t table_parts(const struct ext4_sweeps *s)
{
	return (uint64_t)s->geo->inodes_per_group * s->geo->inode_size / s->part +
	       1;
}

static void want_inode(struct ext4_sweeps *s, uint32_t ino);

/* There are many names or directories: read those directories again, with what lies
 * around them. */
static void leave_few(struct ext4_sweeps *s)
{
	uint32_t i;

	s->few = false;
	s->found_more = true;
	for (i = 0; i < s->few_directories; i++) {
		pf_blockset_remove(&s->wanted, s->few_ino[i], 1);
		want_inode(s, s->few_ino[i]);
	}
}

/* With an inode a part of its table is read, but nothing that is unused: the kernel may
 * be initializing that.  One that came into use after the filesystem was opened is left
 * to the walk. */
static void want_inode(struct ext4_sweeps *s, uint32_t ino)
{
	struct parent parent = { s, (ino - 1) / s->geo->inodes_per_group };
	struct ext4_plan plan = {
		.geo = s->geo, .classes = EXT4_ALL_CLASSES, .sink = keep_ref,
		.ctx = &parent
	};
	const struct ext4_kind kind = {
		.parse = EXT4_DIRECTORY_TABLE, .cls = EXT4_INODES,
		.data = EXT4_CLASSES
	};
	struct ext4_table_part part;

	if (!add_to(s, &s->wanted, ino))
		return;
	s->found_more = true;
	if (s->few && s->few_directories == FEW_DIRECTORIES)
		leave_few(s);
	if (!ext4_source_table_part(s->ext4, ino, s->few ? 0 : s->part, &part))
		return;
	if (s->few)
		s->few_ino[s->few_directories++] = ino;
	else if (!add_to(s, &s->table, part.group * table_parts(s) +
			 part.at / (s->part / s->geo->block_size)))
		return;
	ext4_gather_add(&plan, kind, part.block, part.blocks);
	ext4_gather_flush(&plan);
}

/* Entries need not say whether they are directories. */
static void add_entry(void *ctx, const struct ext4_entry *entry)
{
	const struct parent *parent = ctx;
	struct ext4_sweeps *s = parent->s;
	bool wanted = pf_blockset_has(&s->wanted, parent->number);

	/* A directory in the inode beside another may be wanted later. */
	if (s->few && (!wanted || ++s->few_names == FEW_NAMES))
		leave_few(s);
	if (wanted && (entry->directory || !s->few)) {
		want_inode(s, entry->ino);
		return;
	}
	s->full |= s->names == MAX_NAMES ||
		   !e2pf_have_room((void **)&s->name, &s->name_room, s->names,
				   1, sizeof(*s->name));
	if (!s->full)
		s->name[s->names++] = (struct name) {
			parent->number, entry->ino
		};
}

/* The number of the stretch of the device: blocks in one are near each other. */
static uint64_t stretch_of(const struct ext4_sweeps *s, uint64_t offset)
{
	return offset / (s->part / 2);
}

void ext4_sweeps_free(struct ext4_sweeps *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	pf_blockset_reset(&s->wanted, 0);
	pf_blockset_reset(&s->table, 0);
	pf_blockset_reset(&s->near, 0);
	free(s->ref);
	free(s->name);
	free(s);
}

struct ext4_sweeps *ext4_sweeps_new(const struct ext4_source *ext4, bool seek_bound,
				    uint64_t limit)
{
	const struct ext4_geometry *geo = ext4->geo;
	const uint32_t *below = ext4->options.below;
	struct ext4_sweeps *s = calloc(1, sizeof(*s));
	uint32_t i;

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	s->ext4 = ext4;
	s->geo = geo;
	s->units = 1;
	s->part = seek_bound ? SEEK_PART : FLASH_PART;
	s->few = seek_bound;
	s->left = geo->blocks / DIRECTORY_PART * geo->block_size;
	s->limited = limit < s->left;
	if (s->limited)
		s->left = limit;
	pf_blockset_reset(&s->wanted, MAX_WANTED_BYTES);
	pf_blockset_reset(&s->table, MAX_TABLE_BYTES);
	pf_blockset_reset(&s->near, MAX_NEAR_BYTES);
	for (i = 0; i < ext4->options.below_count; i++)
		if (below[i] && below[i] <= geo->inodes)
			want_inode(s, below[i]);
	return s;
}

uint64_t ext4_sweeps_count(struct ext4_sweeps *s)
{
	E2PF_LOCKED(s);

	return s->units;
}

/* What wanted directories name is wanted: directories whose blocks were read before. */
static void follow_names(struct ext4_sweeps *s)
{
	size_t i, n, before;

	do {
		before = s->names;
		for (i = n = 0; i < before; i++)
			if (pf_blockset_has(&s->wanted, s->name[i].directory))
				want_inode(s, s->name[i].ino);
			else
				s->name[n++] = s->name[i];
		s->names = n;
		s->steps += before;
		s->full |= s->steps > MAX_STEPS;
	} while (n < before && !s->full);
}

static bool is_near(const struct ext4_sweeps *s, const struct pf_ref *ref)
{
	return ref->cls == EXT4_DIRS && ref->length <= s->part / 2 &&
	       pf_blockset_has(&s->near, stretch_of(s, ref->offset));
}

void ext4_sweeps_seed(struct ext4_sweeps *s, uint64_t unit, const struct ext4_plan *plan)
{
	size_t i, n = 0;
	E2PF_LOCKED(s);

	s->seeded = unit + 1;
	if (!s->few)
		follow_names(s);
	s->steps += s->refs;
	s->found_more = false;
	/* What is near a block that finds no room is read when it is wanted. */
	for (i = 0; i < s->refs; i++)
		if (!s->few && s->ref[i].cls == EXT4_DIRS &&
		    is_wanted(s, &s->ref[i]))
			pf_blockset_add(&s->near,
					  stretch_of(s, s->ref[i].offset), 1);
	for (i = 0; i < s->refs; i++) {
		const struct pf_ref *ref = &s->ref[i];

		if (!is_wanted(s, ref) && !is_near(s, ref)) {
			s->ref[n++] = *ref;
		} else if (ref->length <= s->left) {
			s->left -= ref->length;
			plan->sink(plan->ctx, ref);
		} else {
			s->full |= s->limited;
		}
	}
	s->refs = n;
}

static bool take_inode(void *ctx, uint32_t ino)
{
	struct parent *parent = ctx;

	parent->number = ino;
	return true;
}

bool ext4_sweeps_parse(struct ext4_sweeps *s, const struct ext4_plan *plan,
		       struct ext4_kind kind, uint32_t ino, uint64_t block,
		       const void *bytes, uint32_t size)
{
	struct parent parent = { s, kind.from_ino };
	struct ext4_plan kept = *plan;
	bool more;
	E2PF_LOCKED(s);

	kept.sink = keep_ref;
	kept.ctx = &parent;
	if (kind.parse == EXT4_DIRECTORY_TABLE)
		ext4_plan_directories(&kept, ino, bytes, size, take_inode, add_entry,
				      &parent);
	else if (kind.parse == EXT4_DIRECTORY_BLOCK)
		ext4_plan_entries(s->geo, bytes, size, add_entry, &parent);
	else
		ext4_plan_block(&kept, kind, block, bytes);
	more = s->found_more && s->seeded == s->units && !s->full;
	s->units += more;
	return more;
}

bool ext4_sweeps_are_full(struct ext4_sweeps *s)
{
	E2PF_LOCKED(s);

	return s->full;
}
