/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A set of blocks as sorted arrays of runs, one for each 65,536 blocks.  Does
 * not know what the blocks are for.
 *
 * The checker's thread removes blocks, and its heap must stay as it would be
 * without the engine: memory comes from slabs of the set's own.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "blockset.h"

#define CHUNK_BITS 16
#define CHUNK_BLOCKS E2PF_BLOCKSET_CHUNK
_Static_assert(CHUNK_BLOCKS == 1u << CHUNK_BITS, "the bits of a chunk");

/* Blocks start to last of a chunk, inclusive. */
struct run {
	uint16_t start;
	uint16_t last;
};

/* An array of runs begins with eight and doubles, up to one for every second
 * block: then adding or removing one takes 3 us, as it moves up to 128 KiB. */
#define LEAST_RUNS 8u
#define SIZES 13u
_Static_assert(LEAST_RUNS << (SIZES - 1) == CHUNK_BLOCKS / 2,
	       "sizes of an array");

#define SLAB_BYTES ((size_t)1 << 18)

struct slab {
	struct slab *next;
};

struct chunk {
	uint32_t used;		/* runs */
	uint32_t room;		/* for so many */
	struct run run[];
};

/* A free chunk, in a list of its size. */
struct spare {
	struct spare *next;
};

struct e2pf_blockset {
	struct slab *slab;
	size_t left;			/* bytes free at the end of the first
					   slab */
	struct spare *spare[SIZES];
	struct chunk **chunk;
	uint64_t chunks;
	uint64_t blocks;
	uint64_t size;
	size_t cap;
	size_t memory;
};

struct e2pf_blockset *e2pf_blockset_new(uint64_t blocks, size_t cap)
{
	struct e2pf_blockset *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->blocks = blocks;
	set->chunks = (blocks + CHUNK_BLOCKS - 1) >> CHUNK_BITS;
	set->cap = cap;
	if (set->chunks <= SIZE_MAX / sizeof(*set->chunk))
		set->chunk = calloc(set->chunks ? set->chunks : 1,
				    sizeof(*set->chunk));
	if (!set->chunk) {
		free(set);
		return NULL;
	}
	return set;
}

static size_t size_of(unsigned size)
{
	return sizeof(struct chunk) +
	       ((size_t)LEAST_RUNS << size) * sizeof(struct run);
}

/* The size class for an array of `room` runs. */
static unsigned size_for(uint32_t room)
{
	unsigned size = 0;

	while (LEAST_RUNS << size < room)
		size++;
	return size;
}

static bool add_slab(struct e2pf_blockset *set)
{
	struct slab *slab = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (slab == MAP_FAILED)
		return false;
	slab->next = set->slab;
	set->slab = slab;
	set->left = SLAB_BYTES - sizeof(*slab);
	return true;
}

/* Uninitialized memory for a chunk of this room; NULL when there is none. */
static struct chunk *take_chunk(struct e2pf_blockset *set, uint32_t room)
{
	unsigned size = size_for(room);
	struct spare *spare = set->spare[size];

	if (spare) {
		set->spare[size] = spare->next;
		return (struct chunk *)(void *)spare;
	}
	if (set->left < size_of(size) && !add_slab(set))
		return NULL;
	set->left -= size_of(size);
	return (struct chunk *)(void *)((char *)set->slab + SLAB_BYTES -
					set->left - size_of(size));
}

static void give_back(struct e2pf_blockset *set, struct chunk *c)
{
	unsigned size = size_for(c->room);
	struct spare *spare = (struct spare *)(void *)c;

	spare->next = set->spare[size];
	set->spare[size] = spare;
}

void e2pf_blockset_clear(struct e2pf_blockset *set)
{
	struct slab *slab;
	uint64_t i;

	/* Do not write to pages of pointers that were never used. */
	for (i = 0; i < set->chunks; i++)
		if (set->chunk[i])
			set->chunk[i] = NULL;
	memset(set->spare, 0, sizeof(set->spare));
	while ((slab = set->slab)) {
		set->slab = slab->next;
		munmap(slab, SLAB_BYTES);
	}
	set->left = 0;
	set->memory = 0;
	set->size = 0;
}

void e2pf_blockset_free(struct e2pf_blockset *set)
{
	if (!set)
		return;
	e2pf_blockset_clear(set);
	free(set->chunk);
	free(set);
}

uint64_t e2pf_blockset_size(const struct e2pf_blockset *set)
{
	return set->size;
}

/* The first run that does not end before `block`. */
static uint32_t find_run(const struct chunk *c, uint32_t block)
{
	uint32_t lo = 0, hi = c->used;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (c->run[mid].last < block)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static uint32_t overlap(const struct run *r, uint32_t first, uint32_t last)
{
	uint32_t a = r->start > first ? r->start : first;
	uint32_t b = r->last < last ? r->last : last;

	return a <= b ? b - a + 1 : 0;
}

static uint32_t count_in_chunk(const struct chunk *c, uint32_t first,
			       uint32_t last)
{
	uint32_t n = 0, i;

	if (!c)
		return 0;
	for (i = find_run(c, first); i < c->used && c->run[i].start <= last;
	     i++)
		n += overlap(&c->run[i], first, last);
	return n;
}

/* Make room for one more run.  False when there is no memory for that. */
static bool reserve(struct e2pf_blockset *set, uint64_t number)
{
	struct chunk *old = set->chunk[number], *c;
	uint32_t room = old ? old->room : 0, used = old ? old->used : 0;
	size_t more;

	if (used < room)
		return true;
	more = room ? room : LEAST_RUNS;
	more = more * sizeof(struct run) + (old ? 0 : sizeof(*c));
	if (set->memory + more > set->cap)
		return false;
	room += room ? room : LEAST_RUNS;
	c = take_chunk(set, room);
	if (!c)
		return false;
	c->used = used;
	c->room = room;
	if (old) {
		memcpy(c->run, old->run, used * sizeof(struct run));
		give_back(set, old);
	}
	set->chunk[number] = c;
	set->memory += more;
	return true;
}

/* Replace runs i to j - 1 by `n` runs (0 to 2); there must be room. */
static void splice(struct chunk *c, uint32_t i, uint32_t j,
		   const struct run *with, uint32_t n)
{
	memmove(&c->run[i + n], &c->run[j],
		(c->used - j) * sizeof(struct run));
	memcpy(&c->run[i], with, n * sizeof(struct run));
	c->used = c->used - (j - i) + n;
}

static uint32_t add_in_chunk(struct e2pf_blockset *set, uint64_t number,
			     uint32_t first, uint32_t last)
{
	struct chunk *c = set->chunk[number];
	uint32_t i = 0, j = 0, had = count_in_chunk(c, first, last);
	struct run merged = {
		.start = (uint16_t)first,
		.last = (uint16_t)last
	};

	/* Merge the new run with those that it touches or overlaps. */
	if (c)
		i = find_run(c, first ? first - 1 : 0);
	for (j = i; c && j < c->used && c->run[j].start <= last + 1; j++) {
		if (c->run[j].start < merged.start)
			merged.start = c->run[j].start;
		if (c->run[j].last > merged.last)
			merged.last = c->run[j].last;
	}
	if (i == j && !reserve(set, number))
		return 0;
	splice(set->chunk[number], i, j, &merged, 1);
	return last - first + 1 - had;
}

/* The parts of runs i to j - 1 that remain after removing first to last. */
static uint32_t remains(const struct chunk *c, uint32_t i, uint32_t j,
			uint32_t first, uint32_t last, struct run keep[2])
{
	uint32_t n = 0;

	if (c->run[i].start < first) {
		keep[n].start = c->run[i].start;
		keep[n++].last = (uint16_t)(first - 1);
	}
	if (c->run[j - 1].last > last) {
		keep[n].start = (uint16_t)(last + 1);
		keep[n++].last = c->run[j - 1].last;
	}
	return n;
}

/* Memory of an emptied chunk is reused. */
static void free_if_empty(struct e2pf_blockset *set, uint64_t number)
{
	struct chunk *c = set->chunk[number];

	if (c->used)
		return;
	set->memory -= size_of(size_for(c->room));
	set->chunk[number] = NULL;
	give_back(set, c);
}

/* Blocks are removed from the middle of a run, and there is no memory for
 * another run: also remove the shorter of the two parts that remain. */
static void forget_shorter(struct e2pf_blockset *set, struct run keep[2])
{
	uint32_t a = keep[0].last - keep[0].start + 1;
	uint32_t b = keep[1].last - keep[1].start + 1;

	if (a < b)
		keep[0] = keep[1];
	set->size -= a < b ? a : b;
}

static void remove_runs(struct e2pf_blockset *set, uint64_t number,
			uint32_t first, uint32_t last)
{
	struct chunk *c = set->chunk[number];
	struct run keep[2] = { 0 };
	uint32_t i = find_run(c, first), j, n;

	for (j = i; j < c->used && c->run[j].start <= last; j++)
		;
	n = remains(c, i, j, first, last, keep);
	/* A hole inside one run splits it in two. */
	if (n > j - i && !reserve(set, number)) {
		forget_shorter(set, keep);
		n = 1;
	}
	splice(set->chunk[number], i, j, keep, n);
}

static uint32_t remove_in_chunk(struct e2pf_blockset *set, uint64_t number,
				uint32_t first, uint32_t last)
{
	uint32_t had = count_in_chunk(set->chunk[number], first, last);

	if (!had)
		return 0;
	remove_runs(set, number, first, last);
	free_if_empty(set, number);
	return had;
}

typedef uint32_t (*chunk_op)(struct e2pf_blockset *, uint64_t number,
			     uint32_t first, uint32_t last);

static uint64_t for_chunks(struct e2pf_blockset *set, uint64_t block,
			   uint64_t count, chunk_op op)
{
	uint64_t n = 0;

	if (block >= set->blocks)
		return 0;
	if (count > set->blocks - block)
		count = set->blocks - block;
	while (count) {
		uint32_t first = block & (CHUNK_BLOCKS - 1);
		uint64_t len = CHUNK_BLOCKS - first;

		if (len > count)
			len = count;
		n += op(set, block >> CHUNK_BITS, first,
			(uint32_t)(first + len - 1));
		block += len;
		count -= len;
	}
	return n;
}

uint64_t e2pf_blockset_add(struct e2pf_blockset *set, uint64_t block,
			   uint64_t count)
{
	uint64_t n = for_chunks(set, block, count, add_in_chunk);

	set->size += n;
	return n;
}

uint64_t e2pf_blockset_remove(struct e2pf_blockset *set, uint64_t block,
			      uint64_t count)
{
	uint64_t n = for_chunks(set, block, count, remove_in_chunk);

	set->size -= n;
	return n;
}

static uint32_t count_op(struct e2pf_blockset *set, uint64_t number,
			 uint32_t first, uint32_t last)
{
	return count_in_chunk(set->chunk[number], first, last);
}

uint64_t e2pf_blockset_count(const struct e2pf_blockset *set, uint64_t block,
			     uint64_t count)
{
	/* count_op() changes nothing. */
	return for_chunks((struct e2pf_blockset *)set, block, count, count_op);
}

uint64_t e2pf_blockset_missing(const struct e2pf_blockset *set, uint64_t block,
			       uint64_t count)
{
	if (block >= set->blocks)
		return 0;
	if (count > set->blocks - block)
		count = set->blocks - block;
	return count - e2pf_blockset_count(set, block, count);
}

/* In one chunk, moves *first to the start of a run and returns its length; 0 if
 * there is none. */
static uint32_t next_in_chunk(const struct chunk *c, uint32_t *first)
{
	uint32_t i;

	i = find_run(c, *first);
	if (i == c->used)
		return 0;
	if (c->run[i].start > *first)
		*first = c->run[i].start;
	return c->run[i].last - *first + 1u;
}

uint64_t e2pf_blockset_next(const struct e2pf_blockset *set, uint64_t *block)
{
	uint64_t number = *block >> CHUNK_BITS;
	uint32_t first = *block & (CHUNK_BLOCKS - 1), n;

	for (; number < set->chunks; number++, first = 0) {
		const struct chunk *c = set->chunk[number];

		n = c ? next_in_chunk(c, &first) : 0;
		if (!n)
			continue;
		*block = (number << CHUNK_BITS) + first;
		return n;
	}
	return 0;
}

static uint32_t areas_in_chunk(const struct chunk *c, uint32_t first,
			       uint32_t size)
{
	uint32_t i = find_run(c, first), n = 0, next = 0;

	for (; i < c->used; i++) {
		uint32_t from = c->run[i].start, to = c->run[i].last / size;

		from = (from > first ? from : first) / size;
		from = from > next ? from : next;
		if (to < from)
			continue;
		n += to - from + 1;
		next = to + 1;
	}
	return n;
}

uint64_t e2pf_blockset_areas(const struct e2pf_blockset *set, uint64_t block,
			     uint32_t size)
{
	uint64_t number = block >> CHUNK_BITS, n = 0;
	uint32_t first = block & (CHUNK_BLOCKS - 1);

	for (; number < set->chunks; number++, first = 0)
		if (set->chunk[number])
			n += areas_in_chunk(set->chunk[number], first, size);
	return n;
}
