/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The chunk map: lookup of chunks by address, and the numbering of slots. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "chunk_map.h"

/* Metadata chunks are 256 MiB or more on all but the smallest filesystems, so
 * this is 16 TiB of metadata. */
#define CHUNKS_MOST 65536u

/* The number of blocks of the chunk tree that are read: those of so many chunks
 * in nodes of 4 KiB. */
#define TREE_BLOCKS 4096u

/* The maximum number of slots; blocks beyond it are not planned. */
#define SLOTS_MOST (UINT64_C(1) << 33)

/* Used as the index of a device that is not open. */
#define NO_DEVICE 0xffu

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

void e2pf_chunk_map_free(struct e2pf_chunk_map *map)
{
	free(map->chunk);
	free(map->stripe);
	free(map->place);
	memset(map, 0, sizeof(*map));
}

static uint8_t find_device(const struct e2pf_chunk_map *map,
			   const struct e2pf_btrfs_stripe *stripe)
{
	unsigned i;

	for (i = 0; i < map->devices; i++)
		if (map->device[i].devid == stripe->devid &&
		    !memcmp(map->device[i].uuid, stripe->device_uuid,
			    E2PF_BTRFS_UUID))
			return (uint8_t)i;
	return NO_DEVICE;
}

void e2pf_chunk_map_add(void *ctx, const struct e2pf_btrfs_item *item)
{
	struct e2pf_chunk_map *map = ctx;
	struct e2pf_btrfs_chunk chunk;
	const struct e2pf_btrfs_layout *l = &chunk.layout;
	uint64_t bytes;
	unsigned i;

	if (!e2pf_btrfs_plan_chunk(&map->super, item, &chunk) ||
	    !l->metadata || map->added >= CHUNKS_MOST ||
	    !e2pf_have_room((void **)&map->chunk, &map->room, map->added, 1,
			    sizeof(*map->chunk)) ||
	    !e2pf_have_room((void **)&map->stripe, &map->stripe_room,
			    map->stripes, l->stripes, sizeof(*map->stripe)))
		return;
	map->chunk[map->added++] = (struct map_chunk) {
		.layout = *l, .stripe = map->stripes
	};
	bytes = e2pf_btrfs_stripe_bytes(l);
	for (i = 0; i < l->stripes; i++) {
		const struct e2pf_btrfs_stripe *s = &chunk.stripe[i];
		struct map_stripe *stripe = &map->stripe[map->stripes++];

		stripe->offset = s->offset;
		stripe->device = find_device(map, s);
		if (s->offset % map->super.sectorsize ||
		    s->offset > UINT64_MAX - bytes)
			stripe->device = NO_DEVICE;
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
	uint32_t size = map->super.nodesize;
	struct map_chunk *c;

	map->slots = 0;
	for (c = map->chunk; c < map->chunk + map->count; c++) {
		c->slots = (c->layout.length + size - 1) / size;
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

	if (!map->added)
		return;
	qsort(map->chunk, map->added, sizeof(*map->chunk), by_address);
	for (i = 1; i < map->added; i++) {
		const struct e2pf_btrfs_layout *last = &map->chunk[n].layout;

		if (map->chunk[i].layout.logical - last->logical >=
		    last->length)
			map->chunk[++n] = map->chunk[i];
	}
	map->count = map->added = n + 1;
	number_slots(map);
	sort_places(map);
}

/* The blocks of the chunk tree that were found. */
struct chunk_tree {
	struct e2pf_btrfs_node *node;
	size_t nodes, room;
};

static void add_node(void *ctx, const struct e2pf_btrfs_node *node)
{
	struct chunk_tree *t = ctx;

	if (t->nodes < TREE_BLOCKS &&
	    e2pf_have_room((void **)&t->node, &t->room, t->nodes, 1,
			   sizeof(*t->node)))
		t->node[t->nodes++] = *node;
}

void e2pf_chunk_map_make(struct e2pf_chunk_map *map, e2pf_btrfs_reader read,
			 void *ctx)
{
	const struct e2pf_btrfs_super *super = &map->super;
	/* For direct reads. */
	uint8_t *block = aligned_alloc(4096, super->nodesize);
	struct e2pf_btrfs_node node = { .ptr = super->chunk_root };
	struct chunk_tree tree = { .nodes = 0 };
	size_t i;

	/* These are known even if the chunk tree is damaged. */
	e2pf_btrfs_plan_sys_array(super, e2pf_chunk_map_add, map);
	e2pf_chunk_map_finish(map);
	add_node(&tree, &node);
	for (i = 0; block && i < tree.nodes; i++) {
		node = tree.node[i];
		if (!e2pf_chunk_map_read(map, &node.ptr, read, ctx, block))
			continue;
		if (node.ptr.level)
			e2pf_btrfs_plan_node(super, &node, block, add_node,
					     &tree);
		else
			e2pf_btrfs_plan_leaf(super, block, e2pf_chunk_map_add,
					     map);
	}
	free(block);
	free(tree.node);
	e2pf_chunk_map_finish(map);
}

/* The last chunk that begins at this address, or slot, or before. */
static const struct map_chunk *chunk_before(const struct e2pf_chunk_map *map,
					    uint64_t value, bool is_slot)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct map_chunk *c = &map->chunk[middle];

		if ((is_slot ? c->slot : c->layout.logical) <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &map->chunk[low - 1] : NULL;
}

/* The chunk that contains this address, or NULL. */
static const struct map_chunk *chunk_of(const struct e2pf_chunk_map *map,
					uint64_t logical)
{
	const struct map_chunk *c = chunk_before(map, logical, false);

	return c && logical - c->layout.logical < c->layout.length ? c : NULL;
}

/* Find the parts of a block in one copy.  Returns their number, or 0 if one of
 * them is outside the chunk or on no open device. */
static unsigned find_copy(const struct e2pf_chunk_map *map,
			  const struct map_chunk *c, uint64_t offset,
			  unsigned copy, struct e2pf_ref *part)
{
	uint64_t left = map->super.nodesize;
	unsigned n = 0;

	while (left) {
		struct e2pf_btrfs_place place;
		const struct map_stripe *stripe;

		if (n == E2PF_BTRFS_PARTS || offset >= c->layout.length)
			return 0;
		place = e2pf_btrfs_place(&c->layout, offset, copy);
		stripe = &map->stripe[c->stripe + place.stripe];
		if (stripe->device == NO_DEVICE)
			return 0;
		if (place.length > left)
			place.length = left;
		part[n++] = (struct e2pf_ref) {
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
			     struct e2pf_ref part[E2PF_BTRFS_PARTS])
{
	const struct map_chunk *c = chunk_of(map, logical);
	unsigned copy, n = 0;

	for (copy = 0; c && !n && copy < c->layout.copies; copy++)
		n = find_copy(map, c, logical - c->layout.logical, copy, part);
	return n;
}

bool e2pf_chunk_map_fits(const struct e2pf_chunk_map *map,
			 const struct e2pf_btrfs_ptr *ptr, const void *block)
{
	const uint8_t *fsid = e2pf_btrfs_node_fsid(block);
	unsigned i;

	for (i = 0; i < map->devices; i++)
		if (!memcmp(fsid, map->device[i].node_fsid, E2PF_BTRFS_UUID))
			return e2pf_btrfs_fits(&map->super, ptr, block);
	return false;
}

bool e2pf_chunk_map_read(const struct e2pf_chunk_map *map,
			 const struct e2pf_btrfs_ptr *ptr,
			 e2pf_btrfs_reader read, void *ctx, void *block)
{
	struct e2pf_ref part[E2PF_BTRFS_PARTS];
	unsigned n = e2pf_chunk_map_find(map, ptr->logical, part), i;
	uint8_t *at = block;

	for (i = 0; i < n; at += part[i++].length)
		if (read(ctx, &part[i], at))
			return false;
	return n && e2pf_chunk_map_fits(map, ptr, block);
}

uint64_t e2pf_chunk_map_slot(const struct e2pf_chunk_map *map,
			     uint64_t logical)
{
	const struct map_chunk *c = chunk_of(map, logical);
	uint64_t offset;

	if (!c || !c->slots)
		return UINT64_MAX;
	offset = logical - c->layout.logical;
	return offset % map->super.nodesize ? UINT64_MAX :
	       c->slot + offset / map->super.nodesize;
}

uint64_t e2pf_chunk_map_logical(const struct e2pf_chunk_map *map,
				uint64_t slot)
{
	const struct map_chunk *c = chunk_before(map, slot, true);

	return c && slot - c->slot < c->slots ?
	       c->layout.logical + (slot - c->slot) * map->super.nodesize : 0;
}

uint64_t e2pf_chunk_map_address(const struct e2pf_chunk_map *map,
				unsigned device, uint64_t offset,
				bool *system)
{
	const struct e2pf_btrfs_layout *l;
	const struct map_place *p;
	size_t low = 0, high = map->places;
	uint64_t at;

	*system = false;
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
	*system = l->system;
	at = e2pf_btrfs_offset(l, p->stripe, offset - p->offset);
	return at < l->length ? l->logical + at : 0;
}
