/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers that lib/btrfs/format.h defines itself against those of the kernel
 * headers of the machine, each where these headers have it.
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
		{ "", 0, 0 },
#ifdef BTRFS_BLOCK_GROUP_TREE_OBJECTID
		NUMBER(BLOCK_GROUP_TREE_OBJECTID),
#endif
#ifdef BTRFS_FEATURE_INCOMPAT_EXTENT_TREE_V2
		NUMBER(FEATURE_INCOMPAT_EXTENT_TREE_V2),
#endif
#ifdef BTRFS_FEATURE_INCOMPAT_RAID_STRIPE_TREE
		NUMBER(FEATURE_INCOMPAT_RAID_STRIPE_TREE),
#endif
#ifdef BTRFS_FEATURE_INCOMPAT_REMAP_TREE
		NUMBER(FEATURE_INCOMPAT_REMAP_TREE),
#endif
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
#ifdef BTRFS_SYSTEM_CHUNK_ARRAY_SIZE
		cmocka_unit_test(test_blocks),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
