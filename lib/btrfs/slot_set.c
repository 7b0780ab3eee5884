/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The set of tree blocks as pages of bits. */
#include <stdlib.h>
#include <string.h>

#include "slot_set.h"

#define PAGE_SLOTS ((uint64_t)E2PF_SLOTS_WORD * E2PF_SLOTS_WORDS)

/* 64 MiB of bits: 8 TiB of metadata in blocks of 16 KiB. */
#define PAGES_MOST 16384u

bool e2pf_slot_set_init(struct e2pf_slot_set *set, uint64_t slots)
{
	memset(set, 0, sizeof(*set));
	set->pages = slots / PAGE_SLOTS + 1;
	if (set->pages > UINT32_MAX)
		return false;
	set->page = calloc((size_t)set->pages, sizeof(*set->page));
	return set->page;
}

void e2pf_slot_set_free(struct e2pf_slot_set *set)
{
	uint64_t i;

	for (i = 0; set->page && i < set->pages; i++)
		free(atomic_load(&set->page[i]));
	free(set->page);
	memset(set, 0, sizeof(*set));
}

/* The page with this number.  The first thread that needs a page allocates
 * it. */
static _Atomic(uint64_t) *have_page(struct e2pf_slot_set *set, uint64_t number)
{
	_Atomic(uint64_t) *page = atomic_load(&set->page[number]);
	_Atomic(uint64_t) *made;

	if (page)
		return page;
	if (atomic_fetch_add(&set->used, 1) >= PAGES_MOST) {
		atomic_fetch_sub(&set->used, 1);
		return NULL;
	}
	made = calloc(E2PF_SLOTS_WORDS, sizeof(*made));
	if (made && atomic_compare_exchange_strong(&set->page[number], &page,
						   made))
		return made;
	atomic_fetch_sub(&set->used, 1);
	free(made);
	return page;
}

bool e2pf_slot_set_add(struct e2pf_slot_set *set, uint64_t slot)
{
	uint64_t bit = UINT64_C(1) << slot % E2PF_SLOTS_WORD;
	_Atomic(uint64_t) *page;

	if (!set->page || slot / PAGE_SLOTS >= set->pages)
		return false;
	page = have_page(set, slot / PAGE_SLOTS);
	return page && !(atomic_fetch_or(&page[slot % PAGE_SLOTS /
					       E2PF_SLOTS_WORD], bit) & bit);
}
