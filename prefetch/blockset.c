/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A set of blocks, hashed, with linear probing.  Does not know what the
 * blocks are for. */
#include <sys/mman.h>

#include "blockset.h"

#define BITS 64u

/* Entries whose keys are so near have neighbouring homes: metadata lies
 * together, and so takes few pages. */
#define NEAR 64u

struct pf_block_entry {
	uint64_t key;			/* block / BITS + 1; 0: free */
	uint64_t bits;
};

/* FIRST_ENTRIES take 16 KiB: the hash spreads entries over all pages, so
 * those that are not needed would be in memory, too. */
#define FIRST_ENTRIES 1024u

static struct pf_block_entry *map_entries(size_t entries)
{
	void *mem = mmap(NULL, entries * sizeof(struct pf_block_entry),
			 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static void unmap_entries(struct pf_blockset *set)
{
	if (set->entry)
		munmap(set->entry, set->entries * sizeof(*set->entry));
}

void pf_blockset_reset(struct pf_blockset *set, size_t bytes)
{
	size_t max_entries = NEAR, entries;

	unmap_entries(set);
	/* A power of two. */
	while (max_entries * 2 * sizeof(*set->entry) <= bytes)
		max_entries *= 2;
	entries = max_entries < FIRST_ENTRIES ? max_entries : FIRST_ENTRIES;
	*set = (struct pf_blockset) { .entry = NULL };
	if (bytes)
		set->entry = map_entries(entries);
	if (set->entry) {
		set->entries = entries;
		set->max_entries = max_entries;
	}
}

/* At most three quarters of the entries are used. */
static bool is_full(const struct pf_blockset *set, size_t entries)
{
	return set->used >= entries / 4 * 3;
}

bool pf_blockset_is_full(const struct pf_blockset *set)
{
	return is_full(set, set->max_entries);
}

static size_t home_of(const struct pf_blockset *set, uint64_t key)
{
	uint64_t mixed = key / NEAR * UINT64_C(0x9e3779b97f4a7c15) >> 20;

	return (size_t)(mixed * NEAR + key % NEAR) & (set->entries - 1);
}

/* The key's entry, or the free one where it would be. */
static struct pf_block_entry *entry_of(const struct pf_blockset *set,
				       uint64_t key)
{
	size_t i = home_of(set, key);

	while (set->entry[i].key && set->entry[i].key != key)
		i = (i + 1) & (set->entries - 1);
	return &set->entry[i];
}

bool pf_blockset_has(const struct pf_blockset *set, uint64_t block)
{
	return set->used &&
	       entry_of(set, block / BITS + 1)->bits >> block % BITS & 1;
}

/* Free an entry, and move those up that it kept from their home. */
static void free_entry(struct pf_blockset *set, size_t hole)
{
	size_t mask = set->entries - 1, i = hole;

	set->used--;
	for (;;) {
		i = (i + 1) & mask;
		if (!set->entry[i].key)
			break;
		if (((i - home_of(set, set->entry[i].key)) & mask) >=
		    ((i - hole) & mask)) {
			set->entry[hole] = set->entry[i];
			hole = i;
		}
	}
	set->entry[hole] = (struct pf_block_entry){ 0, 0 };
}

/* Twice as many entries.  If memory is short the set keeps its size. */
static void grow(struct pf_blockset *set)
{
	struct pf_blockset old = *set;
	size_t i;

	set->entry = map_entries(old.entries * 2);
	if (!set->entry) {
		set->entry = old.entry;
		set->max_entries = old.entries;
		return;
	}
	set->entries = old.entries * 2;
	for (i = 0; i < old.entries; i++)
		if (old.entry[i].key)
			*entry_of(set, old.entry[i].key) = old.entry[i];
	unmap_entries(&old);
}

static uint64_t add_bits(struct pf_blockset *set, uint64_t key, uint64_t bits)
{
	struct pf_block_entry *entry;
	uint64_t added = (uint64_t)__builtin_popcountll(bits);

	if (!set->entry)
		return added;
	entry = entry_of(set, key);
	if (!entry->key && is_full(set, set->entries)) {
		if (set->entries < set->max_entries)
			grow(set);
		if (is_full(set, set->entries))
			return added;
		entry = entry_of(set, key);
	}
	added = (uint64_t)__builtin_popcountll(bits & ~entry->bits);
	set->used += !entry->key;
	entry->key = key;
	entry->bits |= bits;
	set->size += added;
	return added;
}

static uint64_t remove_bits(struct pf_blockset *set, uint64_t key,
			    uint64_t bits)
{
	struct pf_block_entry *entry = entry_of(set, key);
	uint64_t removed = entry->bits & bits;

	entry->bits &= ~removed;
	if (removed && !entry->bits)
		free_entry(set, (size_t)(entry - set->entry));
	set->size -= (uint64_t)__builtin_popcountll(removed);
	return (uint64_t)__builtin_popcountll(removed);
}

static uint64_t for_bits(struct pf_blockset *set, uint64_t block,
			 uint64_t count,
			 uint64_t (*apply)(struct pf_blockset *, uint64_t key,
					   uint64_t bits))
{
	uint64_t n = 0;

	while (count) {
		uint64_t first = block % BITS, len = BITS - first, bits;

		if (len > count)
			len = count;
		bits = len < BITS ? (UINT64_C(1) << len) - 1 : UINT64_MAX;
		n += apply(set, block / BITS + 1, bits << first);
		block += len;
		count -= len;
	}
	return n;
}

uint64_t pf_blockset_add(struct pf_blockset *set, uint64_t block,
			 uint64_t count)
{
	return for_bits(set, block, count, add_bits);
}

uint64_t pf_blockset_remove(struct pf_blockset *set, uint64_t block,
			    uint64_t count)
{
	return set->used ? for_bits(set, block, count, remove_bits) : 0;
}
