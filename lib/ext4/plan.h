/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The planner: finds the blocks that metadata refers to.
 *
 * Every function here is pure: no I/O, no allocation, no global state, safe
 * from any thread and on hostile bytes.  On-disk numbers are read as
 * little-endian on any host, and checked against the filesystem's size before
 * they are returned.  Every loop is bounded by the size of the buffer it reads.
 * Impossible values are silently left out: to report them is the checker's
 * task.
 */
#ifndef E2PF_PLAN_H
#define E2PF_PLAN_H

#include "e2prefetch.h"

/* The superblock fields that planning needs, in host byte order. */
struct e2pf_geometry {
	uint64_t blocks;		/* s_blocks_count */
	uint32_t block_size;		/* bytes, 1024 to 65536 */
	uint32_t first_data_block;
	uint32_t blocks_per_group;
	uint32_t inodes_per_group;
	uint32_t inode_size;		/* bytes, 128 to block_size */
	uint32_t inodes;		/* s_inodes_count */
	uint32_t groups;
	uint32_t desc_size;		/* bytes, at least 32 */
	uint32_t desc_blocks;		/* blocks of group descriptors */
	uint32_t reserved_gdt_blocks;
	uint32_t first_meta_bg;
	uint32_t feature_compat;
	uint32_t feature_incompat;
	uint32_t feature_ro_compat;
	uint32_t backup_bgs[2];		/* sparse_super2 */
	uint32_t journal_inum;
	uint32_t orphan_inum;
	uint32_t quota_inum[3];		/* user, group, project */
	uint32_t first_ino;
	uint64_t mmp_block;
};

/* One group's descriptor, in host byte order, as the checker will use it. */
struct e2pf_group {
	uint64_t inode_table;		/* first block; 0 if out of range */
	uint64_t block_bitmap;		/* 0 if out of range or uninit */
	uint64_t inode_bitmap;		/* 0 if out of range or uninit */
	uint32_t inodes_in_use;		/* at the table's start, that a scan
					   reads */
	uint32_t inodes_allocated;	/* for progress reports only */
};

/* How the bytes of a block are parsed once they have been read. */
enum e2pf_parse {
	E2PF_LEAF,			/* refers to no metadata */
	E2PF_INODE_TABLE,
	E2PF_EXTENT_NODE,
	E2PF_INDIRECT_BLOCK,
	E2PF_XATTR_BLOCK
};

/* A run of blocks that some metadata refers to. */
struct e2pf_run {
	uint64_t block;			/* first block of the run */
	uint32_t count;			/* blocks, at least 1 */
	uint8_t cls;			/* enum e2pf_class */
	uint8_t parse;			/* enum e2pf_parse */
	uint8_t depth;			/* extent node: levels below it;
					   indirect: 1 single to 3 triple */
	uint8_t data;			/* class of the data blocks below it,
					   E2PF_CLASSES if they are not
					   metadata */
};

/*
 * Called with each run that a plan function finds, before that function
 * returns.  The whole run lies inside the filesystem.  `run` is valid only
 * during the call.
 */
typedef void (*e2pf_run_sink)(void *ctx, const struct e2pf_run *run);

/*
 * Parse the 1024 bytes of an on-disk superblock.  Returns 0, or -1 if it is not
 * a superblock or its fields contradict each other; then *geo is undefined.
 */
int e2pf_plan_superblock(const void *superblock, struct e2pf_geometry *geo);

/*
 * Find the geo->desc_blocks blocks that hold the group descriptors, in the
 * order of the groups.  They are the copy that belongs to the superblock in
 * block `superblock_block` (the primary one or a backup); meta_bg is supported.
 * Blocks past the end of the filesystem are left out, and then the order is
 * lost: a table of fewer than geo->desc_blocks blocks cannot be read.
 */
void e2pf_plan_descriptors(const struct e2pf_geometry *geo,
			   uint64_t superblock_block,
			   e2pf_run_sink sink, void *ctx);

/*
 * Parse the on-disk descriptor of group `number`, geo->desc_size bytes.  As in
 * the inode scan, the unused part of a group is trusted if descriptors have
 * checksums (uninit_bg, metadata_csum).  The checksum itself is not verified.
 *
 * When libext2fs opens a filesystem with a backup superblock, it clears the
 * marks of unused parts in memory, and the scan then reads every inode.  To
 * know what will be read, take descriptors from libext2fs and not from the
 * disk.
 */
void e2pf_plan_descriptor(const struct e2pf_geometry *geo, uint32_t number,
			  const void *desc, struct e2pf_group *group);

/* Find the blocks that a group refers to directly: its bitmaps and the used
 * part of its inode table. */
void e2pf_plan_group(const struct e2pf_geometry *geo,
		     const struct e2pf_group *group,
		     e2pf_run_sink sink, void *ctx);

/*
 * Find the blocks that inode `ino` refers to (geo->inode_size bytes at
 * `inode`): extent tree or indirect blocks, directory blocks, xattr block, slow
 * symlink, and all blocks of the small special files; for attribute values in
 * EA inodes, the inode table block that holds the EA inode; for an EA inode,
 * its value if values are read.  `groups` has geo->groups elements, or is NULL
 * if EA inodes need not be found.
 */
void e2pf_plan_inode(const struct e2pf_geometry *geo,
		     const struct e2pf_group *groups, uint32_t ino,
		     const void *inode, e2pf_run_sink sink, void *ctx);

/*
 * Do the same as e2pf_plan_inode() for consecutive inodes of a table.
 * `first_ino` is the number of the first one; `inodes` holds `size` bytes.
 * Incomplete inodes, and inodes that the filesystem does not have, are skipped.
 */
void e2pf_plan_inodes(const struct e2pf_geometry *geo,
		      const struct e2pf_group *groups, uint32_t first_ino,
		      const void *inodes, size_t size,
		      e2pf_run_sink sink, void *ctx);

/*
 * Find the blocks that one metadata block refers to.  `block` holds
 * geo->block_size bytes and was found through `run`, with run->block set to the
 * number of this block.  A leaf refers to nothing.  For a block of an inode
 * table nothing is found either, because its bytes do not tell the inode
 * numbers: use e2pf_plan_inodes().
 */
void e2pf_plan_block(const struct e2pf_geometry *geo,
		     const struct e2pf_group *groups,
		     const struct e2pf_run *run, const void *block,
		     e2pf_run_sink sink, void *ctx);

#endif
