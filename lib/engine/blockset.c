/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A set of blocks, hashed, with linear probing.  Does not know what the
 * blocks are for. */
#include <stdlib.h>
#include <sys/mman.h>

#include "blockset.h"

#define BITS 64u

/* The entries are a power of two, this at first, and at most three quarters of
 * them are used. */
#define LEAST_ENTRIES 256u

struct entry {
	uint64_t key;			/* block / BITS + 1; 0: free */
	uint64_t bits;
};

struct e2pf_blockset {
	struct entry *entry;
	size_t entries, used;
	size_t cap;			/* of entries */
	uint64_t size;
};

struct e2pf_blockset *e2pf_blockset_new(void)
{
	return calloc(1, sizeof(struct e2pf_blockset));
}

void e2pf_blockset_clear(struct e2pf_blockset *set, size_t cap)
{
	if (set->entry)
		munmap(set->entry, set->entries * sizeof(*set->entry));
	set->entry = NULL;
	set->entries = set->used = 0;
	set->size = 0;
	set->cap = cap / sizeof(struct entry);
}

void e2pf_blockset_free(struct e2pf_blockset *set)
{
	if (!set)
		return;
	e2pf_blockset_clear(set, 0);
	free(set);
}

uint64_t e2pf_blockset_size(const struct e2pf_blockset *set)
{
	return set->size;
}

static size_t limit(size_t entries)
{
	return entries / 4 * 3;
}

bool e2pf_blockset_is_full(const struct e2pf_blockset *set)
{
	size_t next = set->entries ? set->entries * 2 : LEAST_ENTRIES;

	return set->used >= limit(set->entries) && next > set->cap;
}

static size_t home(const struct e2pf_blockset *set, uint64_t key)
{
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
	       (set->entries - 1);
}

/* The key's entry, or the free one where it would be. */
static struct entry *look_up(const struct e2pf_blockset *set, uint64_t key)
{
	size_t i = home(set, key);

	while (set->entry[i].key && set->entry[i].key != key)
		i = (i + 1) & (set->entries - 1);
	return &set->entry[i];
}

static bool grow(struct e2pf_blockset *set)
{
	size_t old_entries = set->entries, i;
	struct entry *old = set->entry;
	void *mem;

	if (e2pf_blockset_is_full(set))
		return false;
	set->entries = old_entries ? old_entries * 2 : LEAST_ENTRIES;
	mem = mmap(NULL, set->entries * sizeof(*old), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED) {
		set->entries = old_entries;
		return false;
	}
	set->entry = mem;
	for (i = 0; old && i < old_entries; i++)
		if (old[i].key)
			*look_up(set, old[i].key) = old[i];
	if (old)
		munmap(old, old_entries * sizeof(*old));
	return true;
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
	set->entry[hole] = (struct entry){ 0, 0 };
}

static uint64_t add_bits(struct e2pf_blockset *set, uint64_t key, uint64_t bits)
{
	struct entry *entry = set->entry ? look_up(set, key) : NULL;
	uint64_t added;

	if (entry && entry->key) {
		added = bits & ~entry->bits;
		entry->bits |= bits;
	} else {
		added = bits;
		if (set->used >= limit(set->entries) && !grow(set))
			return (uint64_t)__builtin_popcountll(added);
		entry = look_up(set, key);
		*entry = (struct entry){ key, bits };
		set->used++;
	}
	set->size += (uint64_t)__builtin_popcountll(added);
	return (uint64_t)__builtin_popcountll(added);
}

static uint64_t remove_bits(struct e2pf_blockset *set, uint64_t key,
			    uint64_t bits)
{
	struct entry *entry = look_up(set, key);
	uint64_t removed = entry->key ? entry->bits & bits : 0;

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
