/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The planner: from bytes to the blocks they refer to.
 *
 * Every function here is pure: no I/O, no allocation, no global state, safe
 * from any thread and on hostile bytes.  On-disk numbers are read as
 * little-endian whatever the host, checked against the filesystem's size
 * before they are handed out, and every loop is bounded by the size of the
 * buffer it reads.  What cannot be true is left out, silently: that it is
 * wrong is the checker's to say.
 */
#ifndef E2PF_PLAN_H
#define E2PF_PLAN_H

#include "e2prefetch.h"

/* The superblock fields planning needs, in host order. */
struct e2pf_geometry {
	uint64_t blocks;		/* s_blocks_count */
	uint32_t block_size;		/* bytes, 1024 to 65536 */
	uint32_t first_data_block;
	uint32_t blocks_per_group;
	uint32_t inodes_per_group;
	uint32_t inode_size;		/* bytes, 128 to block_size */
	uint32_t inodes;		/* s_inodes_count */
	uint32_t groups;
	uint32_t desc_size;		/* bytes, 32 or more */
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

/* One group's descriptor, in host order: what the checker will use. */
struct e2pf_group {
	uint64_t inode_table;		/* first block; 0 when out of range */
	uint64_t block_bitmap;		/* 0 when out of range or uninit */
	uint64_t inode_bitmap;		/* 0 when out of range or uninit */
	uint32_t inodes_in_use;		/* leading inodes an inode scan reads */
};

/* What the bytes of a block are parsed as, once they are there. */
enum e2pf_parse {
	E2PF_LEAF,			/* refers to nothing that is metadata */
	E2PF_INODE_TABLE,
	E2PF_EXTENT_NODE,
	E2PF_INDIRECT_BLOCK,
	E2PF_XATTR_BLOCK
};

/* A run of blocks that something refers to. */
struct e2pf_run {
	uint64_t block;			/* first block of the run */
	uint32_t count;			/* blocks, at least 1 */
	uint8_t cls;			/* enum e2pf_class */
	uint8_t parse;			/* enum e2pf_parse */
	uint8_t depth;			/* extent node: levels below it;
					   indirect: 1 single to 3 triple */
	uint8_t data;			/* class of the data blocks below it,
					   E2PF_CLASSES when they are not
					   metadata */
};

/*
 * Takes what a plan function finds, called before that function returns.
 * Every run lies whole inside the filesystem.  `run` is valid during the
 * call only.
 */
typedef void (*e2pf_run_sink)(void *ctx, const struct e2pf_run *run);

/*
 * Parse the 1024 bytes of an on-disk superblock.  Returns 0, or -1 when it
 * is no superblock, or one whose numbers cannot hold together (then *geo is
 * undefined).
 */
int e2pf_plan_superblock(const void *superblock, struct e2pf_geometry *geo);

/*
 * The blocks that hold the group descriptors, geo->desc_blocks of them, in
 * use order: the copy that goes with the superblock in block
 * `superblock_block` (the primary's own block, or a backup's), meta_bg
 * aware.  Blocks past the end of the filesystem are left out, and with them
 * the order is lost: fewer than geo->desc_blocks is a descriptor table that
 * cannot be read.
 */
void e2pf_plan_descriptors(const struct e2pf_geometry *geo,
			   uint64_t superblock_block,
			   e2pf_run_sink sink, void *ctx);

/*
 * Parse the on-disk descriptor of group `number`, geo->desc_size bytes.  The
 * unused part of a group is believed where descriptors have checksums
 * (uninit_bg, metadata_csum), as the inode scan does; the checksum itself is
 * not verified.
 *
 * libext2fs clears these marks in its memory when it opens a filesystem by
 * a backup superblock, and the scan then reads every inode.  Descriptors
 * taken from there, not from the disk, say what will be read.
 */
void e2pf_plan_descriptor(const struct e2pf_geometry *geo, uint32_t number,
			  const void *desc, struct e2pf_group *group);

/* What a group refers to by itself: its bitmaps and the used part of its
 * inode table. */
void e2pf_plan_group(const struct e2pf_geometry *geo,
		     const struct e2pf_group *group,
		     e2pf_run_sink sink, void *ctx);

/*
 * What inode `ino` (geo->inode_size bytes at `inode`) refers to: extent tree
 * or indirect blocks, directory blocks, xattr block, slow symlink, EA inodes
 * of values kept outside (as the inode table block that holds them), the value
 * where this is such an inode and values are read, all of the small special
 * files.  `groups` has geo->groups entries, NULL when EA inodes need not be
 * found.
 */
void e2pf_plan_inode(const struct e2pf_geometry *geo,
		     const struct e2pf_group *groups, uint32_t ino,
		     const void *inode, e2pf_run_sink sink, void *ctx);

/*
 * What consecutive inodes of a table refer to, as e2pf_plan_inode() for each.
 * `first_ino` is the number of the first of them, `inodes` holds `size`
 * bytes.  Inodes that are not whole, or not in the filesystem, are passed
 * over.
 */
void e2pf_plan_inodes(const struct e2pf_geometry *geo,
		      const struct e2pf_group *groups, uint32_t first_ino,
		      const void *inodes, size_t size,
		      e2pf_run_sink sink, void *ctx);

/*
 * What one block of metadata refers to.  `block` holds geo->block_size bytes
 * and was reached through `run`, where run->block is the number of this very
 * block of the run.  A leaf yields nothing, nor does a block of an inode
 * table, which does not say what its inodes are numbered: that is
 * e2pf_plan_inodes().
 */
void e2pf_plan_block(const struct e2pf_geometry *geo,
		     const struct e2pf_group *groups,
		     const struct e2pf_run *run, const void *block,
		     e2pf_run_sink sink, void *ctx);

#endif
