/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the files of the mmap I/O manager: a channel's private data, and
 * the functions that read and write past the cache (mmap_transfer.c).
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
	ext2_loff_t offset;	/* of the filesystem, in bytes */
	bool remembers;		/* that zeroing or discarding has failed */
	bool write_all;		/* a write has failed: skip no more writes */
	struct e2pf_mapping mapping;
	struct e2pf_write_cache cache;
	/* The statistics of libext2fs 1.47.3.  Those of earlier versions are
	 * the first part of them. */
	struct {
		int num_fields;
		int reserved;
		unsigned long long bytes_read;
		unsigned long long bytes_written;
		unsigned long long cache_hits;
		unsigned long long cache_misses;
	} stats;
	pthread_mutex_t stats_lock;
	pthread_mutex_t seek_lock;	/* protects the descriptor's position */
};

/* Lock only with IO_FLAG_THREADS; otherwise one thread uses the channel. */
void e2pf_mmap_lock(const struct e2pf_mmap_data *data,
		    pthread_mutex_t *mutex);
void e2pf_mmap_unlock(const struct e2pf_mmap_data *data,
		      pthread_mutex_t *mutex);

/* The byte position of a block.  It overflows as in the unix manager; the
 * kernel then refuses the negative offset. */
ext2_loff_t e2pf_mmap_position(const io_channel channel,
			       const struct e2pf_mmap_data *data,
			       unsigned long long block);

/* Stop skipping writes.  After a failed write or flush the page cache may hold
 * data that the disk does not, so writing the same data again must reach the
 * disk. */
void e2pf_mmap_skip_no_more(struct e2pf_mmap_data *data);

/* Reads and writes that bypass the cache or that it makes itself. */
extern const struct e2pf_cache_io e2pf_mmap_past_cache;

#endif
