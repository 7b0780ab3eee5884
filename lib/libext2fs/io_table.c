/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the operations in a manager's table by letting the library call them in
 * tables in which one place after the other has a probe function.
 */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "io_table.h"

/* The words before the first operation: magic and name. */
#define HEAD 2

/* How often the probe was called, and any other place.  Protected by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned probed, others;

static errcode_t probe(void)
{
	probed++;
	return 0;
}

static errcode_t other(void)
{
	others++;
	return 0;
}

enum call { READ, READAHEAD };

/* Let the library use a table with the probe at one place, and nothing at
 * another. */
static void make_call(enum call call, unsigned place, unsigned without)
{
	const errcode_t magic = EXT2_ET_MAGIC_IO_MANAGER;
	e2pf_slot table[E2PF_SLOTS] = { NULL };
	struct struct_io_channel channel;
	char block[1];
	unsigned i;

	memcpy(table, &magic, sizeof(magic));
	for (i = HEAD; i < E2PF_SLOTS; i++)
		table[i] = i == without ? NULL : i == place ?
			   (e2pf_slot)probe : (e2pf_slot)other;
	memset(&channel, 0, sizeof(channel));
	channel.magic = EXT2_ET_MAGIC_IO_CHANNEL;
	channel.manager = (io_manager)(void *)table;
	channel.block_size = 1024;
	probed = others = 0;
	if (call == READ)
		io_channel_read_blk64(&channel, 1, 0, block);
	else
		io_channel_cache_readahead(&channel, 1, 0);
}

/* The position that the library calls, or 0. */
static unsigned find(enum call call, unsigned without)
{
	unsigned i;

	for (i = HEAD; i < E2PF_SLOTS; i++) {
		make_call(call, i, without);
		if (probed == 1 && !others)
			return i;
	}
	return 0;
}

bool e2pf_io_table_find(struct e2pf_io_table *slots)
{
	pthread_mutex_lock(&lock);
	slots->read64 = find(READ, 0);
	/* If the 64-bit operation is missing, the library calls the 32-bit
	 * one. */
	slots->read32 = slots->read64 ? find(READ, slots->read64) : 0;
	slots->readahead = find(READAHEAD, 0);
	pthread_mutex_unlock(&lock);
	return slots->read64 && slots->read32 && slots->readahead;
}

#define PLACE(member) \
	(offsetof(struct struct_io_manager, member) / sizeof(e2pf_slot))

bool e2pf_io_table_is_ours(void)
{
	struct e2pf_io_table slots;

	return e2pf_io_table_find(&slots) &&
	       slots.read64 == PLACE(read_blk64) &&
	       slots.read32 == PLACE(read_blk) &&
	       slots.readahead == PLACE(cache_readahead);
}
