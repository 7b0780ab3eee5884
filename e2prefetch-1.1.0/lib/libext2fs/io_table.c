/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the operations in a manager's table by letting the library call them in
 * a table of probe functions, each of which reveals one bit of its position.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "io_table.h"

/* Bits of a position. */
#define BITS 6

/* The words before the first operation: magic and name. */
#define HEAD 2

_Static_assert(E2PF_SLOTS <= 1u << BITS, "more places than bits tell");

/* How often each of the two probe functions was called.  Protected by the
 * lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned called[2];

static errcode_t trap_0(void)
{
	called[0]++;
	return 0;
}

static errcode_t trap_1(void)
{
	called[1]++;
	return 0;
}

enum call { READ, READAHEAD };

static void make_call(enum call call, io_channel channel)
{
	char block[1];

	if (call == READ)
		io_channel_read_blk64(channel, 1, 0, block);
	else
		io_channel_cache_readahead(channel, 1, 0);
}

/* Fill the table to find one bit.  The position `without` is left empty. */
static void lay(e2pf_slot *table, unsigned bit, unsigned without)
{
	const errcode_t magic = EXT2_ET_MAGIC_IO_MANAGER;
	unsigned i;

	for (i = 0; i < E2PF_SLOTS; i++)
		table[i] = i >> bit & 1 ? (e2pf_slot)trap_1 :
					  (e2pf_slot)trap_0;
	memset(table, 0, HEAD * sizeof(*table));
	memcpy(table, &magic, sizeof(magic));
	if (without)
		table[without] = NULL;
}

/* The position that the library calls, or 0. */
static unsigned find(enum call call, unsigned without)
{
	e2pf_slot table[E2PF_SLOTS];
	struct struct_io_channel channel;
	unsigned bit, slot = 0;

	memset(&channel, 0, sizeof(channel));
	channel.magic = EXT2_ET_MAGIC_IO_CHANNEL;
	channel.manager = (io_manager)(void *)table;
	channel.block_size = 1024;
	for (bit = 0; bit < BITS; bit++) {
		lay(table, bit, without);
		called[0] = called[1] = 0;
		make_call(call, &channel);
		if (called[0] + called[1] != 1)
			return 0;
		slot |= called[1] << bit;
	}
	return slot >= HEAD && slot < E2PF_SLOTS ? slot : 0;
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
