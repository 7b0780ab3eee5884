/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The on-disk format of btrfs, as far as the headers of Linux 5.5 do not have
 * it: numbers and the offsets of fields, with the kernel's names and BT_
 * instead of BTRFS_.  For the rest the kernel's structs, which are packed, are
 * laid over the bytes.
 */
#ifndef BTRFS_FORMAT_H
#define BTRFS_FORMAT_H

#include <endian.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BT_AT(type, member) offsetof(struct btrfs_##type, member)
#define BT_SIZE(type) ((uint32_t)sizeof(struct btrfs_##type))

/* "_BHRfS_M", as a little-endian number. */
#define BT_MAGIC UINT64_C(0x4D5F53665248425F)

#define BT_FEATURE_INCOMPAT_ZONED (UINT64_C(1) << 12)
#define BT_FEATURE_INCOMPAT_EXTENT_TREE_V2 (UINT64_C(1) << 13)
#define BT_FEATURE_INCOMPAT_RAID_STRIPE_TREE (UINT64_C(1) << 14)
#define BT_FEATURE_INCOMPAT_REMAP_TREE (UINT64_C(1) << 17)

/* Fields of the superblock.  Here and below, values are byte offsets from the
 * start of the structure. */
enum bt_super_field {
	BT_SUPER_FSID = 32,
	BT_SUPER_BYTENR = 48,
	BT_SUPER_MAGIC = 64,
	BT_SUPER_GENERATION = 72,
	BT_SUPER_ROOT = 80,
	BT_SUPER_CHUNK_ROOT = 88,
	BT_SUPER_SECTORSIZE = 144,
	BT_SUPER_NODESIZE = 148,
	BT_SUPER_SYS_ARRAY_SIZE = 160,
	BT_SUPER_CHUNK_ROOT_GENERATION = 164,
	BT_SUPER_INCOMPAT = 188,
	BT_SUPER_ROOT_LEVEL = 198,
	BT_SUPER_CHUNK_ROOT_LEVEL = 199,
	BT_SUPER_DEV_ITEM = 201,
	BT_SUPER_METADATA_UUID = 571,
	BT_SUPER_SYS_ARRAY = 811
};

/* Fields of a tree block's header, and the header's length. */
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
#define BT_PTR_BLOCKPTR 17u
#define BT_PTR_GENERATION 25u
#define BT_PTR_BYTES 33u

/* An entry of a leaf: key, offset of its item after the header, and size of the
 * item. */
#define BT_ITEM_OFFSET 17u
#define BT_ITEM_SIZE 21u
#define BT_ITEM_BYTES 25u

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
