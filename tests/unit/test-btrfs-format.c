/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of lib/btrfs/format.h against those of the kernel headers of the
 * machine, each where these headers have it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>

#include "btrfs/format.h"

struct pair {
	const char *name;
	uint64_t ours, kernels;
};

static void compare(const struct pair *pairs, size_t count)
{
	size_t i, differ = 0;

	for (i = 0; i < count; i++) {
		if (pairs[i].ours == pairs[i].kernels)
			continue;
		print_error("%s: %llu here, %llu in the kernel's header\n",
			    pairs[i].name, (unsigned long long)pairs[i].ours,
			    (unsigned long long)pairs[i].kernels);
		differ++;
	}
	assert_int_equal(differ, 0);
}

#define COMPARE(pairs) compare(pairs, sizeof(pairs) / sizeof(*(pairs)))
#define NUMBER(name) { #name, BT_ ## name, BTRFS_ ## name }
#define PLACE(name, type, member) \
	{ #name, BT_ ## name, offsetof(struct type, member) }
#define LENGTH(name, type) { #name, BT_ ## name, sizeof(struct type) }

static void test_numbers(void **state)
{
	static const struct pair pairs[] = {
		NUMBER(ROOT_TREE_OBJECTID),
		NUMBER(EXTENT_TREE_OBJECTID),
		NUMBER(CHUNK_TREE_OBJECTID),
		NUMBER(FS_TREE_OBJECTID),
		NUMBER(CSUM_TREE_OBJECTID),
		NUMBER(FIRST_FREE_OBJECTID),
		NUMBER(FIRST_CHUNK_TREE_OBJECTID),
		NUMBER(EXTENT_CSUM_OBJECTID),
#ifdef BTRFS_BLOCK_GROUP_TREE_OBJECTID
		NUMBER(BLOCK_GROUP_TREE_OBJECTID),
#endif
		NUMBER(INODE_ITEM_KEY),
		NUMBER(INODE_REF_KEY),
		NUMBER(EXTENT_DATA_KEY),
		NUMBER(EXTENT_CSUM_KEY),
		NUMBER(ROOT_ITEM_KEY),
		NUMBER(EXTENT_ITEM_KEY),
		NUMBER(METADATA_ITEM_KEY),
		NUMBER(TREE_BLOCK_REF_KEY),
		NUMBER(EXTENT_DATA_REF_KEY),
		NUMBER(SHARED_BLOCK_REF_KEY),
		NUMBER(SHARED_DATA_REF_KEY),
		NUMBER(DEV_ITEM_KEY),
		NUMBER(CHUNK_ITEM_KEY),
	};

	(void)state;
	COMPARE(pairs);
}

static void test_flags(void **state)
{
	static const struct pair pairs[] = {
		NUMBER(BLOCK_GROUP_SYSTEM),
		NUMBER(BLOCK_GROUP_METADATA),
		NUMBER(BLOCK_GROUP_RAID0),
		NUMBER(BLOCK_GROUP_RAID1),
		NUMBER(BLOCK_GROUP_DUP),
		NUMBER(BLOCK_GROUP_RAID10),
		NUMBER(BLOCK_GROUP_RAID5),
		NUMBER(BLOCK_GROUP_RAID6),
		NUMBER(BLOCK_GROUP_RAID1C3),
		NUMBER(BLOCK_GROUP_RAID1C4),
		NUMBER(BLOCK_GROUP_PROFILE_MASK),
		NUMBER(FEATURE_INCOMPAT_METADATA_UUID),
#ifdef BTRFS_FEATURE_INCOMPAT_EXTENT_TREE_V2
		NUMBER(FEATURE_INCOMPAT_EXTENT_TREE_V2),
#endif
#ifdef BTRFS_FEATURE_INCOMPAT_RAID_STRIPE_TREE
		NUMBER(FEATURE_INCOMPAT_RAID_STRIPE_TREE),
#endif
#ifdef BTRFS_FEATURE_INCOMPAT_REMAP_TREE
		NUMBER(FEATURE_INCOMPAT_REMAP_TREE),
#endif
		NUMBER(FILE_EXTENT_INLINE),
		NUMBER(FILE_EXTENT_REG),
		NUMBER(FILE_EXTENT_PREALLOC),
		NUMBER(EXTENT_FLAG_DATA),
	};

	(void)state;
	COMPARE(pairs);
}

static void test_places(void **state)
{
	static const struct pair pairs[] = {
		PLACE(KEY_OBJECTID, btrfs_disk_key, objectid),
		PLACE(KEY_TYPE, btrfs_disk_key, type),
		PLACE(KEY_OFFSET, btrfs_disk_key, offset),
		LENGTH(KEY_BYTES, btrfs_disk_key),
		PLACE(DEV_ITEM_DEVID, btrfs_dev_item, devid),
		PLACE(DEV_ITEM_UUID, btrfs_dev_item, uuid),
		PLACE(CHUNK_LENGTH, btrfs_chunk, length),
		PLACE(CHUNK_STRIPE_LEN, btrfs_chunk, stripe_len),
		PLACE(CHUNK_TYPE, btrfs_chunk, type),
		PLACE(CHUNK_NUM_STRIPES, btrfs_chunk, num_stripes),
		PLACE(CHUNK_SUB_STRIPES, btrfs_chunk, sub_stripes),
		PLACE(CHUNK_STRIPE, btrfs_chunk, stripe),
		PLACE(STRIPE_DEVID, btrfs_stripe, devid),
		PLACE(STRIPE_OFFSET, btrfs_stripe, offset),
		PLACE(STRIPE_DEV_UUID, btrfs_stripe, dev_uuid),
		LENGTH(STRIPE_BYTES, btrfs_stripe),
		PLACE(ROOT_ITEM_GENERATION, btrfs_root_item, generation),
		PLACE(ROOT_ITEM_BYTENR, btrfs_root_item, bytenr),
		PLACE(ROOT_ITEM_LEVEL, btrfs_root_item, level),
		PLACE(INODE_ITEM_TRANSID, btrfs_inode_item, transid),
		LENGTH(INODE_ITEM_BYTES, btrfs_inode_item),
		PLACE(FILE_EXTENT_GENERATION, btrfs_file_extent_item,
		      generation),
		PLACE(FILE_EXTENT_COMPRESSION, btrfs_file_extent_item,
		      compression),
		PLACE(FILE_EXTENT_TYPE, btrfs_file_extent_item, type),
		PLACE(FILE_EXTENT_DISK_BYTENR, btrfs_file_extent_item,
		      disk_bytenr),
		PLACE(FILE_EXTENT_DISK_NUM_BYTES, btrfs_file_extent_item,
		      disk_num_bytes),
		PLACE(FILE_EXTENT_OFFSET, btrfs_file_extent_item, offset),
		PLACE(FILE_EXTENT_NUM_BYTES, btrfs_file_extent_item,
		      num_bytes),
		LENGTH(FILE_EXTENT_BYTES, btrfs_file_extent_item),
		PLACE(EXTENT_ITEM_FLAGS, btrfs_extent_item, flags),
		LENGTH(EXTENT_ITEM_BYTES, btrfs_extent_item),
		PLACE(EXTENT_DATA_REF_ROOT, btrfs_extent_data_ref, root),
		PLACE(EXTENT_DATA_REF_OBJECTID, btrfs_extent_data_ref,
		      objectid),
		PLACE(EXTENT_DATA_REF_OFFSET, btrfs_extent_data_ref, offset),
		LENGTH(EXTENT_DATA_REF_BYTES, btrfs_extent_data_ref),
		LENGTH(SHARED_DATA_REF_BYTES, btrfs_shared_data_ref),
	};

	(void)state;
	COMPARE(pairs);
}

/* The headers have the superblock and the header of a tree block since Linux
 * 6.2. */
#ifdef BTRFS_SYSTEM_CHUNK_ARRAY_SIZE
static void test_blocks(void **state)
{
	static const struct pair pairs[] = {
		NUMBER(MAGIC),
		PLACE(SUPER_FSID, btrfs_super_block, fsid),
		PLACE(SUPER_BYTENR, btrfs_super_block, bytenr),
		PLACE(SUPER_MAGIC, btrfs_super_block, magic),
		PLACE(SUPER_GENERATION, btrfs_super_block, generation),
		PLACE(SUPER_ROOT, btrfs_super_block, root),
		PLACE(SUPER_CHUNK_ROOT, btrfs_super_block, chunk_root),
		PLACE(SUPER_BYTES_USED, btrfs_super_block, bytes_used),
		PLACE(SUPER_NUM_DEVICES, btrfs_super_block, num_devices),
		PLACE(SUPER_SECTORSIZE, btrfs_super_block, sectorsize),
		PLACE(SUPER_NODESIZE, btrfs_super_block, nodesize),
		PLACE(SUPER_SYS_ARRAY_SIZE, btrfs_super_block,
		      sys_chunk_array_size),
		PLACE(SUPER_CHUNK_ROOT_GENERATION, btrfs_super_block,
		      chunk_root_generation),
		PLACE(SUPER_INCOMPAT, btrfs_super_block, incompat_flags),
		PLACE(SUPER_ROOT_LEVEL, btrfs_super_block, root_level),
		PLACE(SUPER_CHUNK_ROOT_LEVEL, btrfs_super_block,
		      chunk_root_level),
		PLACE(SUPER_DEV_ITEM, btrfs_super_block, dev_item),
		PLACE(SUPER_METADATA_UUID, btrfs_super_block, metadata_uuid),
		PLACE(SUPER_SYS_ARRAY, btrfs_super_block, sys_chunk_array),
		PLACE(HEADER_FSID, btrfs_header, fsid),
		PLACE(HEADER_BYTENR, btrfs_header, bytenr),
		PLACE(HEADER_GENERATION, btrfs_header, generation),
		PLACE(HEADER_OWNER, btrfs_header, owner),
		PLACE(HEADER_NRITEMS, btrfs_header, nritems),
		PLACE(HEADER_LEVEL, btrfs_header, level),
		LENGTH(HEADER_BYTES, btrfs_header),
		PLACE(PTR_BLOCKPTR, btrfs_key_ptr, blockptr),
		PLACE(PTR_GENERATION, btrfs_key_ptr, generation),
		LENGTH(PTR_BYTES, btrfs_key_ptr),
		PLACE(ITEM_OFFSET, btrfs_item, offset),
		PLACE(ITEM_SIZE, btrfs_item, size),
		LENGTH(ITEM_BYTES, btrfs_item),
	};

	(void)state;
	COMPARE(pairs);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_places),
#ifdef BTRFS_SYSTEM_CHUNK_ARRAY_SIZE
		cmocka_unit_test(test_blocks),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
