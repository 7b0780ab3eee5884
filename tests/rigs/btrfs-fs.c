/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Builds btrfs blocks, with the field offsets of format.h. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "btrfs-fs.h"

size_t fs_chunk(void *item, uint64_t length, uint64_t type, unsigned stripes,
		unsigned sub_stripes)
{
	uint8_t *b = item, *s = b + BT_AT(chunk, stripe);
	unsigned i;

	memset(b, 0, BT_AT(chunk, stripe));
	put64(b + BT_AT(chunk, length), length);
	put64(b + BT_AT(chunk, stripe_len), 65536);
	put64(b + BT_AT(chunk, type), type);
	put16(b + BT_AT(chunk, num_stripes), (uint16_t)stripes);
	put16(b + BT_AT(chunk, sub_stripes), (uint16_t)sub_stripes);
	for (i = 0; i < stripes; i++, s += BT_SIZE(stripe)) {
		put64(s + BT_AT(stripe, devid), i + 1);
		put64(s + BT_AT(stripe, offset), (i + 1) * UINT64_C(1048576));
		memset(s + BT_AT(stripe, dev_uuid), (int)(i + 1), BT_UUID);
	}
	return (size_t)(s - b);
}

void fs_super(uint8_t super[BT_SUPER_BYTES], uint64_t devid,
	      uint64_t chunk_root, uint64_t root)
{
	uint8_t *dev = super + BT_SUPER_DEV_ITEM;

	memset(super, 0, BT_SUPER_BYTES);
	memset(super + BT_SUPER_FSID, 0xf5, BT_UUID);
	put64(super + BT_SUPER_BYTENR, 65536);
	put64(super + BT_SUPER_MAGIC, BT_MAGIC);
	put64(super + BT_SUPER_GENERATION, FS_GENERATION);
	put64(super + BT_SUPER_ROOT, root);
	put64(super + BT_SUPER_CHUNK_ROOT, chunk_root);
	put64(super + BT_SUPER_CHUNK_ROOT_GENERATION, FS_GENERATION);
	put32(super + BT_SUPER_SECTORSIZE, 4096);
	put32(super + BT_SUPER_NODESIZE, FS_NODE);
	put64(dev + BT_AT(dev_item, devid), devid);
	memset(dev + BT_AT(dev_item, uuid), (int)devid, BT_UUID);
}

struct bt_super fs_sound_super(void)
{
	uint8_t bytes[BT_SUPER_BYTES];
	struct bt_super super;

	fs_super(bytes, 1, 4 << 20, 8 << 20);
	if (bt_plan_super(bytes, &super))
		abort();
	return super;
}

static void put_key(uint8_t *key, uint64_t objectid, unsigned type,
		    uint64_t offset)
{
	put64(key + BT_AT(disk_key, objectid), objectid);
	key[BT_AT(disk_key, type)] = (uint8_t)type;
	put64(key + BT_AT(disk_key, offset), offset);
}

void fs_add_sys(uint8_t *super, uint64_t logical, const void *item,
		size_t size)
{
	uint32_t used = bt_le32(super + BT_SUPER_SYS_ARRAY_SIZE);
	uint8_t *key = super + BT_SUPER_SYS_ARRAY + used;

	put_key(key, BTRFS_FIRST_CHUNK_TREE_OBJECTID, BTRFS_CHUNK_ITEM_KEY,
		logical);
	memcpy(key + BT_SIZE(disk_key), item, size);
	put32(super + BT_SUPER_SYS_ARRAY_SIZE,
	      used + BT_SIZE(disk_key) + (uint32_t)size);
}

void fs_block(uint8_t *block, uint64_t logical, uint64_t owner,
	      unsigned level)
{
	memset(block, 0, FS_NODE);
	memset(block + BT_HEADER_FSID, 0xf5, BT_UUID);
	put64(block + BT_HEADER_BYTENR, logical);
	put64(block + BT_HEADER_GENERATION, FS_GENERATION);
	put64(block + BT_HEADER_OWNER, owner);
	block[BT_HEADER_LEVEL] = (uint8_t)level;
}

static uint32_t next_entry(uint8_t *block)
{
	uint32_t n = bt_le32(block + BT_HEADER_NRITEMS);

	put32(block + BT_HEADER_NRITEMS, n + 1);
	return n;
}

void fs_add_ptr(uint8_t *block, uint64_t child, uint64_t generation)
{
	uint8_t *ptr = block + BT_HEADER_BYTES +
		       next_entry(block) * BT_PTR_BYTES;

	put64(ptr + BT_PTR_BLOCKPTR, child);
	put64(ptr + BT_PTR_GENERATION, generation);
}

void fs_add_child(uint8_t *block, uint64_t child, uint64_t generation,
		  uint64_t objectid, unsigned type, uint64_t offset)
{
	uint32_t n = bt_le32(block + BT_HEADER_NRITEMS);

	put_key(block + BT_HEADER_BYTES + n * BT_PTR_BYTES, objectid, type,
		offset);
	fs_add_ptr(block, child, generation);
}

void fs_add_item(uint8_t *block, uint64_t objectid, unsigned type,
		 uint64_t offset, const void *item, size_t size)
{
	uint32_t n = next_entry(block), end = FS_NODE - BT_HEADER_BYTES;
	uint8_t *entry = block + BT_HEADER_BYTES + n * BT_ITEM_BYTES;

	/* Item data fills the leaf from its end. */
	if (n)
		end = bt_le32(entry - BT_ITEM_BYTES + BT_ITEM_OFFSET);
	put_key(entry, objectid, type, offset);
	put32(entry + BT_ITEM_OFFSET, end - (uint32_t)size);
	put32(entry + BT_ITEM_SIZE, (uint32_t)size);
	memcpy(block + BT_HEADER_BYTES + end - size, item, size);
}

void fs_add_root(uint8_t *leaf, uint64_t tree, uint64_t logical,
		 unsigned level)
{
	uint8_t item[BT_AT(root_item, level) + 1] = { 0 };

	put64(item + BT_AT(root_item, generation), FS_GENERATION);
	put64(item + BT_AT(root_item, bytenr), logical);
	item[BT_AT(root_item, level)] = (uint8_t)level;
	fs_add_item(leaf, tree, BTRFS_ROOT_ITEM_KEY, 0, item, sizeof(item));
}

void fs_map(struct bt_chunk_map *map, unsigned devices)
{
	uint8_t bytes[BT_SUPER_BYTES];
	unsigned i;

	memset(map, 0, sizeof(*map));
	fs_super(bytes, 1, 1 << 20, 1 << 20);
	bt_plan_super(bytes, &map->super);
	for (i = 0; i < devices; i++) {
		map->device[i] = map->super.device;
		map->device[i].devid = i + 1;
		memset(map->device[i].uuid, (int)i + 1, BT_UUID);
	}
	map->devices = devices;
}

void fs_add_chunk(struct bt_chunk_map *map, uint64_t logical, uint64_t type,
		  unsigned stripes, uint64_t length, unsigned devid)
{
	uint8_t bytes[512], *stripe = bytes + BT_AT(chunk, stripe);
	struct bt_item item = {
		.key = { 256, logical, BTRFS_CHUNK_ITEM_KEY }, .bytes = bytes
	};
	unsigned i;

	item.size = (uint32_t)fs_chunk(bytes, length, type, stripes, 2);
	for (i = 0; i < stripes; i++, stripe += BT_SIZE(stripe)) {
		put64(stripe + BT_AT(stripe, devid), devid + i);
		put64(stripe + BT_AT(stripe, offset), logical + i * FS_STRIPES);
		memset(stripe + BT_AT(stripe, dev_uuid), (int)(devid + i),
		       BT_UUID);
	}
	bt_chunk_map_add(map, &item);
}

void fs_open_devices(struct bt_mounted *fs,
		     int (*read)(void *ctx, const struct pf_ref *ref, void *block))
{
	fs_map(&fs->map, 1);
	fs_add_chunk(&fs->map, 0, BTRFS_BLOCK_GROUP_METADATA, 1, UINT64_C(1) << 30, 1);
	bt_chunk_map_finish(&fs->map);
	fs->device[0] = memfd_create("fake", MFD_CLOEXEC);
	fs->map.read = read;
}

void fs_close_devices(struct bt_mounted *fs)
{
	if (fs->map.devices)
		close(fs->device[0]);
	bt_chunk_map_free(&fs->map);
}

struct bt_ptr fs_tree_root(uint64_t tree, uint64_t generation)
{
	return (struct bt_ptr){
		.logical = tree << 20, .owner = tree, .level = 1,
		.generation = generation
	};
}
