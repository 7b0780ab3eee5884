/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the fields of btrfs's superblock and tree blocks lie.  The structures
 * of items are those of <linux/btrfs_tree.h>; older copies of that header have
 * neither of these two.  Private to lib/btrfs/ and its tests.
 */
#ifndef E2PF_BTRFS_FORMAT_H
#define E2PF_BTRFS_FORMAT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>

/* "_BHRfS_M", as a little-endian number. */
#define BT_MAGIC UINT64_C(0x4D5F53665248425F)

/* Fields of the superblock, bytes from its start. */
enum bt_super_field {
	BT_SUPER_FSID = 32,
	BT_SUPER_BYTENR = 48,
	BT_SUPER_MAGIC = 64,
	BT_SUPER_GENERATION = 72,
	BT_SUPER_ROOT = 80,
	BT_SUPER_CHUNK_ROOT = 88,
	BT_SUPER_LOG_ROOT = 96,
	BT_SUPER_TOTAL_BYTES = 112,
	BT_SUPER_BYTES_USED = 120,
	BT_SUPER_NUM_DEVICES = 136,
	BT_SUPER_SECTORSIZE = 144,
	BT_SUPER_NODESIZE = 148,
	BT_SUPER_SYS_ARRAY_SIZE = 160,
	BT_SUPER_CHUNK_ROOT_GENERATION = 164,
	BT_SUPER_INCOMPAT = 188,
	BT_SUPER_ROOT_LEVEL = 198,
	BT_SUPER_CHUNK_ROOT_LEVEL = 199,
	BT_SUPER_LOG_ROOT_LEVEL = 200,
	BT_SUPER_DEV_ITEM = 201,
	BT_SUPER_METADATA_UUID = 571,
	BT_SUPER_SYS_ARRAY = 811
};

/* Fields of the header of a tree block, and its length. */
enum bt_header_field {
	BT_HEADER_FSID = 32,
	BT_HEADER_BYTENR = 48,
	BT_HEADER_GENERATION = 80,
	BT_HEADER_OWNER = 88,
	BT_HEADER_NRITEMS = 96,
	BT_HEADER_LEVEL = 100,
	BT_HEADER_BYTES = 101
};

/* An entry of a node: key, address and generation of the child. */
#define BT_KEY_BYTES 17u
#define BT_PTR_BLOCKPTR 17u
#define BT_PTR_GENERATION 25u
#define BT_PTR_BYTES 33u

/* An entry of a leaf: key, where its item lies behind the header, and how
 * long that is. */
#define BT_ITEM_OFFSET 17u
#define BT_ITEM_SIZE 21u
#define BT_ITEM_BYTES 25u

static inline uint16_t bt_le16(const void *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return le16toh(value);
}

static inline uint32_t bt_le32(const void *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

static inline uint64_t bt_le64(const void *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return le64toh(value);
}

#endif
