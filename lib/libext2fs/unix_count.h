/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the unix I/O manager would have counted if all reads had been its own:
 * e2fsck -tt prints these numbers.  Knows which blocks its cache of eight would
 * hold, and nothing of what is in them.
 *
 * Safe from several threads.
 */
#ifndef E2PF_UNIX_COUNT_H
#define E2PF_UNIX_COUNT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define E2PF_UNIX_BLOCKS 8

struct e2pf_unix_count {
	pthread_mutex_t lock;
	unsigned used;
	/* The least recently used last. */
	struct e2pf_unix_block {
		unsigned long long block;
		bool dirty;
	} at[E2PF_UNIX_BLOCKS];
	bool off;			/* the option cache=off */
	bool drops_clean;		/* as libext2fs 1.47.3: a write that
					   passes the cache by drops all */
	unsigned long long bytes_read, hits, misses;
};

/* A read or a write of `count` blocks of `size` bytes, or of -count bytes. */
void e2pf_unix_count_read(struct e2pf_unix_count *c, unsigned long long block,
			  int count, size_t size);
void e2pf_unix_count_write(struct e2pf_unix_count *c,
			   unsigned long long block, int count);

/* All was written; and other blocks, of another size, come from here on. */
void e2pf_unix_count_flush(struct e2pf_unix_count *c);
void e2pf_unix_count_reset(struct e2pf_unix_count *c);

#endif
