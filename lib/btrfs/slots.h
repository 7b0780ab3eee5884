/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of tree blocks, one bit each, for all the places ("slots") of a
 * filesystem where one can lie.  Pages of bits are allocated as they are used:
 * metadata of 1 TiB in blocks of 16 KiB takes 8 MiB.
 *
 * Adding and looking are safe from any thread.
 */
#ifndef E2PF_BTRFS_SLOTS_H
#define E2PF_BTRFS_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Slots of a word, words of a page. */
#define E2PF_SLOTS_WORD 64u
#define E2PF_SLOTS_WORDS 512u

struct e2pf_slots {
	uint64_t pages;			/* there could be */
	_Atomic(uint64_t) used;		/* there are */
	_Atomic(_Atomic(uint64_t) *) *page;
	uint32_t *index;		/* numbers of used pages, in order */
	uint64_t indexed;
};

/* An empty set of slots 0 to slots - 1.  False without memory. */
bool e2pf_slots_init(struct e2pf_slots *set, uint64_t slots);
void e2pf_slots_free(struct e2pf_slots *set);

/* Add a slot.  False when it was there, or there is no room for it. */
bool e2pf_slots_add(struct e2pf_slots *set, uint64_t slot);

bool e2pf_slots_has(const struct e2pf_slots *set, uint64_t slot);

/*
 * The words there may be something in, in order: their number, and each.  The
 * number is found out by one thread at a time, while nobody adds; a word by
 * any.  *first is the first slot of the word.
 */
uint64_t e2pf_slots_words(struct e2pf_slots *set);
uint64_t e2pf_slots_word(const struct e2pf_slots *set, uint64_t word,
			 uint64_t *first);

#endif
