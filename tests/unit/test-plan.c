/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The planner on hand-made superblocks, group descriptors, inodes, trees and
 * attributes: what it finds in sound ones, and that it ignores impossible values.
 */
#include <endian.h>
#include <ext2fs/ext2fs.h>

#include "unit.h"
#include "ext4/plan.h"
#include "numbers.h"

#define NONE EXT4_CLASSES
#define MANY 512

/* The filesystem of a test, and what was found in it. */
static struct ext4_geometry geo;
static struct {
	unsigned count;
	struct pf_ref ref[MANY];
} found;

static void record(void *ctx, const struct pf_ref *ref)
{
	(void)ctx;
	assert_true(found.count < MANY);
	found.ref[found.count++] = *ref;
}

/* A plan that records what it finds after what is there. */
static struct ext4_plan *plan_of(void)
{
	static struct ext4_plan plan;

	plan = (struct ext4_plan) {
		.geo = &geo, .classes = EXT4_ALL_CLASSES, .sink = record
	};
	return &plan;
}

static void assert_ref(unsigned index, uint64_t block, uint32_t count,
		       unsigned cls, unsigned parse, unsigned depth,
		       unsigned data)
{
	const struct pf_ref *ref = &found.ref[index];
	struct ext4_kind kind = ext4_kind_of(ref);

	assert_true(index < found.count);
	assert_true(ref->offset == block * geo.block_size);
	assert_true(ref->length == (uint64_t)count * geo.block_size);
	assert_int_equal(ref->cls, cls);
	assert_int_equal(kind.cls, cls);
	assert_int_equal(kind.parse, parse);
	assert_int_equal(ref->parse, parse != EXT4_UNPARSED);
	assert_int_equal(kind.depth, depth);
	assert_int_equal(kind.data, data);
}

/* 4 KiB blocks, 40 groups, and all features of a current ext4. */
static struct ext2_super_block sound_super(void)
{
	struct ext2_super_block sb;

	memset(&sb, 0, sizeof(sb));
	sb.s_magic = htole16(EXT2_SUPER_MAGIC);
	sb.s_rev_level = htole32(1);
	sb.s_log_block_size = sb.s_log_cluster_size = htole32(2);
	sb.s_blocks_per_group = sb.s_clusters_per_group = htole32(32768);
	sb.s_blocks_count = htole32(40 * 32768 - 100);
	sb.s_inodes_per_group = htole32(8192);
	sb.s_inodes_count = htole32(40 * 8192);
	sb.s_inode_size = htole16(256);
	sb.s_first_ino = htole32(11);
	sb.s_desc_size = htole16(64);
	sb.s_feature_compat = htole32(EXT2_FEATURE_COMPAT_EXT_ATTR |
				      EXT3_FEATURE_COMPAT_HAS_JOURNAL);
	sb.s_feature_incompat = htole32(EXT3_FEATURE_INCOMPAT_EXTENTS |
					EXT4_FEATURE_INCOMPAT_64BIT);
	sb.s_feature_ro_compat = htole32(EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER |
		EXT4_FEATURE_RO_COMPAT_METADATA_CSUM);
	return sb;
}

FIXTURE(set_up)
{
	struct ext2_super_block sb = sound_super();

	found.count = 0;
	return ext4_plan_superblock(&sb, &geo);
}

/* A test that begins with that filesystem, and no references found. */
#define PLAN_TEST(name) TEST_WITH(name, set_up, NULL)
/* A reference, and one that is not parsed. */
#define REF assert_ref
#define UNPARSED(i, block, count, cls) REF(i, block, count, cls, EXT4_UNPARSED, 0, NONE)

/*
 * Superblocks and group descriptors.
 */

TEST(superblock_read)
{
	struct ext2_super_block sb = sound_super();

	sb.s_blocks_count_hi = htole32(1);
	sb.s_inodes_per_group = htole32(16);
	sb.s_inodes_count = htole32((131072 + 40) * 16);
	assert_int_equal(ext4_plan_superblock(&sb, &geo), 0);
	assert_true(geo.blocks == UINT64_C(0x100000000) + 40 * 32768 - 100);
	assert_int_equal(geo.block_size, 4096);
	assert_int_equal(geo.groups, 131072 + 40);
	assert_int_equal(geo.desc_size, 64);
	assert_int_equal(geo.inode_size, 256);
}

TEST(features_that_are_off)
{
	struct ext2_super_block sb = sound_super();

	sb.s_feature_compat = sb.s_feature_incompat = 0;
	sb.s_feature_ro_compat = 0;
	sb.s_blocks_count_hi = htole32(5);
	assert_int_equal(ext4_plan_superblock(&sb, &geo), 0);
	assert_int_equal(geo.blocks, 40 * 32768 - 100);
	assert_int_equal(geo.desc_size, 32);
}

/* One field of a sound superblock overwritten. */
static const struct {
	const char *why;
	size_t offset;
	size_t size;
	uint32_t value;
} refused[] = {
#define FIELD(name, value) offsetof(struct ext2_super_block, name), \
	sizeof(((struct ext2_super_block *)NULL)->name), value
	{ "no magic", FIELD(s_magic, 0xef54) },
	{ "a later revision", FIELD(s_rev_level, 2) },
	{ "a journal device", FIELD(s_feature_incompat,
				    EXT3_FEATURE_INCOMPAT_JOURNAL_DEV) },
	{ "blocks of 128 KiB", FIELD(s_log_block_size, 7) },
	{ "block size overflow", FIELD(s_log_block_size, 0xffffffff) },
	{ "no blocks", FIELD(s_blocks_count, 0) },
	{ "no blocks per group", FIELD(s_blocks_per_group, 0) },
	{ "first block past the end", FIELD(s_first_data_block, 0xffffffff) },
	{ "no inodes", FIELD(s_inodes_count, 0) },
	{ "inodes unlike groups", FIELD(s_inodes_count, 39 * 8192) },
	{ "no inodes per group", FIELD(s_inodes_per_group, 0) },
	{ "inodes past the bitmap", FIELD(s_inodes_per_group, 32776) },
	{ "inode size 0", FIELD(s_inode_size, 0) },
	{ "inode size 64", FIELD(s_inode_size, 64) },
	{ "inode size 192", FIELD(s_inode_size, 192) },
	{ "inode size above block", FIELD(s_inode_size, 8192) },
	{ "descriptors of 0", FIELD(s_desc_size, 0) },
	{ "descriptors of 32 with 64bit", FIELD(s_desc_size, 32) },
	{ "descriptors of odd size", FIELD(s_desc_size, 65) },
	{ "descriptors of 96", FIELD(s_desc_size, 96) },
	{ "descriptors of 2048", FIELD(s_desc_size, 2048) },
	{ "first inode reserved", FIELD(s_first_ino, 10) },
	{ "first inode past the end", FIELD(s_first_ino, 40 * 8192 + 1) },
	{ "more groups than inodes", FIELD(s_blocks_count_hi, 1) },
	{ "blocks past 48 bits", FIELD(s_blocks_count_hi, 0x10000) },
	{ "blocks past all bits", FIELD(s_blocks_count_hi, 0xffffffff) },
#undef FIELD
};

TEST(superblock_refused)
{
	char zeros[1024] = { 0 };
	size_t i;

	assert_int_equal(ext4_plan_superblock(zeros, &geo), -1);
	for (i = 0; i < COUNT(refused); i++) {
		struct ext2_super_block sb = sound_super();
		uint32_t wide = htole32(refused[i].value);
		uint16_t narrow = htole16(refused[i].value);

		memcpy((char *)&sb + refused[i].offset,
		       refused[i].size == 4 ? (void *)&wide : &narrow,
		       refused[i].size);
		if (ext4_plan_superblock(&sb, &geo) != -1)
			fail_msg("accepted: %s", refused[i].why);
	}
}

TEST(counts_that_do_not_fit)
{
	struct ext2_super_block sb = sound_super();

	/* The first inode that is no special one may be the last, and a descriptor may
	 * have 1 KiB. */
	sb.s_first_ino = htole32(40 * 8192);
	sb.s_desc_size = htole16(EXT2_MAX_DESC_SIZE);
	assert_int_equal(ext4_plan_superblock(&sb, &geo), 0);
	sb = sound_super();

	/* 2^45 groups of 8 blocks; the low half of that number matches the
	 * inodes. */
	sb.s_blocks_per_group = sb.s_clusters_per_group = htole32(8);
	sb.s_blocks_count = htole32(8);
	sb.s_blocks_count_hi = htole32(0xffff);
	sb.s_inodes_per_group = htole32(8192);
	sb.s_inodes_count = htole32(8192);
	assert_int_equal(ext4_plan_superblock(&sb, &geo), -1);

	sb = sound_super();
	/* 2^23 blocks of 1 KiB per group, 2^25 groups. */
	sb.s_feature_ro_compat |= htole32(EXT4_FEATURE_RO_COMPAT_BIGALLOC);
	sb.s_log_block_size = 0;
	sb.s_log_cluster_size = htole32(10);
	sb.s_clusters_per_group = htole32(8192);
	sb.s_blocks_per_group = htole32(8192 << 10);
	sb.s_inodes_per_group = htole32(8);
	sb.s_inodes_count = htole32(8u << 25);
	sb.s_blocks_count = htole32(0xffffffff);
	sb.s_blocks_count_hi = htole32(0xffff);
	assert_int_equal(ext4_plan_superblock(&sb, &geo), 0);
	sb.s_blocks_count = 0;
	sb.s_blocks_count_hi = htole32(0x10000);
	assert_int_equal(ext4_plan_superblock(&sb, &geo), -1);
}

static struct ext4_group_desc sound_descriptor(void)
{
	struct ext4_group_desc desc;

	memset(&desc, 0, sizeof(desc));
	desc.bg_block_bitmap = htole32(1000);
	desc.bg_inode_bitmap = htole32(1016);
	desc.bg_inode_table = htole32(1032);
	return desc;
}

PLAN_TEST(group_partly_used)
{
	struct ext4_group_desc desc = sound_descriptor();
	struct ext4_group group;

	desc.bg_itable_unused = htole16(8192 - 17);
	desc.bg_free_inodes_count = htole16(8192 - 12);
	ext4_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 17);
	assert_int_equal(group.inodes_allocated, 12);
	ext4_plan_group(plan_of(), 0, &group);
	REF(2, 1032, 2, EXT4_INODES, EXT4_INODE_TABLE, 0, NONE);

	/* More unused inodes than there are inodes: none is in use. */
	desc.bg_itable_unused = htole16(8193);
	ext4_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 0);
	desc.bg_itable_unused = 0;
	desc.bg_itable_unused_hi = htole16(1);
	desc.bg_free_inodes_count_hi = htole16(1);
	ext4_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 0);
	assert_int_equal(group.inodes_allocated, 0);
}

PLAN_TEST(group_uninitialized)
{
	struct ext4_group_desc desc = sound_descriptor();
	struct ext4_group group;

	desc.bg_flags = htole16(EXT2_BG_INODE_UNINIT | EXT2_BG_BLOCK_UNINIT);
	desc.bg_itable_unused = htole16(100);
	ext4_plan_descriptor(&geo, 0, &desc, &group);
	ext4_plan_group(plan_of(), 0, &group);
	assert_int_equal(found.count, 0);
	assert_int_equal(group.inode_table, 1032);

	geo.feature_ro_compat = EXT4_FEATURE_RO_COMPAT_GDT_CSUM;
	ext4_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 0);
	/* The flags are trusted only with checksums. */
	geo.feature_ro_compat = 0;
	ext4_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 8192);
	assert_int_equal(group.block_bitmap, 1000);
	assert_int_equal(group.inode_bitmap, 1016);
}

PLAN_TEST(group_out_of_range)
{
	struct ext4_group_desc desc = sound_descriptor();
	struct ext4_group group;

	desc.bg_block_bitmap = htole32(geo.blocks);
	desc.bg_inode_bitmap_hi = htole32(1);
	desc.bg_inode_table = htole32(geo.blocks - 511);
	ext4_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.block_bitmap, 0);
	assert_int_equal(group.inode_bitmap, 0);
	assert_int_equal(group.inode_table, 0);
	assert_int_equal(group.inodes_in_use, 0);
	desc.bg_inode_table = htole32(geo.blocks - 512);
	ext4_plan_descriptor(&geo, 0, &desc, &group);
	assert_true(group.inode_table == geo.blocks - 512);

	/* The high halves are used with 64bit only. */
	geo.feature_incompat &= ~EXT4_FEATURE_INCOMPAT_64BIT;
	geo.desc_size = 32;
	ext4_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inode_bitmap, 1016);
	ext4_plan_descriptor(&geo, geo.groups, &desc, &group);
	assert_int_equal(group.inode_bitmap, 0);
}

/*
 * Inodes, and what they lead to.
 */

/* An inode of 256 bytes, followed by bytes that must not be read. */
struct inode {
	struct ext2_inode base;
	uint8_t tail[128];
};

static struct inode make_inode(unsigned mode, uint32_t flags)
{
	struct inode inode;

	memset(&inode, 0, sizeof(inode));
	inode.base.i_mode = htole16(mode);
	inode.base.i_links_count = htole16(1);
	inode.base.i_flags = htole32(flags);
	return inode;
}

static void put_header(void *node, unsigned entries, unsigned max,
		       unsigned depth)
{
	put16(node, 0xf30a);
	put16((char *)node + 2, entries);
	put16((char *)node + 4, max);
	put16((char *)node + 6, depth);
}

static void put_extent(void *node, unsigned index, uint64_t block,
		       unsigned length)
{
	char *at = (char *)node + 12 * (index + 1);

	put16(at + 4, length);
	put16(at + 6, block >> 32);
	put32(at + 8, block);
}

static void put_index(void *node, unsigned index, uint64_t block)
{
	char *at = (char *)node + 12 * (index + 1);

	put32(at + 4, block);
	put16(at + 8, block >> 32);
	put16(at + 10, 0xffff);
}

/* How much is found anew. */
static unsigned plan_inode(uint32_t ino, const struct inode *inode)
{
	found.count = 0;
	ext4_plan_inodes(plan_of(), ino, inode, sizeof(*inode));
	return found.count;
}

/* A directory of two extents, in a filesystem of `blocks` (0: the usual number),
 * and what is read of it; 0: nothing. */
PLAN_TEST(directory_in_extents)
{
	const uint64_t usual = geo.blocks;
	const uint64_t last = (UINT64_C(1) << 48) - 2;
	const struct {
		uint64_t blocks;
		struct { uint64_t block; unsigned length; } in[2], out[2];
	} of[] = {
		/* Adjacent; unwritten, and empty; the longest one counts as
		 * written. */
		{ 0, {{ 5000, 3 }, { 5003, 2 }}, {{ 5000, 5 }} },
		{ 0, {{ 6000, 32768 + 4 }, { 7000, 0 }}, {{ 6000, 4 }} },
		{ 0, {{ 5000, 32768 }, { 50000, 1 }},
		  {{ 5000, 32768 }, { 50000, 1 }} },
		/* Out of range. */
		{ 0, {{ 0, 1 }, { usual, 1 }}, {{ 0 }} },
		{ 0, {{ UINT64_C(0xffffffffffff), 0xffff }, { usual - 7, 100 }},
		  {{ usual - 7, 7 }} },
		/* Numbers of 48 bits. */
		{ last + 1, {{ last - 1, 9 }, { last + 1, 9 }},
		  {{ last - 1, 2 }} },
	};
	struct inode inode = make_inode(LINUX_S_IFDIR, EXT4_EXTENTS_FL);
	size_t i, n;

	put_header(inode.base.i_block, 2, 4, 0);
	for (i = 0; i < COUNT(of); i++) {
		geo.blocks = of[i].blocks ? of[i].blocks : usual;
		for (n = 0; n < 2; n++)
			put_extent(inode.base.i_block, n, of[i].in[n].block,
				   of[i].in[n].length);
		plan_inode(20, &inode);
		for (n = 0; n < 2 && of[i].out[n].block; n++)
			UNPARSED(n, of[i].out[n].block, of[i].out[n].length,
			     EXT4_DIRS);
		assert_int_equal(found.count, n);
	}
	put_header(inode.base.i_block, 2, 4, 1);
	put_index(inode.base.i_block, 0, last);
	put_index(inode.base.i_block, 1, last + 1);
	assert_int_equal(plan_inode(20, &inode), 1);
	REF(0, last, 1, EXT4_EXTENTS, EXT4_EXTENT_NODE, 0, EXT4_DIRS);
}

PLAN_TEST(extent_indexes)
{
	struct inode inode = make_inode(LINUX_S_IFREG, EXT4_EXTENTS_FL);

	put_header(inode.base.i_block, 3, 4, 1);
	put_index(inode.base.i_block, 0, 5000);
	put_index(inode.base.i_block, 1, 5001);
	put_index(inode.base.i_block, 2, 9000);
	/* In a file, the lowest nodes are not parsed. */
	assert_int_equal(plan_inode(20, &inode), 2);
	UNPARSED(0, 5000, 2, EXT4_EXTENTS);
	UNPARSED(1, 9000, 1, EXT4_EXTENTS);

	inode.base.i_mode = htole16(LINUX_S_IFDIR);
	put_header(inode.base.i_block, 1, 4, 5);
	assert_int_equal(plan_inode(20, &inode), 1);
	REF(0, 5000, 1, EXT4_EXTENTS, EXT4_EXTENT_NODE, 4, EXT4_DIRS);
}

/* The number of the block that is planned. */
#define OWN 5000u

static unsigned plan_block(struct ext4_kind kind, const void *block)
{
	uint8_t *copy = malloc(geo.block_size);

	/* A separate allocation, so that a memory checker sees an overrun. */
	assert_non_null(copy);
	memcpy(copy, block, geo.block_size);
	found.count = 0;
	ext4_plan_block(plan_of(), kind, OWN, copy);
	free(copy);
	return found.count;
}

PLAN_TEST(extent_nodes)
{
	struct ext4_kind kind = {
		.cls = EXT4_EXTENTS,
		.parse = EXT4_EXTENT_NODE, .depth = 2, .data = EXT4_DIRS
	};
	uint8_t block[4096] = { 0 };
	unsigned i;

	put_header(block, 340, 340, 2);
	for (i = 0; i < 340; i++)
		put_index(block, i, 100 + i);
	assert_int_equal(plan_block(kind, block), 1);
	REF(0, 100, 340, EXT4_EXTENTS, EXT4_EXTENT_NODE, 1, EXT4_DIRS);

	/* A node that refers to itself. */
	put_index(block, 1, 5000);
	assert_int_equal(plan_block(kind, block), 2);
	REF(0, 100, 1, EXT4_EXTENTS, EXT4_EXTENT_NODE, 1, EXT4_DIRS);
	REF(1, 102, 338, EXT4_EXTENTS, EXT4_EXTENT_NODE, 1, EXT4_DIRS);

	/* The lowest level: data. */
	kind.depth = 0;
	put_header(block, 1, 340, 0);
	put_extent(block, 0, 5000, 7);
	assert_int_equal(plan_block(kind, block), 1);
	UNPARSED(0, 5000, 7, EXT4_DIRS);

	/* Nodes and data have the class of the file. */
	kind.cls = kind.data = EXT4_FILES;
	plan_block(kind, block);
	UNPARSED(0, 5000, 7, EXT4_FILES);
}

/* Headers of the root, which is in an inode, and of a node `depth` levels above
 * the data. */
PLAN_TEST(extent_nodes_refused)
{
	enum { ROOT = -1 };
	static const struct {
		int expected;
		unsigned entries, max, depth;
	} bad[] = {
		{ ROOT, 5, 4, 0 },	/* more entries than max */
		{ ROOT, 5, 5, 0 },	/* max beyond the inode */
		{ ROOT, 0xffff, 0xffff, 0 },
		{ ROOT, 1, 1, 0 },	/* smaller max than is ever written */
		{ ROOT, 1, 4, 6 },	/* too deep */
		{ ROOT, 1, 4, 0xffff },
		{ ROOT, 1, 4, 0x100 },	/* cut off to 8 bits it is 0 */
		{ 2, 1, 340, 3 },	/* deeper than its parent claimed */
		{ 2, 1, 340, 1 },
		{ 2, 1, 340, 0 },
		{ 0, 1, 340, 1 },
		{ 6, 1, 340, 6 },	/* deeper than any tree */
		{ 255, 1, 340, 255 },
		{ 2, 341, 340, 2 },
		{ 2, 341, 341, 2 },	/* beyond the block */
		{ 2, 0xffff, 0xffff, 2 },
		{ 2, 1, 337, 2 },
		{ 2, 0, 340, 2 },
	};
	struct inode inode = make_inode(LINUX_S_IFDIR, EXT4_EXTENTS_FL);
	size_t i;

	for (i = 0; i < COUNT(bad); i++) {
		struct ext4_kind kind = {
			.cls = EXT4_EXTENTS, .parse = EXT4_EXTENT_NODE,
			.data = EXT4_DIRS, .depth = (uint8_t)bad[i].expected
		};
		bool root = bad[i].expected == ROOT;
		uint8_t block[4096] = { 0 };
		void *node = root ? (void *)inode.base.i_block : block;
		unsigned j;

		for (j = 0; j < (root ? 4 : 340); j++)
			put_index(node, j, 100 + 2 * j);
		if (root)
			put_extent(node, 0, 5000, 3);
		put_header(node, bad[i].entries, bad[i].max, bad[i].depth);
		assert_int_equal(root ? plan_inode(20, &inode) :
				 plan_block(kind, block), 0);
	}
	put_header(inode.base.i_block, 1, 4, 0);
	put_extent(inode.base.i_block, 0, 5000, 3);
	assert_int_equal(plan_inode(20, &inode), 1);
	put16(inode.base.i_block, 0xf30b);	/* another magic number */
	assert_int_equal(plan_inode(20, &inode), 0);
}

PLAN_TEST(block_map)
{
	struct inode inode = make_inode(LINUX_S_IFREG, 0);
	unsigned i;

	for (i = 0; i < 15; i++)
		put32(&inode.base.i_block[i], 3000 + 2 * i);
	assert_int_equal(plan_inode(20, &inode), 3);
	REF(0, 3024, 1, EXT4_INDIRECT, EXT4_UNPARSED, 1, NONE);
	REF(1, 3026, 1, EXT4_INDIRECT, EXT4_INDIRECT_BLOCK, 2, NONE);
	REF(2, 3028, 1, EXT4_INDIRECT, EXT4_INDIRECT_BLOCK, 3, NONE);

	inode.base.i_mode = htole16(LINUX_S_IFDIR);
	put32(&inode.base.i_block[1], 3001);
	put32(&inode.base.i_block[2], 0);
	put32(&inode.base.i_block[3], geo.blocks);
	put32(&inode.base.i_block[4], 0xffffffff);
	assert_int_equal(plan_inode(20, &inode), 1 + 7 + 3);
	UNPARSED(0, 3000, 2, EXT4_DIRS);
	UNPARSED(1, 3010, 1, EXT4_DIRS);
	REF(8, 3024, 1, EXT4_INDIRECT, EXT4_INDIRECT_BLOCK, 1, EXT4_DIRS);
}

PLAN_TEST(indirect_blocks)
{
	struct ext4_kind kind = {
		.cls = EXT4_INDIRECT,
		.parse = EXT4_INDIRECT_BLOCK, .depth = 3, .data = NONE
	};
	uint8_t block[4096] = { 0 };

	put32(block, 4000);
	put32(block + 4, 4001);
	put32(block + 8, OWN);		/* itself */
	put32(block + 12, geo.blocks);
	put32(block + 4092, 4100);
	assert_int_equal(plan_block(kind, block), 2);
	REF(0, 4000, 2, EXT4_INDIRECT, EXT4_INDIRECT_BLOCK, 2, NONE);
	REF(1, 4100, 1, EXT4_INDIRECT, EXT4_INDIRECT_BLOCK, 2, NONE);
	kind.depth = 2;
	plan_block(kind, block);
	REF(0, 4000, 2, EXT4_INDIRECT, EXT4_UNPARSED, 1, NONE);
	kind.depth = 1;
	assert_int_equal(plan_block(kind, block), 0);
	kind.data = EXT4_DIRS;
	plan_block(kind, block);
	UNPARSED(0, 4000, 2, EXT4_DIRS);
	kind.depth = 0;
	assert_int_equal(plan_block(kind, block), 0);
	kind.depth = 4;
	assert_int_equal(plan_block(kind, block), 0);
	kind.depth = 255;
	assert_int_equal(plan_block(kind, block), 0);
}

/* By its size a target is in the inode, or a link is none. */
PLAN_TEST(symlinks)
{
	static const struct {
		uint32_t flags, size, size_high;
		unsigned found;
	} of[] = {
		{ EXT4_EXTENTS_FL, 60, 0, 1 }, { EXT4_EXTENTS_FL, 59, 0, 0 },
		{ EXT4_EXTENTS_FL, 0, 0, 0 }, { EXT4_EXTENTS_FL, 60, 1, 0 },
		{ 0, 4095, 0, 1 }, { 0, 40, 0, 0 },
		{ EXT4_INLINE_DATA_FL, 4095, 0, 0 },
	};
	struct inode inode;
	size_t i;

	for (i = 0; i < COUNT(of); i++) {
		inode = make_inode(LINUX_S_IFLNK, of[i].flags);
		if (of[i].flags & EXT4_EXTENTS_FL) {
			put_header(inode.base.i_block, 1, 4, 0);
			put_extent(inode.base.i_block, 0, 5000, 1);
		} else {
			put32(&inode.base.i_block[0], 5000);
		}
		inode.base.i_size = htole32(of[i].size);
		inode.base.i_size_high = htole32(of[i].size_high);
		assert_int_equal(plan_inode(20, &inode), of[i].found);
		if (of[i].found)
			UNPARSED(0, 5000, 1, EXT4_SYMLINKS);
	}
	/* No first extent. */
	inode = make_inode(LINUX_S_IFLNK, EXT4_EXTENTS_FL);
	inode.base.i_size = htole32(100);
	put_extent(inode.base.i_block, 0, 5000, 1);
	assert_int_equal(plan_inode(20, &inode), 0);
}

PLAN_TEST(inodes_without_blocks)
{
	static const unsigned modes[] = {
		LINUX_S_IFCHR, LINUX_S_IFBLK, LINUX_S_IFIFO, LINUX_S_IFSOCK, 0
	};
	struct inode inode;
	size_t i;

	for (i = 0; i < COUNT(modes); i++) {
		inode = make_inode(modes[i], 0);
		memset(inode.base.i_block, 1, sizeof(inode.base.i_block));
		put32(&inode.base.i_file_acl, 7777);
		assert_int_equal(plan_inode(20, &inode), 1);
		UNPARSED(0, 7777, 1, EXT4_XATTRS);
	}
	inode = make_inode(LINUX_S_IFDIR, EXT4_INLINE_DATA_FL);
	put32(&inode.base.i_block[0], 5000);
	put32(&inode.base.i_block[12], 5001);
	assert_int_equal(plan_inode(20, &inode), 0);

	/* Deleted, or not a valid inode number. */
	inode.base.i_flags = 0;
	assert_int_equal(plan_inode(20, &inode), 2);
	assert_int_equal(plan_inode(0, &inode), 0);
	assert_int_equal(plan_inode(geo.inodes, &inode), 2);
	assert_int_equal(plan_inode(geo.inodes + 1, &inode), 0);
	assert_int_equal(plan_inode(UINT32_MAX, &inode), 0);
	inode.base.i_links_count = 0;
	assert_int_equal(plan_inode(20, &inode), 0);
	assert_int_equal(plan_inode(EXT2_ROOT_INO, &inode), 0);
	assert_int_equal(plan_inode(9, &inode), 2);
}

PLAN_TEST(xattr_block_number)
{
	struct inode inode = make_inode(LINUX_S_IFIFO, 0);

	put32(&inode.base.i_file_acl, geo.blocks);
	assert_int_equal(plan_inode(20, &inode), 0);
	put32(&inode.base.i_file_acl, 7777);
	put16(&inode.base.osd2.linux2.l_i_file_acl_high, 1);
	assert_int_equal(plan_inode(20, &inode), 0);
	geo.feature_incompat &= ~EXT4_FEATURE_INCOMPAT_64BIT;
	assert_int_equal(plan_inode(20, &inode), 1);
	UNPARSED(0, 7777, 1, EXT4_XATTRS);
	geo.feature_compat = 0;
	assert_int_equal(plan_inode(20, &inode), 0);
}

/* A reference's length has 32 bits, however many blocks are added. */
PLAN_TEST(references_of_32_bits)
{
	const uint32_t max = UINT32_MAX / 4096;
	struct ext4_plan *plan = plan_of();

	geo.blocks = UINT64_C(1) << 40;
	ext4_gather_add(plan, ext4_unparsed(EXT4_DIRS), 5000, max);
	ext4_gather_add(plan, ext4_unparsed(EXT4_DIRS), 5000 + max, max + 7u);
	ext4_gather_flush(plan);
	assert_int_equal(found.count, 3);
	UNPARSED(0, 5000, max, EXT4_DIRS);
	UNPARSED(1, 5000 + max, max, EXT4_DIRS);
	UNPARSED(2, 5000 + 2 * max, 7, EXT4_DIRS);
}

/* An unwanted block is passed only if it leads to a wanted one: nodes of a directory do,
 * and those of a file only to nodes. */
PLAN_TEST(only_wanted_classes)
{
	static const struct {
		unsigned mode, depth, cls, found;
	} of[] = {
		{ LINUX_S_IFDIR, 1, EXT4_DIRS, 1 },
		{ LINUX_S_IFDIR, 1, EXT4_BITMAPS, 0 },
		{ LINUX_S_IFDIR, 0, EXT4_BITMAPS, 0 },
		{ LINUX_S_IFDIR, 2, EXT4_DIRS, 1 },
		{ LINUX_S_IFREG, 2, EXT4_DIRS, 0 },
		{ LINUX_S_IFREG, 2, EXT4_EXTENTS, 1 },
	};
	struct ext4_plan *plan = plan_of();
	size_t i;

	for (i = 0; i < COUNT(of); i++) {
		struct inode inode = make_inode(of[i].mode, EXT4_EXTENTS_FL);

		put_header(inode.base.i_block, 1, 4, of[i].depth);
		if (of[i].depth)
			put_index(inode.base.i_block, 0, 5000);
		else
			put_extent(inode.base.i_block, 0, 5000, 1);
		plan->classes = 1u << of[i].cls;
		found.count = 0;
		ext4_plan_inodes(plan, 20, &inode, sizeof(inode));
		assert_int_equal(found.count, of[i].found);
		assert_true(!of[i].found || found.ref[0].parse);
	}
}

PLAN_TEST(runs_of_inodes)
{
	struct inode table[16];
	const struct {
		uint32_t ino;
		size_t bytes;
		unsigned found;
	} runs[] = {
		{ 17, 3 * geo.inode_size, 3 }, { 17, sizeof(table) - 1, 15 },
		{ geo.inodes - 1, sizeof(table), 2 }, { 0, sizeof(table), 0 },
		{ geo.inodes + 1, sizeof(table), 0 },
		{ UINT32_MAX, sizeof(table), 0 },
	};
	unsigned i;

	for (i = 0; i < 16; i++) {
		table[i] = make_inode(LINUX_S_IFDIR, 0);
		put32(&table[i].base.i_block[0], 5000 + 2 * i);
	}
	for (i = 0; i < COUNT(runs); i++) {
		found.count = 0;
		ext4_plan_inodes(plan_of(), runs[i].ino, table,
				 runs[i].bytes);
		assert_int_equal(found.count, runs[i].found);
		if (!i)
			UNPARSED(2, 5004, 1, EXT4_DIRS);
	}

	/* Numbers do not wrap around. */
	found.count = 0;
	geo.inodes = UINT32_MAX;
	ext4_plan_inodes(plan_of(), UINT32_MAX, table, sizeof(table));
	assert_int_equal(found.count, 1);
}

UNIT_MAIN(NULL, NULL)
