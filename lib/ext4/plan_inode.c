/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From an inode to the blocks a full check reads because of it.  Decides
 * which inodes count as in use, what their data is to the checker, and which
 * attributes lead to other inodes.  Does not know how trees look below their
 * root (plan_tree.c), and does not look at checksums, sizes or times.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "plan_run.h"

/* Bytes of the longest value, EXT4_XATTR_SIZE_MAX of Linux. */
#define VALUE_MAX (1u << 24)

static bool is_quota(const struct e2pf_geometry *geo, uint32_t ino)
{
	return ino == geo->quota_inum[0] || ino == geo->quota_inum[1] ||
	       ino == geo->quota_inum[2];
}

/* The checker looks at these whatever their link count says. */
static bool is_reserved(const struct e2pf_geometry *geo, uint32_t ino)
{
	return (ino < geo->first_ino && ino != EXT2_ROOT_INO) ||
	       ino == geo->orphan_inum;
}

/* The value of an attribute, in an inode of its own.  The checker reads those
 * of files with inline data, whose attributes it reads whole; which files have
 * this one is not in it. */
static bool is_read_value(const struct e2pf_geometry *geo,
			  const struct ext2_inode *inode)
{
	return (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_INLINE_DATA) &&
	       (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_EA_INODE) &&
	       (le32toh(inode->i_flags) & EXT4_EA_INODE_FL) &&
	       !inode->i_size_high && le32toh(inode->i_size) <= VALUE_MAX;
}

static bool wants_ea_inodes(const struct e2pf_geometry *geo,
			    const struct e2pf_group *groups)
{
	return groups && (geo->feature_incompat &
			  EXT4_FEATURE_INCOMPAT_EA_INODE);
}

/*
 * The inode table block of one inode that an attribute names.  The checker
 * reads that inode for the hash of the value.
 */
static void plan_ea_inode(struct e2pf_run *run,
			  const struct e2pf_group *groups, uint32_t ino)
{
	const struct e2pf_geometry *geo = run->geo;
	const struct e2pf_ref like = {
		.cls = E2PF_INODES,
		.parse = E2PF_LEAF,
		.data = E2PF_CLASSES
	};
	const struct e2pf_ref *last = &run->pending;
	uint64_t table, offset, block;

	if (ino < geo->first_ino || ino > geo->inodes)
		return;
	table = groups[(ino - 1) / geo->inodes_per_group].inode_table;
	offset = (uint64_t)((ino - 1) % geo->inodes_per_group) *
		 geo->inode_size;
	if (!table)
		return;
	block = table + offset / geo->block_size;
	/* The values of a file often are inodes of one block. */
	if (last->count && last->cls == E2PF_INODES &&
	    block >= last->block && block - last->block < last->count)
		return;
	e2pf_run_add(run, &like, block, 1);
}

void e2pf_plan_xattr_entries(struct e2pf_run *run,
			     const struct e2pf_group *groups,
			     const void *entries, size_t size)
{
	const uint8_t *bytes = entries;
	size_t at = 0;

	if (!wants_ea_inodes(run->geo, groups))
		return;
	while (at + sizeof(struct ext2_ext_attr_entry) <= size) {
		struct ext2_ext_attr_entry entry;

		/* Four zero bytes end the list. */
		if (!e2pf_le32(bytes + at))
			break;
		memcpy(&entry, bytes + at, sizeof(entry));
		if (entry.e_value_inum)
			plan_ea_inode(run, groups,
				      le32toh(entry.e_value_inum));
		at += EXT2_EXT_ATTR_LEN(entry.e_name_len);
	}
}

/* Attributes in the inode's own tail. */
static void plan_inode_xattrs(struct e2pf_run *run,
			      const struct e2pf_group *groups,
			      const uint8_t *bytes)
{
	uint32_t room = run->geo->inode_size - EXT2_GOOD_OLD_INODE_SIZE;
	const uint8_t *tail = bytes + EXT2_GOOD_OLD_INODE_SIZE;
	uint32_t extra;

	if (!room || !wants_ea_inodes(run->geo, groups))
		return;
	extra = e2pf_le16(tail);
	if (extra + sizeof(uint32_t) >= room || extra & 3 ||
	    e2pf_le32(tail + extra) != EXT2_EXT_ATTR_MAGIC)
		return;
	extra += sizeof(uint32_t);
	e2pf_plan_xattr_entries(run, groups, tail + extra, room - extra);
}

static void plan_xattr_block_of(struct e2pf_run *run,
				const struct e2pf_group *groups,
				const struct ext2_inode *inode)
{
	const struct e2pf_geometry *geo = run->geo;
	const struct e2pf_ref like = {
		.cls = E2PF_XATTRS,
		.parse = wants_ea_inodes(geo, groups) ? E2PF_XATTR_BLOCK :
							E2PF_LEAF,
		.data = E2PF_CLASSES
	};
	uint64_t block = le32toh(inode->i_file_acl);

	if (!(geo->feature_compat & EXT2_FEATURE_COMPAT_EXT_ATTR))
		return;
	if (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		block |= (uint64_t)
			 le16toh(inode->osd2.linux2.l_i_file_acl_high) << 32;
	e2pf_run_add(run, &like, block, 1);
}

/* The mapping of a file, and its data where that is of a class. */
static void plan_mapping(struct e2pf_run *run, const struct ext2_inode *inode,
			 bool special, enum e2pf_class data)
{
	uint32_t flags = le32toh(inode->i_flags);

	if (flags & EXT4_INLINE_DATA_FL)
		return;
	if (flags & EXT4_EXTENTS_FL)
		e2pf_plan_extent_root(run, inode->i_block,
				      special ? E2PF_FILES : E2PF_EXTENTS,
				      data);
	else
		e2pf_plan_block_map(run, inode->i_block,
				    special ? E2PF_FILES : E2PF_INDIRECT,
				    data);
}

/* The block at the file's start, where no node lies between. */
static void plan_first_block(struct e2pf_run *run,
			     const struct ext2_inode *inode,
			     enum e2pf_class cls)
{
	const struct e2pf_ref like = {
		.cls = cls,
		.parse = E2PF_LEAF,
		.data = E2PF_CLASSES
	};
	uint32_t flags = le32toh(inode->i_flags);

	if (flags & EXT4_INLINE_DATA_FL)
		return;
	if (flags & EXT4_EXTENTS_FL)
		e2pf_run_add(run, &like,
			     e2pf_first_extent_block(inode->i_block), 1);
	else
		e2pf_run_add(run, &like, e2pf_le32(inode->i_block), 1);
}

/*
 * A target of up to 59 bytes is in the inode, and libext2fs tells so by the
 * size alone.  A longer one is the first block; a valid one has no second.
 */
static void plan_symlink(struct e2pf_run *run, const struct ext2_inode *inode)
{
	uint32_t size = le32toh(inode->i_size);

	if (inode->i_size_high || size < sizeof(inode->i_block))
		return;
	plan_first_block(run, inode, E2PF_SYMLINKS);
	plan_mapping(run, inode, false, E2PF_CLASSES);
}

/*
 * Of the journal a check of a filesystem that needs no recovery reads its
 * superblock, the first block, and the mapping.  (What a recovery reads before
 * the passes begin is journal.c's.)  The orphan file, quota files and values
 * are read whole.
 */
static void plan_regular(struct e2pf_run *run, uint32_t ino,
			 const struct ext2_inode *inode)
{
	const struct e2pf_geometry *geo = run->geo;

	if (ino == geo->journal_inum) {
		plan_first_block(run, inode, E2PF_FILES);
		plan_mapping(run, inode, true, E2PF_CLASSES);
	} else if (ino == geo->orphan_inum || is_quota(geo, ino)) {
		plan_mapping(run, inode, true, E2PF_FILES);
	} else if (is_read_value(geo, inode)) {
		plan_mapping(run, inode, false, E2PF_XATTRS);
	} else {
		plan_mapping(run, inode, ino == EXT2_RESIZE_INO,
			     E2PF_CLASSES);
	}
}

static void plan_inode(struct e2pf_run *run, const struct e2pf_group *groups,
		       uint32_t ino, const uint8_t *bytes)
{
	const struct e2pf_geometry *geo = run->geo;
	struct ext2_inode inode;

	memcpy(&inode, bytes, sizeof(inode));
	if (ino == 0 || ino > geo->inodes)
		return;
	/* The bad blocks inode has a mapping and nothing else, not even a
	 * mode. */
	if (ino == EXT2_BAD_INO) {
		plan_mapping(run, &inode, true, E2PF_CLASSES);
		return;
	}
	if (!inode.i_links_count && !is_reserved(geo, ino))
		return;

	plan_inode_xattrs(run, groups, bytes);
	plan_xattr_block_of(run, groups, &inode);
	switch (le16toh(inode.i_mode) & LINUX_S_IFMT) {
	case LINUX_S_IFREG:
		plan_regular(run, ino, &inode);
		break;
	case LINUX_S_IFDIR:
		plan_mapping(run, &inode, false, E2PF_DIRS);
		break;
	case LINUX_S_IFLNK:
		plan_symlink(run, &inode);
		break;
	default:
		break;
	}
}

void e2pf_plan_inode(const struct e2pf_geometry *geo,
		     const struct e2pf_group *groups, uint32_t ino,
		     const void *inode, e2pf_sink sink, void *ctx)
{
	struct e2pf_run run = { .geo = geo, .sink = sink, .ctx = ctx };

	plan_inode(&run, groups, ino, inode);
	e2pf_run_flush(&run);
}

void e2pf_plan_inodes(const struct e2pf_geometry *geo,
		      const struct e2pf_group *groups, uint32_t first_ino,
		      const void *inodes, size_t size,
		      e2pf_sink sink, void *ctx)
{
	size_t count = size / geo->inode_size, i;
	const uint8_t *inode = inodes;

	if (!first_ino || first_ino > geo->inodes)
		return;
	if (count > geo->inodes - first_ino + 1ull)
		count = geo->inodes - first_ino + 1ull;
	for (i = 0; i < count; i++, inode += geo->inode_size)
		e2pf_plan_inode(geo, groups, first_ino + (uint32_t)i, inode,
				sink, ctx);
}
