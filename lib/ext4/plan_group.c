/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a group descriptor to the group's bitmaps and inode table.  Decides how
 * much of the table an inode scan reads.  Does not know the contents of the
 * table (plan_inode.c).
 */
#include "plan_gather.h"

static uint64_t block_number(const struct e2pf_geometry *geo, uint32_t lo,
			     uint32_t hi)
{
	uint64_t block = le32toh(lo);

	if (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		block |= (uint64_t)le32toh(hi) << 32;
	return e2pf_block_ok(geo, block) ? block : 0;
}

/* The number of inodes at the end of the table that the scan skips. */
static uint32_t unused_inodes(const struct e2pf_geometry *geo,
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

static uint32_t allocated_inodes(const struct e2pf_geometry *geo,
				 const struct ext4_group_desc *desc)
{
	uint32_t free = le16toh(desc->bg_free_inodes_count);

	if (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		free |= (uint32_t)le16toh(desc->bg_free_inodes_count_hi) << 16;
	return free < geo->inodes_per_group ? geo->inodes_per_group - free : 0;
}

void e2pf_plan_descriptor(const struct e2pf_geometry *geo, uint32_t number,
			  const void *bytes, struct e2pf_group *group)
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
	    e2pf_table_blocks(geo, geo->inodes_per_group) >
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

void e2pf_plan_group(struct e2pf_plan *plan, uint32_t number,
		     const struct e2pf_group *group)
{
	const struct e2pf_kind table = {
		.cls = E2PF_INODES,
		.parse = E2PF_INODE_TABLE,
		.data = E2PF_CLASSES,
		.group = number
	};

	e2pf_gather_add(plan, e2pf_leaf(E2PF_BITMAPS), group->block_bitmap, 1);
	e2pf_gather_add(plan, e2pf_leaf(E2PF_BITMAPS), group->inode_bitmap, 1);
	e2pf_gather_add(plan, table, group->inode_table,
			e2pf_table_blocks(plan->geo, group->inodes_in_use));
	e2pf_gather_flush(plan);
}
