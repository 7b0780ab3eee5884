/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The chunks that hold tree blocks, on the devices that are open: maps a
 * logical address to a range of a device, and to a slot: the number of the block, in
 * the order of addresses.  One thread makes the map; after that it may be read from
 * any thread. */
#ifndef BTRFS_CHUNK_MAP_H
#define BTRFS_CHUNK_MAP_H

#include <stdatomic.h>
#include <stdlib.h>

#include "prefetch/source.h"
#include "plan.h"

/* Read a block.  Returns 0 or an errno. */
typedef int (*bt_reader)(void *ctx, const struct pf_ref *ref,
			 void *bytes);

struct bt_chunk_map {
	struct bt_super super;
	struct bt_device device[PF_MAX_DEVICES];
	unsigned devices;
	struct map_chunk *chunk;	/* the first `count` by logical
					   address; others wait for finish() */
	size_t count, added, room;
	struct map_stripe *stripe;
	size_t stripes, stripe_room;
	uint64_t slots;			/* number of slots of all chunks */
	unsigned tree_blocks;		/* of the chunk tree, that were read */
	bt_reader read;
	void *ctx;
};

/* Read the superblock of a device, and add it to a map that is zero but for
 * other devices, which must be fewer than PF_MAX_DEVICES.  The newest superblock
 * is the filesystem's.  Returns NULL, or the reason why this device cannot be
 * used. */
const char *bt_chunk_map_add_device(struct bt_chunk_map *map, int fd);

/* Make a map of all chunks that may hold tree blocks: those in the superblock,
 * which are enough to read the chunk tree, and those in that tree.  Devices are
 * added before. */
void bt_chunk_map_make(struct bt_chunk_map *map, bt_reader read,
		       void *ctx);
void bt_chunk_map_free(struct bt_chunk_map *map);

/* Add the chunk of an item, unless it holds no tree blocks, is not valid, or
 * there is no room for it.  When all were added, finish: if chunks overlap, one
 * of them is kept.  Used here, and for maps that are not made of a
 * filesystem. */
void bt_chunk_map_add(void *map, const struct bt_item *item);
void bt_chunk_map_finish(struct bt_chunk_map *map);

/* Find the tree block at this address, in the first copy whose device is open:
 * that is the one that the check reads.  Sets its device, offset and length.  Returns
 * false if there is none, or if it crosses the end of a stripe, as no block in
 * a slot does. */
bool bt_chunk_map_find(const struct bt_chunk_map *map, uint64_t logical,
		       struct pf_ref *ref);

/* Read the block that `ptr` describes to `block`, which is aligned to 4096
 * bytes.  Returns false if it cannot be read, or is another one. */
bool bt_chunk_map_read(const struct bt_chunk_map *map,
		       const struct bt_ptr *ptr, void *block);

/* If a chunk has a copy at this byte of a device, change both to the first copy,
 * as bt_chunk_map_find() does. */
void bt_chunk_map_first_copy(const struct bt_chunk_map *map,
			     unsigned *device, uint64_t *offset);

/* The slot of the block at this address.  UINT64_MAX if no chunk contains it,
 * or if it begins in the middle of a slot: such blocks are left to the
 * check. */
uint64_t bt_chunk_map_slot(const struct bt_chunk_map *map,
			   uint64_t logical);

/* The address of a slot; 0 if no chunk contains it. */
uint64_t bt_chunk_map_logical(const struct bt_chunk_map *map,
			      uint64_t slot);

/* A set of tree blocks, one bit for each slot.  The kernel gives memory to the
 * used part: 1 TiB of metadata in blocks of 16 KiB takes at most 8 MiB. */
struct bt_slot_set {
	uint64_t slots;
	_Atomic(uint64_t) *word;	/* of 64 slots each */
};

/* Make an empty set.  Returns false if memory runs out; then nothing can be
 * added. */
static inline bool bt_slot_set_init(struct bt_slot_set *set, uint64_t slots)
{
	set->word = calloc((size_t)(slots / 64 + 1), sizeof(*set->word));
	set->slots = set->word ? slots : 0;
	return set->word;
}

static inline void bt_slot_set_free(struct bt_slot_set *set)
{
	free(set->word);
	*set = (struct bt_slot_set) { .word = NULL };
}

/* Add a slot, on any thread.  Returns false if it was in the set already, or if
 * there is no such slot. */
static inline bool bt_slot_set_add(struct bt_slot_set *set, uint64_t slot)
{
	uint64_t bit = UINT64_C(1) << slot % 64;

	return slot < set->slots &&
	       !(atomic_fetch_or(&set->word[slot / 64], bit) & bit);
}

/* Whether a slot is in the set; on any thread. */
static inline bool bt_slot_set_has(const struct bt_slot_set *set,
				   uint64_t slot)
{
	return slot < set->slots && set->word[slot / 64] >> slot % 64 & 1;
}

#endif
