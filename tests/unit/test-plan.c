/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The planner on bytes made by hand: what sound structures yield, and that
 * what cannot be true is left out.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ext4/plan.h"
#include "ext4/plan_gather.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NONE E2PF_CLASSES
#define MANY 512

/* What a function handed out. */
struct found {
	unsigned count;
	struct e2pf_run run[MANY];
};

static void record(void *ctx, const struct e2pf_run *run)
{
	struct found *found = ctx;

	assert_true(found->count < MANY);
	found->run[found->count++] = *run;
}

static void assert_ref(const struct found *found, unsigned index,
		       uint64_t block, uint32_t count, unsigned cls,
		       unsigned parse, unsigned depth, unsigned data)
{
	const struct e2pf_run *run = &found->run[index];

	assert_true(index < found->count);
	assert_true(run->block == block);
	assert_int_equal(run->count, count);
	assert_int_equal(run->cls, cls);
	assert_int_equal(run->parse, parse);
	assert_int_equal(run->depth, depth);
	assert_int_equal(run->data, data);
}

/* 4 KiB blocks, 40 groups, everything an ext4 of today has. */
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
	sb.s_journal_inum = htole32(8);
	sb.s_feature_incompat = htole32(EXT3_FEATURE_INCOMPAT_EXTENTS |
					EXT4_FEATURE_INCOMPAT_64BIT |
					EXT4_FEATURE_INCOMPAT_EA_INODE);
	sb.s_feature_ro_compat = htole32(EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER |
		EXT4_FEATURE_RO_COMPAT_METADATA_CSUM |
		EXT4_FEATURE_RO_COMPAT_QUOTA);
	sb.s_usr_quota_inum = htole32(3);
	return sb;
}

static struct e2pf_geometry sound_geometry(void)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);
	return geo;
}

static void superblock_read(void **state)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	(void)state;
	sb.s_blocks_count_hi = htole32(1);
	sb.s_inodes_per_group = htole32(16);
	sb.s_inodes_count = htole32((131072 + 40) * 16);
	sb.s_prj_quota_inum = htole32(12);
	sb.s_feature_incompat |= htole32(EXT4_FEATURE_INCOMPAT_MMP);
	sb.s_mmp_block = htole64(UINT64_C(0x100000007));
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
	assert_true(geo.mmp_block == UINT64_C(0x100000007));
}

/* What lies outside is taken for none, and the rest is used. */
static void mmp_block_past_the_end(void **state)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	(void)state;
	sb.s_feature_incompat |= htole32(EXT4_FEATURE_INCOMPAT_MMP);
	sb.s_mmp_block = htole64(40 * 32768 - 100);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);
	assert_int_equal(geo.mmp_block, 0);
	sb.s_mmp_block = htole64(40 * 32768 - 101);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);
	assert_int_equal(geo.mmp_block, 40 * 32768 - 101);
}

static void superblock_of_revision_0(void **state)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	(void)state;
	sb.s_rev_level = 0;
	sb.s_inode_size = htole16(7);
	sb.s_first_ino = htole32(99);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);
	assert_int_equal(geo.inode_size, 128);
	assert_int_equal(geo.first_ino, 11);
}

static void features_that_are_off(void **state)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	(void)state;
	sb.s_feature_compat = sb.s_feature_incompat = 0;
	sb.s_feature_ro_compat = 0;
	sb.s_blocks_count_hi = htole32(5);
	sb.s_mmp_block = htole64(50);
	memcpy((char *)&sb + 0x280, &(uint32_t){ htole32(13) }, 4);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);
	assert_int_equal(geo.blocks, 40 * 32768 - 100);
	assert_int_equal(geo.desc_size, 32);
	assert_int_equal(geo.journal_inum, 0);
	assert_int_equal(geo.orphan_inum, 0);
	assert_int_equal(geo.quota_inum[0], 0);
	assert_int_equal(geo.mmp_block, 0);
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
	{ "clusters without bigalloc", FIELD(s_log_cluster_size, 4) },
	{ "clusters below blocks", FIELD(s_log_cluster_size, 1) },
	{ "cluster size overflow", FIELD(s_log_cluster_size, 32) },
	{ "no blocks", FIELD(s_blocks_count, 0) },
	{ "no blocks per group", FIELD(s_blocks_per_group, 0) },
	{ "groups unlike clusters", FIELD(s_blocks_per_group, 32760) },
	{ "no clusters per group", FIELD(s_clusters_per_group, 0) },
	{ "too many clusters", FIELD(s_clusters_per_group, 65536) },
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

static void superblock_refused(void **state)
{
	struct e2pf_geometry geo;
	char zeros[1024] = { 0 };
	size_t i;

	(void)state;
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

static void group_count_that_does_not_fit(void **state)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	(void)state;
	/* 2^45 groups of 8 blocks, whose low half agrees with the inodes. */
	sb.s_blocks_per_group = sb.s_clusters_per_group = htole32(8);
	sb.s_blocks_count = htole32(8);
	sb.s_blocks_count_hi = htole32(0xffff);
	sb.s_inodes_per_group = htole32(8192);
	sb.s_inodes_count = htole32(8192);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), -1);
}

static void more_blocks_than_48_bits(void **state)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	(void)state;
	/* 2^23 blocks of 1 KiB to a group, 2^25 groups. */
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

static void meta_bg_past_the_descriptors(void **state)
{
	struct ext2_super_block sb = sound_super();
	struct e2pf_geometry geo;

	(void)state;
	sb.s_feature_incompat |= htole32(EXT2_FEATURE_INCOMPAT_META_BG);
	sb.s_first_meta_bg = htole32(1);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);
	sb.s_first_meta_bg = htole32(2);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), -1);
}

/*
 * Descriptor blocks as ext2fs_descriptor_block_loc2() places them, for many
 * layouts that would be large images.
 */
struct layout {
	ext2_filsys fs;
	uint64_t group_block;
	uint32_t next;
};

static void check_descriptor(void *ctx, const struct e2pf_run *run)
{
	struct layout *layout = ctx;
	uint32_t i;

	assert_int_equal(run->cls, E2PF_DESCRIPTORS);
	assert_int_equal(run->parse, E2PF_LEAF);
	for (i = 0; i < run->count; i++, layout->next++) {
		ext2_filsys fs = layout->fs;
		uint64_t want = layout->group_block + layout->next + 1;

		if (ext2fs_has_feature_meta_bg(fs->super) &&
		    layout->next >= fs->super->s_first_meta_bg)
			want = ext2fs_descriptor_block_loc2(fs,
					layout->group_block, layout->next);
		else if (!layout->group_block && fs->blocksize == 1024)
			want++;
		assert_true(run->block + i == want);
	}
}

static void check_layout(uint32_t compat, uint32_t incompat,
			 uint32_t ro_compat, unsigned log_block,
			 unsigned first_meta_bg)
{
	struct ext2_super_block sb = sound_super(), host;
	bool bigalloc = ro_compat & EXT4_FEATURE_RO_COMPAT_BIGALLOC;
	unsigned first = log_block == 0 && !bigalloc;
	struct struct_ext2_filsys fs;
	struct e2pf_geometry geo;
	unsigned i;

	sb.s_log_block_size = htole32(log_block);
	sb.s_log_cluster_size = htole32(log_block + (bigalloc ? 4 : 0));
	sb.s_first_data_block = htole32(first);
	sb.s_clusters_per_group = htole32(8192);
	sb.s_blocks_per_group = htole32(bigalloc ? 8192 * 16 : 8192);
	sb.s_blocks_count = htole32(first + 1000 * 8192 - 77);
	sb.s_inodes_per_group = htole32(64);
	sb.s_inodes_count = htole32((bigalloc ? 63 : 1000) * 64);
	sb.s_first_meta_bg = htole32(first_meta_bg);
	sb.s_backup_bgs[0] = htole32(1);
	sb.s_backup_bgs[1] = htole32(129);
	sb.s_feature_compat = htole32(compat);
	sb.s_feature_incompat = htole32(incompat);
	sb.s_feature_ro_compat = htole32(ro_compat);
	assert_int_equal(e2pf_plan_superblock(&sb, &geo), 0);

	host = sb;
#ifdef WORDS_BIGENDIAN
	ext2fs_swap_super(&host);
#endif
	memset(&fs, 0, sizeof(fs));
	fs.magic = EXT2_ET_MAGIC_EXT2FS_FILSYS;
	fs.super = &host;
	fs.blocksize = geo.block_size;
	fs.cluster_ratio_bits = bigalloc ? 4 : 0;
	fs.group_desc_count = geo.groups;
	fs.desc_blocks = geo.desc_blocks;

	for (i = 0; i < geo.groups; i++) {
		struct layout layout = { .fs = &fs };
		uint64_t block;

		if (!ext2fs_bg_has_super(&fs, i))
			continue;
		layout.group_block = ext2fs_group_first_block2(&fs, i);
		block = i ? layout.group_block : 1024 / geo.block_size;
		if (block + 1 + geo.desc_blocks > geo.blocks)
			continue;
		e2pf_plan_descriptors(&geo, block, check_descriptor, &layout);
		assert_int_equal(layout.next, geo.desc_blocks);
		/* Block 0 is the primary's, also where that lies in 1. */
		layout.next = 0;
		if (i == 0)
			e2pf_plan_descriptors(&geo, 0, check_descriptor,
					      &layout);
	}
}

static void descriptor_layouts(void **state)
{
	static const uint32_t compats[] = { 0, 0x0200 /* sparse_super2 */ };
	static const uint32_t incompats[] = {
		0, EXT4_FEATURE_INCOMPAT_64BIT, EXT2_FEATURE_INCOMPAT_META_BG,
		EXT4_FEATURE_INCOMPAT_64BIT | EXT2_FEATURE_INCOMPAT_META_BG
	};
	static const uint32_t ro_compats[] = {
		0, EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER,
		EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER |
		EXT4_FEATURE_RO_COMPAT_BIGALLOC
	};
	unsigned a, b, c, log_block, meta;

	(void)state;
	for (a = 0; a < COUNT(compats); a++)
		for (b = 0; b < COUNT(incompats); b++)
			for (c = 0; c < COUNT(ro_compats); c++)
				for (log_block = 0; log_block < 7; log_block++)
					for (meta = 0; meta < 2; meta++)
						check_layout(compats[a],
							     incompats[b],
							     ro_compats[c],
							     log_block, meta);
}

static void descriptors_past_the_end(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct found found = { 0 };

	(void)state;
	e2pf_plan_descriptors(&geo, geo.blocks - 1, record, &found);
	e2pf_plan_descriptors(&geo, geo.blocks, record, &found);
	e2pf_plan_descriptors(&geo, UINT64_MAX, record, &found);
	assert_int_equal(found.count, 0);
	geo.desc_blocks = 100;
	e2pf_plan_descriptors(&geo, geo.blocks - 11, record, &found);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, geo.blocks - 10, 10, E2PF_DESCRIPTORS,
		   E2PF_LEAF, 0, NONE);
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

static void group_whole(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct ext4_group_desc desc = sound_descriptor();
	struct found found = { 0 };
	struct e2pf_group group;

	(void)state;
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 8192);
	e2pf_plan_group(&geo, &group, record, &found);
	assert_int_equal(found.count, 3);
	assert_ref(&found, 0, 1000, 1, E2PF_BITMAPS, E2PF_LEAF, 0, NONE);
	assert_ref(&found, 1, 1016, 1, E2PF_BITMAPS, E2PF_LEAF, 0, NONE);
	assert_ref(&found, 2, 1032, 512, E2PF_INODES, E2PF_INODE_TABLE, 0,
		   NONE);
}

static void group_partly_used(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct ext4_group_desc desc = sound_descriptor();
	struct found found = { 0 };
	struct e2pf_group group;

	(void)state;
	desc.bg_itable_unused = htole16(8192 - 17);
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 17);
	e2pf_plan_group(&geo, &group, record, &found);
	assert_ref(&found, 2, 1032, 2, E2PF_INODES, E2PF_INODE_TABLE, 0,
		   NONE);

	/* More than there are: none is in use. */
	desc.bg_itable_unused = htole16(8193);
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 0);
	desc.bg_itable_unused = 0;
	desc.bg_itable_unused_hi = htole16(1);
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 0);
}

static void group_uninitialized(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct ext4_group_desc desc = sound_descriptor();
	struct found found = { 0 };
	struct e2pf_group group;

	(void)state;
	desc.bg_flags = htole16(EXT2_BG_INODE_UNINIT | EXT2_BG_BLOCK_UNINIT);
	desc.bg_itable_unused = htole16(100);
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	e2pf_plan_group(&geo, &group, record, &found);
	assert_int_equal(found.count, 0);
	/* EA inodes are still found there. */
	assert_int_equal(group.inode_table, 1032);

	geo.feature_ro_compat = EXT4_FEATURE_RO_COMPAT_GDT_CSUM;
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 0);
	/* Without checksums nobody believes the flags. */
	geo.feature_ro_compat = 0;
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inodes_in_use, 8192);
	assert_int_equal(group.block_bitmap, 1000);
	assert_int_equal(group.inode_bitmap, 1016);
}

static void group_out_of_range(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct ext4_group_desc desc = sound_descriptor();
	struct e2pf_group group;

	(void)state;
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

	/* The high halves count with 64bit only. */
	geo.feature_incompat &= ~EXT4_FEATURE_INCOMPAT_64BIT;
	geo.desc_size = 32;
	e2pf_plan_descriptor(&geo, 0, &desc, &group);
	assert_int_equal(group.inode_bitmap, 1016);
	e2pf_plan_descriptor(&geo, geo.groups, &desc, &group);
	assert_int_equal(group.inode_bitmap, 0);
}

/* An inode of 256 bytes, with room behind it to see nothing reads there. */
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

static void put16(void *at, uint16_t value)
{
	value = htole16(value);
	memcpy(at, &value, sizeof(value));
}

static void put32(void *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
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

static struct found plan_inode(uint32_t ino, const struct inode *inode)
{
	struct e2pf_geometry geo = sound_geometry();
	struct found found = { 0 };

	e2pf_plan_inode(&geo, NULL, ino, inode, record, &found);
	return found;
}

static void directory_in_extents(void **state)
{
	struct inode inode = make_inode(LINUX_S_IFDIR, EXT4_EXTENTS_FL);
	struct found found;

	(void)state;
	put_header(inode.base.i_block, 4, 4, 0);
	put_extent(inode.base.i_block, 0, 5000, 3);
	put_extent(inode.base.i_block, 1, 5003, 2);	/* adjacent */
	put_extent(inode.base.i_block, 2, 6000, 32768 + 4); /* unwritten */
	put_extent(inode.base.i_block, 3, 7000, 0);	/* empty */
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 2);
	assert_ref(&found, 0, 5000, 5, E2PF_DIRS, E2PF_LEAF, 0, NONE);
	assert_ref(&found, 1, 6000, 4, E2PF_DIRS, E2PF_LEAF, 0, NONE);

	/* The longest extent is a written one. */
	put_extent(inode.base.i_block, 0, 5000, 32768);
	found = plan_inode(20, &inode);
	assert_ref(&found, 0, 5000, 32768, E2PF_DIRS, E2PF_LEAF, 0, NONE);
}

static void extents_out_of_range(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFDIR, EXT4_EXTENTS_FL);
	struct found found;

	(void)state;
	put_header(inode.base.i_block, 4, 4, 0);
	put_extent(inode.base.i_block, 0, 0, 1);
	put_extent(inode.base.i_block, 1, geo.blocks, 1);
	put_extent(inode.base.i_block, 2, UINT64_C(0xffffffffffff), 0xffff);
	put_extent(inode.base.i_block, 3, geo.blocks - 7, 100);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, geo.blocks - 7, 7, E2PF_DIRS, E2PF_LEAF, 0,
		   NONE);
}

static void block_numbers_of_48_bits(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFDIR, EXT4_EXTENTS_FL);
	uint64_t last = (UINT64_C(1) << 48) - 2;
	struct found found = { 0 };

	(void)state;
	geo.blocks = last + 1;
	put_header(inode.base.i_block, 2, 4, 0);
	put_extent(inode.base.i_block, 0, last - 1, 9);
	put_extent(inode.base.i_block, 1, last + 1, 9);
	e2pf_plan_inode(&geo, NULL, 20, &inode, record, &found);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, last - 1, 2, E2PF_DIRS, E2PF_LEAF, 0, NONE);

	found.count = 0;
	put_header(inode.base.i_block, 2, 4, 1);
	put_index(inode.base.i_block, 0, last);
	put_index(inode.base.i_block, 1, last + 1);
	e2pf_plan_inode(&geo, NULL, 20, &inode, record, &found);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, last, 1, E2PF_EXTENTS, E2PF_EXTENT_NODE, 0,
		   E2PF_DIRS);
}

static void extent_roots_refused(void **state)
{
	static const struct {
		unsigned magic, entries, max, depth;
	} bad[] = {
		{ 0xf30b, 1, 4, 0 },
		{ 0xf30a, 5, 4, 0 },	/* entries above max */
		{ 0xf30a, 5, 5, 0 },	/* max past the inode */
		{ 0xf30a, 0xffff, 0xffff, 0 },
		{ 0xf30a, 1, 1, 0 },	/* fewer than anybody writes */
		{ 0xf30a, 1, 4, 6 },	/* too deep */
		{ 0xf30a, 1, 4, 0xffff },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		struct inode inode = make_inode(LINUX_S_IFDIR,
						EXT4_EXTENTS_FL);
		struct found found;

		put_header(inode.base.i_block, bad[i].entries, bad[i].max,
			   bad[i].depth);
		put16(inode.base.i_block, bad[i].magic);
		put_extent(inode.base.i_block, 0, 5000, 3);
		found = plan_inode(20, &inode);
		assert_int_equal(found.count, 0);
	}
}

static void extent_indexes(void **state)
{
	struct inode inode = make_inode(LINUX_S_IFREG, EXT4_EXTENTS_FL);
	struct found found;

	(void)state;
	put_header(inode.base.i_block, 3, 4, 1);
	put_index(inode.base.i_block, 0, 5000);
	put_index(inode.base.i_block, 1, 5001);
	put_index(inode.base.i_block, 2, 9000);
	/* Of a file, the lowest nodes lead nowhere. */
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 2);
	assert_ref(&found, 0, 5000, 2, E2PF_EXTENTS, E2PF_LEAF, 0, NONE);
	assert_ref(&found, 1, 9000, 1, E2PF_EXTENTS, E2PF_LEAF, 0, NONE);

	/* Of a directory they do. */
	inode.base.i_mode = htole16(LINUX_S_IFDIR);
	found = plan_inode(20, &inode);
	assert_ref(&found, 0, 5000, 2, E2PF_EXTENTS, E2PF_EXTENT_NODE, 0,
		   E2PF_DIRS);

	put_header(inode.base.i_block, 1, 4, 5);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, 5000, 1, E2PF_EXTENTS, E2PF_EXTENT_NODE, 4,
		   E2PF_DIRS);

	/* Extents in the inode of a file are data. */
	inode.base.i_mode = htole16(LINUX_S_IFREG);
	put_header(inode.base.i_block, 1, 4, 0);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 0);
}

static struct found plan_block(const struct e2pf_run *run, const void *block)
{
	struct e2pf_geometry geo = sound_geometry();
	struct found found = { 0 };
	uint8_t *copy = malloc(geo.block_size);

	/* Its own allocation, for a checker to see what is read past it. */
	assert_non_null(copy);
	memcpy(copy, block, geo.block_size);
	e2pf_plan_block(&geo, NULL, run, copy, record, &found);
	free(copy);
	return found;
}

static void extent_nodes(void **state)
{
	struct e2pf_run run = {
		.block = 5000, .count = 1, .cls = E2PF_EXTENTS,
		.parse = E2PF_EXTENT_NODE, .depth = 2, .data = E2PF_DIRS
	};
	uint8_t block[4096] = { 0 };
	struct found found;
	unsigned i;

	(void)state;
	put_header(block, 340, 340, 2);
	for (i = 0; i < 340; i++)
		put_index(block, i, 100 + i);
	found = plan_block(&run, block);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, 100, 340, E2PF_EXTENTS, E2PF_EXTENT_NODE, 1,
		   E2PF_DIRS);

	/* A node that refers to itself. */
	put_index(block, 1, 5000);
	found = plan_block(&run, block);
	assert_int_equal(found.count, 2);
	assert_ref(&found, 0, 100, 1, E2PF_EXTENTS, E2PF_EXTENT_NODE, 1,
		   E2PF_DIRS);
	assert_ref(&found, 1, 102, 338, E2PF_EXTENTS, E2PF_EXTENT_NODE, 1,
		   E2PF_DIRS);

	/* The lowest: data. */
	run.depth = 0;
	put_header(block, 1, 340, 0);
	put_extent(block, 0, 5000, 7);
	found = plan_block(&run, block);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, 5000, 7, E2PF_DIRS, E2PF_LEAF, 0, NONE);

	/* The class of nodes and data is the file's. */
	run.cls = run.data = E2PF_FILES;
	found = plan_block(&run, block);
	assert_ref(&found, 0, 5000, 7, E2PF_FILES, E2PF_LEAF, 0, NONE);
}

static void extent_nodes_refused(void **state)
{
	static const struct {
		unsigned expected, entries, max, depth;
	} bad[] = {
		{ 2, 1, 340, 2 + 1 },	/* deeper than its parent said */
		{ 2, 1, 340, 3 },
		{ 2, 1, 340, 1 },
		{ 2, 1, 340, 0 },
		{ 0, 1, 340, 1 },
		{ 6, 1, 340, 6 },	/* deeper than trees are */
		{ 255, 1, 340, 255 },
		{ 2, 341, 340, 2 },
		{ 2, 341, 341, 2 },	/* past the block */
		{ 2, 0xffff, 0xffff, 2 },
		{ 2, 1, 337, 2 },
		{ 2, 0, 340, 2 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		struct e2pf_run run = {
			.block = 5000, .count = 1, .cls = E2PF_EXTENTS,
			.parse = E2PF_EXTENT_NODE, .data = E2PF_DIRS
		};
		uint8_t block[4096];
		struct found found;
		unsigned j;

		memset(block, 0, sizeof(block));
		for (j = 0; j < 340; j++)
			put_index(block, j, 100 + 2 * j);
		put_header(block, bad[i].entries, bad[i].max, bad[i].depth);
		run.depth = bad[i].expected;
		found = plan_block(&run, block);
		assert_int_equal(found.count, 0);
	}
}

static void block_map(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFREG, 0);
	struct found found;
	unsigned i;

	(void)state;
	for (i = 0; i < 15; i++)
		put32(&inode.base.i_block[i], 3000 + 2 * i);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 3);
	assert_ref(&found, 0, 3024, 1, E2PF_INDIRECT, E2PF_LEAF, 1, NONE);
	assert_ref(&found, 1, 3026, 1, E2PF_INDIRECT, E2PF_INDIRECT_BLOCK, 2,
		   NONE);
	assert_ref(&found, 2, 3028, 1, E2PF_INDIRECT, E2PF_INDIRECT_BLOCK, 3,
		   NONE);

	inode.base.i_mode = htole16(LINUX_S_IFDIR);
	put32(&inode.base.i_block[1], 3001);
	put32(&inode.base.i_block[2], 0);
	put32(&inode.base.i_block[3], geo.blocks);
	put32(&inode.base.i_block[4], 0xffffffff);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 1 + 7 + 3);
	assert_ref(&found, 0, 3000, 2, E2PF_DIRS, E2PF_LEAF, 0, NONE);
	assert_ref(&found, 1, 3010, 1, E2PF_DIRS, E2PF_LEAF, 0, NONE);
	assert_ref(&found, 8, 3024, 1, E2PF_INDIRECT, E2PF_INDIRECT_BLOCK, 1,
		   E2PF_DIRS);
}

static void indirect_blocks(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct e2pf_run run = {
		.block = 3026, .count = 1, .cls = E2PF_INDIRECT,
		.parse = E2PF_INDIRECT_BLOCK, .depth = 3, .data = NONE
	};
	uint8_t block[4096] = { 0 };
	struct found found;

	(void)state;
	put32(block, 4000);
	put32(block + 4, 4001);
	put32(block + 8, 3026);		/* itself */
	put32(block + 12, geo.blocks);
	put32(block + 4092, 4100);
	found = plan_block(&run, block);
	assert_int_equal(found.count, 2);
	assert_ref(&found, 0, 4000, 2, E2PF_INDIRECT, E2PF_INDIRECT_BLOCK, 2,
		   NONE);
	assert_ref(&found, 1, 4100, 1, E2PF_INDIRECT, E2PF_INDIRECT_BLOCK, 2,
		   NONE);
	run.depth = 2;
	found = plan_block(&run, block);
	assert_ref(&found, 0, 4000, 2, E2PF_INDIRECT, E2PF_LEAF, 1, NONE);
	run.depth = 1;
	found = plan_block(&run, block);
	assert_int_equal(found.count, 0);
	run.data = E2PF_DIRS;
	found = plan_block(&run, block);
	assert_ref(&found, 0, 4000, 2, E2PF_DIRS, E2PF_LEAF, 0, NONE);
	run.depth = 0;
	assert_int_equal(plan_block(&run, block).count, 0);
	run.depth = 4;
	assert_int_equal(plan_block(&run, block).count, 0);
	run.depth = 255;
	assert_int_equal(plan_block(&run, block).count, 0);
}

static void leaves_yield_nothing(void **state)
{
	struct e2pf_run run = {
		.block = 10, .count = 1, .depth = 1, .data = E2PF_DIRS
	};
	uint8_t block[4096];
	unsigned parse;

	(void)state;
	memset(block, 0x01, sizeof(block));
	for (parse = 0; parse < 256; parse++) {
		if (parse == E2PF_INDIRECT_BLOCK)
			continue;
		run.parse = parse;
		assert_int_equal(plan_block(&run, block).count, 0);
	}
}

static void symlinks(void **state)
{
	struct inode inode = make_inode(LINUX_S_IFLNK, EXT4_EXTENTS_FL);
	struct found found;

	(void)state;
	put_header(inode.base.i_block, 1, 4, 0);
	put_extent(inode.base.i_block, 0, 5000, 1);
	inode.base.i_size = htole32(60);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, 5000, 1, E2PF_SYMLINKS, E2PF_LEAF, 0, NONE);

	inode.base.i_size = htole32(59);
	assert_int_equal(plan_inode(20, &inode).count, 0);
	inode.base.i_size = 0;
	assert_int_equal(plan_inode(20, &inode).count, 0);
	inode.base.i_size = htole32(60);
	inode.base.i_size_high = htole32(1);
	assert_int_equal(plan_inode(20, &inode).count, 0);

	inode = make_inode(LINUX_S_IFLNK, 0);
	inode.base.i_size = htole32(4095);
	put32(&inode.base.i_block[0], 6000);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, 6000, 1, E2PF_SYMLINKS, E2PF_LEAF, 0, NONE);
	/* The target is in i_block, its letters are no block numbers. */
	inode.base.i_size = htole32(40);
	assert_int_equal(plan_inode(20, &inode).count, 0);
	inode.base.i_size = htole32(4095);
	inode.base.i_flags = htole32(EXT4_INLINE_DATA_FL);
	assert_int_equal(plan_inode(20, &inode).count, 0);
}

static void inodes_without_blocks(void **state)
{
	static const unsigned modes[] = {
		LINUX_S_IFCHR, LINUX_S_IFBLK, LINUX_S_IFIFO, LINUX_S_IFSOCK, 0
	};
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode;
	struct found found;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(modes); i++) {
		inode = make_inode(modes[i], 0);
		memset(inode.base.i_block, 1, sizeof(inode.base.i_block));
		put32(&inode.base.i_file_acl, 7777);
		found = plan_inode(20, &inode);
		assert_int_equal(found.count, 1);
		assert_ref(&found, 0, 7777, 1, E2PF_XATTRS, E2PF_LEAF, 0,
			   NONE);
	}
	inode = make_inode(LINUX_S_IFDIR, EXT4_INLINE_DATA_FL);
	put32(&inode.base.i_block[0], 5000);
	put32(&inode.base.i_block[12], 5001);
	assert_int_equal(plan_inode(20, &inode).count, 0);

	/* Deleted, or no inode at all. */
	inode.base.i_flags = 0;
	assert_int_equal(plan_inode(20, &inode).count, 2);
	assert_int_equal(plan_inode(0, &inode).count, 0);
	assert_int_equal(plan_inode(geo.inodes, &inode).count, 2);
	assert_int_equal(plan_inode(geo.inodes + 1, &inode).count, 0);
	assert_int_equal(plan_inode(UINT32_MAX, &inode).count, 0);
	inode.base.i_links_count = 0;
	assert_int_equal(plan_inode(20, &inode).count, 0);
	assert_int_equal(plan_inode(EXT2_ROOT_INO, &inode).count, 0);
	assert_int_equal(plan_inode(9, &inode).count, 2);
}

static void special_inodes(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFREG, 0);
	struct found found;

	(void)state;
	inode.base.i_links_count = 0;
	put32(&inode.base.i_block[0], 2000);
	put32(&inode.base.i_block[1], 2010);
	put32(&inode.base.i_block[12], 2020);
	put32(&inode.base.i_block[13], 2030);

	/* Journal: its superblock and the mapping. */
	found = plan_inode(8, &inode);
	assert_int_equal(found.count, 3);
	assert_ref(&found, 0, 2000, 1, E2PF_FILES, E2PF_LEAF, 0, NONE);
	assert_ref(&found, 1, 2020, 1, E2PF_FILES, E2PF_LEAF, 1, NONE);
	assert_ref(&found, 2, 2030, 1, E2PF_FILES, E2PF_INDIRECT_BLOCK, 2,
		   NONE);

	/* Quota file: all of it. */
	found = plan_inode(3, &inode);
	assert_int_equal(found.count, 4);
	assert_ref(&found, 1, 2010, 1, E2PF_FILES, E2PF_LEAF, 0, NONE);
	assert_ref(&found, 2, 2020, 1, E2PF_FILES, E2PF_INDIRECT_BLOCK, 1,
		   E2PF_FILES);

	/* Orphan file, whose number is like any file's: likewise. */
	geo.orphan_inum = 20;
	memset(&found, 0, sizeof(found));
	e2pf_plan_inode(&geo, NULL, 20, &inode, record, &found);
	assert_int_equal(found.count, 4);
	assert_ref(&found, 0, 2000, 1, E2PF_FILES, E2PF_LEAF, 0, NONE);

	/* Bad blocks, which have no mode, and resize: indirect blocks. */
	found = plan_inode(EXT2_RESIZE_INO, &inode);
	assert_int_equal(found.count, 2);
	assert_ref(&found, 0, 2020, 1, E2PF_FILES, E2PF_LEAF, 1, NONE);
	inode.base.i_mode = 0;
	put32(&inode.base.i_file_acl, 7777);
	found = plan_inode(EXT2_BAD_INO, &inode);
	assert_int_equal(found.count, 2);
	assert_ref(&found, 1, 2030, 1, E2PF_FILES, E2PF_INDIRECT_BLOCK, 2,
		   NONE);
}

static void journal_in_extents(void **state)
{
	struct inode inode = make_inode(LINUX_S_IFREG, EXT4_EXTENTS_FL);
	struct found found;

	(void)state;
	put_header(inode.base.i_block, 2, 4, 0);
	put_extent(inode.base.i_block, 0, 5000, 32768);
	put_extent(inode.base.i_block, 1, 50000, 32768);
	found = plan_inode(8, &inode);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, 5000, 1, E2PF_FILES, E2PF_LEAF, 0, NONE);
}

static void xattr_block_number(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFIFO, 0);
	struct e2pf_group groups[40] = { 0 };
	struct found found = { 0 };

	(void)state;
	put32(&inode.base.i_file_acl, geo.blocks);
	assert_int_equal(plan_inode(20, &inode).count, 0);
	put32(&inode.base.i_file_acl, 7777);
	put16(&inode.base.osd2.linux2.l_i_file_acl_high, 1);
	assert_int_equal(plan_inode(20, &inode).count, 0);
	geo.feature_incompat &= ~EXT4_FEATURE_INCOMPAT_64BIT;
	e2pf_plan_inode(&geo, groups, 20, &inode, record, &found);
	assert_int_equal(found.count, 1);
	/* With groups, what its values lead to can be found. */
	assert_ref(&found, 0, 7777, 1, E2PF_XATTRS, E2PF_XATTR_BLOCK, 0,
		   NONE);
	geo.feature_compat = 0;
	found.count = 0;
	e2pf_plan_inode(&geo, groups, 20, &inode, record, &found);
	assert_int_equal(found.count, 0);
}

static size_t put_entry(uint8_t *at, unsigned name_length, uint32_t inum)
{
	memset(at, 0, 16);
	at[0] = name_length;
	at[1] = 1;
	put32(at + 4, inum);
	memset(at + 16, 'n', name_length);
	return (16 + name_length + 3) & ~3u;
}

static void ea_inodes_in_inode(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFIFO, 0);
	struct e2pf_group groups[40] = { 0 };
	struct found found = { 0 };
	uint8_t *at = inode.tail;

	(void)state;
	groups[0].inode_table = 500;
	groups[39].inode_table = 9000;
	put16(at, 28);
	put32(at + 28, 0xea020000);
	at += 32;
	at += put_entry(at, 1, 17);		/* second block, 16 a block */
	at += put_entry(at, 2, 18);		/* the same */
	at += put_entry(at, 3, geo.inodes);
	put_entry(at, 5, 8193);			/* no table there */
	e2pf_plan_inode(&geo, groups, 20, &inode, record, &found);
	assert_int_equal(found.count, 2);
	assert_ref(&found, 0, 501, 1, E2PF_INODES, E2PF_LEAF, 0, NONE);
	assert_ref(&found, 1, 9000 + 511, 1, E2PF_INODES, E2PF_LEAF, 0, NONE);

	found.count = 0;
	e2pf_plan_inode(&geo, NULL, 20, &inode, record, &found);
	assert_int_equal(found.count, 0);
	/* Where the tail begins past its end, or has no magic. */
	put16(inode.tail, 124);
	e2pf_plan_inode(&geo, groups, 20, &inode, record, &found);
	put16(inode.tail, 0xfffc);
	e2pf_plan_inode(&geo, groups, 20, &inode, record, &found);
	put16(inode.tail, 32);
	e2pf_plan_inode(&geo, groups, 20, &inode, record, &found);
	assert_int_equal(found.count, 0);
}

/* The value itself is read where files have inline data. */
static void ea_value(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFREG,
					EXT4_EXTENTS_FL | EXT4_EA_INODE_FL);
	struct found found = { 0 };

	(void)state;
	inode.base.i_size = htole32(1 << 24);
	put_header(inode.base.i_block, 1, 4, 0);
	put_extent(inode.base.i_block, 0, 700, 16);
	e2pf_plan_inode(&geo, NULL, 20, &inode, record, &found);
	assert_int_equal(found.count, 0);
	geo.feature_incompat |= EXT4_FEATURE_INCOMPAT_INLINE_DATA;
	e2pf_plan_inode(&geo, NULL, 20, &inode, record, &found);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, 700, 16, E2PF_XATTRS, E2PF_LEAF, 0, NONE);
	/* Longer than any is, and no value. */
	inode.base.i_size = htole32((1 << 24) + 1);
	e2pf_plan_inode(&geo, NULL, 20, &inode, record, &found);
	inode.base.i_size = 0;
	inode.base.i_size_high = htole32(1);
	e2pf_plan_inode(&geo, NULL, 20, &inode, record, &found);
	inode.base.i_size_high = 0;
	inode.base.i_flags = htole32(EXT4_EXTENTS_FL);
	e2pf_plan_inode(&geo, NULL, 20, &inode, record, &found);
	inode.base.i_flags = htole32(EXT4_EXTENTS_FL | EXT4_EA_INODE_FL);
	geo.feature_incompat &= ~EXT4_FEATURE_INCOMPAT_EA_INODE;
	e2pf_plan_inode(&geo, NULL, 20, &inode, record, &found);
	assert_int_equal(found.count, 1);
}

static void ea_inodes_in_block(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct e2pf_run run = {
		.block = 7777, .count = 1, .cls = E2PF_XATTRS,
		.parse = E2PF_XATTR_BLOCK, .data = NONE
	};
	struct e2pf_group groups[40] = { 0 };
	struct found found = { 0 };
	uint8_t *block = calloc(1, 4096), *at = block + 32;

	(void)state;
	assert_non_null(block);
	groups[0].inode_table = 500;
	put32(block, 0xea020000);
	at += put_entry(at, 200, 10);		/* reserved */
	at += put_entry(at, 0, geo.inodes + 1);
	at += put_entry(at, 9, UINT32_MAX);
	at += put_entry(at, 9, 90);
	at += 4;				/* zeros: the end */
	put_entry(at, 9, 100);
	e2pf_plan_block(&geo, groups, &run, block, record, &found);
	assert_int_equal(found.count, 1);
	assert_ref(&found, 0, 505, 1, E2PF_INODES, E2PF_LEAF, 0, NONE);

	/* Without the feature, or the magic, or groups. */
	geo.feature_incompat &= ~EXT4_FEATURE_INCOMPAT_EA_INODE;
	e2pf_plan_block(&geo, groups, &run, block, record, &found);
	geo = sound_geometry();
	e2pf_plan_block(&geo, NULL, &run, block, record, &found);
	put32(block, 0xea010000);
	e2pf_plan_block(&geo, groups, &run, block, record, &found);
	assert_int_equal(found.count, 1);

	/* No end, names as long as they get. */
	put32(block, 0xea020000);
	memset(block + 32, 0xff, 4096 - 32);
	e2pf_plan_block(&geo, groups, &run, block, record, &found);
	assert_int_equal(found.count, 1);
	free(block);
}

/* A run has a count of 32 bits, whatever is asked for. */
static void runs_of_32_bits(void **state)
{
	const struct e2pf_run like = {
		.cls = E2PF_DIRS, .parse = E2PF_LEAF, .data = NONE
	};
	struct e2pf_geometry geo = sound_geometry();
	struct found found = { 0 };
	struct e2pf_gather out = { .geo = &geo, .sink = record, .ctx = &found };

	(void)state;
	geo.blocks = UINT64_C(1) << 40;
	e2pf_gather_add(&out, &like, 5000, UINT64_C(1) << 35);
	e2pf_gather_add(&out, &like, 5000 + UINT64_C(0xffffffff), 7);
	e2pf_gather_flush(&out);
	assert_int_equal(found.count, 2);
	assert_ref(&found, 0, 5000, UINT32_MAX, E2PF_DIRS, E2PF_LEAF, 0, NONE);
	assert_ref(&found, 1, 5000 + UINT64_C(0xffffffff), 7, E2PF_DIRS,
		   E2PF_LEAF, 0, NONE);
}

static void no_first_extent(void **state)
{
	unsigned char i_block[60] = { 0 };

	(void)state;
	assert_true(e2pf_first_extent_block(i_block) == 0);
}

static void runs_of_inodes(void **state)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode table[16];
	struct found found = { 0 };
	unsigned i;

	(void)state;
	for (i = 0; i < 16; i++) {
		table[i] = make_inode(LINUX_S_IFDIR, 0);
		put32(&table[i].base.i_block[0], 5000 + 2 * i);
	}
	e2pf_plan_inodes(&geo, NULL, 17, table, 3 * geo.inode_size, record,
			 &found);
	assert_int_equal(found.count, 3);
	assert_ref(&found, 2, 5004, 1, E2PF_DIRS, E2PF_LEAF, 0, NONE);
	found.count = 0;
	e2pf_plan_inodes(&geo, NULL, 17, table, sizeof(table) - 1, record,
			 &found);
	assert_int_equal(found.count, 15);
	found.count = 0;
	e2pf_plan_inodes(&geo, NULL, geo.inodes - 1, table, sizeof(table),
			 record, &found);
	assert_int_equal(found.count, 2);
	e2pf_plan_inodes(&geo, NULL, 0, table, sizeof(table), record, &found);
	e2pf_plan_inodes(&geo, NULL, geo.inodes + 1, table, sizeof(table),
			 record, &found);
	e2pf_plan_inodes(&geo, NULL, UINT32_MAX, table, sizeof(table),
			 record, &found);
	assert_int_equal(found.count, 2);

	/* Numbers do not wrap around. */
	found.count = 0;
	geo.inodes = UINT32_MAX;
	e2pf_plan_inodes(&geo, NULL, UINT32_MAX, table, sizeof(table),
			 record, &found);
	assert_int_equal(found.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(superblock_read),
		cmocka_unit_test(mmp_block_past_the_end),
		cmocka_unit_test(superblock_of_revision_0),
		cmocka_unit_test(features_that_are_off),
		cmocka_unit_test(superblock_refused),
		cmocka_unit_test(group_count_that_does_not_fit),
		cmocka_unit_test(more_blocks_than_48_bits),
		cmocka_unit_test(meta_bg_past_the_descriptors),
		cmocka_unit_test(descriptor_layouts),
		cmocka_unit_test(descriptors_past_the_end),
		cmocka_unit_test(group_whole),
		cmocka_unit_test(group_partly_used),
		cmocka_unit_test(group_uninitialized),
		cmocka_unit_test(group_out_of_range),
		cmocka_unit_test(directory_in_extents),
		cmocka_unit_test(extents_out_of_range),
		cmocka_unit_test(block_numbers_of_48_bits),
		cmocka_unit_test(extent_roots_refused),
		cmocka_unit_test(extent_indexes),
		cmocka_unit_test(extent_nodes),
		cmocka_unit_test(extent_nodes_refused),
		cmocka_unit_test(block_map),
		cmocka_unit_test(indirect_blocks),
		cmocka_unit_test(leaves_yield_nothing),
		cmocka_unit_test(symlinks),
		cmocka_unit_test(inodes_without_blocks),
		cmocka_unit_test(special_inodes),
		cmocka_unit_test(journal_in_extents),
		cmocka_unit_test(xattr_block_number),
		cmocka_unit_test(ea_inodes_in_inode),
		cmocka_unit_test(ea_value),
		cmocka_unit_test(ea_inodes_in_block),
		cmocka_unit_test(runs_of_32_bits),
		cmocka_unit_test(no_first_extent),
		cmocka_unit_test(runs_of_inodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
