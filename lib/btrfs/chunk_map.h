/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The chunks that tree blocks lie in: from a logical address to a place on a
 * device, and to the slot of a set of blocks (slots.h).
 *
 * Filled by one thread; from e2pf_chunk_map_finish() on, safe from any.
 */
#ifndef E2PF_BTRFS_CHUNK_MAP_H
#define E2PF_BTRFS_CHUNK_MAP_H

#include "plan.h"

/* A device that was opened, as its superblock describes it. */
struct e2pf_btrfs_device {
	uint64_t devid;
	uint8_t uuid[E2PF_BTRFS_UUID];
};

/* In place of the index of a device: it was not opened. */
#define E2PF_BTRFS_NO_DEVICE 0xffu

/* Where a tree block, or a part of it, lies. */
struct e2pf_btrfs_extent {
	uint64_t offset;	/* bytes, on the device */
	uint32_t length;	/* bytes */
	uint8_t device;		/* index of the device */
};

/* A tree block may go over the end of a stripe, once. */
#define E2PF_BTRFS_PARTS 2u

struct e2pf_chunk_map {
	const struct e2pf_btrfs_device *devices;
	unsigned device_count;
	uint32_t nodesize, sectorsize;
	struct map_chunk *chunk;	/* by logical address, once finished */
	uint32_t *by_slot;		/* their indices in order of slots */
	size_t count, room;
	struct map_stripe *stripe;
	size_t stripes, stripe_room;
	struct map_place *place;	/* stripes in the order of devices */
	size_t places;
	uint64_t slots;			/* there are, once finished */
};

/* An empty map; `devices` outlives it. */
void e2pf_chunk_map_init(struct e2pf_chunk_map *map,
			 const struct e2pf_btrfs_super *super,
			 const struct e2pf_btrfs_device *devices,
			 unsigned device_count);
void e2pf_chunk_map_free(struct e2pf_chunk_map *map);

/* Add a chunk; one without tree blocks, or without memory for it, is left
 * out. */
void e2pf_chunk_map_add(struct e2pf_chunk_map *map,
			const struct e2pf_btrfs_chunk *chunk);

/* All are there.  Of chunks that overlap one is kept. */
void e2pf_chunk_map_finish(struct e2pf_chunk_map *map);

/*
 * Where the tree block at this address lies: in the first copy all of whose
 * devices were opened, which is the one the check reads.  Returns how many
 * parts it has, 0 where it lies nowhere.
 */
unsigned e2pf_chunk_map_find(const struct e2pf_chunk_map *map,
			     uint64_t logical,
			     struct e2pf_btrfs_extent
				     extent[E2PF_BTRFS_PARTS]);

/* The address whose copy, any of them, lies at this byte of a device; 0 where
 * none does or, with parity, it is not looked for. */
uint64_t e2pf_chunk_map_address(const struct e2pf_chunk_map *map,
				unsigned device, uint64_t offset);

/* The slot of the block at this address, and whether it begins there rather
 * than in the middle of it.  UINT64_MAX where there is no chunk. */
uint64_t e2pf_chunk_map_slot(const struct e2pf_chunk_map *map,
			     uint64_t logical, bool *aligned);

/* The address of a slot; 0 for one of no chunk. */
uint64_t e2pf_chunk_map_logical(const struct e2pf_chunk_map *map,
				uint64_t slot);

/* Does this byte of a device belong to one of the chunks? */
bool e2pf_chunk_map_has_place(const struct e2pf_chunk_map *map,
			      unsigned device, uint64_t offset);

#endif
