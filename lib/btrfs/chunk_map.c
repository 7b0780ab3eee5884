/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The chunk map: lookup of chunks by address, and the numbering of slots. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "chunk_map.h"

/* Metadata chunks are 256 MiB or more on all but the smallest filesystems, so
 * this is 16 TiB of metadata. */
#define CHUNKS_MOST 65536u

/* The number of blocks of the chunk tree that are read: those of so many chunks in
 * nodes of 4 KiB. */
#define TREE_BLOCKS 4096u

/* The maximum number of slots; blocks beyond it are not planned. */
#define SLOTS_MOST (UINT64_C(1) << 33)

struct map_chunk {
	struct e2pf_btrfs_layout layout;
	size_t stripe;			/* index of its first stripe */
	uint64_t slot;			/* its first slot */
	uint64_t slots;
};

struct map_stripe {
	uint64_t offset;
	uint8_t device;
};

/* A stripe of a chunk, for lookup by device and offset. */
struct map_place {
	uint64_t offset;
	uint32_t chunk;
	uint8_t stripe;			/* index within the chunk */
	uint8_t device;
};

void e2pf_chunk_map_init(struct e2pf_chunk_map *map,
			 const struct e2pf_btrfs_super *super,
			 const struct e2pf_btrfs_device *devices,
			 unsigned device_count)
{
	memset(map, 0, sizeof(*map));
	map->devices = devices;
	map->device_count = device_count;
	map->nodesize = super->nodesize;
	map->sectorsize = super->sectorsize;
}

void e2pf_chunk_map_free(struct e2pf_chunk_map *map)
{
	free(map->chunk);
	free(map->stripe);
	free(map->place);
	map->place = NULL;
	map->places = 0;
	map->chunk = NULL;
	map->stripe = NULL;
	map->count = map->room = map->stripes = map->stripe_room = 0;
}

static uint8_t find_device(const struct e2pf_chunk_map *map,
			   const struct e2pf_btrfs_stripe *stripe)
{
	unsigned i;

	for (i = 0; i < map->device_count; i++)
		if (map->devices[i].devid == stripe->devid &&
		    !memcmp(map->devices[i].uuid, stripe->device_uuid,
			    E2PF_BTRFS_UUID))
			return (uint8_t)i;
	return E2PF_BTRFS_NO_DEVICE;
}

void e2pf_chunk_map_add(struct e2pf_chunk_map *map,
			const struct e2pf_btrfs_chunk *chunk)
{
	const struct e2pf_btrfs_layout *l = &chunk->layout;
	uint64_t bytes = e2pf_btrfs_stripe_bytes(l);
	struct map_chunk *to;
	unsigned i;

	if (!l->metadata || map->count >= CHUNKS_MOST ||
	    !e2pf_have_room((void **)&map->chunk, &map->room, map->count, 1,
		       sizeof(*map->chunk)) ||
	    !e2pf_have_room((void **)&map->stripe, &map->stripe_room, map->stripes,
		       l->stripes, sizeof(*map->stripe)))
		return;
	to = &map->chunk[map->count++];
	memset(to, 0, sizeof(*to));
	to->layout = *l;
	to->stripe = map->stripes;
	to->slots = (l->length + map->nodesize - 1) / map->nodesize;
	for (i = 0; i < l->stripes; i++) {
		const struct e2pf_btrfs_stripe *s = &chunk->stripe[i];
		struct map_stripe *stripe = &map->stripe[map->stripes++];

		stripe->offset = s->offset;
		stripe->device = find_device(map, s);
		if (s->offset % map->sectorsize ||
		    s->offset > UINT64_MAX - bytes)
			stripe->device = E2PF_BTRFS_NO_DEVICE;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct map_chunk *x = a, *y = b;

	if (x->layout.logical != y->layout.logical)
		return x->layout.logical < y->layout.logical ? -1 : 1;
	return x->stripe < y->stripe ? -1 : x->stripe > y->stripe;
}

/* Number the slots in the order of addresses, in which the check walks the
 * leaves of a tree.  A chunk that would exceed the maximum has none. */
static void number_slots(struct e2pf_chunk_map *map)
{
	size_t i;

	map->slots = 0;
	for (i = 0; i < map->count; i++) {
		struct map_chunk *c = &map->chunk[i];

		if (c->slots > SLOTS_MOST - map->slots)
			c->slots = 0;
		c->slot = map->slots;
		map->slots += c->slots;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct map_place *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

/* If memory runs out, lookups by device and offset find nothing. */
static void sort_places(struct e2pf_chunk_map *map)
{
	size_t i, n = 0;
	unsigned j;

	free(map->place);
	map->place = calloc(map->stripes + 1, sizeof(*map->place));
	for (i = 0; map->place && i < map->count; i++) {
		const struct map_chunk *c = &map->chunk[i];

		for (j = 0; j < c->layout.stripes; j++)
			map->place[n++] = (struct map_place) {
				.offset = map->stripe[c->stripe + j].offset,
				.device = map->stripe[c->stripe + j].device,
				.chunk = (uint32_t)i,
				.stripe = (uint8_t)j
			};
	}
	map->places = n;
	if (n)
		qsort(map->place, n, sizeof(*map->place), by_place);
}

void e2pf_chunk_map_finish(struct e2pf_chunk_map *map)
{
	size_t i, n = 0;

	if (map->count)
		qsort(map->chunk, map->count, sizeof(*map->chunk), by_address);
	for (i = 1; i < map->count; i++) {
		const struct e2pf_btrfs_layout *last = &map->chunk[n].layout;

		if (map->chunk[i].layout.logical - last->logical >=
		    last->length)
			map->chunk[++n] = map->chunk[i];
	}
	if (map->count)
		map->count = n + 1;
	number_slots(map);
	sort_places(map);
}

/* The walk over the chunk tree. */
struct chunk_walk {
	struct e2pf_chunk_map *map;
	struct e2pf_btrfs_ptr *block;	/* found */
	size_t blocks, room;
};

static void add_chunk(void *ctx, const struct e2pf_btrfs_chunk *chunk)
{
	e2pf_chunk_map_add(((struct chunk_walk *)ctx)->map, chunk);
}

static void add_block(void *ctx, const struct e2pf_btrfs_ptr *ptr)
{
	struct chunk_walk *w = ctx;

	if (w->blocks < TREE_BLOCKS &&
	    e2pf_have_room((void **)&w->block, &w->room, w->blocks, 1,
			   sizeof(*w->block)))
		w->block[w->blocks++] = *ptr;
}

static void walk_tree(struct chunk_walk *w,
		      const struct e2pf_btrfs_super *super,
		      e2pf_chunk_reader read, void *ctx)
{
	/* For direct reads. */
	uint8_t *block = aligned_alloc(4096, super->nodesize);
	struct e2pf_btrfs_ptr ptr;
	size_t i;

	add_block(w, &super->chunk_root);
	for (i = 0; block && i < w->blocks; i++) {
		ptr = w->block[i];
		if (!read(ctx, &ptr, block))
			continue;
		if (ptr.level)
			e2pf_btrfs_plan_node(super, &ptr, block, add_block, w);
		else
			e2pf_btrfs_plan_chunks(super, block, add_chunk, w);
	}
	free(block);
	free(w->block);
}

void e2pf_chunk_map_read(struct e2pf_chunk_map *map,
			 const struct e2pf_btrfs_super *super,
			 const struct e2pf_btrfs_device *devices,
			 unsigned device_count, e2pf_chunk_reader read,
			 void *ctx)
{
	struct e2pf_chunk_map all;
	struct chunk_walk w = { .map = map };

	e2pf_chunk_map_init(map, super, devices, device_count);
	e2pf_chunk_map_init(&all, super, devices, device_count);
	e2pf_btrfs_plan_sys_array(super, add_chunk, &w);
	e2pf_chunk_map_finish(map);
	/* These are known even if the chunk tree is damaged. */
	w.map = &all;
	e2pf_btrfs_plan_sys_array(super, add_chunk, &w);
	walk_tree(&w, super, read, ctx);
	e2pf_chunk_map_finish(&all);
	e2pf_chunk_map_free(map);
	*map = all;
}

/* The chunk that contains this address, or NULL. */
static const struct map_chunk *chunk_of(const struct e2pf_chunk_map *map,
					uint64_t logical)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->chunk[middle].layout.logical <= logical)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || logical - map->chunk[low - 1].layout.logical >=
		    map->chunk[low - 1].layout.length)
		return NULL;
	return &map->chunk[low - 1];
}

/* Find the parts of a block in one copy.  Returns their number, or 0 if one of
 * them is outside the chunk or on no open device. */
static unsigned find_copy(const struct e2pf_chunk_map *map,
			  const struct map_chunk *c, uint64_t offset,
			  unsigned copy, struct e2pf_btrfs_extent *extent)
{
	uint64_t left = map->nodesize;
	unsigned n = 0;

	while (left) {
		struct e2pf_btrfs_place place;
		const struct map_stripe *stripe;

		if (n == E2PF_BTRFS_PARTS || offset >= c->layout.length)
			return 0;
		place = e2pf_btrfs_place(&c->layout, offset, copy);
		stripe = &map->stripe[c->stripe + place.stripe];
		if (stripe->device == E2PF_BTRFS_NO_DEVICE)
			return 0;
		if (place.length > left)
			place.length = left;
		extent[n++] = (struct e2pf_btrfs_extent) {
			.offset = stripe->offset + place.offset,
			.length = (uint32_t)place.length,
			.device = stripe->device
		};
		offset += place.length;
		left -= place.length;
	}
	return n;
}

unsigned e2pf_chunk_map_find(const struct e2pf_chunk_map *map,
			     uint64_t logical,
			     struct e2pf_btrfs_extent
				     extent[E2PF_BTRFS_PARTS])
{
	const struct map_chunk *c = chunk_of(map, logical);
	unsigned copy, n = 0;

	for (copy = 0; c && !n && copy < c->layout.copies; copy++)
		n = find_copy(map, c, logical - c->layout.logical, copy,
			      extent);
	return n;
}

uint64_t e2pf_chunk_map_slot(const struct e2pf_chunk_map *map,
			     uint64_t logical, bool *aligned)
{
	const struct map_chunk *c = chunk_of(map, logical);
	uint64_t offset;

	if (!c || !c->slots)
		return UINT64_MAX;
	offset = logical - c->layout.logical;
	*aligned = offset % map->nodesize == 0;
	return c->slot + offset / map->nodesize;
}

uint64_t e2pf_chunk_map_logical(const struct e2pf_chunk_map *map,
				uint64_t slot)
{
	size_t low = 0, high = map->count;
	const struct map_chunk *c;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->chunk[middle].slot + map->chunk[middle].slots <= slot)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == map->count)
		return 0;
	c = &map->chunk[low];
	return c->layout.logical + (slot - c->slot) * map->nodesize;
}

uint64_t e2pf_chunk_map_address(const struct e2pf_chunk_map *map,
				unsigned device, uint64_t offset)
{
	const struct e2pf_btrfs_layout *l;
	const struct map_place *p;
	size_t low = 0, high = map->places;
	uint64_t at;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		p = &map->place[middle];
		if (p->device < device ||
		    (p->device == device && p->offset <= offset))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return 0;
	p = &map->place[low - 1];
	l = &map->chunk[p->chunk].layout;
	if (p->device != device ||
	    offset - p->offset >= e2pf_btrfs_stripe_bytes(l))
		return 0;
	at = e2pf_btrfs_offset(l, p->stripe, offset - p->offset);
	return at < l->length ? l->logical + at : 0;
}

bool e2pf_chunk_map_in_system(const struct e2pf_chunk_map *map,
			      unsigned device, uint64_t offset)
{
	size_t i;
	unsigned j;

	for (i = 0; i < map->count; i++) {
		const struct map_chunk *c = &map->chunk[i];
		const struct map_stripe *s = &map->stripe[c->stripe];
		uint64_t bytes = e2pf_btrfs_stripe_bytes(&c->layout);

		for (j = 0; c->layout.system && j < c->layout.stripes; j++)
			if (s[j].device == device && offset >= s[j].offset &&
			    offset - s[j].offset < bytes)
				return true;
	}
	return false;
}
