/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <ext2fs/ext2fs.h>

#include "io_table.h"

/* Results that no other operation of the table below has. */
enum { IS_READ = 1, IS_READAHEAD };

static errcode_t probe_read(io_channel channel, unsigned long long block,
			    int count, void *data)
{
	(void)channel, (void)block, (void)count, (void)data;
	return IS_READ;
}

static errcode_t probe_readahead(io_channel channel, unsigned long long block,
				 unsigned long long count)
{
	(void)channel, (void)block, (void)count;
	return IS_READAHEAD;
}

/* Where an operation is absent, the library returns an error for a block of more than
 * 32 bits. */
bool e2pf_io_table_is_ours(void)
{
	struct struct_io_manager table = {
		.magic = EXT2_ET_MAGIC_IO_MANAGER, .read_blk64 = probe_read,
		.cache_readahead = probe_readahead
	};
	struct struct_io_channel channel = {
		.magic = EXT2_ET_MAGIC_IO_CHANNEL, .manager = &table,
		.block_size = 1024
	};
	unsigned long long block = 1ULL << 32;

	return io_channel_read_blk64(&channel, block, 0, NULL) == IS_READ &&
	       io_channel_cache_readahead(&channel, block, 0) == IS_READAHEAD;
}
