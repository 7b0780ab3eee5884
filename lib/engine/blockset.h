/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of blocks: those that were read ahead and not used yet.
 *
 * Hashed, 64 blocks an entry, in memory of its own that grows with its contents up
 * to a cap.  Blocks that then find no room are not recorded.
 * Removing does not allocate: the checker's thread does it, and its heap must
 * stay as it would be without the engine.
 *
 * Not safe from two threads at once: the owner locks.
 */
#ifndef E2PF_BLOCKSET_H
#define E2PF_BLOCKSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct e2pf_blockset;

/* Create an empty set, which has room for nothing.  NULL when out of memory. */
struct e2pf_blockset *e2pf_blockset_new(void);
void e2pf_blockset_free(struct e2pf_blockset *set);

/* Add blocks.  Returns how many of them were not in the set, whether or not
 * they have found room. */
uint64_t e2pf_blockset_add(struct e2pf_blockset *set, uint64_t block,
			   uint64_t count);

/* Remove blocks.  Returns how many of them were in the set. */
uint64_t e2pf_blockset_remove(struct e2pf_blockset *set, uint64_t block,
			      uint64_t count);

/* Number of blocks in the set. */
uint64_t e2pf_blockset_size(const struct e2pf_blockset *set);

/* True if blocks may find no room. */
bool e2pf_blockset_is_full(const struct e2pf_blockset *set);

/* Empty it, and free its memory.  From now on it may take `cap` bytes. */
void e2pf_blockset_clear(struct e2pf_blockset *set, size_t cap);

#endif
