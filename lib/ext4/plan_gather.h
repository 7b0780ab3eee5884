/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the planner's files: loads of little-endian numbers from unaligned
 * bytes, the gathering of blocks into runs, and the functions that the files
 * call in each other.  Private to plan_*.c.
 */
#ifndef E2PF_PLAN_GATHER_H
#define E2PF_PLAN_GATHER_H

#include <endian.h>
#include <string.h>

#include "plan.h"

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

/* The run that is being gathered.  pending.count is 0 if there is none. */
struct e2pf_gather {
	const struct e2pf_geometry *geo;
	e2pf_run_sink sink;
	void *ctx;
	struct e2pf_run pending;
};

/*
 * Add `count` blocks of the kind that `like` describes (its block and count are
 * ignored).  They extend the pending run if they follow it and are of the same
 * kind; otherwise the pending run is passed on first.
 */
void e2pf_gather_add(struct e2pf_gather *out, const struct e2pf_run *like,
		     uint64_t block, uint64_t count);

/* Pass on the pending run.  Call it before every return to the planner's
 * caller. */
void e2pf_gather_flush(struct e2pf_gather *out);

/*
 * Plan a node of an extent tree: the `size` bytes at `node`.  The node is
 * `depth` levels above the leaves, and its header must say the same.  `run`
 * gives the node's block (0 for the root, which is in an inode), the class of
 * nodes and the class of data.
 */
void e2pf_plan_extents(struct e2pf_gather *out, const struct e2pf_run *run,
		       unsigned depth, const void *node, size_t size);

/*
 * Plan the root of an extent tree or of a block map: the 60 bytes of i_block.
 * Nodes have class `cls`, data blocks class `data` (E2PF_CLASSES: not
 * metadata).
 */
void e2pf_plan_extent_root(struct e2pf_gather *out, const void *i_block,
			   enum e2pf_class cls, enum e2pf_class data);
void e2pf_plan_block_map(struct e2pf_gather *out, const void *i_block,
			 enum e2pf_class cls, enum e2pf_class data);

/* The first block of the first extent, if the tree has no nodes below its root;
 * 0 otherwise. */
uint64_t e2pf_first_extent_block(const void *i_block);

/* Plan an indirect block.  `run` gives its depth (1 single to 3 triple), the
 * class of indirect blocks and the class of data. */
void e2pf_plan_indirect(struct e2pf_gather *out, const struct e2pf_run *run,
			const void *block);

/*
 * Plan extended attributes: those in the tail of an inode (`bytes` holds the
 * whole inode), the attribute block that an inode refers to, and the contents
 * of such a block.  `groups` as in e2pf_plan_inode().
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
