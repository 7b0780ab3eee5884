/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of the mmap I/O manager share: a channel's private data, and
 * what is read and written past the cache (mmap_transfer.c).
 */
#ifndef E2PF_MMAP_IO_H
#define E2PF_MMAP_IO_H

#include <pthread.h>

#include "e2prefetch.h"
#include "mapping.h"
#include "write_cache.h"

struct e2pf_mmap_data {
	unsigned magic;
	int fd;
	int flags;		/* IO_FLAG_* */
	ext2_loff_t offset;	/* of the filesystem, bytes */
	bool remembers;		/* what cannot be zeroed or discarded */
	bool write_all;		/* a write has failed: skip none any more */
	struct e2pf_mapping mapping;
	struct e2pf_write_cache cache;
	/* Of libext2fs 1.47.3, that of earlier ones being a part of it. */
	struct {
		int num_fields;
		int reserved;
		unsigned long long bytes_read;
		unsigned long long bytes_written;
		unsigned long long cache_hits;
		unsigned long long cache_misses;
	} stats;
	pthread_mutex_t stats_lock;
	pthread_mutex_t seek_lock;	/* the descriptor's position */
};

/* With IO_FLAG_THREADS only; otherwise one thread uses the channel. */
void e2pf_mmap_lock(const struct e2pf_mmap_data *data,
		    pthread_mutex_t *mutex);
void e2pf_mmap_unlock(const struct e2pf_mmap_data *data,
		      pthread_mutex_t *mutex);

/* Byte position of a block; wraps as it does in the unix manager, where the
 * kernel then refuses the negative offset. */
ext2_loff_t e2pf_mmap_position(const io_channel channel,
			       const struct e2pf_mmap_data *data,
			       unsigned long long block);

/* After a failed write or flush the page cache may hold what the disk does
 * not: a rewrite of the same must go out again. */
void e2pf_mmap_skip_no_more(struct e2pf_mmap_data *data);

/* What the cache does not have, and what leaves it or never was in it. */
extern const struct e2pf_cache_io e2pf_mmap_past_cache;

#endif
