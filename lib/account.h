/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the unix I/O manager would have transferred.
 *
 * libext2fs adds the bytes a channel says it has written to the superblock
 * (s_kbytes_written), and the unix manager counts them when they leave its
 * cache of eight blocks.  A manager that counts otherwise leaves another
 * superblock behind.  So this follows that cache, block numbers without data,
 * and counts as it does as long as what is written can be written.
 *
 * Not safe from two threads at once: the owner locks.
 */
#ifndef E2PF_ACCOUNT_H
#define E2PF_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#define E2PF_ACCOUNT_BLOCKS 8

struct e2pf_account {
	uint64_t bytes_read;
	uint64_t bytes_written;
	uint32_t block_size;
	bool uncached;			/* "cache=off" */
	unsigned clock;
	struct e2pf_account_block {
		unsigned long long block;
		unsigned used;		/* clock at the last use */
		bool in_use;
		bool dirty;
	} cached[E2PF_ACCOUNT_BLOCKS];
};

/*
 * A read or write as libext2fs asks for it: a negative count is bytes.  Of the
 * read, the first `readable` blocks could be had, `count` if all of it: the
 * unix manager reads around what it has, and keeps the parts before the one
 * that fails.
 */
void e2pf_account_read(struct e2pf_account *a, unsigned long long block,
		       int count, int readable);
void e2pf_account_write(struct e2pf_account *a, unsigned long long block,
			int count, bool writethrough);

/* A flush, or the end. */
void e2pf_account_flush(struct e2pf_account *a);

/* A write of single bytes: the cache is emptied for it. */
void e2pf_account_write_byte(struct e2pf_account *a);

/* "cache=off" or "cache=on". */
void e2pf_account_set_uncached(struct e2pf_account *a, bool uncached);

void e2pf_account_set_block_size(struct e2pf_account *a, uint32_t size);

#endif
