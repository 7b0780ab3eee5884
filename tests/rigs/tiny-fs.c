/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A hand-made filesystem in memory.  Knows the layout of inodes and extent
 * nodes, and nothing about their readers.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "tiny-fs.h"

void tiny_new(struct tiny_fs *fs, uint32_t groups, uint32_t blocks_per_group,
	      uint32_t inodes_per_group, uint32_t block_size)
{
	uint32_t first = block_size == 1024, g;

	memset(fs, 0, sizeof(*fs));
	fs->geo.block_size = block_size;
	fs->geo.first_data_block = first;
	fs->geo.blocks_per_group = blocks_per_group;
	fs->geo.blocks = first + (uint64_t)groups * blocks_per_group;
	fs->geo.inodes_per_group = inodes_per_group;
	fs->geo.inodes = groups * inodes_per_group;
	fs->geo.inode_size = sizeof(struct ext2_inode);
	fs->geo.groups = groups;
	fs->geo.first_ino = 11;
	fs->geo.desc_size = 32;
	fs->geo.feature_incompat = EXT3_FEATURE_INCOMPAT_EXTENTS;
	fs->size = fs->geo.blocks * block_size;
	fs->image = calloc(1, fs->size);
	fs->groups = calloc(groups, sizeof(*fs->groups));
	if (!fs->image || !fs->groups)
		abort();
	for (g = 0; g < groups; g++) {
		uint64_t base = first + (uint64_t)g * blocks_per_group;

		fs->groups[g].block_bitmap = base + 1;
		fs->groups[g].inode_bitmap = base + 2;
		fs->groups[g].inode_table = base + 3;
		fs->groups[g].inodes_in_use = inodes_per_group;
	}
}

struct pf_source *tiny_source(struct tiny_fs *fs, unsigned classes)
{
	const struct ext4_source_options what = { .classes = classes };

	ext4_source_free(fs->ext4);
	fs->ext4 = ext4_source_new(&fs->geo, &what);
	if (!fs->ext4)
		abort();
	fs->ext4->groups = fs->groups;
	return &fs->ext4->source;
}

void tiny_free(struct tiny_fs *fs)
{
	ext4_source_free(fs->ext4);
	free(fs->image);
	free(fs->groups);
	memset(fs, 0, sizeof(*fs));
}

uint64_t tiny_free_block(const struct tiny_fs *fs, uint32_t group)
{
	uint32_t bytes = fs->geo.inodes_per_group * fs->geo.inode_size;

	return fs->groups[group].inode_table +
	       (bytes + fs->geo.block_size - 1) / fs->geo.block_size;
}

void *tiny_block(struct tiny_fs *fs, uint64_t block)
{
	if (block >= fs->geo.blocks)
		abort();
	return fs->image + block * fs->geo.block_size;
}

static void put_node(void *node, size_t size, unsigned depth,
		     const uint64_t *blocks, unsigned count)
{
	struct ext3_extent_header *head = node;
	struct ext3_extent *leaf = (struct ext3_extent *)(head + 1);
	struct ext3_extent_idx *index = (struct ext3_extent_idx *)(head + 1);
	unsigned max = (unsigned)(size / sizeof(*leaf)) - 1, i;

	if (count > max)
		abort();
	memset(node, 0, size);
	head->eh_magic = htole16(EXT3_EXT_MAGIC);
	head->eh_entries = htole16((uint16_t)count);
	head->eh_max = htole16((uint16_t)max);
	head->eh_depth = htole16((uint16_t)depth);
	for (i = 0; i < count; i++) {
		if (depth) {
			index[i].ei_block = htole32(i);
			index[i].ei_leaf = htole32((uint32_t)blocks[i]);
		} else {
			leaf[i].ee_block = htole32(i);
			leaf[i].ee_len = htole16(1);
			leaf[i].ee_start = htole32((uint32_t)blocks[i]);
		}
	}
}

struct ext2_inode *tiny_inode_at(struct tiny_fs *fs, uint32_t ino)
{
	uint32_t group = (ino - 1) / fs->geo.inodes_per_group;
	uint32_t index = (ino - 1) % fs->geo.inodes_per_group;
	unsigned char *table = tiny_block(fs, fs->groups[group].inode_table);

	return (struct ext2_inode *)(table +
				     (size_t)index * fs->geo.inode_size);
}

void tiny_inode(struct tiny_fs *fs, uint32_t ino, unsigned mode,
		unsigned depth, const uint64_t *blocks, unsigned count)
{
	struct ext2_inode *inode = tiny_inode_at(fs, ino);

	memset(inode, 0, sizeof(*inode));
	inode->i_mode = htole16((uint16_t)(mode | 0644));
	inode->i_links_count = htole16(1);
	inode->i_size = htole32(fs->geo.block_size);
	if (!count)
		return;
	inode->i_flags = htole32(EXT4_EXTENTS_FL);
	put_node(inode->i_block, sizeof(inode->i_block), depth, blocks, count);
}

void tiny_node(struct tiny_fs *fs, uint64_t block, unsigned depth,
	       const uint64_t *blocks, unsigned count)
{
	put_node(tiny_block(fs, block), fs->geo.block_size, depth, blocks,
		 count);
}
