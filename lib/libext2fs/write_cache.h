/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write-back cache of the unix I/O manager, for a manager that must behave
 * exactly like it.
 *
 * The behaviour of this cache is visible from outside.  A failing write fails
 * when its block is evicted.  A program that dies loses what has not been
 * written back.  A cached block hides what was written past the cache.  And
 * libext2fs adds the bytes written to the superblock (s_kbytes_written).  So
 * this cache keeps and evicts the same blocks in the same order with the same
 * errors.  A filter that serves reads from the mapping, on top of the unix
 * manager, cannot do that: the position of a block among the eight, and so the
 * order of a flush, depends on the reads that the filter would not pass on.
 *
 * Of an io_channel, only block_size, flags and write_error are used; it is also
 * passed to the callbacks.  If `threads` is set, several threads may call all
 * functions but init and free at once.  Then the callbacks `read` and
 * `write_error` are called without the lock, and `write` sometimes with it.
 */
#ifndef E2PF_WRITE_CACHE_H
#define E2PF_WRITE_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>

#define E2PF_CACHED_BLOCKS 8

struct e2pf_cached_block {
	char *buf;
	unsigned long long block;
	int32_t used;		/* clock at its last use */
	bool in_use;
	bool dirty;
	bool failed;		/* writing it failed; not yet reported */
};

/*
 * Reads and writes past the cache, of `count` blocks starting at `block`, or of
 * -count bytes.  Return 0 or the error.  If `read` fails it calls
 * channel->read_error, if that is set.  `write` calls channel->write_error only
 * if `may_tell`.
 */
struct e2pf_cache_io {
	errcode_t (*read)(io_channel channel, unsigned long long block,
			  int count, void *buf);
	errcode_t (*write)(io_channel channel, unsigned long long block,
			   int count, const void *buf, bool may_tell);
};

struct e2pf_write_cache {
	const struct e2pf_cache_io *io;
	struct e2pf_cached_block blocks[E2PF_CACHED_BLOCKS];
	char *data;		/* of all blocks */
	size_t block_size;
	uint32_t clock;
	bool off;		/* "cache=off": everything bypasses the cache */
	bool threads;
	bool drops_clean;	/* `forget` also drops clean blocks */
	unsigned long long hits, misses;	/* of block lookups */
	pthread_mutex_t mutex;
};

/*
 * Make an empty cache for the channel's block size.  Returns 0, or
 * EXT2_ET_NO_MEMORY; then there is nothing to free.
 */
errcode_t e2pf_cache_init(struct e2pf_write_cache *cache,
			  const io_channel channel,
			  const struct e2pf_cache_io *io, bool threads);

/* Free the cache.  Dirty blocks are lost: flush them first. */
void e2pf_cache_free(struct e2pf_write_cache *cache);

/*
 * read_blk64 and write_blk64 of the unix manager: `count` blocks, or -count
 * bytes.  Either may have to evict a block and fail to write that.  Then
 * channel->write_error is called, and its result is ignored: the evicted block
 * is lost.  If there is no write_error, the block stays.  The read returns the
 * error.  The write returns 0, does not store its block, and passes 0 as the
 * error to write_error.  (With CHANNEL_FLAGS_WRITETHROUGH the write itself was
 * done before, and its result is what is returned and passed.)
 */
errcode_t e2pf_cache_read(struct e2pf_write_cache *cache, io_channel channel,
			  unsigned long long block, int count, void *buf);
errcode_t e2pf_cache_write(struct e2pf_write_cache *cache, io_channel channel,
			   unsigned long long block, int count,
			   const void *buf);

/*
 * Write all dirty blocks.  `forget` also drops these blocks; it drops the clean
 * ones only with `drops_clean`, which is set between e2pf_cache_init() and the
 * first use.  Returns 0, or the error of the last block that failed.
 * channel->write_error gets that error for each failed block, and its result is
 * ignored.
 */
errcode_t e2pf_cache_flush(struct e2pf_write_cache *cache, io_channel channel,
			   bool forget);

/*
 * Flush, then start again with blocks of `size` bytes and set the channel's
 * block size.  Returns the error of the flush, or EXT2_ET_NO_MEMORY; then the
 * size is unchanged.
 */
errcode_t e2pf_cache_set_block_size(struct e2pf_write_cache *cache,
				    io_channel channel, int size);

/* If `off`, flush and bypass the cache from now on, even if the flush fails.
 * Otherwise use the cache again, with the blocks that are in it. */
errcode_t e2pf_cache_set_off(struct e2pf_write_cache *cache,
			     io_channel channel, bool off);

#endif
