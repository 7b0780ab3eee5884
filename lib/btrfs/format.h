/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The on-disk format of btrfs: tree and item type numbers, flags, and the
 * offsets of the fields that are used, as the kernel's headers have them.
 *
 * What headers of Linux 5.5 do not have is defined here: these headers name only
 * what that kernel knows.  Each number has the kernel's name with BT_ instead of
 * BTRFS_.  Source: <linux/btrfs_tree.h> and <linux/btrfs.h> of Linux 6.12;
 * tests/unit/test-btrfs-format.c compares with those of the machine.
 * Private to lib/ and its tests.
 */
#ifndef E2PF_BTRFS_FORMAT_H
#define E2PF_BTRFS_FORMAT_H

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

/* Tree numbers.  They are also the owners of the trees' blocks. */
#define BT_ROOT_TREE_OBJECTID BTRFS_ROOT_TREE_OBJECTID
#define BT_EXTENT_TREE_OBJECTID BTRFS_EXTENT_TREE_OBJECTID
#define BT_CHUNK_TREE_OBJECTID BTRFS_CHUNK_TREE_OBJECTID
#define BT_FS_TREE_OBJECTID BTRFS_FS_TREE_OBJECTID
#define BT_CSUM_TREE_OBJECTID BTRFS_CSUM_TREE_OBJECTID
#define BT_BLOCK_GROUP_TREE_OBJECTID UINT64_C(11)

/* The lowest number of a subvolume, and of a file or folder in it. */
#define BT_FIRST_FREE_OBJECTID BTRFS_FIRST_FREE_OBJECTID

/* The objectids of all chunk items, and of all checksum items. */
#define BT_FIRST_CHUNK_TREE_OBJECTID BTRFS_FIRST_CHUNK_TREE_OBJECTID
#define BT_EXTENT_CSUM_OBJECTID ((uint64_t)BTRFS_EXTENT_CSUM_OBJECTID)

/* Item types: the middle part of an item's key. */
enum bt_item_type {
	BT_INODE_ITEM_KEY = BTRFS_INODE_ITEM_KEY,
	BT_INODE_REF_KEY = BTRFS_INODE_REF_KEY,
	BT_EXTENT_DATA_KEY = BTRFS_EXTENT_DATA_KEY,
	BT_EXTENT_CSUM_KEY = BTRFS_EXTENT_CSUM_KEY,
	BT_ROOT_ITEM_KEY = BTRFS_ROOT_ITEM_KEY,
	BT_EXTENT_ITEM_KEY = BTRFS_EXTENT_ITEM_KEY,
	BT_METADATA_ITEM_KEY = BTRFS_METADATA_ITEM_KEY,
	BT_TREE_BLOCK_REF_KEY = BTRFS_TREE_BLOCK_REF_KEY,
	BT_EXTENT_DATA_REF_KEY = BTRFS_EXTENT_DATA_REF_KEY,
	BT_SHARED_BLOCK_REF_KEY = BTRFS_SHARED_BLOCK_REF_KEY,
	BT_SHARED_DATA_REF_KEY = BTRFS_SHARED_DATA_REF_KEY,
	BT_DEV_ITEM_KEY = BTRFS_DEV_ITEM_KEY,
	BT_CHUNK_ITEM_KEY = BTRFS_CHUNK_ITEM_KEY
};

/* Flags of a chunk's type: what it holds, and its layout on the devices. */
#define BT_BLOCK_GROUP_SYSTEM BTRFS_BLOCK_GROUP_SYSTEM
#define BT_BLOCK_GROUP_METADATA BTRFS_BLOCK_GROUP_METADATA
#define BT_BLOCK_GROUP_RAID0 BTRFS_BLOCK_GROUP_RAID0
#define BT_BLOCK_GROUP_RAID1 BTRFS_BLOCK_GROUP_RAID1
#define BT_BLOCK_GROUP_DUP BTRFS_BLOCK_GROUP_DUP
#define BT_BLOCK_GROUP_RAID10 BTRFS_BLOCK_GROUP_RAID10
#define BT_BLOCK_GROUP_RAID5 BTRFS_BLOCK_GROUP_RAID5
#define BT_BLOCK_GROUP_RAID6 BTRFS_BLOCK_GROUP_RAID6
#define BT_BLOCK_GROUP_RAID1C3 BTRFS_BLOCK_GROUP_RAID1C3
#define BT_BLOCK_GROUP_RAID1C4 BTRFS_BLOCK_GROUP_RAID1C4
#define BT_BLOCK_GROUP_PROFILE_MASK BTRFS_BLOCK_GROUP_PROFILE_MASK

/* Superblock features that matter to a reader. */
#define BT_FEATURE_INCOMPAT_METADATA_UUID BTRFS_FEATURE_INCOMPAT_METADATA_UUID
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
	BT_SUPER_BYTES_USED = 120,
	BT_SUPER_NUM_DEVICES = 136,
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
#define BT_KEY_BYTES BT_SIZE(disk_key)
#define BT_PTR_BLOCKPTR 17u
#define BT_PTR_GENERATION 25u
#define BT_PTR_BYTES 33u

/* An entry of a leaf: key, offset of its item after the header, and size of the
 * item. */
#define BT_ITEM_OFFSET 17u
#define BT_ITEM_SIZE 21u
#define BT_ITEM_BYTES 25u

/* A key. */
enum bt_key_field {
	BT_KEY_OBJECTID = BT_AT(disk_key, objectid),
	BT_KEY_TYPE = BT_AT(disk_key, type),
	BT_KEY_OFFSET = BT_AT(disk_key, offset)
};

/* A device's description in its own superblock. */
enum bt_dev_item_field {
	BT_DEV_ITEM_DEVID = BT_AT(dev_item, devid),
	BT_DEV_ITEM_UUID = BT_AT(dev_item, uuid)
};

/* A chunk; its stripes follow it. */
enum bt_chunk_field {
	BT_CHUNK_LENGTH = BT_AT(chunk, length),
	BT_CHUNK_STRIPE_LEN = BT_AT(chunk, stripe_len),
	BT_CHUNK_TYPE = BT_AT(chunk, type),
	BT_CHUNK_NUM_STRIPES = BT_AT(chunk, num_stripes),
	BT_CHUNK_SUB_STRIPES = BT_AT(chunk, sub_stripes),
	BT_CHUNK_STRIPE = BT_AT(chunk, stripe)
};

enum bt_stripe_field {
	BT_STRIPE_DEVID = BT_AT(stripe, devid),
	BT_STRIPE_OFFSET = BT_AT(stripe, offset),
	BT_STRIPE_DEV_UUID = BT_AT(stripe, dev_uuid)
};

#define BT_STRIPE_BYTES BT_SIZE(stripe)

/* The root of a tree.  Items written by old kernels end with the level. */
enum bt_root_item_field {
	BT_ROOT_ITEM_GENERATION = BT_AT(root_item, generation),
	BT_ROOT_ITEM_BYTENR = BT_AT(root_item, bytenr),
	BT_ROOT_ITEM_LEVEL = BT_AT(root_item, level)
};

/* An inode: the generation that last changed it, and the item's length. */
#define BT_INODE_ITEM_TRANSID BT_AT(inode_item, transid)
#define BT_INODE_ITEM_BYTES BT_SIZE(inode_item)

/* A file extent. */
enum bt_file_extent_field {
	BT_FILE_EXTENT_GENERATION = BT_AT(file_extent_item, generation),
	BT_FILE_EXTENT_COMPRESSION = BT_AT(file_extent_item, compression),
	BT_FILE_EXTENT_TYPE = BT_AT(file_extent_item, type),
	BT_FILE_EXTENT_DISK_BYTENR = BT_AT(file_extent_item, disk_bytenr),
	BT_FILE_EXTENT_DISK_NUM_BYTES = BT_AT(file_extent_item, disk_num_bytes),
	BT_FILE_EXTENT_OFFSET = BT_AT(file_extent_item, offset),
	BT_FILE_EXTENT_NUM_BYTES = BT_AT(file_extent_item, num_bytes)
};

#define BT_FILE_EXTENT_BYTES BT_SIZE(file_extent_item)

/* Values of BT_FILE_EXTENT_TYPE. */
enum bt_file_extent_type {
	BT_FILE_EXTENT_INLINE = BTRFS_FILE_EXTENT_INLINE,
	BT_FILE_EXTENT_REG = BTRFS_FILE_EXTENT_REG,
	BT_FILE_EXTENT_PREALLOC = BTRFS_FILE_EXTENT_PREALLOC
};

/* An extent's record; references to the extent follow it. */
#define BT_EXTENT_ITEM_FLAGS BT_AT(extent_item, flags)
#define BT_EXTENT_ITEM_BYTES BT_SIZE(extent_item)

/* Values of BT_EXTENT_ITEM_FLAGS. */
#define BT_EXTENT_FLAG_DATA BTRFS_EXTENT_FLAG_DATA

/* A reference by a file, after its type; and the length of the count that
 * follows the address of a leaf that refers to the extent. */
enum bt_extent_data_ref_field {
	BT_EXTENT_DATA_REF_ROOT = BT_AT(extent_data_ref, root),
	BT_EXTENT_DATA_REF_OBJECTID = BT_AT(extent_data_ref, objectid),
	BT_EXTENT_DATA_REF_OFFSET = BT_AT(extent_data_ref, offset)
};

#define BT_EXTENT_DATA_REF_BYTES BT_SIZE(extent_data_ref)
#define BT_SHARED_DATA_REF_BYTES BT_SIZE(shared_data_ref)

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
