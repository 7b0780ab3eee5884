/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which blocks the cache of libext2fs's unix manager would hold, and in which
 * of its places, if that manager had made all reads so far.  Nothing of what is
 * in the blocks.
 *
 * The places matter: a flush writes them in their order, and a new block takes
 * the place of the least recently used one.  So the order of writes, and of
 * their errors, depends on the reads before the first write.
 */
#ifndef E2PF_UNIX_CACHE_H
#define E2PF_UNIX_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define E2PF_UNIX_CACHE_BLOCKS 8

struct e2pf_unix_cache {
	unsigned filled;		/* places, the first ones */
	struct {
		unsigned long long block;
		int32_t used;		/* clock at its last use */
	} at[E2PF_UNIX_CACHE_BLOCKS];
	uint32_t clock;
	unsigned long long bytes_read, hits, misses;
};

/* `count` blocks of `size` bytes were read, or -count bytes. */
void e2pf_unix_cache_read(struct e2pf_unix_cache *c, unsigned long long block,
			  int count, int size);

/* The cache is emptied; what was counted stays. */
void e2pf_unix_cache_reset(struct e2pf_unix_cache *c);

/*
 * The blocks to read one by one, so that an empty cache becomes this one.
 * Returns their number.
 */
unsigned e2pf_unix_cache_list(const struct e2pf_unix_cache *c,
			unsigned long long list[2 * E2PF_UNIX_CACHE_BLOCKS]);

/*
 * True if the unix manager of this process caches like this, as that of
 * e2fsprogs 1.46.5 to 1.47.4 does.  It is tried: distributions carry changes,
 * and there will be other versions.  Its table must be the header's.
 */
bool e2pf_unix_cache_is_known(void);

#endif
