/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The chunks that hold tree blocks: maps a logical address to a place on a
 * device, and to a slot in a set of blocks (slot_set.h).
 *
 * One thread fills the map.  After e2pf_chunk_map_finish() it may be read from
 * any thread.
 */
#ifndef E2PF_BTRFS_CHUNK_MAP_H
#define E2PF_BTRFS_CHUNK_MAP_H

#include "plan.h"

/* An open device, as its superblock describes it. */
struct e2pf_btrfs_device {
	uint64_t devid;
	uint8_t uuid[E2PF_BTRFS_UUID];
};

/* Used as the index of a device that is not open. */
#define E2PF_BTRFS_NO_DEVICE 0xffu

/* The place of a tree block or of a part of it. */
struct e2pf_btrfs_extent {
	uint64_t offset;	/* in bytes, on the device */
	uint32_t length;	/* bytes */
	uint8_t device;		/* index of the device */
};

/* A tree block may cross the end of a stripe once. */
#define E2PF_BTRFS_PARTS 2u

struct e2pf_chunk_map {
	const struct e2pf_btrfs_device *devices;
	unsigned device_count;
	uint32_t nodesize, sectorsize;
	struct map_chunk *chunk;	/* by logical address, after finish() */
	size_t count, room;
	struct map_stripe *stripe;
	size_t stripes, stripe_room;
	struct map_place *place;	/* stripes sorted by device and
					   offset */
	size_t places;
	uint64_t slots;			/* their number, after finish() */
};

/* Make an empty map.  `devices` must outlive it. */
void e2pf_chunk_map_init(struct e2pf_chunk_map *map,
			 const struct e2pf_btrfs_super *super,
			 const struct e2pf_btrfs_device *devices,
			 unsigned device_count);
void e2pf_chunk_map_free(struct e2pf_chunk_map *map);

/* Read a block of the chunk tree, which the map knows by then.  Returns false if
 * it is not the block that `ptr` describes. */
typedef bool (*e2pf_chunk_reader)(void *ctx, const struct e2pf_btrfs_ptr *ptr,
				  void *block);

/* Make a map of all chunks: those that the superblock names itself, which are
 * enough to read the chunk tree, and those in that tree. */
void e2pf_chunk_map_read(struct e2pf_chunk_map *map,
			 const struct e2pf_btrfs_super *super,
			 const struct e2pf_btrfs_device *devices,
			 unsigned device_count, e2pf_chunk_reader read,
			 void *ctx);

/* Add a chunk.  It is left out if it holds no tree blocks, or if there is no room
 * or memory for it. */
void e2pf_chunk_map_add(struct e2pf_chunk_map *map,
			const struct e2pf_btrfs_chunk *chunk);

/* All chunks were added.  If chunks overlap, one of them is kept. */
void e2pf_chunk_map_finish(struct e2pf_chunk_map *map);

/*
 * Find the tree block at this address, in the first copy whose devices are all
 * open: that is the copy that the check reads.  Returns the number of its
 * parts, 0 if there is no such copy.
 */
unsigned e2pf_chunk_map_find(const struct e2pf_chunk_map *map,
			     uint64_t logical,
			     struct e2pf_btrfs_extent
				     extent[E2PF_BTRFS_PARTS]);

/* The address that has a copy at this byte of a device.  0 if there is none,
 * and always for profiles with parity, which are not searched. */
uint64_t e2pf_chunk_map_address(const struct e2pf_chunk_map *map,
				unsigned device, uint64_t offset);

/* The slot of the block at this address, or UINT64_MAX if no chunk contains it.
 * *aligned tells whether the address is the beginning of the slot, not its
 * middle. */
uint64_t e2pf_chunk_map_slot(const struct e2pf_chunk_map *map,
			     uint64_t logical, bool *aligned);

/* The address of a slot; 0 if no chunk contains it. */
uint64_t e2pf_chunk_map_logical(const struct e2pf_chunk_map *map,
				uint64_t slot);

/* True if this byte of a device belongs to a chunk of the chunk tree. */
bool e2pf_chunk_map_in_system(const struct e2pf_chunk_map *map,
			      unsigned device, uint64_t offset);

#endif
