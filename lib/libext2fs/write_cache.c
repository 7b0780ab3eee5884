/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which of eight blocks is evicted, when it is written and who is told
 * of an error.  The least recently used block is evicted; if it is dirty it is
 * then written.  Reads and writes of more than four blocks, or of a number of
 * bytes, flush the cache and bypass it.  Does not know where blocks are written
 * to, and does not look at their contents.
 *
 * Behaves like e2fsprogs 1.46.3 to 1.47.2, including what may be called bugs: a
 * clean block stays in the cache when its place on the disk is written past it,
 * and a write returns 0 if it could not make room in the cache.  1.47.3 has
 * fixed the former (`drops_clean`).
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "write_cache.h"

/* Larger reads and writes are not cached. */
#define MOST_CACHED 4

static void lock(struct e2pf_write_cache *cache)
{
	if (cache->threads)
		pthread_mutex_lock(&cache->mutex);
}

static void unlock(struct e2pf_write_cache *cache)
{
	if (cache->threads)
		pthread_mutex_unlock(&cache->mutex);
}

static bool passes_by(int count)
{
	return count < 0 || count > MOST_CACHED;
}

/* Find a block and mark it as used now.  NULL if it is not cached. */
static struct e2pf_cached_block *find(struct e2pf_write_cache *cache,
				      unsigned long long block)
{
	unsigned i;

	for (i = 0; i < E2PF_CACHED_BLOCKS; i++) {
		struct e2pf_cached_block *b = &cache->blocks[i];

		if (b->in_use && b->block == block) {
			b->used = (int32_t)++cache->clock;
			cache->hits++;
			return b;
		}
	}
	cache->misses++;
	return NULL;
}

/* The first free buffer, or else the least recently used one. */
static struct e2pf_cached_block *find_room(struct e2pf_write_cache *cache)
{
	struct e2pf_cached_block *eldest = NULL;
	unsigned i;

	for (i = 0; i < E2PF_CACHED_BLOCKS; i++) {
		struct e2pf_cached_block *b = &cache->blocks[i];

		if (!b->in_use)
			return b;
		if (!eldest || b->used < eldest->used)
			eldest = b;
	}
	return eldest;
}

static errcode_t write_back(struct e2pf_write_cache *cache,
			    io_channel channel, struct e2pf_cached_block *b)
{
	errcode_t error = cache->io->write(channel, b->block, 1, b->buf,
					   false);

	b->failed = error != 0;
	if (!error)
		b->dirty = false;
	return error;
}

static errcode_t replace(struct e2pf_write_cache *cache, io_channel channel,
			 struct e2pf_cached_block *b,
			 unsigned long long block)
{
	errcode_t error = 0;

	if (b->in_use && b->dirty)
		error = write_back(cache, channel, b);
	if (error)
		return error;
	b->in_use = true;
	b->dirty = false;
	b->failed = false;
	b->block = block;
	b->used = (int32_t)++cache->clock;
	return 0;
}

/*
 * Drop a block that could not be written, and call write_error.  The lock is
 * released during the callback, which may use the channel.  It gets a copy of
 * the block, or NULL if there is no memory for one.
 */
static void drop_and_tell(struct e2pf_write_cache *cache, io_channel channel,
			  struct e2pf_cached_block *b, errcode_t error)
{
	unsigned long long block = b->block;
	size_t size = cache->block_size;
	char *copy = malloc(size);

	if (copy)
		memcpy(copy, b->buf, size);
	b->in_use = false;
	b->dirty = false;
	b->failed = false;
	unlock(cache);
	(void)channel->write_error(channel, (unsigned long)block, 1, copy,
				   size, -1, error);
	free(copy);
	lock(cache);
}

/* A block could not be evicted. */
static void tell(struct e2pf_write_cache *cache, io_channel channel,
		 struct e2pf_cached_block *b, errcode_t error)
{
	if (b->failed && channel->write_error)
		drop_and_tell(cache, channel, b, error);
}

static struct e2pf_cached_block *find_failed(struct e2pf_write_cache *cache)
{
	unsigned i;

	for (i = 0; i < E2PF_CACHED_BLOCKS; i++)
		if (cache->blocks[i].in_use && cache->blocks[i].failed)
			return &cache->blocks[i];
	return NULL;
}

/* Called with the lock held, which is released during callbacks. */
static errcode_t flush_locked(struct e2pf_write_cache *cache,
			      io_channel channel, bool forget)
{
	struct e2pf_cached_block *b;
	errcode_t error, last = 0;
	unsigned i;

	for (i = 0; i < E2PF_CACHED_BLOCKS; i++) {
		b = &cache->blocks[i];
		if (!b->in_use)
			continue;
		if (!b->dirty) {
			b->in_use = !(forget && cache->drops_clean);
			continue;
		}
		error = write_back(cache, channel, b);
		if (error)
			last = error;
		else if (forget)
			b->in_use = false;
	}
	if (!last)
		return 0;
	while ((b = find_failed(cache)) != NULL) {
		if (channel->write_error)
			drop_and_tell(cache, channel, b, last);
		else
			b->failed = false;
	}
	return last;
}

/* The number of blocks from `block` on that are not cached, up to the first one
 * that is. */
static int count_missing(struct e2pf_write_cache *cache,
			 unsigned long long block, int count)
{
	int missing;

	for (missing = 1; missing < count; missing++)
		if (find(cache, block + (unsigned)missing))
			break;
	return missing;
}

/* Another thread may have cached a block while this one read it. */
static errcode_t keep(struct e2pf_write_cache *cache, io_channel channel,
		      unsigned long long block, int count, const char *from)
{
	for (; count > 0; count--, block++, from += cache->block_size) {
		struct e2pf_cached_block *room;
		errcode_t error;

		if (find(cache, block))
			continue;
		room = find_room(cache);
		error = replace(cache, channel, room, block);
		if (error) {
			tell(cache, channel, room, error);
			return error;
		}
		memcpy(room->buf, from, cache->block_size);
	}
	return 0;
}

/* Read the blocks that are not cached, with as few reads as possible. */
static errcode_t read_blocks(struct e2pf_write_cache *cache,
			     io_channel channel, unsigned long long block,
			     int count, char *to)
{
	errcode_t error = 0;

	while (count > 0 && !error) {
		struct e2pf_cached_block *b = find(cache, block);
		int now = 1;

		if (b) {
			memcpy(to, b->buf, cache->block_size);
		} else {
			now = count_missing(cache, block, count);
			unlock(cache);
			error = cache->io->read(channel, block, now, to);
			lock(cache);
			if (!error)
				error = keep(cache, channel, block, now, to);
		}
		block += (unsigned)now;
		count -= now;
		to += (size_t)now * cache->block_size;
	}
	return error;
}

static errcode_t write_blocks(struct e2pf_write_cache *cache,
			      io_channel channel, unsigned long long block,
			      int count, const char *from, bool dirty,
			      errcode_t error)
{
	for (; count > 0; count--, block++, from += cache->block_size) {
		struct e2pf_cached_block *b = find(cache, block);

		if (!b) {
			b = find_room(cache);
			if (replace(cache, channel, b, block)) {
				tell(cache, channel, b, error);
				break;
			}
		}
		memcpy(b->buf, from, cache->block_size);
		b->dirty = dirty;
	}
	return error;
}

static void reset(struct e2pf_write_cache *cache, char *data, size_t size)
{
	unsigned i;

	free(cache->data);
	memset(cache->blocks, 0, sizeof(cache->blocks));
	cache->data = data;
	cache->block_size = size;
	cache->clock = 0;
	for (i = 0; i < E2PF_CACHED_BLOCKS; i++)
		cache->blocks[i].buf = data + i * size;
}

/* malloc(0) may return NULL without having failed. */
static char *allocate(size_t size)
{
	if (size > PTRDIFF_MAX / E2PF_CACHED_BLOCKS)
		return NULL;
	return malloc(size ? size * E2PF_CACHED_BLOCKS : 1);
}

errcode_t e2pf_cache_init(struct e2pf_write_cache *cache,
			  const io_channel channel,
			  const struct e2pf_cache_io *io, bool threads)
{
	size_t size = (size_t)channel->block_size;
	char *data = allocate(size);

	if (!data)
		return EXT2_ET_NO_MEMORY;
	memset(cache, 0, sizeof(*cache));
	cache->io = io;
	cache->threads = threads;
	pthread_mutex_init(&cache->mutex, NULL);
	reset(cache, data, size);
	return 0;
}

void e2pf_cache_free(struct e2pf_write_cache *cache)
{
	pthread_mutex_destroy(&cache->mutex);
	free(cache->data);
	cache->data = NULL;
}

errcode_t e2pf_cache_read(struct e2pf_write_cache *cache, io_channel channel,
			  unsigned long long block, int count, void *buf)
{
	errcode_t error;

	if (cache->off)
		return cache->io->read(channel, block, count, buf);
	if (passes_by(count)) {
		error = e2pf_cache_flush(cache, channel, false);
		return error ? error :
			       cache->io->read(channel, block, count, buf);
	}
	lock(cache);
	error = read_blocks(cache, channel, block, count, buf);
	unlock(cache);
	return error;
}

errcode_t e2pf_cache_write(struct e2pf_write_cache *cache, io_channel channel,
			   unsigned long long block, int count,
			   const void *buf)
{
	bool through = channel->flags & CHANNEL_FLAGS_WRITETHROUGH;
	errcode_t error = 0;

	if (cache->off)
		return cache->io->write(channel, block, count, buf, true);
	if (passes_by(count)) {
		error = e2pf_cache_flush(cache, channel, true);
		return error ? error : cache->io->write(channel, block, count,
							buf, true);
	}
	if (through)
		error = cache->io->write(channel, block, count, buf, true);
	lock(cache);
	error = write_blocks(cache, channel, block, count, buf, !through,
			     error);
	unlock(cache);
	return error;
}

errcode_t e2pf_cache_flush(struct e2pf_write_cache *cache, io_channel channel,
			   bool forget)
{
	errcode_t error;

	lock(cache);
	error = flush_locked(cache, channel, forget);
	unlock(cache);
	return error;
}

errcode_t e2pf_cache_set_block_size(struct e2pf_write_cache *cache,
				    io_channel channel, int size)
{
	errcode_t error;
	char *data;

	if (size == channel->block_size)
		return 0;
	lock(cache);
	error = flush_locked(cache, channel, false);
	if (!error) {
		data = size < 0 ? NULL : allocate((size_t)size);
		if (data) {
			reset(cache, data, (size_t)size);
			channel->block_size = size;
		} else {
			error = EXT2_ET_NO_MEMORY;
		}
	}
	unlock(cache);
	return error;
}

errcode_t e2pf_cache_set_off(struct e2pf_write_cache *cache,
			     io_channel channel, bool off)
{
	errcode_t error = off ? e2pf_cache_flush(cache, channel, false) : 0;

	cache->off = off;
	return error;
}
