/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of blocks, kept as runs: what was read ahead and not yet used.
 *
 * The device is cut into chunks of 65,536 blocks; a chunk that holds nothing
 * costs one pointer (512 KiB in all for 16 TiB of 4 KiB blocks), a run in it
 * 4 bytes, and all of its runs 8 KiB at most: more of them become a bit array.
 * The memory of the runs is capped; what does not fit is not recorded, and a
 * hole that does not fit takes the shorter part of its run with it.  What a chunk
 * had that becomes empty is another one's.  Adding and taking out use no heap.
 *
 * Not safe from two threads at once: the owner locks.
 */
#ifndef E2PF_BLOCKSET_H
#define E2PF_BLOCKSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Blocks of a chunk. */
#define E2PF_BLOCKSET_CHUNK 65536u

struct e2pf_blockset;

/* A set for blocks 0 to blocks - 1 whose runs take at most `cap` bytes.
 * NULL when there is no memory. */
struct e2pf_blockset *e2pf_blockset_new(uint64_t blocks, size_t cap);
void e2pf_blockset_free(struct e2pf_blockset *set);

/* Add blocks; the number of them that were not in the set and now are.  Less
 * than e2pf_blockset_missing() said before means no room for the others. */
uint64_t e2pf_blockset_add(struct e2pf_blockset *set, uint64_t block,
			   uint64_t count);

/* Take blocks out; the number of them that were in the set. */
uint64_t e2pf_blockset_remove(struct e2pf_blockset *set, uint64_t block,
			      uint64_t count);

/* How many of these blocks are in the set. */
uint64_t e2pf_blockset_count(const struct e2pf_blockset *set, uint64_t block,
			     uint64_t count);

/* How many of these blocks lie on the device and are not in the set. */
uint64_t e2pf_blockset_missing(const struct e2pf_blockset *set, uint64_t block,
			       uint64_t count);

/* The first run at or behind *block: moves *block to its start and returns
 * its length, which ends with a chunk.  0 when there is none. */
uint64_t e2pf_blockset_next(const struct e2pf_blockset *set, uint64_t *block);

/* Blocks in the set. */
uint64_t e2pf_blockset_size(const struct e2pf_blockset *set);

void e2pf_blockset_clear(struct e2pf_blockset *set);

#endif
