/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the planner's files share: loads of little-endian numbers from bytes
 * of any alignment, the runs that blocks are gathered in before they are
 * handed out, and what the files do for each other.  Private to plan_*.c.
 */
#ifndef E2PF_PLAN_GATHER_H
#define E2PF_PLAN_GATHER_H

#include <endian.h>
#include <string.h>

#include "plan.h"

/* EXT4_MAX_EXTENT_DEPTH of the kernel: five levels of the smallest nodes
 * map more than the 2^32 blocks a file can have. */
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

/* Can this be the number of a block something refers to?  Zero is a hole
 * everywhere, also where block 0 exists. */
static inline bool e2pf_block_ok(const struct e2pf_geometry *geo,
				 uint64_t block)
{
	return block && block >= geo->first_data_block && block < geo->blocks;
}

/* Blocks that hold the inode table of a group. */
static inline uint32_t e2pf_table_blocks(const struct e2pf_geometry *geo,
					 uint32_t inodes)
{
	return ((uint64_t)inodes * geo->inode_size + geo->block_size - 1) /
	       geo->block_size;
}

/* The run being gathered.  pending.count is 0 while there is none. */
struct e2pf_gather {
	const struct e2pf_geometry *geo;
	e2pf_run_sink sink;
	void *ctx;
	struct e2pf_run pending;
};

/*
 * Add `count` blocks that are what `like` says (its block and count are not
 * looked at).  They lengthen the run when they go on where it ends and are
 * of the same kind; otherwise it is handed out first.
 */
void e2pf_gather_add(struct e2pf_gather *out, const struct e2pf_run *like,
		     uint64_t block, uint64_t count);

/* Hand out what is pending.  Before every return to the planner's caller. */
void e2pf_gather_flush(struct e2pf_gather *out);

/*
 * Plan a node of an extent tree: the `size` bytes at `node`, `depth` levels
 * above the leaves, whatever depth its header claims.  `run` has the node's
 * block (0 for a root, in an inode), the class of nodes and that of data.
 */
void e2pf_plan_extents(struct e2pf_gather *out, const struct e2pf_run *run,
		       unsigned depth, const void *node, size_t size);

/*
 * Plan the root of an extent tree or a block map: the 60 bytes of i_block.
 * Nodes are of class `cls`, data blocks of class `data` (E2PF_CLASSES: not
 * metadata).
 */
void e2pf_plan_extent_root(struct e2pf_gather *out, const void *i_block,
			   enum e2pf_class cls, enum e2pf_class data);
void e2pf_plan_block_map(struct e2pf_gather *out, const void *i_block,
			 enum e2pf_class cls, enum e2pf_class data);

/* The block the first extent of a tree without nodes starts with, 0 when
 * there is none. */
uint64_t e2pf_first_extent_block(const void *i_block);

/* Plan an indirect block: `run` has its depth (1 single to 3 triple), the
 * class of indirect blocks and that of data. */
void e2pf_plan_indirect(struct e2pf_gather *out, const struct e2pf_run *run,
			const void *block);

/*
 * Plan the extended attributes in the tail of an inode (`bytes` holds all of
 * it), the block of attributes that an inode names, and such a block.
 * `groups` as for e2pf_plan_inode().
 */
void e2pf_plan_inode_xattrs(struct e2pf_gather *out,
			    const struct e2pf_group *groups,
			    const uint8_t *bytes);
void e2pf_plan_xattr_block_of(struct e2pf_gather *out,
			      const struct e2pf_group *groups,
			      const struct ext2_inode *inode);
void e2pf_plan_xattr_block(struct e2pf_gather *out,
			   const struct e2pf_group *groups,
			   const void *block);

#endif
