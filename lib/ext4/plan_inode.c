/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From an inode to the blocks that a full check reads because of it.  Decides
 * which inodes count as in use, and of which class their data is.  Does not
 * know how trees look below their root (plan_tree.c) nor how attributes are
 * stored (plan_xattr.c), and ignores checksums, sizes and times.
 */
#include "plan_gather.h"

/* The longest attribute value in bytes, EXT4_XATTR_SIZE_MAX in Linux. */
#define VALUE_MAX (1u << 24)

static bool is_quota(const struct e2pf_geometry *geo, uint32_t ino)
{
	return ino == geo->quota_inum[0] || ino == geo->quota_inum[1] ||
	       ino == geo->quota_inum[2];
}

/* The checker reads these inodes whatever their link count is. */
static bool is_reserved(const struct e2pf_geometry *geo, uint32_t ino)
{
	return (ino < geo->first_ino && ino != EXT2_ROOT_INO) ||
	       ino == geo->orphan_inum;
}

/* True for an attribute value in an inode of its own that the checker may read.
 * It reads all attributes of files with inline data.  An EA inode does not tell
 * which files use it, so all EA inodes of such a filesystem count. */
static bool is_read_value(const struct e2pf_geometry *geo,
			  const struct ext2_inode *inode)
{
	return (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_INLINE_DATA) &&
	       (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_EA_INODE) &&
	       (le32toh(inode->i_flags) & EXT4_EA_INODE_FL) &&
	       !inode->i_size_high && le32toh(inode->i_size) <= VALUE_MAX;
}

/* Plan the mapping of a file, and its data if that has a class. */
static void plan_mapping(struct e2pf_plan *plan,
			 const struct ext2_inode *inode, bool special,
			 enum e2pf_class data)
{
	uint32_t flags = le32toh(inode->i_flags);

	if (flags & EXT4_INLINE_DATA_FL)
		return;
	if (flags & EXT4_EXTENTS_FL)
		e2pf_plan_extent_root(plan, inode->i_block,
				      special ? E2PF_FILES : E2PF_EXTENTS,
				      data);
	else
		e2pf_plan_block_map(plan, inode->i_block,
				    special ? E2PF_FILES : E2PF_INDIRECT,
				    data);
}

/* Plan the first block of a file, if it can be found without reading a node. */
static void plan_first_block(struct e2pf_plan *plan,
			     const struct ext2_inode *inode,
			     enum e2pf_class cls)
{
	uint32_t flags = le32toh(inode->i_flags);

	if (!(flags & EXT4_INLINE_DATA_FL))
		e2pf_gather_add(plan, e2pf_leaf(cls), flags & EXT4_EXTENTS_FL ?
				e2pf_first_extent_block(inode->i_block) :
				e2pf_le32(inode->i_block), 1);
}

/*
 * A target of up to 59 bytes is stored in the inode; libext2fs decides that by
 * the size alone.  A longer target is in the first block, and a valid one has
 * no second block.
 */
static void plan_symlink(struct e2pf_plan *plan,
			 const struct ext2_inode *inode)
{
	uint32_t size = le32toh(inode->i_size);

	if (inode->i_size_high || size < sizeof(inode->i_block))
		return;
	plan_first_block(plan, inode, E2PF_SYMLINKS);
	plan_mapping(plan, inode, false, E2PF_CLASSES);
}

/*
 * If the filesystem needs no recovery, a check reads only the first block of
 * the journal, which is its superblock, and the journal's mapping.  (journal.c
 * plans what a recovery reads before pass 1.) The orphan file, quota files and
 * attribute values are read completely.
 */
static void plan_regular(struct e2pf_plan *plan, uint32_t ino,
			 const struct ext2_inode *inode)
{
	const struct e2pf_geometry *geo = plan->geo;

	if (ino == geo->journal_inum) {
		plan_first_block(plan, inode, E2PF_FILES);
		plan_mapping(plan, inode, true, E2PF_CLASSES);
	} else if (ino == geo->orphan_inum || is_quota(geo, ino)) {
		plan_mapping(plan, inode, true, E2PF_FILES);
	} else if (is_read_value(geo, inode)) {
		plan_mapping(plan, inode, false, E2PF_XATTRS);
	} else {
		plan_mapping(plan, inode, ino == EXT2_RESIZE_INO,
			     E2PF_CLASSES);
	}
}

static void plan_inode(struct e2pf_plan *plan, uint32_t ino,
		       const uint8_t *bytes)
{
	struct ext2_inode inode;

	memcpy(&inode, bytes, sizeof(inode));
	/* The bad blocks inode has only a mapping, not even a mode. */
	if (ino == EXT2_BAD_INO) {
		plan_mapping(plan, &inode, true, E2PF_CLASSES);
		return;
	}
	if (!inode.i_links_count && !is_reserved(plan->geo, ino))
		return;

	e2pf_plan_inode_xattrs(plan, bytes);
	e2pf_plan_xattr_block_of(plan, &inode);
	switch (le16toh(inode.i_mode) & LINUX_S_IFMT) {
	case LINUX_S_IFREG:
		plan_regular(plan, ino, &inode);
		break;
	case LINUX_S_IFDIR:
		plan_mapping(plan, &inode, false, E2PF_DIRS);
		break;
	case LINUX_S_IFLNK:
		plan_symlink(plan, &inode);
		break;
	default:
		break;
	}
}

void e2pf_plan_inodes(struct e2pf_plan *plan, uint32_t first_ino,
		      const void *inodes, size_t size)
{
	const struct e2pf_geometry *geo = plan->geo;
	size_t count = size / geo->inode_size, i;
	const uint8_t *inode = inodes;

	if (!first_ino || first_ino > geo->inodes)
		return;
	if (count > geo->inodes - first_ino + 1ull)
		count = geo->inodes - first_ino + 1ull;
	for (i = 0; i < count; i++, inode += geo->inode_size) {
		plan_inode(plan, first_ino + (uint32_t)i, inode);
		e2pf_gather_flush(plan);
	}
}
