/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of tree blocks, with one bit for each place ("slot") of a filesystem
 * where a block can be.  Pages of bits are allocated when they are first used:
 * 1 TiB of metadata in blocks of 16 KiB takes 8 MiB.
 *
 * e2pf_slot_set_add() may be called from any thread.
 */
#ifndef E2PF_BTRFS_SLOT_SET_H
#define E2PF_BTRFS_SLOT_SET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Slots per word, words per page. */
#define E2PF_SLOTS_WORD 64u
#define E2PF_SLOTS_WORDS 512u

struct e2pf_slot_set {
	uint64_t pages;			/* that there could be */
	_Atomic(uint64_t) used;		/* that were allocated */
	_Atomic(_Atomic(uint64_t) *) *page;
};

/* Make an empty set of slots 0 to slots - 1.  Returns false if memory runs
 * out. */
bool e2pf_slot_set_init(struct e2pf_slot_set *set, uint64_t slots);
void e2pf_slot_set_free(struct e2pf_slot_set *set);

/* Add a slot.  Returns false if it was in the set already, or if there is no
 * room for it. */
bool e2pf_slot_set_add(struct e2pf_slot_set *set, uint64_t slot);

#endif
