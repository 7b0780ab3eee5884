/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which reads the unix I/O manager would have had in its cache. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "unix_count.h"

/* More blocks than this at a time are not cached. */
#define MOST_CACHED 4

static bool passes_by(int count)
{
	return count < 0 || count > MOST_CACHED;
}

static void to_front(struct e2pf_unix_count *c, unsigned from,
		     struct e2pf_unix_block block)
{
	memmove(&c->at[1], &c->at[0], from * sizeof(c->at[0]));
	c->at[0] = block;
}

/* Use a block, if it is there. */
static bool touch(struct e2pf_unix_count *c, unsigned long long block)
{
	unsigned i;

	for (i = 0; i < c->used; i++)
		if (c->at[i].block == block) {
			to_front(c, i, c->at[i]);
			c->hits++;
			return true;
		}
	c->misses++;
	return false;
}

/* In place of the least recently used. */
static void keep(struct e2pf_unix_count *c, unsigned long long block)
{
	if (touch(c, block))
		return;
	if (c->used < E2PF_UNIX_BLOCKS)
		c->used++;
	to_front(c, c->used - 1, (struct e2pf_unix_block) { .block = block });
}

static void clean(struct e2pf_unix_count *c)
{
	unsigned i;

	for (i = 0; i < c->used; i++)
		c->at[i].dirty = false;
}

void e2pf_unix_count_read(struct e2pf_unix_count *c, unsigned long long block,
			  int count, size_t size)
{
	int n, i;

	pthread_mutex_lock(&c->lock);
	if (c->off || passes_by(count)) {
		c->bytes_read += count < 0 ? (size_t)-(long long)count :
					     (size_t)count * size;
		if (!c->off)
			clean(c);
		count = 0;
	}
	for (; count > 0; block += (unsigned)n, count -= n) {
		n = 1;
		if (touch(c, block))
			continue;
		/* Blocks that are missing are read together. */
		while (n < count && !touch(c, block + (unsigned)n))
			n++;
		for (i = 0; i < n; i++)
			keep(c, block + (unsigned)i);
		c->bytes_read += (size_t)n * size;
	}
	pthread_mutex_unlock(&c->lock);
}

static void drop(struct e2pf_unix_count *c)
{
	unsigned i, left = 0;

	for (i = 0; i < c->used; i++)
		if (!c->at[i].dirty && !c->drops_clean)
			c->at[left++] = c->at[i];
	c->used = left;
}

void e2pf_unix_count_write(struct e2pf_unix_count *c,
			   unsigned long long block, int count)
{
	pthread_mutex_lock(&c->lock);
	if (!c->off && passes_by(count))
		drop(c);
	for (; !c->off && !passes_by(count) && count > 0; block++, count--) {
		keep(c, block);
		c->at[0].dirty = true;
	}
	pthread_mutex_unlock(&c->lock);
}

void e2pf_unix_count_flush(struct e2pf_unix_count *c)
{
	pthread_mutex_lock(&c->lock);
	clean(c);
	pthread_mutex_unlock(&c->lock);
}

void e2pf_unix_count_reset(struct e2pf_unix_count *c)
{
	pthread_mutex_lock(&c->lock);
	c->used = 0;
	pthread_mutex_unlock(&c->lock);
}
