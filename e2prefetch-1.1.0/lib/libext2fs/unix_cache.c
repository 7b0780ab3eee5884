/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cache of libext2fs's unix manager without its blocks. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <ext2fs/ext2fs.h>

#include "unix_cache.h"

/* Larger reads are not cached. */
#define MOST_CACHED 4

/* Find a block and mark it as used now. */
static bool find(struct e2pf_unix_cache *c, unsigned long long block)
{
	unsigned i;

	for (i = 0; i < c->filled; i++)
		if (c->at[i].block == block) {
			c->at[i].used = (int32_t)++c->clock;
			c->hits++;
			return true;
		}
	c->misses++;
	return false;
}

/* Into the next free place, or else that of the least recently used block. */
static void keep(struct e2pf_unix_cache *c, unsigned long long block)
{
	unsigned i, place = 0;

	if (find(c, block))
		return;
	for (i = 1; i < c->filled; i++)
		if (c->at[i].used < c->at[place].used)
			place = i;
	if (c->filled < E2PF_UNIX_CACHE_BLOCKS)
		place = c->filled++;
	c->at[place].block = block;
	c->at[place].used = (int32_t)++c->clock;
}

void e2pf_unix_cache_read(struct e2pf_unix_cache *c, unsigned long long block,
			  int count, int size)
{
	if (count < 0 || count > MOST_CACHED) {
		c->bytes_read += count < 0 ?
			(unsigned long long)-(long long)count :
			(unsigned long long)count * (unsigned)size;
		return;
	}
	while (count > 0) {
		int i, missing = 1;

		if (find(c, block)) {
			block++;
			count--;
			continue;
		}
		/* The blocks up to the next cached one are read at once. */
		while (missing < count && !find(c, block + (unsigned)missing))
			missing++;
		for (i = 0; i < missing; i++)
			keep(c, block++);
		count -= missing;
		c->bytes_read += (unsigned long long)missing * (unsigned)size;
	}
}

void e2pf_unix_cache_reset(struct e2pf_unix_cache *c)
{
	c->filled = 0;
	c->clock = 0;
}

/* First in the order of their places, then in that of their use. */
unsigned e2pf_unix_cache_list(const struct e2pf_unix_cache *c,
			unsigned long long list[2 * E2PF_UNIX_CACHE_BLOCKS])
{
	unsigned i, j;

	for (i = 0; i < c->filled; i++) {
		unsigned earlier = 0;

		for (j = 0; j < c->filled; j++)
			earlier += c->at[j].used < c->at[i].used;
		list[i] = c->at[i].block;
		list[c->filled + earlier] = c->at[i].block;
	}
	return 2 * c->filled;
}

/* The trial: reads of 20 blocks, then as many writes as there are places.  The
 * channel is read-only, so a flush reports each block that it cannot write. */

#define TRIAL_READS 300
#define TRIAL_BLOCKS 20u
#define TRIAL_BS 1024

struct order {
	unsigned count;
	unsigned long block[E2PF_UNIX_CACHE_BLOCKS];
};

static errcode_t note(io_channel channel, unsigned long block, int count,
		      const void *data, size_t size, int actual,
		      errcode_t error)
{
	struct order *order = channel->app_data;

	(void)count;
	(void)data;
	(void)size;
	(void)actual;
	if (order->count < E2PF_UNIX_CACHE_BLOCKS)
		order->block[order->count] = block;
	order->count++;
	return error;
}

static bool is_alike(io_channel channel, struct order *order)
{
	static char buf[MOST_CACHED * TRIAL_BS];
	struct e2pf_unix_cache c = { 0 };
	uint32_t i, random = 1;

	for (i = 0; i < TRIAL_READS; i++) {
		uint32_t block, count;

		random = random * 1664525u + 1013904223u;
		block = (random >> 8) % TRIAL_BLOCKS;
		count = 1 + (random >> 24) % MOST_CACHED;
		e2pf_unix_cache_read(&c, block, (int)count, TRIAL_BS);
		if (unix_io_manager->read_blk64(channel, block, (int)count,
						buf))
			return false;
	}
	for (i = 0; i < E2PF_UNIX_CACHE_BLOCKS; i++) {
		keep(&c, TRIAL_BLOCKS + i);
		unix_io_manager->write_blk64(channel, TRIAL_BLOCKS + i, 1,
					     buf);
	}
	if (order->count)
		return false;
	unix_io_manager->flush(channel);
	for (i = 0; i < c.filled; i++)
		if (order->block[i] != c.at[i].block)
			return false;
	return order->count == c.filled;
}

bool e2pf_unix_cache_is_known(void)
{
	struct order order = { 0 };
	io_channel channel;
	bool alike;

	if (unix_io_manager->open("/dev/zero", 0, &channel))
		return false;
	channel->app_data = &order;
	channel->write_error = note;
	alike = is_alike(channel, &order);
	unix_io_manager->close(channel);
	return alike;
}
