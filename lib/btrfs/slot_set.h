/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of tree blocks, with one bit for each place ("slot") of a filesystem
 * where a block can be.  The kernel gives memory to what is used of it: 1 TiB
 * of metadata in blocks of 16 KiB takes at most 8 MiB.
 *
 * e2pf_slot_set_add() may be called from any thread.
 */
#ifndef E2PF_BTRFS_SLOT_SET_H
#define E2PF_BTRFS_SLOT_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

struct e2pf_slot_set {
	uint64_t slots;
	_Atomic(uint64_t) *word;	/* of 64 slots each */
};

/* Make an empty set of slots 0 to slots - 1.  Returns false if memory runs
 * out; then nothing can be added. */
static inline bool e2pf_slot_set_init(struct e2pf_slot_set *set, uint64_t slots)
{
	set->word = calloc((size_t)(slots / 64 + 1), sizeof(*set->word));
	set->slots = set->word ? slots : 0;
	return set->word;
}

static inline void e2pf_slot_set_free(struct e2pf_slot_set *set)
{
	free(set->word);
	*set = (struct e2pf_slot_set) { .word = NULL };
}

/* Add a slot.  Returns false if it was in the set already, or if there is no
 * such slot. */
static inline bool e2pf_slot_set_add(struct e2pf_slot_set *set, uint64_t slot)
{
	uint64_t bit = UINT64_C(1) << slot % 64;

	return slot < set->slots &&
	       !(atomic_fetch_or(&set->word[slot / 64], bit) & bit);
}

#endif
