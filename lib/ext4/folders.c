/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <pthread.h>
#include <stdlib.h>

#include "array.h"
#include "engine/blockset.h"
#include "ext4_source.h"
#include "folders.h"

/*
 * Everything is read once the groups to be read have more than one in PART of all
 * inodes in use.  Seconds for the part, and for everything, of an aged filesystem of
 * 58,000 inodes in 16,000 folders; by the part of the inodes, which lie in one group
 * or three:
 *
 *		0.4 %	0.7	2.3	5.4	11.4	11.6	everything
 * 7200 rpm	0.28	0.37	0.60	0.72	1.15	0.98	0.65 to 0.78
 * network	0.21	0.20	0.27	0.35	0.49	0.42	0.71
 *
 * Strictly level by level, only what is wanted, took 0.36 to 3.0 s on the disk: each
 * level is a sweep of its own.
 */
#define PART_WITH_HEAD 16
#define PART 2

/* With more units everything is read: 8 MiB, and those that the set knows. */
#define UNITS_MOST (1u << 20)
#define SET_BYTES (32u << 20)

/* A unit with this bit is the inode of a folder, otherwise a group.  In the set groups
 * have it: they come behind all inodes. */
#define FOLDER (UINT64_C(1) << 32)

/* The group of a node's kind that belongs to a folder whose entries are wanted. */
#define WANTED 1u

struct e2pf_folders {
	const struct e2pf_ext4 *ext4;
	const struct e2pf_geometry *geo;
	pthread_mutex_t lock;		/* of what follows */
	uint64_t *unit;
	size_t units, room;
	struct e2pf_blockset seen;
	uint64_t inodes, all_inodes;	/* in use: to be read, in all */
	unsigned part;			/* PART, or with a head */
	bool everything;
};

static void add_unit(struct e2pf_folders *f, uint64_t unit)
{
	if (e2pf_have_room((void **)&f->unit, &f->room, f->units, 1,
			   sizeof(*f->unit)))
		f->unit[f->units++] = unit;
}

static void add_group(struct e2pf_folders *f, uint32_t group)
{
	if (!e2pf_blockset_add(&f->seen, FOLDER + group, 1))
		return;
	f->inodes += e2pf_ext4_group(f->ext4, group).inodes_in_use;
	add_unit(f, group);
}

/* An entry of a wanted folder; `ctx` are the folders, which are locked. */
static void add_entry(void *ctx, uint32_t ino, bool may_be_folder)
{
	struct e2pf_folders *f = ctx;
	uint32_t group;

	if (f->everything)
		return;
	add_group(f, (ino - 1) / f->geo->inodes_per_group);
	if (may_be_folder && e2pf_blockset_add(&f->seen, ino, 1))
		add_unit(f, FOLDER | ino);
	f->everything = f->inodes > f->all_inodes / f->part ||
			f->units > UNITS_MOST || e2pf_blockset_is_full(&f->seen);
	for (group = 0; f->everything && group < f->geo->groups; group++)
		add_group(f, group);
}

struct e2pf_folders *e2pf_folders_new(const struct e2pf_ext4 *ext4,
				      bool seeks)
{
	struct e2pf_folders *f = calloc(1, sizeof(*f));
	unsigned i;

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	f->ext4 = ext4;
	f->geo = ext4->geo;
	f->part = seeks ? PART_WITH_HEAD : PART;
	e2pf_blockset_clear(&f->seen, SET_BYTES);
	for (i = 0; i < f->geo->groups; i++)
		f->all_inodes += e2pf_ext4_group(ext4, i).inodes_in_use;
	for (i = 0; i < ext4->below_count; i++)
		if (ext4->below[i] && ext4->below[i] <= f->geo->inodes)
			add_entry(f, ext4->below[i], true);
	return f;
}

void e2pf_folders_free(struct e2pf_folders *f)
{
	if (!f)
		return;
	e2pf_blockset_clear(&f->seen, 0);
	pthread_mutex_destroy(&f->lock);
	free(f->unit);
	free(f);
}

uint64_t e2pf_folders_units(struct e2pf_folders *f)
{
	uint64_t units;

	pthread_mutex_lock(&f->lock);
	units = f->units;
	pthread_mutex_unlock(&f->lock);
	return units;
}

bool e2pf_folders_is_group(struct e2pf_folders *f, uint64_t unit, uint32_t *number)
{
	uint64_t is;

	pthread_mutex_lock(&f->lock);
	is = f->unit[unit];
	pthread_mutex_unlock(&f->lock);
	*number = (uint32_t)is;
	return !(is & FOLDER);
}

/* An inode that was not in use when the filesystem was opened is left to the walk: the
 * kernel may be initializing its table. */
void e2pf_folders_seed(struct e2pf_folders *f, uint32_t ino, struct e2pf_plan *plan)
{
	const struct e2pf_geometry *geo = f->geo;
	uint32_t index = (ino - 1) % geo->inodes_per_group;
	const struct e2pf_group group =
		e2pf_ext4_group(f->ext4, (ino - 1) / geo->inodes_per_group);
	const struct e2pf_kind kind = {
		.group = ino, .parse = E2PF_FOLDER_INODE, .cls = E2PF_INODES,
		.data = E2PF_CLASSES
	};

	if (!group.inode_table || index >= group.inodes_in_use)
		return;
	e2pf_gather_add(plan, kind, group.inode_table +
			(uint64_t)index * geo->inode_size / geo->block_size, 1);
	e2pf_gather_flush(plan);
}

/* A sink that marks what leads to the entries of a wanted folder; `ctx` is the plan. */
static void pass_marked(void *ctx, const struct e2pf_ref *found)
{
	const struct e2pf_plan *plan = ctx;
	struct e2pf_kind kind = e2pf_kind_of(found);
	struct e2pf_ref ref = *found;

	if (kind.cls == E2PF_DIRS && !ref.parse) {
		kind.parse = E2PF_FOLDER_BLOCK;
		ref.parse = true;
	} else if (kind.data == E2PF_DIRS) {
		kind.group = WANTED;
	}
	ref.cookie = e2pf_cookie_of(kind);
	plan->sink(plan->ctx, &ref);
}

/* Entries need not say whether they are folders. */
static void parse_inode(struct e2pf_folders *f, struct e2pf_plan *plan,
			uint32_t ino, const uint8_t *block)
{
	uint64_t index = (ino - 1) % f->geo->inodes_per_group;
	const uint8_t *inode = block + index * f->geo->inode_size %
				       f->geo->block_size;
	uint16_t mode;

	memcpy(&mode, inode, sizeof(mode));
	if ((le16toh(mode) & LINUX_S_IFMT) != LINUX_S_IFDIR)
		return;
	e2pf_plan_inodes(plan, ino, inode, f->geo->inode_size);
	pthread_mutex_lock(&f->lock);
	e2pf_plan_inline_entries(f->geo, inode, add_entry, f);
	pthread_mutex_unlock(&f->lock);
}

bool e2pf_folders_parse(struct e2pf_folders *f, struct e2pf_plan *plan,
			const struct e2pf_ref *ref, uint64_t block,
			const void *bytes)
{
	struct e2pf_kind kind = e2pf_kind_of(ref);
	struct e2pf_plan marked = *plan;

	marked.sink = pass_marked;
	marked.ctx = plan;
	if (kind.parse == E2PF_FOLDER_BLOCK) {
		pthread_mutex_lock(&f->lock);
		e2pf_plan_entries(f->geo, bytes, f->geo->block_size, add_entry,
				  f);
		pthread_mutex_unlock(&f->lock);
	} else if (kind.parse == E2PF_FOLDER_INODE) {
		parse_inode(f, &marked, kind.group, bytes);
	} else if (kind.data == E2PF_DIRS && kind.group == WANTED) {
		e2pf_plan_block(&marked, kind, block, bytes);
	} else {
		return false;
	}
	return true;
}
