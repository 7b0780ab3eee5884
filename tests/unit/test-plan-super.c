/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The planner on hand-made superblocks and group descriptors: what it finds in
 * sound ones, and that it ignores impossible values.
 */
#include <endian.h>

#include "unit.h"
#include "plan-rig.h"

TEST(superblock_read)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	sb.s_blocks_count_hi = htole32(1);
	sb.s_inodes_per_group = htole32(16);
	sb.s_inodes_count = htole32((131072 + 40) * 16);
	sb.s_prj_quota_inum = htole32(12);
	sb.s_feature_compat |= htole32(0x1000);
	memcpy((char *)&sb + 0x280, &(uint32_t){ htole32(13) }, 4);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);
	assert_true(geo.blocks == UINT64_C(0x100000000) + 40 * 32768 - 100);
	assert_int_equal(geo.block_size, 4096);
	assert_int_equal(geo.groups, 131072 + 40);
	assert_int_equal(geo.desc_size, 64);
	assert_int_equal(geo.desc_blocks, 2049);
	assert_int_equal(geo.inode_size, 256);
	assert_int_equal(geo.journal_inum, 8);
	assert_int_equal(geo.quota_inum[0], 3);
	assert_int_equal(geo.quota_inum[1], 0);
	assert_int_equal(geo.quota_inum[2], 12);
	assert_int_equal(geo.orphan_inum, 13);
}

TEST(features_that_are_off)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	sb.s_feature_compat = sb.s_feature_incompat = 0;
	sb.s_feature_ro_compat = 0;
	sb.s_blocks_count_hi = htole32(5);
	memcpy((char *)&sb + 0x280, &(uint32_t){ htole32(13) }, 4);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);
	assert_int_equal(geo.blocks, 40 * 32768 - 100);
	assert_int_equal(geo.desc_size, 32);
	assert_int_equal(geo.journal_inum, 0);
	assert_int_equal(geo.orphan_inum, 0);
	assert_int_equal(geo.quota_inum[0], 0);
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
	struct e2pf_geometry geo;
	char zeros[1024] = { 0 };
	size_t i;

	assert_int_equal(e2pf_plan_superblock(zeros, &geo), -1);
	for (i = 0; i < COUNT(refused); i++) {
		struct ext2_super_block sb = sound_super();
		uint32_t wide = htole32(refused[i].value);
		uint16_t narrow = htole16(refused[i].value);

		memcpy((char *)&sb + refused[i].offset,
		       refused[i].size == 4 ? (void *)&wide : &narrow,
		       refused[i].size);
		if (e2pf_plan_superblock(&sb, &geo) != -1)
			fail_msg("accepted: %s", refused[i].why);
	}
}

TEST(counts_that_do_not_fit)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	/* 2^45 groups of 8 blocks; the low half of that number matches the
	 * inodes. */
	sb.s_blocks_per_group = sb.s_clusters_per_group = htole32(8);
	sb.s_blocks_count = htole32(8);
	sb.s_blocks_count_hi = htole32(0xffff);
	sb.s_inodes_per_group = htole32(8192);
	sb.s_inodes_count = htole32(8192);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), -1);

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
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);
	sb.s_blocks_count = 0;
	sb.s_blocks_count_hi = htole32(0x10000);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), -1);
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

#define REF(...) assert_ref(&found, __VA_ARGS__)

TEST(group_partly_used)
{
	struct e2pf_geometry geo = sound_geometry();
	struct ext4_group_desc desc = sound_descriptor();
	struct found found = { 0 };
	struct e2pf_group group;

	desc.bg_itable_unused = htole16(8192 - 17);
	desc.bg_free_inodes_count = htole16(8192 - 12);
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 17);
	assert_int_equal(group.inodes_allocated, 12);
	e2pf_plan_group(into(&found, &geo, NULL), 0, &group);
	REF(2, 1032, 2, E2PF_INODES, E2PF_INODE_TABLE, 0, NONE);

	/* More unused inodes than there are inodes: none is in use. */
	desc.bg_itable_unused = htole16(8193);
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 0);
	desc.bg_itable_unused = 0;
	desc.bg_itable_unused_hi = htole16(1);
	desc.bg_free_inodes_count_hi = htole16(1);
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 0);
	assert_int_equal(group.inodes_allocated, 0);
}

TEST(group_uninitialized)
{
	struct e2pf_geometry geo = sound_geometry();
	struct ext4_group_desc desc = sound_descriptor();
	struct found found = { 0 };
	struct e2pf_group group;

	desc.bg_flags = htole16(EXT2_BG_INODE_UNINIT | EXT2_BG_BLOCK_UNINIT);
	desc.bg_itable_unused = htole16(100);
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	e2pf_plan_group(into(&found, &geo, NULL), 0, &group);
	assert_int_equal(found.count, 0);
	/* EA inodes are still found there. */
	assert_int_equal(group.inode_table, 1032);

	geo.feature_ro_compat = EXT4_FEATURE_RO_COMPAT_GDT_CSUM;
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 0);
	/* Without checksums the flags are not trusted. */
	geo.feature_ro_compat = 0;
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 8192);
	assert_int_equal(group.block_bitmap, 1000);
	assert_int_equal(group.inode_bitmap, 1016);
}

TEST(group_out_of_range)
{
	struct e2pf_geometry geo = sound_geometry();
	struct ext4_group_desc desc = sound_descriptor();
	struct e2pf_group group;

	desc.bg_block_bitmap = htole32(geo.blocks);
	desc.bg_inode_bitmap_hi = htole32(1);
	desc.bg_inode_table = htole32(geo.blocks - 511);
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.block_bitmap, 0);
	assert_int_equal(group.inode_bitmap, 0);
	assert_int_equal(group.inode_table, 0);
	assert_int_equal(group.inodes_in_use, 0);
	desc.bg_inode_table = htole32(geo.blocks - 512);
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_true(group.inode_table == geo.blocks - 512);

	/* The high halves are used with 64bit only. */
	geo.feature_incompat &= ~EXT4_FEATURE_INCOMPAT_64BIT;
	geo.desc_size = 32;
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inode_bitmap, 1016);
	e2pf_plan_descriptor(&geo, geo.groups, &desc, &group);
	assert_int_equal(group.inode_bitmap, 0);
}

UNIT_MAIN(NULL, NULL)
