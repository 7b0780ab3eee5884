/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the planner's files: loads of little-endian numbers from unaligned
 * bytes, the gathering of blocks into runs, and the functions that the files
 * call in each other.  Private to plan_*.c.
 */
#ifndef E2PF_PLAN_GATHER_H
#define E2PF_PLAN_GATHER_H

#include <endian.h>

#include "plan.h"

/* Classes that are found by parsing. */
#define E2PF_TREE_CLASSES (E2PF_ALL_CLASSES & ~(1u << E2PF_DESCRIPTORS | \
			   1u << E2PF_BITMAPS | 1u << E2PF_INODES))

/* EXT4_MAX_EXTENT_DEPTH of the kernel: five levels of the smallest nodes map
 * more than the 2^32 blocks that a file can have. */
#define E2PF_EXTENT_DEPTH 5

static inline uint16_t e2pf_le16(const void *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return le16toh(value);
}

static inline uint32_t e2pf_le32(const void *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

/* True if this can be the number of a block that metadata refers to.  Zero
 * always means a hole, even if the filesystem has a block 0. */
static inline bool e2pf_block_ok(const struct e2pf_geometry *geo,
				 uint64_t block)
{
	return block && block >= geo->first_data_block && block < geo->blocks;
}

/* The number of blocks that `inodes` inodes of a table take. */
static inline uint32_t e2pf_table_blocks(const struct e2pf_geometry *geo,
					 uint32_t inodes)
{
	return ((uint64_t)inodes * geo->inode_size + geo->block_size - 1) /
	       geo->block_size;
}

/* The kind of blocks that are not parsed. */
static inline struct e2pf_kind e2pf_leaf(enum e2pf_class cls)
{
	return (struct e2pf_kind) {
		.cls = cls, .parse = E2PF_LEAF, .data = E2PF_CLASSES
	};
}

/* Add `count` blocks.  They extend the pending reference if they follow it and
 * are of the same kind; otherwise that is passed on first. */
void e2pf_gather_add(struct e2pf_plan *plan, struct e2pf_kind kind,
		     uint64_t block, uint64_t count);

/* Pass on the pending reference.  Call it before every return to the planner's
 * caller. */
void e2pf_gather_flush(struct e2pf_plan *plan);

/*
 * Plan the root of an extent tree or of a block map: the 60 bytes of i_block.
 * Nodes have class `cls`, data blocks class `data` (E2PF_CLASSES: not
 * metadata).
 */
void e2pf_plan_extent_root(struct e2pf_plan *plan, const void *i_block,
			   enum e2pf_class cls, enum e2pf_class data);
void e2pf_plan_block_map(struct e2pf_plan *plan, const void *i_block,
			 enum e2pf_class cls, enum e2pf_class data);

/* The first block of the first extent, if the tree has no nodes below its root;
 * 0 otherwise. */
uint64_t e2pf_first_extent_block(const void *i_block);

/* Plan extended attributes: those in the tail of an inode (`bytes` holds the
 * whole inode), the attribute block that an inode refers to, and the contents
 * of such a block. */
void e2pf_plan_inode_xattrs(struct e2pf_plan *plan, const uint8_t *bytes);
void e2pf_plan_xattr_block_of(struct e2pf_plan *plan,
			      const struct ext2_inode *inode);
void e2pf_plan_xattr_block(struct e2pf_plan *plan, const void *block);

#endif
