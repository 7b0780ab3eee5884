/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A set of blocks: those that were read ahead and not used yet.  It is hashed, with 64
 * blocks an entry, in memory of its own, which grows up to a limit.  Blocks that find no
 * room are not recorded.  Removing does not allocate, because the checker's thread
 * removes blocks, and its heap must stay as it would be without the engine.  The owner
 * locks the set.
 */
#ifndef PREFETCH_BLOCKSET_H
#define PREFETCH_BLOCKSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: an empty set, which has room for nothing. */
struct pf_blockset {
	struct pf_block_entry *entry;
	size_t entries, used;
	size_t max_entries;		/* limit of `entries` */
	uint64_t size;			/* number of blocks in it */
};

/* Empty the set, and let it grow to `bytes` of memory; 0: free all of it. */
void pf_blockset_reset(struct pf_blockset *set, size_t bytes);

/* Add blocks.  Returns how many of them were not in the set, whether or not
 * they have found room. */
uint64_t pf_blockset_add(struct pf_blockset *set, uint64_t block,
			 uint64_t count);

/* Remove blocks.  Returns how many of them were in the set. */
uint64_t pf_blockset_remove(struct pf_blockset *set, uint64_t block,
			    uint64_t count);

bool pf_blockset_has(const struct pf_blockset *set, uint64_t block);

/* Returns true if blocks may find no room. */
bool pf_blockset_is_full(const struct pf_blockset *set);

#endif
