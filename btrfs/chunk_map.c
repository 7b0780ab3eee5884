/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The chunk map: the layout of chunks over their stripes, lookup of chunks by
 * address, and the numbering of slots. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/array.h"
#include "chunk_map.h"
#include "format.h"

/* The stripes of all chunks together, at most.  Metadata chunks are 256 MiB or
 * more on all but the smallest filesystems, so these are 8 TiB of metadata in
 * two copies; and to search them takes less than 0.1 ms. */
#define MAX_STRIPES 65536u

/* The most blocks of the chunk tree that are read. */
#define TREE_BLOCKS 4096u

/* The maximum number of slots, 64 MiB of bits; blocks beyond it are not
 * planned. */
#define MAX_SLOTS (UINT64_C(1) << 29)

/* Bytes on one device before the next stripe begins. */
#define STRIPE_LEN 65536u

/* Used as the index of a device that is not open. */
#define NO_DEVICE 0xffu

/* How many of a chunk's stripes hold the same data, and how many hold
 * parity. */
static const struct profile {
	uint64_t type;
	uint8_t copies, parity;
	uint16_t min, max;		/* stripes */
} profiles[] = {
	{ 0, 1, 0, 1, 1 },
	{ BTRFS_BLOCK_GROUP_DUP, 2, 0, 2, 2 },
	{ BTRFS_BLOCK_GROUP_RAID1, 2, 0, 2, 2 },
	{ BTRFS_BLOCK_GROUP_RAID1C3, 3, 0, 3, 3 },
	{ BTRFS_BLOCK_GROUP_RAID1C4, 4, 0, 4, 4 },
	{ BTRFS_BLOCK_GROUP_RAID0, 1, 0, 1, PF_MAX_DEVICES },
	{ BTRFS_BLOCK_GROUP_RAID10, 2, 0, 2, PF_MAX_DEVICES },
	{ BTRFS_BLOCK_GROUP_RAID5, 1, 1, 2, PF_MAX_DEVICES },
	{ BTRFS_BLOCK_GROUP_RAID6, 1, 2, 3, PF_MAX_DEVICES },
};

struct map_chunk {
	uint64_t logical, length;	/* bytes */
	uint64_t bytes;			/* of each stripe, on its device */
	const struct profile *profile;
	uint16_t stripes;
	uint16_t across;		/* stripes that data is spread over */
	size_t stripe;			/* index of its first stripe */
	uint64_t slot;			/* its first slot */
	uint64_t slots;
};

struct map_stripe {
	uint64_t offset;
	uint8_t device;
};

void bt_chunk_map_free(struct bt_chunk_map *map)
{
	free(map->chunk);
	free(map->stripe);
	memset(map, 0, sizeof(*map));
}

const char *bt_chunk_map_add_device(struct bt_chunk_map *map, int fd)
{
	/* For direct reads. */
	_Alignas(4096) uint8_t bytes[BT_SUPER_BYTES];
	struct bt_super super;
	const char *why;

	if (pread(fd, bytes, sizeof(bytes), BT_SUPER_AT) !=
	    (ssize_t)sizeof(bytes))
		return "the superblock cannot be read";
	why = bt_plan_super(bytes, &super);
	if (why)
		return why;
	if (!map->devices || super.generation > map->super.generation)
		map->super = super;
	map->device[map->devices++] = super.device;
	return NULL;
}

static uint8_t find_device(const struct bt_chunk_map *map,
			   const struct btrfs_stripe *stripe)
{
	unsigned i;

	for (i = 0; i < map->devices; i++)
		if (map->device[i].devid == le64toh(stripe->devid) &&
		    !memcmp(map->device[i].uuid, stripe->dev_uuid,
			    BT_UUID))
			return (uint8_t)i;
	return NO_DEVICE;
}

static const struct profile *find_profile(uint64_t type)
{
	size_t i;

	for (i = 0; i < sizeof(profiles) / sizeof(*profiles); i++)
		if (profiles[i].type == (type & BTRFS_BLOCK_GROUP_PROFILE_MASK))
			return &profiles[i];
	return NULL;
}

/* True if every stripe holds everything. */
static bool is_whole(const struct map_chunk *c)
{
	return c->across == 1 && !c->profile->parity;
}

static bool is_sound(const struct map_chunk *c, uint32_t sectorsize)
{
	return c->stripes >= c->profile->min &&
	       c->stripes <= c->profile->max &&
	       c->stripes % c->profile->copies == 0 &&
	       c->length && c->logical % sectorsize == 0 &&
	       c->length % sectorsize == 0 && c->length <= UINT64_MAX / 2 &&
	       c->logical <= UINT64_MAX - c->length;
}

/* Parse an item as far as the stripes.  Returns false if it is not valid, or not
 * a chunk for tree blocks. */
static bool parse_chunk(const struct bt_item *item, uint32_t sectorsize,
			struct map_chunk *c)
{
	const struct btrfs_chunk *b = (const void *)item->bytes;
	uint64_t type, row;

	if (item->key.type != BTRFS_CHUNK_ITEM_KEY ||
	    item->size < BT_AT(chunk, stripe))
		return false;
	type = le64toh(b->type);
	*c = (struct map_chunk) {
		.logical = item->key.offset,
		.length = le64toh(b->length),
		.profile = find_profile(type),
		.stripes = le16toh(b->num_stripes)
	};
	if (!(type & (BTRFS_BLOCK_GROUP_SYSTEM | BTRFS_BLOCK_GROUP_METADATA)) ||
	    !c->profile || !is_sound(c, sectorsize) ||
	    le64toh(b->stripe_len) != STRIPE_LEN ||
	    (type & BTRFS_BLOCK_GROUP_RAID10 &&
	     le16toh(b->sub_stripes) != c->profile->copies) ||
	    item->size - BT_AT(chunk, stripe) < c->stripes * BT_SIZE(stripe))
		return false;
	c->across = (uint16_t)(c->stripes / c->profile->copies -
			       c->profile->parity);
	row = (uint64_t)c->across * STRIPE_LEN;
	c->bytes = is_whole(c) ? c->length : c->length / row * STRIPE_LEN +
		   (c->length % row ? STRIPE_LEN : 0);
	return true;
}

void bt_chunk_map_add(void *ctx, const struct bt_item *item)
{
	struct bt_chunk_map *map = ctx;
	const struct btrfs_stripe *b, *end;
	struct map_chunk c;

	if (!parse_chunk(item, map->super.sectorsize, &c) ||
	    map->stripes + c.stripes > MAX_STRIPES ||
	    !e2pf_have_room((void **)&map->chunk, &map->room, map->added, 1,
			    sizeof(*map->chunk)) ||
	    !e2pf_have_room((void **)&map->stripe, &map->stripe_room,
			    map->stripes, c.stripes, sizeof(*map->stripe)))
		return;
	c.stripe = map->stripes;
	map->chunk[map->added++] = c;
	b = (const void *)(item->bytes + BT_AT(chunk, stripe));
	for (end = b + c.stripes; b < end; b++) {
		uint64_t offset = le64toh(b->offset);
		bool sound = offset % map->super.sectorsize == 0 &&
			     offset <= UINT64_MAX - c.bytes;

		map->stripe[map->stripes++] = (struct map_stripe) {
			.offset = offset,
			.device = sound ? find_device(map, b) : NO_DEVICE
		};
	}
}

static int by_address(const void *a, const void *b)
{
	const struct map_chunk *x = a, *y = b;
	int order = E2PF_COMPARE(x->logical, y->logical);

	return order ? order : E2PF_COMPARE(x->stripe, y->stripe);
}

/* Number the slots in the order of addresses, in which the check walks the
 * leaves of a tree.  A chunk that would exceed the maximum has none. */
static void number_slots(struct bt_chunk_map *map)
{
	uint32_t size = map->super.nodesize;
	struct map_chunk *c;

	map->slots = 0;
	for (c = map->chunk; c < map->chunk + map->count; c++) {
		c->slots = (c->length + size - 1) / size;
		if (c->slots > MAX_SLOTS - map->slots)
			c->slots = 0;
		c->slot = map->slots;
		map->slots += c->slots;
	}
}

void bt_chunk_map_finish(struct bt_chunk_map *map)
{
	size_t i, n = 0;

	if (!map->added)
		return;
	qsort(map->chunk, map->added, sizeof(*map->chunk), by_address);
	for (i = 1; i < map->added; i++) {
		const struct map_chunk *last = &map->chunk[n];

		if (map->chunk[i].logical - last->logical >= last->length)
			map->chunk[++n] = map->chunk[i];
	}
	map->count = map->added = n + 1;
	number_slots(map);
}

/* Add the chunks that a block of the chunk tree leads to.  Levels decrease, so
 * the depth is bounded. */
static void accept_node(void *ctx, const struct bt_node *node)
{
	struct bt_chunk_map *map = ctx;
	uint8_t *block = NULL;

	/* For direct reads. */
	if (map->tree_blocks++ < TREE_BLOCKS)
		block = aligned_alloc(4096, map->super.nodesize);
	if (!block || !bt_chunk_map_read(map, &node->ptr, block))
		;
	else if (node->ptr.level)
		bt_plan_node(&map->super, node, block, accept_node, map);
	else
		bt_plan_leaf(&map->super, block, bt_chunk_map_add,
			     map);
	free(block);
}

void bt_chunk_map_make(struct bt_chunk_map *map, bt_reader read,
		       void *ctx)
{
	const struct bt_node root = { .ptr = map->super.chunk_root };

	map->read = read;
	map->ctx = ctx;
	/* These are known even if the chunk tree is damaged. */
	bt_plan_sys_array(&map->super, bt_chunk_map_add, map);
	bt_chunk_map_finish(map);
	accept_node(map, &root);
	bt_chunk_map_finish(map);
}

/* The last chunk that begins at this address, or slot, or before. */
static const struct map_chunk *chunk_before(const struct bt_chunk_map *map,
					    uint64_t value, bool is_slot)
{
	size_t low = 0, high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct map_chunk *c = &map->chunk[middle];

		if ((is_slot ? c->slot : c->logical) <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &map->chunk[low - 1] : NULL;
}

/* The chunk that contains this address, or NULL. */
static const struct map_chunk *chunk_of(const struct bt_chunk_map *map,
					uint64_t logical)
{
	const struct map_chunk *c = chunk_before(map, logical, false);

	return c && logical - c->logical < c->length ? c : NULL;
}

/* Find the block at `offset` of a chunk in this copy.  The check reads the first
 * one that it can. */
static bool find_copy(const struct bt_chunk_map *map,
		      const struct map_chunk *c, uint64_t offset, unsigned copy,
		      struct pf_ref *ref)
{
	uint32_t size = map->super.nodesize;
	uint64_t unit = offset / STRIPE_LEN, in_unit = offset % STRIPE_LEN;
	uint64_t row = unit / c->across, column = unit % c->across;
	const struct map_stripe *stripe = map->stripe + c->stripe;

	if (c->length - offset < size ||
	    (!is_whole(c) && STRIPE_LEN - in_unit < size))
		return false;
	/* The parity moves by one stripe with each row. */
	stripe += c->profile->parity ? (row + column) % c->stripes :
				       column * c->profile->copies + copy;
	if (stripe->device == NO_DEVICE)
		return false;
	*ref = (struct pf_ref) {
		.offset = stripe->offset + row * STRIPE_LEN + in_unit,
		.length = size, .device = stripe->device
	};
	return true;
}

bool bt_chunk_map_find(const struct bt_chunk_map *map, uint64_t logical,
		       struct pf_ref *ref)
{
	const struct map_chunk *c = chunk_of(map, logical);
	unsigned copy;

	for (copy = 0; c && copy < c->profile->copies; copy++)
		if (find_copy(map, c, logical - c->logical, copy, ref))
			return true;
	return false;
}

bool bt_chunk_map_read(const struct bt_chunk_map *map,
		       const struct bt_ptr *ptr, void *block)
{
	struct pf_ref ref;

	return bt_chunk_map_find(map, ptr->logical, &ref) &&
	       !map->read(map->ctx, &ref, block) &&
	       bt_fits(&map->super, ptr, block);
}

uint64_t bt_chunk_map_slot(const struct bt_chunk_map *map,
			   uint64_t logical)
{
	const struct map_chunk *c = chunk_of(map, logical);
	uint64_t offset;

	if (!c || !c->slots)
		return UINT64_MAX;
	offset = logical - c->logical;
	return offset % map->super.nodesize ? UINT64_MAX :
	       c->slot + offset / map->super.nodesize;
}

uint64_t bt_chunk_map_logical(const struct bt_chunk_map *map,
			      uint64_t slot)
{
	const struct map_chunk *c = chunk_before(map, slot, true);

	return c && slot - c->slot < c->slots ?
	       c->logical + (slot - c->slot) * map->super.nodesize : 0;
}

void bt_chunk_map_first_copy(const struct bt_chunk_map *map,
			     unsigned *device, uint64_t *offset)
{
	const struct map_stripe *s, *first;
	const struct map_chunk *c;
	unsigned i;
	size_t n;

	for (n = 0; n < map->count; n++) {
		c = &map->chunk[n];
		for (i = 0; i < c->stripes; i++) {
			s = &map->stripe[c->stripe + i];
			if (s->device != *device || *offset < s->offset ||
			    *offset - s->offset >= c->bytes)
				continue;
			/* This device is open, so the search ends here. */
			first = s - i % c->profile->copies;
			while (first->device == NO_DEVICE)
				first++;
			*device = first->device;
			*offset = first->offset + (*offset - s->offset);
			return;
		}
	}
}
