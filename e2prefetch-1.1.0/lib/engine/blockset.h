/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of blocks, stored as runs, for blocks that were read ahead and not used
 * yet.
 *
 * The device is divided into chunks of 65,536 blocks.  An empty chunk costs one
 * pointer (512 KiB in all for 16 TiB of 4 KiB blocks), and a run in it 4 bytes.
 * The memory for runs is capped: blocks that do not fit are not recorded, and
 * if a run cannot be split, its shorter part is removed as well.  Memory of
 * emptied chunks is reused.  Adding and removing do not use the heap.
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

/* Create a set for blocks 0 to blocks - 1 whose runs take at most `cap` bytes.
 * NULL when out of memory. */
struct e2pf_blockset *e2pf_blockset_new(uint64_t blocks, size_t cap);
void e2pf_blockset_free(struct e2pf_blockset *set);

/* Add blocks.  Returns how many were added that were not in the set.  If that
 * is less than e2pf_blockset_missing() returned before, the others had no
 * room. */
uint64_t e2pf_blockset_add(struct e2pf_blockset *set, uint64_t block,
			   uint64_t count);

/* Remove blocks.  Returns how many of them were in the set. */
uint64_t e2pf_blockset_remove(struct e2pf_blockset *set, uint64_t block,
			      uint64_t count);

/* How many of these blocks are in the set. */
uint64_t e2pf_blockset_count(const struct e2pf_blockset *set, uint64_t block,
			     uint64_t count);

/* How many of these blocks are on the device and not in the set. */
uint64_t e2pf_blockset_missing(const struct e2pf_blockset *set, uint64_t block,
			       uint64_t count);

/* Find the first run at or after *block: sets *block to its start and returns
 * its length, which ends at the chunk's end at the latest.  Returns 0 if there
 * is none. */
uint64_t e2pf_blockset_next(const struct e2pf_blockset *set, uint64_t *block);

/* The device is divided into areas of `size` blocks, a power of two up to
 * E2PF_BLOCKSET_CHUNK: how many of them have blocks in the set, from `block`
 * on. */
uint64_t e2pf_blockset_areas(const struct e2pf_blockset *set, uint64_t block,
			     uint32_t size);

/* Number of blocks in the set. */
uint64_t e2pf_blockset_size(const struct e2pf_blockset *set);

void e2pf_blockset_clear(struct e2pf_blockset *set);

#endif
