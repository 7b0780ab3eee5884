/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Shared by the fuzz targets: takes bytes from the input, in order.  Bytes
 * beyond its end are zero.  And the superblock of a small ext4.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <endian.h>
#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *bytes;
	size_t left;
};

static inline void require(bool true_thing)
{
	if (!true_thing)
		abort();
}

/* A separate allocation, so that a sanitizer catches a read beyond its end. */
static inline uint8_t *take(struct input *in, size_t size)
{
	uint8_t *copy = calloc(1, size ? size : 1);
	size_t have = in->left < size ? in->left : size;

	require(copy);
	if (have)
		memcpy(copy, in->bytes, have);
	in->bytes += have;
	in->left -= have;
	return copy;
}

static inline uint8_t take_byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->bytes++;
}

static inline uint32_t take_number(struct input *in, unsigned bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | take_byte(in);
	return value;
}

/* The last group has `last` blocks, all others `per_group`. */
static inline void make_super(struct ext2_super_block *sb, unsigned log_block,
			      unsigned inode_size, uint32_t groups,
			      uint32_t per_group, uint32_t last)
{
	const uint32_t first = log_block == 0, inodes = 64;

	memset(sb, 0, sizeof(*sb));
	sb->s_magic = htole16(EXT2_SUPER_MAGIC);
	sb->s_rev_level = htole32(1);
	sb->s_log_block_size = sb->s_log_cluster_size = htole32(log_block);
	sb->s_first_data_block = htole32(first);
	sb->s_blocks_per_group = sb->s_clusters_per_group = htole32(per_group);
	sb->s_blocks_count = htole32(first + (groups - 1) * per_group + last);
	sb->s_inodes_per_group = htole32(inodes);
	sb->s_inodes_count = htole32(groups * inodes);
	sb->s_inode_size = htole16((uint16_t)inode_size);
	sb->s_desc_size = htole16(64);
	sb->s_first_ino = htole32(11);
	sb->s_journal_inum = htole32(8);
	sb->s_feature_compat = htole32(EXT2_FEATURE_COMPAT_EXT_ATTR |
				       EXT3_FEATURE_COMPAT_HAS_JOURNAL);
	sb->s_feature_incompat = htole32(EXT3_FEATURE_INCOMPAT_EXTENTS);
}

#endif
