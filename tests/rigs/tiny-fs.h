/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A hand-made filesystem in memory: geometry, groups, and the bytes of inode
 * tables and tree blocks, which are all the planner looks at.
 */
#ifndef TINY_FS_H
#define TINY_FS_H

#include <ext2fs/ext2fs.h>

#include "ext4/source.h"

struct tiny_fs {
	struct ext4_geometry geo;
	struct ext4_group *groups;
	unsigned char *image;
	uint64_t size;			/* bytes */
	struct ext4_source *ext4;	/* NULL until tiny_source() */
};

/* 128-byte inodes; a scan has to read all inodes of each group.  A group begins
 * with its block bitmap, its inode bitmap and its inode table. */
void tiny_new(struct tiny_fs *fs, uint32_t groups, uint32_t blocks_per_group,
	      uint32_t inodes_per_group, uint32_t block_size);
void tiny_free(struct tiny_fs *fs);

/* A source with these classes for this filesystem; tiny_free() frees it. */
struct pf_source *tiny_source(struct tiny_fs *fs, unsigned classes);

/* The first block of a group that is neither bitmap nor inode table. */
uint64_t tiny_free_block(const struct tiny_fs *fs, uint32_t group);

/* The bytes of a block. */
void *tiny_block(struct tiny_fs *fs, uint64_t block);

struct ext2_inode *tiny_inode_at(struct tiny_fs *fs, uint32_t ino);

/* Make `ino` a file with this mode (LINUX_S_IF...) and an extent tree whose
 * root is `depth` levels above the leaves and points to these blocks; without
 * blocks, an empty file with indirect blocks. */
void tiny_inode(struct tiny_fs *fs, uint32_t ino, unsigned mode,
		unsigned depth, const uint64_t *blocks, unsigned count);

/* Make a block a node of an extent tree. */
void tiny_node(struct tiny_fs *fs, uint64_t block, unsigned depth,
	       const uint64_t *blocks, unsigned count);

#endif
