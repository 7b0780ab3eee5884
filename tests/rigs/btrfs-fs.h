/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Hand-made btrfs blocks: a superblock, chunk items, nodes and leaves, and a
 * device in memory that holds them.
 */
#ifndef BTRFS_FS_H
#define BTRFS_FS_H

#include "btrfs/source.h"
#include "btrfs/format.h"
#include "btrfs/send_mounted.h"
#include "prefetch/device.h"
#include "numbers.h"

#define FS_NODE 4096u
#define FS_GENERATION 7u

/* Write a chunk item with this many stripes to `item`: stripe i is on device i
 * + 1, at offset 1 MiB * (i + 1).  Returns the item's size, bytes. */
size_t fs_chunk(void *item, uint64_t length, uint64_t type, unsigned stripes,
		unsigned sub_stripes);

/* A superblock for offset 64 KiB: fsid and uuid made of bytes 0xf5 and `devid`,
 * roots at `chunk_root` and `root`, and an empty chunk array. */
void fs_super(uint8_t super[BT_SUPER_BYTES], uint64_t devid,
	      uint64_t chunk_root, uint64_t root);

/* What is planned with: such a superblock of device 1, with roots at 4 and 8 MiB. */
struct bt_super fs_sound_super(void);

/* Add a chunk to the superblock's array. */
void fs_add_sys(uint8_t *super, uint64_t logical, const void *item,
		size_t size);

/* An empty tree block of FS_NODE bytes. */
void fs_block(uint8_t *block, uint64_t logical, uint64_t owner,
	      unsigned level);

/* Add a pointer to a node, or an item to a leaf. */
void fs_add_ptr(uint8_t *block, uint64_t child, uint64_t generation);
/* The same, with the key of the child's first item. */
void fs_add_child(uint8_t *block, uint64_t child, uint64_t generation,
		  uint64_t objectid, unsigned type, uint64_t offset);
void fs_add_item(uint8_t *block, uint64_t objectid, unsigned type,
		 uint64_t offset, const void *item, size_t size);

/* Add the root item of a tree to a leaf of the root tree. */
void fs_add_root(uint8_t *leaf, uint64_t tree, uint64_t logical,
		 unsigned level);

/* A map without chunks, of a filesystem on devices 1 to `devices`. */
void fs_map(struct bt_chunk_map *map, unsigned devices);

/* Add a chunk to a map: its first stripe lies on device `devid`, at the chunk's
 * own address, each other one on the next device, FS_STRIPES bytes further. */
#define FS_STRIPES UINT64_C(16777216)
void fs_add_chunk(struct bt_chunk_map *map, uint64_t logical, uint64_t type,
		  unsigned stripes, uint64_t length, unsigned devid);

/* The open device of a fake mounted filesystem, with one chunk of all addresses below
 * 1 GiB.  Its nodes are what read() makes up. */
void fs_open_devices(struct bt_mounted *fs,
		     int (*read)(void *ctx, const struct pf_ref *ref, void *block));
void fs_close_devices(struct bt_mounted *fs);

/* The root of a tree: a node of level 1 at `tree` MiB. */
struct bt_ptr fs_tree_root(uint64_t tree, uint64_t generation);

#endif
