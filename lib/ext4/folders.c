/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <stdlib.h>

#include "array.h"
#include "ext4_source.h"
#include "lock.h"

/* With an inode such a part of its table is read; with a folder's block those of others
 * in half of that.  On aged60, find of 34, 708, 2173 and 6767 inodes took with 512 KiB
 * 0.27, 0.88, 1.13 and 1.36 s on a disk (with half as much the last took 1.43, and as
 * much around blocks as of tables 0.34, 0.97, 1.07 and 1.22), and 34 inodes 0.10 on the
 * network volume, twice as long as alone. */
#define SEEK_PART (512u << 10)
#define FLASH_PART (128u << 10)

/* What is kept in memory at most: references of 24 bytes, names of 8; and how many of
 * both are gone through, 0.3 s.  Beyond that everything is read. */
#define REFS_MOST (1u << 19)
#define NAMES_MOST (1u << 20)
#define STEPS_MOST (1u << 27)

/* At most so many parts of the filesystem's blocks are blocks of folders: with one
 * inode in 16 KiB each of them may have one. */
#define FOLDER_PART 2u

/* A block of a folder that is not known to be wanted names an inode. */
struct name {
	uint32_t folder, ino;
};

struct e2pf_folders {
	const struct e2pf_ext4 *ext4;
	const struct e2pf_geometry *geo;
	pthread_mutex_t lock;		/* of what follows */
	uint64_t units, seeded;		/* sweeps: known, and passed on */
	bool news;			/* there may be something to sweep */
	bool full;			/* more than can be kept */
	uint32_t part;			/* bytes: SEEK_PART or FLASH_PART */
	uint8_t *wanted;		/* a bit for each inode; */
	uint8_t *table;			/* for each part of a table, requested; */
	uint8_t *near;			/* and for each stretch of the device: a
					   wanted folder has a block in it */
	/* What tables refer to and was not read. */
	struct pf_ref *ref;
	size_t refs, ref_room;
	struct name *name;
	size_t names, name_room;
	uint64_t left;			/* bytes that may still be read */
	uint64_t steps;			/* of STEPS_MOST */
};

/* Whose blocks are found: those of the inode that is being parsed, or, in want(), the table
 * of a group.  Their kinds keep that number. */
struct parent {
	struct e2pf_folders *f;
	uint32_t number;
};

static bool has_bit(const uint8_t *bits, uint64_t at)
{
	return bits[at / 8] & 1u << at % 8;
}

/* Returns false if it was set before. */
static bool set_bit(uint8_t *bits, uint64_t at)
{
	bool before = has_bit(bits, at);

	bits[at / 8] |= (uint8_t)(1u << at % 8);
	return !before;
}

/* A sink, whose `ctx` is the parent. */
static void keep(void *ctx, const struct pf_ref *found)
{
	const struct parent *parent = ctx;
	struct e2pf_folders *f = parent->f;
	struct e2pf_kind kind = e2pf_kind_of(found);
	struct pf_ref ref = *found;

	f->full |= f->refs == REFS_MOST ||
		   !e2pf_have_room((void **)&f->ref, &f->ref_room, f->refs, 1,
				   sizeof(*f->ref));
	if (f->full)
		return;
	if (kind.cls == E2PF_DIRS && !ref.parse) {
		kind.parse = E2PF_FOLDER_BLOCK;
		ref.parse = true;
	}
	kind.from_ino = parent->number;
	ref.cookie = e2pf_cookie_of(kind);
	f->ref[f->refs++] = ref;
	f->news |= kind.parse == E2PF_FOLDER_TABLE ||
		   has_bit(f->wanted, kind.from_ino);
}

static uint64_t table_parts(const struct e2pf_folders *f)
{
	return (uint64_t)f->geo->inodes_per_group * f->geo->inode_size / f->part +
	       1;
}

/* With an inode a part of its table is read, but nothing that is unused: the kernel may
 * be initializing that.  One that came into use after the filesystem was opened is left
 * to the walk. */
static void want(struct e2pf_folders *f, uint32_t ino)
{
	const struct e2pf_geometry *geo = f->geo;
	uint32_t g = (ino - 1) / geo->inodes_per_group;
	uint32_t index = (ino - 1) % geo->inodes_per_group;
	uint64_t part = (uint64_t)index * geo->inode_size / f->part;
	uint32_t each = f->part / geo->block_size, end;
	struct parent parent = { f, g };
	struct e2pf_plan plan = {
		.geo = geo, .classes = E2PF_ALL_CLASSES, .sink = keep,
		.ctx = &parent
	};
	const struct e2pf_kind kind = {
		.parse = E2PF_FOLDER_TABLE, .cls = E2PF_INODES,
		.data = E2PF_CLASSES
	};
	struct e2pf_group group;

	if (!set_bit(f->wanted, ino))
		return;
	f->news = true;
	group = e2pf_ext4_group(f->ext4, g);
	if (!group.inode_table || index >= group.inodes_in_use ||
	    !set_bit(f->table, g * table_parts(f) + part))
		return;
	end = e2pf_table_blocks(geo, group.inodes_in_use) - part * each;
	e2pf_gather_add(&plan, kind, group.inode_table + part * each,
			end < each ? end : each);
	e2pf_gather_flush(&plan);
}

/* Entries need not say whether they are folders. */
static void add_entry(void *ctx, uint32_t ino)
{
	const struct parent *parent = ctx;
	struct e2pf_folders *f = parent->f;

	if (has_bit(f->wanted, parent->number)) {
		want(f, ino);
		return;
	}
	f->full |= f->names == NAMES_MOST ||
		   !e2pf_have_room((void **)&f->name, &f->name_room, f->names,
				   1, sizeof(*f->name));
	if (!f->full)
		f->name[f->names++] = (struct name) { parent->number, ino };
}

/* The number of the stretch of the device: blocks in one are near each other. */
static uint64_t stretch_of(const struct e2pf_folders *f, uint64_t offset)
{
	return offset / (f->part / 2);
}

struct e2pf_folders *e2pf_folders_new(const struct e2pf_ext4 *ext4, bool seeks)
{
	const struct e2pf_geometry *geo = ext4->geo;
	struct e2pf_folders *f = calloc(1, sizeof(*f));
	uint32_t i;

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	f->ext4 = ext4;
	f->geo = geo;
	f->units = 1;
	f->part = seeks ? SEEK_PART : FLASH_PART;
	f->left = geo->blocks / FOLDER_PART * geo->block_size;
	f->wanted = calloc(geo->inodes / 8 + 1, 1);
	f->table = calloc(geo->groups * table_parts(f) / 8 + 1, 1);
	f->near = calloc(stretch_of(f, geo->blocks * geo->block_size) / 8 + 1, 1);
	if (!f->wanted || !f->table || !f->near) {
		e2pf_folders_free(f);
		return NULL;
	}
	for (i = 0; i < ext4->options.below_count; i++)
		if (ext4->options.below[i] && ext4->options.below[i] <= geo->inodes)
			want(f, ext4->options.below[i]);
	return f;
}

void e2pf_folders_free(struct e2pf_folders *f)
{
	if (!f)
		return;
	pthread_mutex_destroy(&f->lock);
	free(f->wanted);
	free(f->table);
	free(f->near);
	free(f->ref);
	free(f->name);
	free(f);
}

uint64_t e2pf_folders_units(struct e2pf_folders *f)
{
	E2PF_LOCKED(f);

	return f->units;
}

bool e2pf_folders_are_full(const struct e2pf_folders *f)
{
	return f->full;
}

/* What wanted folders name is wanted: folders whose blocks were read before. */
static void follow_names(struct e2pf_folders *f)
{
	size_t i, n, before;

	do {
		before = f->names;
		for (i = n = 0; i < before; i++)
			if (has_bit(f->wanted, f->name[i].folder))
				want(f, f->name[i].ino);
			else
				f->name[n++] = f->name[i];
		f->names = n;
		f->steps += before;
		f->full |= f->steps > STEPS_MOST;
	} while (n < before && !f->full);
}

static bool is_wanted(const struct e2pf_folders *f, const struct pf_ref *ref)
{
	struct e2pf_kind kind = e2pf_kind_of(ref);

	return kind.parse == E2PF_FOLDER_TABLE || has_bit(f->wanted, kind.from_ino);
}

static bool is_near(const struct e2pf_folders *f, const struct pf_ref *ref)
{
	return ref->cls == E2PF_DIRS && ref->length <= f->part / 2 &&
	       has_bit(f->near, stretch_of(f, ref->offset));
}

void e2pf_folders_seed(struct e2pf_folders *f, uint64_t unit,
		       const struct e2pf_plan *plan)
{
	size_t i, n = 0;
	E2PF_LOCKED(f);

	f->seeded = unit + 1;
	follow_names(f);
	f->steps += f->refs;
	f->news = false;
	for (i = 0; i < f->refs; i++)
		if (f->ref[i].cls == E2PF_DIRS && is_wanted(f, &f->ref[i]))
			set_bit(f->near, stretch_of(f, f->ref[i].offset));
	for (i = 0; i < f->refs; i++) {
		const struct pf_ref *ref = &f->ref[i];

		if (!is_wanted(f, ref) && !is_near(f, ref)) {
			f->ref[n++] = *ref;
		} else if (ref->length <= f->left) {
			f->left -= ref->length;
			plan->sink(plan->ctx, ref);
		}
	}
	f->refs = n;
}

static void parse_table(struct parent *parent, struct e2pf_plan *plan,
			uint32_t ino, const uint8_t *inode, uint32_t size)
{
	uint32_t each = plan->geo->inode_size;
	uint16_t mode;

	/* The last block of a table may have room for more than there are. */
	for (; size >= each && ino <= plan->geo->inodes;
	     size -= each, inode += each) {
		parent->number = ino++;
		e2pf_plan_inodes(plan, parent->number, inode, each);
		memcpy(&mode, inode, sizeof(mode));
		if ((le16toh(mode) & LINUX_S_IFMT) == LINUX_S_IFDIR)
			e2pf_plan_inline_entries(plan->geo, inode, add_entry,
						 parent);
	}
}

bool e2pf_folders_parse(struct e2pf_folders *f, const struct e2pf_plan *plan,
			const struct pf_ref *ref, uint32_t ino, uint64_t block,
			const void *bytes, uint32_t size)
{
	struct e2pf_kind kind = e2pf_kind_of(ref);
	struct parent parent = { f, kind.from_ino };
	struct e2pf_plan kept = *plan;
	bool more;
	E2PF_LOCKED(f);

	kept.sink = keep;
	kept.ctx = &parent;
	if (kind.parse == E2PF_FOLDER_TABLE)
		parse_table(&parent, &kept, ino, bytes, size);
	else if (kind.parse == E2PF_FOLDER_BLOCK)
		e2pf_plan_entries(f->geo, bytes, size, add_entry, &parent);
	else
		e2pf_plan_block(&kept, kind, block, bytes);
	more = f->news && f->seeded == f->units && !f->full;
	f->units += more;
	return more;
}
