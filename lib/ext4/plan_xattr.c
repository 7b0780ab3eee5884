/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From extended attributes to the blocks that they lead to: the attribute block
 * of an inode, and the inodes that hold attribute values.  Decides which values
 * the checker looks up.  Does not parse inodes otherwise (plan_inode.c).
 */
#include "plan_gather.h"

static bool wants_ea_inodes(const struct e2pf_plan *plan)
{
	return plan->groups && (plan->geo->feature_incompat &
				EXT4_FEATURE_INCOMPAT_EA_INODE);
}

/*
 * Plan the inode table block that holds an EA inode.  The checker reads that
 * inode for the hash of the attribute's value.
 */
static void plan_ea_inode(struct e2pf_plan *plan, uint32_t ino)
{
	const struct e2pf_geometry *geo = plan->geo;
	const struct e2pf_ref *last = &plan->pending;
	uint64_t table, offset, block;

	if (ino < geo->first_ino || ino > geo->inodes)
		return;
	table = plan->groups[(ino - 1) / geo->inodes_per_group].inode_table;
	offset = (uint64_t)((ino - 1) % geo->inodes_per_group) *
		 geo->inode_size;
	if (!table)
		return;
	block = table + offset / geo->block_size;
	/* The values of one file are often inodes in the same block. */
	if (last->length && last->cls == E2PF_INODES &&
	    block * geo->block_size - last->offset < last->length)
		return;
	e2pf_gather_add(plan, e2pf_leaf(E2PF_INODES), block, 1);
}

/* Parse the attribute entries in `size` bytes.  For each value in an inode of
 * its own, plan the inode table block that holds the inode. */
static void plan_entries(struct e2pf_plan *plan, const void *entries,
			 size_t size)
{
	const uint8_t *bytes = entries;
	size_t at = 0;

	while (at + sizeof(struct ext2_ext_attr_entry) <= size) {
		struct ext2_ext_attr_entry entry;

		/* Four zero bytes end the list. */
		if (!e2pf_le32(bytes + at))
			break;
		memcpy(&entry, bytes + at, sizeof(entry));
		if (entry.e_value_inum)
			plan_ea_inode(plan, le32toh(entry.e_value_inum));
		at += EXT2_EXT_ATTR_LEN(entry.e_name_len);
	}
}

void e2pf_plan_inode_xattrs(struct e2pf_plan *plan, const uint8_t *bytes)
{
	uint32_t room = plan->geo->inode_size - EXT2_GOOD_OLD_INODE_SIZE;
	const uint8_t *tail = bytes + EXT2_GOOD_OLD_INODE_SIZE;
	uint32_t extra;

	if (!room || !wants_ea_inodes(plan))
		return;
	extra = e2pf_le16(tail);
	if (extra + sizeof(uint32_t) >= room || extra & 3 ||
	    e2pf_le32(tail + extra) != EXT2_EXT_ATTR_MAGIC)
		return;
	extra += sizeof(uint32_t);
	plan_entries(plan, tail + extra, room - extra);
}

void e2pf_plan_xattr_block_of(struct e2pf_plan *plan,
			      const struct ext2_inode *inode)
{
	const struct e2pf_geometry *geo = plan->geo;
	struct e2pf_kind kind = e2pf_leaf(E2PF_XATTRS);
	uint64_t block = le32toh(inode->i_file_acl);

	if (!(geo->feature_compat & EXT2_FEATURE_COMPAT_EXT_ATTR))
		return;
	if (wants_ea_inodes(plan))
		kind.parse = E2PF_XATTR_BLOCK;
	if (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		block |= (uint64_t)
			 le16toh(inode->osd2.linux2.l_i_file_acl_high) << 32;
	e2pf_gather_add(plan, kind, block, 1);
}

void e2pf_plan_xattr_block(struct e2pf_plan *plan, const void *block)
{
	size_t header = sizeof(struct ext2_ext_attr_header);

	if (wants_ea_inodes(plan) && e2pf_le32(block) == EXT2_EXT_ATTR_MAGIC)
		plan_entries(plan, (const uint8_t *)block + header,
			     plan->geo->block_size - header);
}
