/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * From a superblock to the filesystem's geometry, and from a group's descriptor
 * to its bitmaps and inode table.  libext2fs has opened the filesystem, so only the
 * fields that the planner relies on are checked; those of clusters, for example, are
 * not.  Does not verify checksums.
 */
#include "plan.h"

/* Extents store 48-bit block numbers. */
#define MAX_BLOCKS ((UINT64_C(1) << 48) - 1)

static bool power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* Parse the sizes of blocks, groups, inodes and descriptors. */
static int parse_sizes(const struct ext2_super_block *sb,
		       struct ext4_geometry *geo)
{
	uint32_t log_block = le32toh(sb->s_log_block_size);

	geo->blocks_per_group = le32toh(sb->s_blocks_per_group);
	if (log_block > EXT2_MAX_BLOCK_LOG_SIZE - EXT2_MIN_BLOCK_LOG_SIZE ||
	    !geo->blocks_per_group)
		return -1;
	geo->block_size = EXT2_MIN_BLOCK_SIZE << log_block;

	geo->inode_size = EXT2_GOOD_OLD_INODE_SIZE;
	if (le32toh(sb->s_rev_level) >= EXT2_DYNAMIC_REV)
		geo->inode_size = le16toh(sb->s_inode_size);
	if (geo->inode_size < EXT2_GOOD_OLD_INODE_SIZE ||
	    geo->inode_size > geo->block_size ||
	    !power_of_two(geo->inode_size))
		return -1;

	geo->desc_size = EXT2_MIN_DESC_SIZE;
	if (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT) {
		geo->desc_size = le16toh(sb->s_desc_size);
		if (geo->desc_size < EXT2_MIN_DESC_SIZE_64BIT ||
		    geo->desc_size > EXT2_MAX_DESC_SIZE ||
		    !power_of_two(geo->desc_size))
			return -1;
	}
	return 0;
}

/* Parse the numbers of blocks, groups and inodes, after the sizes. */
static int parse_counts(const struct ext2_super_block *sb,
			struct ext4_geometry *geo)
{
	uint64_t groups, data_blocks;

	geo->blocks = le32toh(sb->s_blocks_count);
	if (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		geo->blocks |= (uint64_t)le32toh(sb->s_blocks_count_hi) << 32;
	geo->first_data_block = le32toh(sb->s_first_data_block);
	/* All byte offsets derived from this are signed 64-bit numbers. */
	if (geo->blocks > MAX_BLOCKS ||
	    geo->blocks > (uint64_t)INT64_MAX / geo->block_size ||
	    geo->first_data_block >= geo->blocks)
		return -1;

	data_blocks = geo->blocks - geo->first_data_block;
	groups = (data_blocks + geo->blocks_per_group - 1) /
		 geo->blocks_per_group;
	if (groups > UINT32_MAX)
		return -1;
	geo->groups = groups;

	/* A group's inode bitmap is one block. */
	geo->inodes_per_group = le32toh(sb->s_inodes_per_group);
	if (!geo->inodes_per_group ||
	    geo->inodes_per_group > 8 * geo->block_size)
		return -1;
	geo->inodes = le32toh(sb->s_inodes_count);
	if (geo->inodes != groups * geo->inodes_per_group)
		return -1;

	geo->first_ino = EXT2_GOOD_OLD_FIRST_INO;
	if (le32toh(sb->s_rev_level) >= EXT2_DYNAMIC_REV)
		geo->first_ino = le32toh(sb->s_first_ino);
	if (geo->first_ino < EXT2_GOOD_OLD_FIRST_INO ||
	    geo->first_ino > geo->inodes)
		return -1;
	return 0;
}

int ext4_plan_superblock(const void *superblock, struct ext4_geometry *geo)
{
	struct ext2_super_block sb;

	memcpy(&sb, superblock, sizeof(sb));
	memset(geo, 0, sizeof(*geo));
	if (le16toh(sb.s_magic) != EXT2_SUPER_MAGIC ||
	    le32toh(sb.s_rev_level) > EXT2_DYNAMIC_REV)
		return -1;
	geo->feature_compat = le32toh(sb.s_feature_compat);
	geo->feature_incompat = le32toh(sb.s_feature_incompat);
	geo->feature_ro_compat = le32toh(sb.s_feature_ro_compat);
	/* A journal device has a superblock but no groups. */
	if (geo->feature_incompat & EXT3_FEATURE_INCOMPAT_JOURNAL_DEV)
		return -1;
	if (parse_sizes(&sb, geo) || parse_counts(&sb, geo))
		return -1;
	/* A seed is bytes as they are. */
	memcpy(geo->hash_seed, sb.s_hash_seed, sizeof(geo->hash_seed));
	geo->hash_version = sb.s_def_hash_version +
			    (le32toh(sb.s_flags) & EXT2_FLAGS_UNSIGNED_HASH ?
			     EXT2_HASH_LEGACY_UNSIGNED : 0);
	return 0;
}

static uint64_t block_number(const struct ext4_geometry *geo, uint32_t lo,
			     uint32_t hi)
{
	uint64_t block = le32toh(lo);

	if (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		block |= (uint64_t)le32toh(hi) << 32;
	return ext4_block_ok(geo, block) ? block : 0;
}

/* The number of inodes at the end of the table that the scan skips. */
static uint32_t unused_inodes(const struct ext4_geometry *geo,
			      const struct ext4_group_desc *desc)
{
	uint32_t unused = le16toh(desc->bg_itable_unused);

	if (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		unused |= (uint32_t)le16toh(desc->bg_itable_unused_hi) << 16;
	if (unused > geo->inodes_per_group ||
	    (le16toh(desc->bg_flags) & EXT2_BG_INODE_UNINIT))
		unused = geo->inodes_per_group;
	return unused;
}

static uint32_t allocated_inodes(const struct ext4_geometry *geo,
				 const struct ext4_group_desc *desc)
{
	uint32_t free = le16toh(desc->bg_free_inodes_count);

	if (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		free |= (uint32_t)le16toh(desc->bg_free_inodes_count_hi) << 16;
	return free < geo->inodes_per_group ? geo->inodes_per_group - free : 0;
}

void ext4_plan_descriptor(const struct ext4_geometry *geo, uint32_t number,
			  const void *bytes, struct ext4_group *group)
{
	struct ext4_group_desc desc;
	size_t size = geo->desc_size;
	uint16_t flags;

	memset(&desc, 0, sizeof(desc));
	memset(group, 0, sizeof(*group));
	if (number >= geo->groups)
		return;
	memcpy(&desc, bytes, size < sizeof(desc) ? size : sizeof(desc));

	group->block_bitmap = block_number(geo, desc.bg_block_bitmap,
					   desc.bg_block_bitmap_hi);
	group->inode_bitmap = block_number(geo, desc.bg_inode_bitmap,
					   desc.bg_inode_bitmap_hi);
	group->inode_table = block_number(geo, desc.bg_inode_table,
					  desc.bg_inode_table_hi);
	/* The scan reads either the whole table or nothing of it. */
	if (group->inode_table &&
	    ext4_table_blocks(geo, geo->inodes_per_group) >
	    geo->blocks - group->inode_table)
		group->inode_table = 0;
	if (group->inode_table) {
		group->inodes_in_use = geo->inodes_per_group;
		group->inodes_allocated = allocated_inodes(geo, &desc);
	}

	if (!(geo->feature_ro_compat & (EXT4_FEATURE_RO_COMPAT_GDT_CSUM |
					EXT4_FEATURE_RO_COMPAT_METADATA_CSUM)))
		return;
	flags = le16toh(desc.bg_flags);
	if (flags & EXT2_BG_BLOCK_UNINIT)
		group->block_bitmap = 0;
	if (flags & EXT2_BG_INODE_UNINIT)
		group->inode_bitmap = 0;
	if (group->inode_table)
		group->inodes_in_use -= unused_inodes(geo, &desc);
}

void ext4_plan_group(struct ext4_plan *plan, uint32_t number,
		     const struct ext4_group *group)
{
	const struct ext4_kind table = {
		.cls = EXT4_INODES,
		.parse = EXT4_INODE_TABLE,
		.data = EXT4_CLASSES,
		.group = number
	};

	ext4_gather_add(plan, ext4_unparsed(EXT4_BITMAPS), group->block_bitmap, 1);
	ext4_gather_add(plan, ext4_unparsed(EXT4_BITMAPS), group->inode_bitmap, 1);
	ext4_gather_add(plan, table, group->inode_table,
			ext4_table_blocks(plan->geo, group->inodes_in_use));
	ext4_gather_flush(plan);
}
