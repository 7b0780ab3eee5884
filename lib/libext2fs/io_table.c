/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Lets the library call the operations of tables with a probe in one place. */
#include <ext2fs/ext2fs.h>
#include <stddef.h>
#include <string.h>

#include "mmap_io.h"

/* The table as an array of words; magic and name are the first two. */
typedef void (*operation)(void) __attribute__((may_alias));
#define SLOTS (sizeof(struct struct_io_manager) / sizeof(operation))
#define HEAD 2
#define SLOT(member) \
	(offsetof(struct struct_io_manager, member) / sizeof(operation))

/* The library returns the result of the operation that it calls. */
enum { PROBE = 1, OTHER };

static errcode_t probe(void)
{
	return PROBE;
}

static errcode_t other(void)
{
	return OTHER;
}

/* Whether the library calls this place for a read, or for a readahead. */
static bool calls(unsigned slot, bool reads)
{
	const errcode_t magic = EXT2_ET_MAGIC_IO_MANAGER;
	operation table[SLOTS] = { NULL };
	struct struct_io_channel channel = {
		.magic = EXT2_ET_MAGIC_IO_CHANNEL,
		.manager = (io_manager)(void *)table, .block_size = 1024
	};
	char block[1];
	unsigned i;

	memcpy(table, &magic, sizeof(magic));
	for (i = HEAD; i < SLOTS; i++)
		table[i] = i == slot ? (operation)probe : (operation)other;
	return (reads ? io_channel_read_blk64(&channel, 1, 0, block) :
		io_channel_cache_readahead(&channel, 1, 0)) == PROBE;
}

bool e2pf_io_table_is_ours(void)
{
	return calls(SLOT(read_blk64), true) &&
	       calls(SLOT(cache_readahead), false);
}
