/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set of blocks, hashed, with linear probing.  Does not know what the
 * blocks are for. */
#include <sys/mman.h>

#include "blockset.h"

#define BITS 64u

/* Entries whose keys are so near have neighbouring homes: metadata lies
 * together, and so takes few pages. */
#define NEAR 64u

struct e2pf_block_entry {
	uint64_t key;			/* block / BITS + 1; 0: free */
	uint64_t bits;
};

void e2pf_blockset_clear(struct e2pf_blockset *set, size_t bytes)
{
	size_t entries = NEAR;
	void *mem = MAP_FAILED;

	if (set->entry)
		munmap(set->entry, set->entries * sizeof(*set->entry));
	/* A power of two. */
	while (entries * 2 * sizeof(*set->entry) <= bytes)
		entries *= 2;
	if (bytes)
		mem = mmap(NULL, entries * sizeof(*set->entry),
			   PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*set = (struct e2pf_blockset) { .entry = NULL };
	if (mem != MAP_FAILED) {
		set->entry = mem;
		set->entries = entries;
	}
}

/* At most three quarters of the entries are used. */
bool e2pf_blockset_is_full(const struct e2pf_blockset *set)
{
	return set->used >= set->entries / 4 * 3;
}

static size_t home(const struct e2pf_blockset *set, uint64_t key)
{
	uint64_t mixed = key / NEAR * UINT64_C(0x9e3779b97f4a7c15) >> 20;

	return (size_t)(mixed * NEAR + key % NEAR) & (set->entries - 1);
}

/* The key's entry, or the free one where it would be. */
static struct e2pf_block_entry *entry_of(const struct e2pf_blockset *set,
					 uint64_t key)
{
	size_t i = home(set, key);

	while (set->entry[i].key && set->entry[i].key != key)
		i = (i + 1) & (set->entries - 1);
	return &set->entry[i];
}

/* Free an entry, and move those up that it kept from their home. */
static void free_entry(struct e2pf_blockset *set, size_t hole)
{
	size_t mask = set->entries - 1, i = hole;

	set->used--;
	for (;;) {
		i = (i + 1) & mask;
		if (!set->entry[i].key)
			break;
		if (((i - home(set, set->entry[i].key)) & mask) >=
		    ((i - hole) & mask)) {
			set->entry[hole] = set->entry[i];
			hole = i;
		}
	}
	set->entry[hole] = (struct e2pf_block_entry){ 0, 0 };
}

static uint64_t add_bits(struct e2pf_blockset *set, uint64_t key, uint64_t bits)
{
	struct e2pf_block_entry *entry;
	uint64_t added = (uint64_t)__builtin_popcountll(bits);

	if (!set->entry)
		return added;
	entry = entry_of(set, key);
	if (!entry->key && e2pf_blockset_is_full(set))
		return added;
	added = (uint64_t)__builtin_popcountll(bits & ~entry->bits);
	set->used += !entry->key;
	entry->key = key;
	entry->bits |= bits;
	set->size += added;
	return added;
}

static uint64_t remove_bits(struct e2pf_blockset *set, uint64_t key,
			    uint64_t bits)
{
	struct e2pf_block_entry *entry = entry_of(set, key);
	uint64_t removed = entry->bits & bits;

	entry->bits &= ~removed;
	if (removed && !entry->bits)
		free_entry(set, (size_t)(entry - set->entry));
	set->size -= (uint64_t)__builtin_popcountll(removed);
	return (uint64_t)__builtin_popcountll(removed);
}

static uint64_t for_bits(struct e2pf_blockset *set, uint64_t block,
			 uint64_t count,
			 uint64_t (*apply)(struct e2pf_blockset *, uint64_t key,
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

uint64_t e2pf_blockset_add(struct e2pf_blockset *set, uint64_t block,
			   uint64_t count)
{
	return for_bits(set, block, count, add_bits);
}

uint64_t e2pf_blockset_remove(struct e2pf_blockset *set, uint64_t block,
			      uint64_t count)
{
	return set->used ? for_bits(set, block, count, remove_bits) : 0;
}
