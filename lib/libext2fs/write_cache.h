/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The write-back cache of the unix I/O manager, for a manager that must not
 * be told from it.
 *
 * What is in this cache can be seen from outside: a write that fails does so
 * when its block leaves, a program that dies takes with it what has not left,
 * a block in it hides what was written past it, and libext2fs adds the bytes
 * that have left to the superblock (s_kbytes_written).  So the same blocks
 * stay and leave here as there, in the same order, with the same errors.  A
 * filter over the unix manager that serves reads from the mapping cannot do
 * that: the place a block has among the eight, and with it the order of a
 * flush, follows from the reads that the filter would keep to itself.
 *
 * An io_channel serves for its block_size, flags, write_error and as what is
 * passed to the callbacks.  In a cache with `threads` set all functions but
 * init and free may be called by several threads at once; the callbacks read
 * and write_error then are called without the lock, write partly with it.
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
	int32_t used;		/* clock at the last use */
	bool in_use;
	bool dirty;
	bool failed;		/* could not be written, not yet told */
};

/*
 * Reads and writes past the cache, `count` blocks from `block` on or -count
 * bytes.  Return 0 or the error.  read calls channel->read_error if that is
 * set and fails; write calls channel->write_error only if `may_tell`.
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
	bool off;		/* "cache=off", all go past it */
	bool threads;
	bool drops_clean;	/* `forget` is of clean blocks as well */
	unsigned long long hits, misses;	/* of looking for a block */
	pthread_mutex_t mutex;
};

/*
 * An empty cache for the channel's block size.  Returns 0 or
 * EXT2_ET_NO_MEMORY, then there is nothing to free.
 */
errcode_t e2pf_cache_init(struct e2pf_write_cache *cache,
			  const io_channel channel,
			  const struct e2pf_cache_io *io, bool threads);

/* What is dirty is lost: flush before. */
void e2pf_cache_free(struct e2pf_write_cache *cache);

/*
 * read_blk64 and write_blk64 of the unix manager: `count` blocks, or -count
 * bytes.  Either may have to make room for a block and fail to write the one
 * that leaves.  channel->write_error is told then, and what it answers has no
 * effect: the block that left is lost, and without a write_error stays.  The
 * read returns the error.  The write returns 0 and does not store its block,
 * and write_error is told 0 for the error.  (With CHANNEL_FLAGS_WRITETHROUGH
 * the write was done before, and both are what it returned.)
 */
errcode_t e2pf_cache_read(struct e2pf_write_cache *cache, io_channel channel,
			  unsigned long long block, int count, void *buf);
errcode_t e2pf_cache_write(struct e2pf_write_cache *cache, io_channel channel,
			   unsigned long long block, int count,
			   const void *buf);

/*
 * Write all that is dirty.  `forget` also drops those blocks, and the others
 * only with `drops_clean`, which is set between e2pf_cache_init() and the
 * first use.
 * Returns 0 or the error of the last block that failed; channel->write_error
 * is told that one for each of them, and what it answers has no effect.
 */
errcode_t e2pf_cache_flush(struct e2pf_write_cache *cache, io_channel channel,
			   bool forget);

/*
 * Flush, then begin anew with blocks of `size` bytes and set the channel's
 * block size.  Returns the error of the flush, or EXT2_ET_NO_MEMORY; then the
 * size is what it was.
 */
errcode_t e2pf_cache_set_block_size(struct e2pf_write_cache *cache,
				    io_channel channel, int size);

/* Flush and go past the cache from now on, whatever the flush returns, or go
 * on with what is in it. */
errcode_t e2pf_cache_set_off(struct e2pf_write_cache *cache,
			     io_channel channel, bool off);

#endif
