/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides in which order the blocks that several files claim are read ahead of
 * pass 1D: in the order of the files that claim them first, each block once.
 * All other claimants find it in memory.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdbool.h>
#include <stdlib.h>

#include "bitmaps.h"
#include "clones.h"

/* The number of blocks that are kept: 4 GiB to be cloned, 16 MiB of memory.
 * What follows is not read ahead. */
#define MOST_CLONES (1u << 20)

/* The number of blocks passed to the engine at a time. */
#define PART 4096u

struct clone {
	uint64_t block;
	uint64_t place;		/* in the order of the clones */
};

static struct {
	struct clone *clone;	/* by place; once begun, by block */
	uint64_t *order;	/* once begun: blocks by place */
	size_t count, room;
	bool begun;
} self;

void clones_forget(void)
{
	free(self.clone);
	free(self.order);
	self.clone = NULL;
	self.order = NULL;
	self.count = self.room = 0;
	self.begun = false;
}

void clones_add(uint64_t block)
{
	struct clone *more;

	if (!block || !bitmaps_is_claimed(block) || self.begun ||
	    self.count == MOST_CLONES)
		return;
	if (self.count == self.room) {
		size_t room = self.room ? self.room * 2 : 1024;

		more = realloc(self.clone, room * sizeof(*more));
		if (!more)
			return;
		self.clone = more;
		self.room = room;
	}
	self.clone[self.count] = (struct clone){ block, self.count };
	self.count++;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_block(const void *one, const void *other)
{
	const struct clone *a = one, *b = other;
	int order = compare(a->block, b->block);

	return order ? order : compare(a->place, b->place);
}

static int by_place(const void *one, const void *other)
{
	const struct clone *a = one, *b = other;

	return compare(a->place, b->place);
}

/* Keep the first of the entries for the same block. */
static void drop_repeated(void)
{
	size_t i, n = 0;

	qsort(self.clone, self.count, sizeof(*self.clone), by_block);
	for (i = 0; i < self.count; i++)
		if (!n || self.clone[i].block != self.clone[n - 1].block)
			self.clone[n++] = self.clone[i];
	self.count = n;
}

static void begin(struct e2pf_ext4 *ext4, struct e2pf_engine *engine)
{
	size_t i;

	self.begun = true;
	self.order = self.count ? calloc(self.count, sizeof(*self.order)) :
				  NULL;
	if (!self.order) {
		self.count = 0;
		return;
	}
	drop_repeated();
	qsort(self.clone, self.count, sizeof(*self.clone), by_place);
	for (i = 0; i < self.count; i++) {
		self.order[i] = self.clone[i].block;
		self.clone[i].place = i;
	}
	qsort(self.clone, self.count, sizeof(*self.clone), by_block);
	e2pf_ext4_clones_begin(ext4, engine, self.count);
}

static int is_of_block(const void *block, const void *clone)
{
	return compare(*(const uint64_t *)block,
		       ((const struct clone *)clone)->block);
}

static const struct clone *find(uint64_t block)
{
	return self.count ? bsearch(&block, self.clone, self.count,
				    sizeof(*self.clone), is_of_block) : NULL;
}

static void hand_over(struct e2pf_ext4 *ext4, struct e2pf_engine *engine)
{
	uint64_t first, n = e2pf_ext4_list_wants(ext4, engine, &first);

	for (; n; n -= n < PART ? n : PART, first += PART)
		e2pf_ext4_list_put(ext4, engine, self.order + first,
				   n < PART ? n : PART);
}

void clones_at(struct e2pf_ext4 *ext4, struct e2pf_engine *engine,
	       uint64_t block)
{
	const struct clone *clone;

	/* The last file that still claims a block keeps it. */
	if (!bitmaps_is_claimed(block))
		return;
	if (!self.begun)
		begin(ext4, engine);
	clone = find(block);
	if (!clone)
		return;
	e2pf_ext4_list_at(ext4, engine, clone->place);
	hand_over(ext4, engine);
}
