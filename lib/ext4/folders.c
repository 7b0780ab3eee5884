/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <pthread.h>
#include <stdlib.h>

#include "array.h"
#include "engine/blockset.h"
#include "ext4_source.h"
#include "folders.h"

/*
 * Everything is read once more than one in PART of all inodes are wanted.  Seconds for
 * a command on an aged filesystem of 73,000 inodes in 15,000 folders (`aged60`); by the
 * inodes below the folder:
 *
 *			10	34	100	300	700	1500	6800	15700
 * disk, find alone	0.15	0.28	0.59	0.40	1.86	3.9	9.5	21.0
 *   part		0.14	0.26	0.40	0.24	0.98	1.36	2.6	4.0
 *   everything		1.38	1.19	1.54	1.46	1.48	1.7	1.9	1.9
 *   as decided		0.14	0.26	0.40	0.24	0.98	1.36	2.8	2.8
 * network, find alone					0.37	0.58	2.07	4.2
 *   part						0.24	0.36	0.77	1.6
 *   everything						0.62	0.73	0.73	1.1
 *
 * Reading whole groups, in which many of the folders are others', took 1.8 s for 1500,
 * 3.3 for 6800, and 1.2 for one inode.
 */
#define PART 32

/* With an inode so many blocks of its table are read, as by the kernel. */
#define AROUND 32u

/* With more units everything is read: 8 MiB, and those that the set knows. */
#define UNITS_MOST (1u << 20)
#define SET_BYTES (32u << 20)

/* A unit with this bit is an inode, otherwise a group.  In the set blocks of tables
 * have it: they come behind all inodes. */
#define INODE (UINT64_C(1) << 32)

/* The group of a node's kind that belongs to a folder whose entries are wanted. */
#define WANTED 1u

struct e2pf_folders {
	const struct e2pf_ext4 *ext4;
	const struct e2pf_geometry *geo;
	pthread_mutex_t lock;		/* of what follows */
	uint64_t *unit;
	size_t units, room;
	struct e2pf_blockset seen;
	uint64_t inodes;		/* that are in use */
	bool everything;
};

static void add_unit(struct e2pf_folders *f, uint64_t unit)
{
	if (e2pf_have_room((void **)&f->unit, &f->room, f->units, 1,
			   sizeof(*f->unit)))
		f->unit[f->units++] = unit;
}

/* An entry of a wanted folder; `ctx` are the folders, which are locked. */
static void add_entry(void *ctx, uint32_t ino)
{
	struct e2pf_folders *f = ctx;
	uint32_t g;

	if (f->everything || !e2pf_blockset_add(&f->seen, ino, 1))
		return;
	add_unit(f, INODE | ino);
	f->everything = f->units > f->inodes / PART ||
			f->units > UNITS_MOST || e2pf_blockset_is_full(&f->seen);
	for (g = 0; f->everything && g < f->geo->groups; g++)
		add_unit(f, g);
}

struct e2pf_folders *e2pf_folders_new(const struct e2pf_ext4 *ext4)
{
	struct e2pf_folders *f = calloc(1, sizeof(*f));
	uint32_t i;

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	f->ext4 = ext4;
	f->geo = ext4->geo;
	e2pf_blockset_reset(&f->seen, SET_BYTES);
	for (i = 0; i < f->geo->groups; i++)
		f->inodes += e2pf_ext4_group(ext4, i).inodes_allocated;
	for (i = 0; i < ext4->below_count; i++)
		if (ext4->below[i] && ext4->below[i] <= f->geo->inodes)
			add_entry(f, ext4->below[i]);
	return f;
}

void e2pf_folders_free(struct e2pf_folders *f)
{
	if (!f)
		return;
	e2pf_blockset_reset(&f->seen, 0);
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
	return !(is & INODE);
}

/* The blocks of a table around this one, and before its `end`, where the unused part
 * begins; once. */
static void seed_around(struct e2pf_folders *f, uint64_t table, uint64_t block,
			uint64_t end, struct e2pf_plan *plan)
{
	uint64_t first = block / AROUND * AROUND;

	end = end < first + AROUND ? end : first + AROUND;
	first = first > table ? first : table;
	pthread_mutex_lock(&f->lock);
	if (!e2pf_blockset_add(&f->seen, INODE + first, end - first))
		end = first;
	pthread_mutex_unlock(&f->lock);
	e2pf_gather_add(plan, e2pf_unparsed(E2PF_INODES), first, end - first);
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
	uint64_t block = group.inode_table +
			 (uint64_t)index * geo->inode_size / geo->block_size;

	if (!group.inode_table || index >= group.inodes_in_use)
		return;
	seed_around(f, group.inode_table, block, group.inode_table +
		    e2pf_table_blocks(geo, group.inodes_in_use), plan);
	e2pf_gather_add(plan, kind, block, 1);
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

	e2pf_plan_inodes(plan, ino, inode, f->geo->inode_size);
	memcpy(&mode, inode, sizeof(mode));
	if ((le16toh(mode) & LINUX_S_IFMT) != LINUX_S_IFDIR)
		return;
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
