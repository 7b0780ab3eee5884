/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Feeds small images to the source and to one elevator for all groups, as
 * a worker does.  Aborts if something is read that is not inside the
 * filesystem, or if more is read than a pass may read.
 *
 * An input is a list of patches to a small filesystem with a directory, files
 * with both kinds of trees and an attribute block: three bytes of offset, one
 * of length (0: 256), and the bytes.  The block size and the limits of the pass
 * precede them.
 */
#include <errno.h>

#include "fuzz.h"
#include "prefetch/elevator.h"
#include "ext4/directories.h"
#include "tiny-fs.h"

#define GROUPS 2u
#define BLOCKS_PER_GROUP 64u
#define INODES_PER_GROUP 64u
#define INODE_SIZE 256u
#define MAX_GROUPS 64u
#define AT_FREE 24u		/* blocks from the start of a group */

struct rig {
	struct pf_device dev;
	struct ext4_geometry geo;
	struct ext4_group groups[MAX_GROUPS];
	struct ext4_source *ext4;
	struct pf_elevator elevator;
	unsigned char piece[PF_MAX_PIECE];
	uint64_t gap;
	uint64_t read;
	unsigned char bad;		/* every n-th read fails */
	unsigned calls;
};

static struct tiny_fs fs;

/*
 * The filesystem.
 */

/* The descriptors follow the superblock, and the bitmaps and tables follow
 * these. */
static void make_descriptors(void)
{
	struct ext2_group_desc *gd =
		tiny_block(&fs, fs.geo.first_data_block + 1);
	unsigned g;

	for (g = 0; g < GROUPS; g++) {
		struct ext4_group *group = &fs.groups[g];

		gd[g].bg_block_bitmap = htole32(++group->block_bitmap);
		gd[g].bg_inode_bitmap = htole32(++group->inode_bitmap);
		gd[g].bg_inode_table = htole32(++group->inode_table);
	}
}

/* A file with both an attribute block and indirect blocks of each level. */
static void make_indirect(uint32_t ino, unsigned mode, uint32_t block)
{
	struct ext2_inode *inode = tiny_inode_at(&fs, ino);
	unsigned i;

	tiny_inode(&fs, ino, mode, 0, NULL, 0);
	inode->i_size = htole32(20 * fs.geo.block_size);
	inode->i_block[0] = htole32(block);
	for (i = 1; i <= 3; i++)
		inode->i_block[EXT2_NDIR_BLOCKS + i - 1] = htole32(block + i);
	inode->i_file_acl = htole32(block + 4);
}

static void make_image(unsigned log_block)
{
	uint64_t spare, data[4], b;
	unsigned i;

	tiny_new(&fs, GROUPS, BLOCKS_PER_GROUP, INODES_PER_GROUP,
		 1024u << log_block);
	fs.geo.inode_size = INODE_SIZE;
	make_super((struct ext2_super_block *)(fs.image + 1024), log_block,
		   INODE_SIZE, GROUPS, BLOCKS_PER_GROUP, BLOCKS_PER_GROUP);
	make_descriptors();
	spare = fs.geo.first_data_block + AT_FREE;
	b = spare + 1;
	tiny_inode(&fs, 2, LINUX_S_IFDIR, 2, &spare, 1);
	tiny_inode(&fs, 12, LINUX_S_IFREG, 2, &spare, 1);
	make_indirect(13, LINUX_S_IFDIR, (uint32_t)spare + 8);
	make_indirect(INODES_PER_GROUP + 1, LINUX_S_IFREG,
		      (uint32_t)spare + 8);
	tiny_inode(&fs, INODES_PER_GROUP + 2, LINUX_S_IFLNK, 2, &b, 1);
	for (i = 0; i < 3; i++)
		data[i] = spare + 1 + i;
	tiny_node(&fs, spare, 1, data, 3);
	for (b = spare + 1; b < spare + 4; b++) {
		for (i = 0; i < 4; i++)
			data[i] = spare + 16 + b + i;
		tiny_node(&fs, b, 0, data, 4);
	}
	for (b = spare + 9; b < spare + 12; b++)
		for (i = 0; i < 8; i++)
			((uint32_t *)tiny_block(&fs, b))[i] =
				htole32((uint32_t)b - 1 + 8 * i);
}

static void apply_patches(struct input *in)
{
	while (in->left > 4) {
		uint64_t at = take_number(in, 3) % fs.size;
		size_t len = take_byte(in);

		len = len ? len : 256;
		if (len > in->left)
			len = in->left;
		if (len > fs.size - at)
			len = (size_t)(fs.size - at);
		memcpy(fs.image + at, in->bytes, len);
		in->bytes += len;
		in->left -= len;
	}
}

/*
 * The device.
 */

static int read_bytes(struct pf_device *dev, void *buf, uint64_t offset,
		      uint32_t len)
{
	struct rig *r = (struct rig *)dev;

	require(len && offset <= dev->size && len <= dev->size - offset);
	r->read += len;
	if (offset > fs.size || len > fs.size - offset ||
	    (r->bad && ++r->calls % r->bad == 0))
		return EIO;
	memcpy(buf, fs.image + offset, len);
	return 0;
}

/* The other calls are not made. */
static const struct pf_device_ops device_ops = { .read = read_bytes };

/*
 * The elevator.
 */

static uint32_t read_groups(struct rig *r)
{
	uint64_t at = 1024 / r->geo.block_size + 1, i;

	at *= r->geo.block_size;
	for (i = 0; i < r->geo.groups; i++) {
		if (at + (i + 1) * r->geo.desc_size > fs.size)
			break;
		ext4_plan_descriptor(&r->geo, (uint32_t)i,
				     fs.image + at + i * r->geo.desc_size,
				     &r->groups[i]);
	}
	return (uint32_t)i;
}

static void add(void *ctx, const struct pf_ref *ref)
{
	struct rig *r = ctx;

	if (pf_elevator_is_sound(&r->ext4->source, ref))
		pf_elevator_add(&r->elevator, ref);
}

static void parse(struct rig *r, const struct pf_elevator_step *step)
{
	struct pf_source *source = &r->ext4->source;
	const struct pf_ref ref = *step->ref;
	uint32_t size = source->ops->piece(source, &ref, step->at);

	require(size <= sizeof(r->piece));
	if (size && !r->dev.ops->read(&r->dev, r->piece, ref.offset + step->at,
				      size))
		source->ops->parse(source, &ref, step->at, r->piece, size, add, r);
	pf_elevator_advance(&r->elevator, size);
}

static void pass(struct rig *r)
{
	struct pf_elevator_step step;
	enum pf_step next;

	pf_elevator_begin(&r->elevator);
	while ((next = pf_elevator_next(&r->elevator, r->gap, &step)) !=
	       PF_STEP_END)
		if (next == PF_STEP_PARSE)
			parse(r, &step);
	pf_elevator_end(&r->elevator);
}

/* Stands for ext2fs_dirhash(). */
static errcode_t hash_name(int version, const char *name, int length,
			   const uint32_t *seed, ext2_dirhash_t *hash,
			   ext2_dirhash_t *minor)
{
	(void)version, (void)seed, (void)minor;
	for (*hash = 0; length; length--)
		*hash = *hash * 31 + (uint8_t)name[length - 1];
	return 0;
}

/* Below a directory: passes over its units, which grow by parsing. */
static void run_directory(struct rig *r, const struct pf_options *start)
{
	struct pf_source *source = &r->ext4->source;
	uint64_t unit = 0, units;
	unsigned phase;
	bool more;

	source->ops->begin(source, start, false);
	phase = source->ops->next(source, NULL)->number;
	while ((units = source->ops->units(source, phase, &more)) > unit) {
		require(units <= r->geo.groups + r->geo.inodes);
		for (; unit < units; unit++)
			source->ops->seed(source, phase, unit, add, r);
		pass(r);
	}
}

static void run_pass(struct rig *r, uint32_t groups)
{
	const struct pf_options options = {
		.budget = UINT64_MAX, .seek_bound = true
	};
	struct pf_source *source = &r->ext4->source;
	struct pf_elevator *el = &r->elevator;
	uint64_t pieces = el->parse_left, tables = 0;
	uint32_t g;

	source->ops->begin(source, &options, false);
	for (g = 0; g < groups; g++)
		source->ops->seed(source, EXT4_PHASE_TABLES, g, add, r);
	for (g = 0; g < groups; g++)
		tables += (uint64_t)r->groups[g].inodes_in_use *
			  r->geo.inode_size;
	pass(r);
	require(!el->in_memory);
	require(r->read <= tables + pieces * r->geo.block_size);
}

static void read_image(struct rig *r, struct input *in)
{
	const struct pf_options start = { .budget = UINT64_MAX };
	unsigned classes;
	const uint32_t root = EXT2_ROOT_INO;
	struct ext4_source_options options;
	bool below;
	uint32_t n;

	r->elevator.parse_left = take_byte(in);
	r->elevator.max_refs = 1 + take_byte(in);
	r->elevator.max_ahead = 1 + take_number(in, 2);
	r->gap = take_byte(in) << 10;
	classes = take_number(in, 2);
	below = classes >> 15;
	r->bad = take_byte(in);
	make_image(take_byte(in) % 2);
	apply_patches(in);
	if (ext4_plan_superblock(fs.image + 1024, &r->geo))
		return;
	/* The planner may read any group of the filesystem. */
	if (r->geo.groups > MAX_GROUPS)
		return;
	n = read_groups(r);
	r->dev.size = r->geo.blocks * r->geo.block_size;
	options = (struct ext4_source_options) {
		.classes = classes & EXT4_ALL_CLASSES, .guarded = below,
		.page = below ? 4096 : 0,
		.below = &root, .below_count = below,
		.follow = classes >> 14 & 1 ? hash_name : NULL
	};
	r->ext4 = below ? ext4_directories_new(&r->geo, &options) :
			  ext4_source_new(&r->geo, &options);
	require(r->ext4);
	r->ext4->groups = r->groups;
	if (below)
		run_directory(r, &start);
	else
		run_pass(r, n);
	ext4_source_free(r->ext4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig rig;
	struct input in = { data, size };

	memset(&rig, 0, sizeof(rig));
	rig.dev.ops = &device_ops;
	read_image(&rig, &in);
	tiny_free(&fs);
	return 0;
}
