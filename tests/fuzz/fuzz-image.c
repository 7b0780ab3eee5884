/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Feeds small images to the source and to one elevator pass over all groups, as
 * a worker does.  Aborts if something is read that is not inside the
 * filesystem, or if more is read than a pass may read.
 *
 * An input is a list of patches to a small filesystem with a directory, files
 * with both kinds of trees and an attribute block: three bytes of offset, one
 * of length (0: 256), and the bytes.  The block size and the limits of the pass
 * precede them.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>

#include "fuzz.h"
#include "engine/elevator.h"
#include "engine/piece.h"
#include "fake-device.h"
#include "ext4/ext4_source.h"

#define GROUPS 2u
#define BLOCKS_PER_GROUP 64u
#define INODES_PER_GROUP 64u
#define INODE_SIZE 256u
#define MOST_BLOCK_SIZE 2048u
#define MOST_IMAGE ((GROUPS * BLOCKS_PER_GROUP + 1) * MOST_BLOCK_SIZE)
#define MOST_GROUPS 64u
#define NODE_MAGIC 0xf30a

/* Where the structures lie, in blocks from the start of a group. */
enum { AT_SUPER, AT_DESCRIPTORS, AT_BLOCK_MAP, AT_INODE_MAP, AT_TABLE,
       AT_FREE = 24 };

struct rig {
	struct fake_device dev;
	struct e2pf_geometry geo;
	struct e2pf_group groups[MOST_GROUPS];
	struct e2pf_ext4 *ext4;
	struct e2pf_elevator elevator;
	struct e2pf_piece piece;
	uint64_t gap;
	unsigned deferred;	/* classes */
	uint64_t read;
	unsigned char bad;		/* every n-th read fails */
	unsigned calls;
};

static unsigned char image[MOST_IMAGE];
static uint64_t image_size;

static void require(bool true_thing)
{
	if (!true_thing)
		abort();
}

/*
 * The filesystem.
 */

static void put16(void *at, unsigned value)
{
	uint16_t le = htole16((uint16_t)value);

	memcpy(at, &le, sizeof(le));
}

static void put32(void *at, uint32_t value)
{
	uint32_t le = htole32(value);

	memcpy(at, &le, sizeof(le));
}

static void make_super(unsigned log_block, unsigned first, uint64_t blocks)
{
	struct ext2_super_block sb;

	memset(&sb, 0, sizeof(sb));
	sb.s_magic = htole16(EXT2_SUPER_MAGIC);
	sb.s_rev_level = htole32(1);
	sb.s_log_block_size = sb.s_log_cluster_size = htole32(log_block);
	sb.s_first_data_block = htole32(first);
	sb.s_blocks_per_group = htole32(BLOCKS_PER_GROUP);
	sb.s_clusters_per_group = htole32(BLOCKS_PER_GROUP);
	sb.s_blocks_count = htole32((uint32_t)blocks);
	sb.s_inodes_per_group = htole32(INODES_PER_GROUP);
	sb.s_inodes_count = htole32(GROUPS * INODES_PER_GROUP);
	sb.s_inode_size = htole16(INODE_SIZE);
	sb.s_first_ino = htole32(11);
	sb.s_journal_inum = htole32(8);
	sb.s_feature_compat = htole32(EXT2_FEATURE_COMPAT_EXT_ATTR |
				      EXT3_FEATURE_COMPAT_HAS_JOURNAL);
	sb.s_feature_incompat = htole32(EXT3_FEATURE_INCOMPAT_EXTENTS);
	memcpy(image + 1024, &sb, sizeof(sb));
}

static void make_descriptors(uint32_t size, unsigned first)
{
	struct ext2_group_desc gd;
	unsigned g;

	for (g = 0; g < GROUPS; g++) {
		uint32_t base = first + g * BLOCKS_PER_GROUP;

		memset(&gd, 0, sizeof(gd));
		gd.bg_block_bitmap = htole32(base + AT_BLOCK_MAP);
		gd.bg_inode_bitmap = htole32(base + AT_INODE_MAP);
		gd.bg_inode_table = htole32(base + AT_TABLE);
		memcpy(image + (uint64_t)(first + AT_DESCRIPTORS) * size +
		       g * sizeof(gd), &gd, sizeof(gd));
	}
}

/* An extent node with entries for `count` blocks from `block` on. */
static void make_node(unsigned char *node, unsigned depth, uint32_t block,
		      unsigned count)
{
	unsigned i;

	put16(node, NODE_MAGIC);
	put16(node + 2, count);
	put16(node + 4, count);
	put16(node + 6, depth);
	for (i = 0; i < count; i++) {
		unsigned char *entry = node + 12 * (i + 1);

		put32(entry, i);
		if (depth) {
			put32(entry + 4, block + i);
		} else {
			put16(entry + 4, 1);
			put32(entry + 8, block + i);
		}
	}
}

/* An inode of group `g` whose tree begins with a reference to `block`. */
static void make_inode(unsigned index, unsigned g, uint32_t size,
		       unsigned first, unsigned mode, bool extents,
		       uint32_t block)
{
	uint32_t table = first + g * BLOCKS_PER_GROUP + AT_TABLE;
	struct ext2_inode inode;

	memset(&inode, 0, sizeof(inode));
	inode.i_mode = htole16((uint16_t)(mode | 0644));
	inode.i_links_count = htole16(1);
	inode.i_size = htole32(20 * size);
	if (extents) {
		inode.i_flags = htole32(EXT4_EXTENTS_FL);
		make_node((unsigned char *)inode.i_block, 2, block, 1);
	} else {
		inode.i_block[0] = htole32(block);
		inode.i_block[12] = htole32(block + 1);
		inode.i_block[13] = htole32(block + 2);
		inode.i_block[14] = htole32(block + 3);
		inode.i_file_acl = htole32(block + 4);
	}
	memcpy(image + (uint64_t)table * size + index * INODE_SIZE, &inode,
	       sizeof(inode));
}

static void make_image(unsigned log_block)
{
	uint32_t size = 1024u << log_block, b;
	unsigned first = log_block == 0;
	uint64_t blocks = first + GROUPS * BLOCKS_PER_GROUP;
	uint32_t spare = first + AT_FREE;
	unsigned i;

	image_size = blocks * size;
	memset(image, 0, image_size);
	make_super(log_block, first, blocks);
	make_descriptors(size, first);
	make_inode(1, 0, size, first, LINUX_S_IFDIR, true, spare);
	make_inode(11, 0, size, first, LINUX_S_IFREG, true, spare);
	make_inode(12, 0, size, first, LINUX_S_IFDIR, false, spare + 8);
	make_inode(0, 1, size, first, LINUX_S_IFREG, false, spare + 8);
	make_inode(1, 1, size, first, LINUX_S_IFLNK, true, spare + 1);
	make_node(image + (uint64_t)spare * size, 1, spare + 1, 3);
	for (b = spare + 1; b < spare + 4; b++)
		make_node(image + (uint64_t)b * size, 0, spare + 16 + b, 4);
	for (b = spare + 9; b < spare + 12; b++)
		for (i = 0; i < 8; i++)
			put32(image + (uint64_t)b * size + 4 * i,
			      b - 1 + 8 * i);
}

static void apply_patches(struct input *in)
{
	while (in->left > 4) {
		uint64_t at = take_number(in, 3) % image_size;
		size_t len = take_byte(in);

		len = len ? len : 256;
		if (len > in->left)
			len = in->left;
		if (len > image_size - at)
			len = (size_t)(image_size - at);
		memcpy(image + at, in->bytes, len);
		in->bytes += len;
		in->left -= len;
	}
}

/*
 * The device.
 */

static int make_bytes(struct fake_device *dev, void *buf, uint64_t offset,
		      uint32_t len)
{
	struct rig *r = (struct rig *)dev;

	r->read += len;
	if (offset > image_size || len > image_size - offset ||
	    (r->bad && ++r->calls % r->bad == 0))
		return EIO;
	memcpy(buf, image + offset, len);
	return 0;
}

/*
 * The elevator pass.
 */

static uint32_t read_groups(struct rig *r)
{
	uint32_t n = r->geo.groups < MOST_GROUPS ? r->geo.groups : MOST_GROUPS;
	uint64_t at = 1024 / r->geo.block_size + 1, i;

	at *= r->geo.block_size;
	for (i = 0; i < n; i++) {
		if (at + (i + 1) * r->geo.desc_size > image_size)
			break;
		e2pf_plan_descriptor(&r->geo, (uint32_t)i,
				     image + at + i * r->geo.desc_size,
				     &r->groups[i]);
	}
	return (uint32_t)i;
}

static void add(void *ctx, const struct e2pf_ref *ref)
{
	struct rig *r = ctx;

	if (e2pf_is_sound(&r->ext4->source, ref))
		e2pf_elevator_add(&r->elevator, ref,
				  r->deferred & 1u << ref->cls);
}

static void parse(struct rig *r, const struct e2pf_elevator_step *step)
{
	struct e2pf_source *source = &r->ext4->source;
	const struct e2pf_ref ref = *step->ref;

	r->piece.size = source->ops->piece(source, &ref, step->at);
	if (!e2pf_piece_read(&r->dev.dev, ref.offset + step->at, &r->piece) &&
	    r->piece.size)
		source->ops->parse(source, &ref, step->at, r->piece.bytes,
				   r->piece.size, add, r);
	e2pf_elevator_parsed(&r->elevator, r->piece.size);
}

static void pass(struct rig *r, bool deferred)
{
	struct e2pf_elevator_step step;
	enum e2pf_step next;

	e2pf_elevator_begin(&r->elevator, deferred);
	while ((next = e2pf_elevator_next(&r->elevator, r->gap, &step)) !=
	       E2PF_STEP_END)
		if (next == E2PF_STEP_PARSE)
			parse(r, &step);
	e2pf_elevator_end(&r->elevator);
}

/* A pass, and one over what it has deferred. */
static void run_passes(struct rig *r, uint32_t groups)
{
	const struct e2pf_start start = {
		.budget = UINT64_MAX, .has_head = true
	};
	struct e2pf_source *source = &r->ext4->source;
	struct e2pf_elevator *el = &r->elevator;
	uint64_t pieces = el->parse_left, tables = 0;
	uint32_t g;

	source->ops->begin(source, &start);
	for (g = 0; g < groups; g++)
		source->ops->seed(source, E2PF_EXT4_TABLES, g, add, r);
	for (g = 0; g < groups; g++)
		tables += (uint64_t)r->groups[g].inodes_in_use *
			  r->geo.inode_size;
	pass(r, false);
	pass(r, true);
	require(!e2pf_elevator_deferred(el));
	require(el->totals.refs == el->totals.requested_refs);
	require(r->read <= tables + pieces * r->geo.block_size);
	require(!r->dev.requests);
	e2pf_elevator_free(el);
	e2pf_piece_free(&r->piece);
}

static void read_image(struct rig *r, struct input *in)
{
	unsigned classes;
	uint32_t n;

	r->elevator.parse_left = take_byte(in);
	r->elevator.refs_most = 1 + take_byte(in);
	r->elevator.ahead_most = 1 + take_number(in, 2);
	r->gap = take_byte(in) << 10;
	classes = take_number(in, 2) & E2PF_ALL_CLASSES;
	r->deferred = take_number(in, 2) & classes;
	r->bad = take_byte(in);
	make_image(take_byte(in) % 2);
	apply_patches(in);
	if (e2pf_plan_superblock(image + 1024, &r->geo))
		return;
	/* The planner may read any group of the filesystem. */
	if (r->geo.groups > MOST_GROUPS)
		return;
	n = read_groups(r);
	r->dev.dev.size = r->geo.blocks * r->geo.block_size;
	r->ext4 = e2pf_ext4_new(&r->geo, classes);
	require(r->ext4);
	r->ext4->groups = r->groups;
	run_passes(r, n);
	e2pf_ext4_free(r->ext4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig rig;
	struct input in = { data, size };

	memset(&rig, 0, sizeof(rig));
	fake_new_plain(&rig.dev, NULL, 0);
	rig.dev.make = make_bytes;
	rig.dev.strict = true;
	read_image(&rig, &in);
	return 0;
}
