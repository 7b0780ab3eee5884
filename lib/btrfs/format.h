/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The on-disk format of btrfs: tree and item type numbers, flags, and the
 * offsets of the fields that are used.
 *
 * These are facts of the format.  They are defined here because a kernel's
 * headers name only what that kernel knows: the block group tree, for example,
 * has had a name only since Linux 6.1.  Each number has the kernel's name with
 * BT_ instead of BTRFS_.  Source: <linux/btrfs_tree.h> and <linux/btrfs.h> of
 * Linux 6.1, and those of 6.12 for superblock and tree blocks.
 * tests/unit/test-btrfs-format.c compares them with the headers of the machine.
 * Private to lib/ and its tests.
 */
#ifndef E2PF_BTRFS_FORMAT_H
#define E2PF_BTRFS_FORMAT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* "_BHRfS_M", as a little-endian number. */
#define BT_MAGIC UINT64_C(0x4D5F53665248425F)

/* Tree numbers.  They are also the owners of the trees' blocks. */
#define BT_ROOT_TREE_OBJECTID UINT64_C(1)
#define BT_EXTENT_TREE_OBJECTID UINT64_C(2)
#define BT_CHUNK_TREE_OBJECTID UINT64_C(3)
#define BT_FS_TREE_OBJECTID UINT64_C(5)
#define BT_CSUM_TREE_OBJECTID UINT64_C(7)
#define BT_BLOCK_GROUP_TREE_OBJECTID UINT64_C(11)

/* The lowest number of a subvolume, and of a file or folder in it. */
#define BT_FIRST_FREE_OBJECTID UINT64_C(256)

/* The objectids of all chunk items, and of all checksum items. */
#define BT_FIRST_CHUNK_TREE_OBJECTID UINT64_C(256)
#define BT_EXTENT_CSUM_OBJECTID UINT64_C(0xfffffffffffffff6)

/* Item types: the middle part of an item's key. */
enum bt_item_type {
	BT_INODE_ITEM_KEY = 1,
	BT_INODE_REF_KEY = 12,
	BT_EXTENT_DATA_KEY = 108,
	BT_EXTENT_CSUM_KEY = 128,
	BT_ROOT_ITEM_KEY = 132,
	BT_EXTENT_ITEM_KEY = 168,
	BT_METADATA_ITEM_KEY = 169,
	BT_TREE_BLOCK_REF_KEY = 176,
	BT_EXTENT_DATA_REF_KEY = 178,
	BT_SHARED_BLOCK_REF_KEY = 182,
	BT_SHARED_DATA_REF_KEY = 184,
	BT_DEV_ITEM_KEY = 216,
	BT_CHUNK_ITEM_KEY = 228
};

/* Flags of a chunk's type: what it holds, and its layout on the devices. */
#define BT_BLOCK_GROUP_SYSTEM (UINT64_C(1) << 1)
#define BT_BLOCK_GROUP_METADATA (UINT64_C(1) << 2)
#define BT_BLOCK_GROUP_RAID0 (UINT64_C(1) << 3)
#define BT_BLOCK_GROUP_RAID1 (UINT64_C(1) << 4)
#define BT_BLOCK_GROUP_DUP (UINT64_C(1) << 5)
#define BT_BLOCK_GROUP_RAID10 (UINT64_C(1) << 6)
#define BT_BLOCK_GROUP_RAID5 (UINT64_C(1) << 7)
#define BT_BLOCK_GROUP_RAID6 (UINT64_C(1) << 8)
#define BT_BLOCK_GROUP_RAID1C3 (UINT64_C(1) << 9)
#define BT_BLOCK_GROUP_RAID1C4 (UINT64_C(1) << 10)
#define BT_BLOCK_GROUP_PROFILE_MASK UINT64_C(0x7f8)

/* Superblock features that matter to a reader. */
#define BT_FEATURE_INCOMPAT_METADATA_UUID (UINT64_C(1) << 10)
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
#define BT_KEY_BYTES 17u
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
	BT_KEY_OBJECTID = 0,
	BT_KEY_TYPE = 8,
	BT_KEY_OFFSET = 9
};

/* A device's description in its own superblock. */
enum bt_dev_item_field {
	BT_DEV_ITEM_DEVID = 0,
	BT_DEV_ITEM_UUID = 66
};

/* A chunk; its stripes follow it. */
enum bt_chunk_field {
	BT_CHUNK_LENGTH = 0,
	BT_CHUNK_STRIPE_LEN = 16,
	BT_CHUNK_TYPE = 24,
	BT_CHUNK_NUM_STRIPES = 44,
	BT_CHUNK_SUB_STRIPES = 46,
	BT_CHUNK_STRIPE = 48
};

enum bt_stripe_field {
	BT_STRIPE_DEVID = 0,
	BT_STRIPE_OFFSET = 8,
	BT_STRIPE_DEV_UUID = 16
};

#define BT_STRIPE_BYTES 32u

/* The root of a tree.  Items written by old kernels end with the level. */
enum bt_root_item_field {
	BT_ROOT_ITEM_GENERATION = 160,
	BT_ROOT_ITEM_BYTENR = 176,
	BT_ROOT_ITEM_LEVEL = 238
};

/* An inode: the generation that last changed it, and the item's length. */
#define BT_INODE_ITEM_TRANSID 8u
#define BT_INODE_ITEM_BYTES 160u

/* A file extent. */
enum bt_file_extent_field {
	BT_FILE_EXTENT_GENERATION = 0,
	BT_FILE_EXTENT_COMPRESSION = 16,
	BT_FILE_EXTENT_TYPE = 20,
	BT_FILE_EXTENT_DISK_BYTENR = 21,
	BT_FILE_EXTENT_DISK_NUM_BYTES = 29,
	BT_FILE_EXTENT_OFFSET = 37,
	BT_FILE_EXTENT_NUM_BYTES = 45
};

#define BT_FILE_EXTENT_BYTES 53u

/* Values of BT_FILE_EXTENT_TYPE. */
enum bt_file_extent_type {
	BT_FILE_EXTENT_INLINE = 0,
	BT_FILE_EXTENT_REG = 1,
	BT_FILE_EXTENT_PREALLOC = 2
};

/* An extent's record; references to the extent follow it. */
#define BT_EXTENT_ITEM_FLAGS 16u
#define BT_EXTENT_ITEM_BYTES 24u

/* Values of BT_EXTENT_ITEM_FLAGS. */
#define BT_EXTENT_FLAG_DATA (UINT64_C(1) << 0)

/* A reference by a file, after its type; and the length of the count that
 * follows the address of a leaf that refers to the extent. */
enum bt_extent_data_ref_field {
	BT_EXTENT_DATA_REF_ROOT = 0,
	BT_EXTENT_DATA_REF_OBJECTID = 8,
	BT_EXTENT_DATA_REF_OFFSET = 16
};

#define BT_EXTENT_DATA_REF_BYTES 28u
#define BT_SHARED_DATA_REF_BYTES 4u

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
