/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Feeds arbitrary bytes to every function of the planner.  Aborts if a run is
 * reported that is empty, not completely inside the filesystem, or of a kind
 * that does not exist.
 *
 * The first byte selects the function.  All functions but the superblock's get
 * a geometry from the next eight bytes, and then their own bytes.
 */
#include "fuzz.h"
#include "ext4/plan.h"

struct sink {
	struct ext4_plan plan;
	unsigned calls;
	struct pf_ref last;
};

static void check(void *ctx, const struct pf_ref *ref)
{
	struct sink *sink = ctx;
	const struct ext4_geometry *geo = sink->plan.geo;
	struct ext4_kind kind = ext4_kind_of(ref);
	uint64_t bs = geo->block_size, block = ref->offset / bs;

	if (!ref->length || ref->offset % bs || ref->length % bs || !block ||
	    block < geo->first_data_block ||
	    block + ref->length / bs > geo->blocks)
		abort();
	if (ref->cls >= EXT4_CLASSES || kind.data > EXT4_CLASSES ||
	    kind.parse > EXT4_INDIRECT_BLOCK || kind.depth > 5)
		abort();
	sink->calls++;
	sink->last = *ref;
}

static struct ext4_plan *into(struct sink *sink,
			      const struct ext4_geometry *geo)
{
	memset(sink, 0, sizeof(*sink));
	sink->plan = (struct ext4_plan) {
		.geo = geo, .classes = EXT4_ALL_CLASSES, .sink = check,
		.ctx = sink
	};
	return &sink->plan;
}

/* A consistent geometry, from eight bytes. */
static int make_geometry(struct input *in, struct ext4_geometry *geo)
{
	struct ext2_super_block sb;
	unsigned log_block = take_byte(in) % 7;
	/* s_inode_size has 16 bits, so an inode must be smaller than 64 KiB. */
	unsigned log_inode = take_byte(in) % (log_block < 6 ? log_block + 4 :
							      9);
	unsigned features = take_byte(in);
	unsigned groups = take_byte(in) % 200 + 1;
	unsigned last = take_byte(in) + 1;

	make_super(&sb, log_block, 128u << log_inode, groups, 2048, last);
	sb.s_feature_incompat |= htole32(
		(features & 1 ? EXT4_FEATURE_INCOMPAT_64BIT : 0) |
		(features & 4 ? EXT2_FEATURE_INCOMPAT_META_BG : 0));
	sb.s_feature_ro_compat = htole32(
		(features & 8 ? EXT4_FEATURE_RO_COMPAT_METADATA_CSUM : 0) |
		(features & 16 ? EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER : 0));
	take_number(in, 3);
	return ext4_plan_superblock(&sb, geo);
}

static void fuzz_superblock(struct input *in)
{
	struct ext4_geometry geo;
	uint8_t *bytes = take(in, 1024);

	if (ext4_plan_superblock(bytes, &geo) == 0) {
		if (geo.block_size < 1024 || geo.block_size > 65536 ||
		    geo.inode_size < 128 || geo.inode_size > geo.block_size ||
		    geo.desc_size < 32 || geo.desc_size > geo.block_size ||
		    !geo.groups || !geo.inodes_per_group ||
		    !geo.blocks_per_group)
			abort();
	}
	free(bytes);
}

static void fuzz_descriptor(struct input *in, const struct ext4_geometry *geo)
{
	struct sink sink;
	struct ext4_group group;
	uint32_t number = take_byte(in);
	uint8_t *bytes = take(in, geo->desc_size);

	ext4_plan_descriptor(geo, number, bytes, &group);
	if (group.inode_table >= geo->blocks ||
	    group.block_bitmap >= geo->blocks ||
	    group.inode_bitmap >= geo->blocks ||
	    group.inodes_in_use > geo->inodes_per_group)
		abort();
	ext4_plan_group(into(&sink, geo), number, &group);
	free(bytes);
}

static void fuzz_inodes(struct input *in, const struct ext4_geometry *geo,
			uint32_t size)
{
	struct sink sink;
	uint32_t first = take_byte(in);
	uint8_t *bytes;

	first |= (uint32_t)take_byte(in) << 8;
	bytes = take(in, size);
	ext4_plan_inodes(into(&sink, geo), first, bytes, size);
	free(bytes);
}

static void fuzz_block(struct input *in, const struct ext4_geometry *geo)
{
	struct sink sink;
	struct ext4_kind kind = { 0 }, child;
	uint64_t block = take_byte(in);
	uint8_t *bytes;

	kind.parse = take_byte(in) % (EXT4_INDIRECT_BLOCK + 1);
	kind.cls = take_byte(in) % EXT4_CLASSES;
	kind.depth = take_byte(in);
	kind.data = take_byte(in) % (EXT4_CLASSES + 1);
	bytes = take(in, geo->block_size);
	ext4_plan_block(into(&sink, geo), kind, block, bytes);
	/* The child can be parsed too, and must be nearer to the leaves. */
	child = ext4_kind_of(&sink.last);
	if (sink.calls && sink.last.parse && child.parse != EXT4_INODE_TABLE) {
		require(child.depth < kind.depth);
		block = sink.last.offset / geo->block_size;
		ext4_plan_block(into(&sink, geo), child, block, bytes);
	}
	free(bytes);
}

static volatile unsigned names_sum;

static void check_entry(void *ctx, const struct ext4_entry *entry)
{
	const struct ext4_geometry *geo = ctx;

	require(entry->ino && entry->ino <= geo->inodes);
	require(entry->length && entry->length < 256);
	/* The sanitizer tells if the name ends beyond the block. */
	names_sum += (uint8_t)entry->name[entry->length - 1];
}

static void fuzz_directory(struct input *in, struct ext4_geometry *geo)
{
	uint8_t *inode, *block;

	geo->feature_incompat ^= take_byte(in) & EXT2_FEATURE_INCOMPAT_FILETYPE;
	inode = take(in, geo->inode_size);
	block = take(in, geo->block_size);
	ext4_plan_inline_entries(geo, inode, check_entry, geo);
	ext4_plan_entries(geo, block, geo->block_size, check_entry, geo);
	free(inode);
	free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	unsigned function = take_byte(&in) % 6;
	struct ext4_geometry geo;

	if (function == 0) {
		fuzz_superblock(&in);
		return 0;
	}
	require(!make_geometry(&in, &geo));
	switch (function) {
	case 1:
		fuzz_descriptor(&in, &geo);
		break;
	case 2:
		fuzz_inodes(&in, &geo, geo.inode_size);
		break;
	case 3:
		fuzz_inodes(&in, &geo, take_byte(&in) * 16u);
		break;
	case 4:
		fuzz_directory(&in, &geo);
		break;
	default:
		fuzz_block(&in, &geo);
	}
	return 0;
}
