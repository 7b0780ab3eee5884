/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The planner for btrfs, on hand-made bytes: what it finds in valid structures,
 * and that it finds nothing in a structure with a bad field.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "btrfs-fs.h"

#define MIB (UINT64_C(1) << 20)
#define META BT_BLOCK_GROUP_METADATA

static struct e2pf_btrfs_super sound_super(void)
{
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES];
	struct e2pf_btrfs_super super;

	fs_super(bytes, 1, 4 * MIB, 8 * MIB);
	assert_int_equal(e2pf_btrfs_plan_super(bytes, 65536, &super),
			 E2PF_BTRFS_OK);
	return super;
}

static void test_super(void **state)
{
	struct e2pf_btrfs_super super = sound_super();

	(void)state;
	assert_int_equal(super.devid, 1);
	assert_int_equal(super.nodesize, FS_NODE);
	assert_int_equal(super.root.logical, 8 * MIB);
	assert_int_equal(super.root.owner, BT_ROOT_TREE_OBJECTID);
	assert_int_equal(super.chunk_root.logical, 4 * MIB);
	assert_int_equal(super.log_root.logical, 0);
	assert_memory_equal(super.fsid, super.node_fsid, E2PF_BTRFS_UUID);
	assert_int_equal(e2pf_btrfs_super_offset(0), 65536);
	assert_int_equal(e2pf_btrfs_super_offset(1), 64 * MIB);
	assert_int_equal(e2pf_btrfs_super_offset(2), 256 * 1024 * MIB);
}

/* A change to one field of the superblock, and its effect. */
struct damage {
	unsigned at;
	unsigned bytes;
	uint64_t value;
	enum e2pf_btrfs_verdict verdict;
};

static void test_bad_super(void **state)
{
	static const struct damage damages[] = {
		{ BT_SUPER_MAGIC, 8, 1, E2PF_BTRFS_NONE },
		{ BT_SUPER_BYTENR, 8, 0, E2PF_BTRFS_NONE },
		{ BT_SUPER_NODESIZE, 4, 0, E2PF_BTRFS_NONE },
		{ BT_SUPER_NODESIZE, 4, 12288, E2PF_BTRFS_NONE },
		{ BT_SUPER_NODESIZE, 4, 131072, E2PF_BTRFS_NONE },
		{ BT_SUPER_NODESIZE, 4, 65536, E2PF_BTRFS_OK },
		{ BT_SUPER_SECTORSIZE, 4, 512, E2PF_BTRFS_NONE },
		{ BT_SUPER_SECTORSIZE, 4, 8192, E2PF_BTRFS_NONE },
		{ BT_SUPER_SYS_ARRAY_SIZE, 4, 2049, E2PF_BTRFS_NONE },
		{ BT_SUPER_SYS_ARRAY_SIZE, 4, 2048, E2PF_BTRFS_OK },
		{ BT_SUPER_ROOT, 8, 0, E2PF_BTRFS_NONE },
		{ BT_SUPER_ROOT, 8, 4097, E2PF_BTRFS_NONE },
		{ BT_SUPER_CHUNK_ROOT, 8, 1, E2PF_BTRFS_NONE },
		{ BT_SUPER_ROOT_LEVEL, 1, 8, E2PF_BTRFS_NONE },
		{ BT_SUPER_ROOT_LEVEL, 1, 7, E2PF_BTRFS_OK },
		{ BT_SUPER_INCOMPAT, 8, BT_FEATURE_INCOMPAT_EXTENT_TREE_V2,
		  E2PF_BTRFS_UNKNOWN },
	};
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES];
	struct e2pf_btrfs_super super;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		const struct damage *d = &damages[i];
		uint64_t value = htole64(d->value);

		fs_super(bytes, 1, 4 * MIB, 8 * MIB);
		memcpy(bytes + d->at, &value, d->bytes);
		assert_int_equal(e2pf_btrfs_plan_super(bytes, 65536, &super),
				 d->verdict);
	}
}

/* Formats in which blocks are elsewhere are refused by name. */
static void test_unknown_formats(void **state)
{
	static const struct {
		uint64_t flag;
		const char *why;
	} formats[] = {
		{ BT_FEATURE_INCOMPAT_EXTENT_TREE_V2,
		  "extent-tree-v2 is not supported" },
		{ BT_FEATURE_INCOMPAT_RAID_STRIPE_TREE,
		  "raid-stripe-tree is not supported" },
		{ BT_FEATURE_INCOMPAT_REMAP_TREE,
		  "remap-tree is not supported" },
	};
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES];
	struct e2pf_btrfs_super super;
	size_t i;

	(void)state;
	fs_super(bytes, 1, 4 * MIB, 8 * MIB);
	assert_null(e2pf_btrfs_unknown_format(bytes));
	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		put64(bytes + BT_SUPER_INCOMPAT, formats[i].flag |
		      BT_FEATURE_INCOMPAT_METADATA_UUID);
		assert_int_equal(e2pf_btrfs_plan_super(bytes, 65536, &super),
				 E2PF_BTRFS_UNKNOWN);
		assert_string_equal(e2pf_btrfs_unknown_format(bytes),
				    formats[i].why);
	}
}

static void test_metadata_uuid(void **state)
{
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES];
	struct e2pf_btrfs_super super;

	(void)state;
	fs_super(bytes, 1, 4 * MIB, 8 * MIB);
	memset(bytes + BT_SUPER_METADATA_UUID, 0xa1, E2PF_BTRFS_UUID);
	put64(bytes + BT_SUPER_INCOMPAT, BT_FEATURE_INCOMPAT_METADATA_UUID);
	assert_int_equal(e2pf_btrfs_plan_super(bytes, 65536, &super),
			 E2PF_BTRFS_OK);
	assert_int_equal(super.fsid[0], 0xf5);
	assert_int_equal(super.node_fsid[0], 0xa1);
}

/* Location of the 64 KiB unit `unit` of a chunk, for each profile. */
struct layout_case {
	uint64_t type;
	unsigned stripes, sub, unit, copy;
	unsigned stripe, row;		/* expected */
};

static void test_places(void **state)
{
	static const struct layout_case cases[] = {
		{ 0, 1, 0, 5, 0, 0, 5 },
		{ BT_BLOCK_GROUP_DUP, 2, 0, 5, 0, 0, 5 },
		{ BT_BLOCK_GROUP_DUP, 2, 0, 5, 1, 1, 5 },
		{ BT_BLOCK_GROUP_RAID1, 2, 0, 5, 1, 1, 5 },
		{ BT_BLOCK_GROUP_RAID1C3, 3, 0, 5, 2, 2, 5 },
		{ BT_BLOCK_GROUP_RAID1C4, 4, 0, 5, 3, 3, 5 },
		{ BT_BLOCK_GROUP_RAID0, 3, 0, 5, 0, 2, 1 },
		{ BT_BLOCK_GROUP_RAID10, 4, 2, 5, 0, 2, 2 },
		{ BT_BLOCK_GROUP_RAID10, 4, 2, 4, 1, 1, 2 },
		/* Rows of two units and rotating parity: 0 1 P, P 2 3,
		 * 5 P 4. */
		{ BT_BLOCK_GROUP_RAID5, 3, 0, 0, 0, 0, 0 },
		{ BT_BLOCK_GROUP_RAID5, 3, 0, 1, 0, 1, 0 },
		{ BT_BLOCK_GROUP_RAID5, 3, 0, 2, 0, 1, 1 },
		{ BT_BLOCK_GROUP_RAID5, 3, 0, 3, 0, 2, 1 },
		{ BT_BLOCK_GROUP_RAID5, 3, 0, 5, 0, 0, 2 },
		{ BT_BLOCK_GROUP_RAID6, 4, 0, 7, 0, 0, 3 },
	};
	const struct e2pf_btrfs_super super = sound_super();
	uint8_t item[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct layout_case *c = &cases[i];
		size_t size = fs_chunk(item, 12 * MIB, META | c->type,
				       c->stripes, c->sub);
		struct e2pf_btrfs_place place;
		struct e2pf_btrfs_chunk chunk;

		assert_true(e2pf_btrfs_plan_chunk(&super, 16 * MIB, item, size,
						  &chunk));
		assert_int_equal(chunk.stripe[c->stripes - 1].devid,
				 c->stripes);
		place = e2pf_btrfs_place(&chunk.layout, c->unit * 65536 + 4096,
					 c->copy);
		assert_int_equal(place.stripe, c->stripe);
		assert_int_equal(place.offset, c->row * 65536 + 4096);
		if (chunk.layout.profile != E2PF_BTRFS_COPIES)
			assert_int_equal(place.length, 65536 - 4096);
		assert_uint_in_range(place.offset + place.length, 1,
				     e2pf_btrfs_stripe_bytes(&chunk.layout));
		assert_int_equal(e2pf_btrfs_offset(&chunk.layout, place.stripe,
						   place.offset),
				 chunk.layout.profile == E2PF_BTRFS_RAID56 ?
				 UINT64_MAX : c->unit * 65536 + 4096);
	}
}

static void expect_no_chunk(const uint8_t *item, size_t size,
			    uint64_t logical)
{
	const struct e2pf_btrfs_super super = sound_super();
	struct e2pf_btrfs_chunk chunk;

	assert_false(e2pf_btrfs_plan_chunk(&super, logical, item, size,
					   &chunk));
}

static void test_bad_chunks(void **state)
{
	const uint64_t raid = META | BT_BLOCK_GROUP_RAID1;
	uint8_t item[4096];
	size_t size;

	(void)state;
	size = fs_chunk(item, MIB, raid, 2, 0);
	expect_no_chunk(item, size - 1, 0);
	expect_no_chunk(item, 10, 0);
	expect_no_chunk(item, size, 1);
	expect_no_chunk(item, size, UINT64_MAX - 4095);
	put64(item + BT_CHUNK_STRIPE_LEN, 4096);
	expect_no_chunk(item, size, 0);
	expect_no_chunk(item, fs_chunk(item, MIB, raid, 3, 0), 0);
	expect_no_chunk(item, fs_chunk(item, MIB, META, 2, 0), 0);
	expect_no_chunk(item, fs_chunk(item, MIB, META, 0, 0), 0);
	expect_no_chunk(item, fs_chunk(item, 0, META, 1, 0), 0);
	expect_no_chunk(item, fs_chunk(item, 4097, META, 1, 0), 0);
	expect_no_chunk(item, fs_chunk(item, UINT64_MAX - 4095, META, 1, 0),
			0);
	expect_no_chunk(item, fs_chunk(item, MIB, META |
			BT_BLOCK_GROUP_RAID0, 65, 0), 0);
	expect_no_chunk(item, fs_chunk(item, MIB, META |
			BT_BLOCK_GROUP_RAID10, 4, 3), 0);
	expect_no_chunk(item, fs_chunk(item, MIB, META |
			BT_BLOCK_GROUP_RAID10, 3, 2), 0);
	expect_no_chunk(item, fs_chunk(item, MIB, META |
			BT_BLOCK_GROUP_RAID6, 2, 0), 0);
	expect_no_chunk(item, fs_chunk(item, MIB, META |
			BT_BLOCK_GROUP_RAID1 | BT_BLOCK_GROUP_RAID0, 2,
			0), 0);
}

static void count_chunk(void *ctx, const struct e2pf_btrfs_chunk *chunk)
{
	(void)chunk;
	++*(unsigned *)ctx;
}

static void test_sys_array(void **state)
{
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES], item[512];
	struct e2pf_btrfs_super super;
	uint32_t size, cut;
	unsigned n;

	(void)state;
	fs_super(bytes, 1, 4 * MIB, 8 * MIB);
	size = (uint32_t)fs_chunk(item, 4 * MIB, BT_BLOCK_GROUP_SYSTEM, 1,
				  0);
	fs_add_sys(bytes, 4 * MIB, item, size);
	fs_add_sys(bytes, 32 * MIB, item, size);
	size = bt_le32(bytes + BT_SUPER_SYS_ARRAY_SIZE);
	for (cut = 0; cut <= size; cut++) {
		put32(bytes + BT_SUPER_SYS_ARRAY_SIZE, cut);
		e2pf_btrfs_plan_super(bytes, 65536, &super);
		n = 0;
		e2pf_btrfs_plan_sys_array(&super, count_chunk, &n);
		assert_int_equal(n, cut / (size / 2));
	}
	/* A key of another kind ends the array. */
	bytes[BT_SUPER_SYS_ARRAY + 8] = 1;
	e2pf_btrfs_plan_super(bytes, 65536, &super);
	n = 0;
	e2pf_btrfs_plan_sys_array(&super, count_chunk, &n);
	assert_int_equal(n, 0);
}

static void test_fits(void **state)
{
	const struct e2pf_btrfs_super super = sound_super();
	struct e2pf_btrfs_ptr ptr = {
		.logical = MIB, .generation = FS_GENERATION,
		.owner = BT_CSUM_TREE_OBJECTID, .level = 1
	};
	uint8_t block[FS_NODE];

	(void)state;
	fs_block(block, MIB, BT_CSUM_TREE_OBJECTID, 1);
	assert_true(e2pf_btrfs_fits(&super, &ptr, block));
	put32(block + BT_HEADER_NRITEMS, (FS_NODE - BT_HEADER_BYTES) /
					 BT_PTR_BYTES);
	assert_true(e2pf_btrfs_fits(&super, &ptr, block));
	put32(block + BT_HEADER_NRITEMS, (FS_NODE - BT_HEADER_BYTES) /
					 BT_PTR_BYTES + 1);
	assert_false(e2pf_btrfs_fits(&super, &ptr, block));
	fs_block(block, MIB + 4096, BT_CSUM_TREE_OBJECTID, 1);
	assert_false(e2pf_btrfs_fits(&super, &ptr, block));
	fs_block(block, MIB, BT_CSUM_TREE_OBJECTID, 0);
	assert_false(e2pf_btrfs_fits(&super, &ptr, block));
	fs_block(block, MIB, 256, 1);
	assert_false(e2pf_btrfs_fits(&super, &ptr, block));
	/* Snapshots share blocks of their source. */
	ptr.owner = 300;
	assert_true(e2pf_btrfs_fits(&super, &ptr, block));
	ptr.owner = BT_FS_TREE_OBJECTID;
	assert_true(e2pf_btrfs_fits(&super, &ptr, block));
	ptr.generation++;
	assert_false(e2pf_btrfs_fits(&super, &ptr, block));
}

struct found {
	unsigned count;
	struct e2pf_btrfs_ptr last;
};

static void keep(void *ctx, const struct e2pf_btrfs_ptr *ptr)
{
	struct found *found = ctx;

	found->count++;
	found->last = *ptr;
}

static void test_node(void **state)
{
	const struct e2pf_btrfs_super super = sound_super();
	const struct e2pf_btrfs_ptr ptr = { .owner = 5, .level = 2 };
	struct found found = { .count = 0 };
	uint8_t block[FS_NODE];

	(void)state;
	fs_block(block, MIB, 5, 2);
	fs_add_ptr(block, 0, 1);		/* no address */
	fs_add_ptr(block, 4097, 1);		/* not a multiple of the sector
						   size */
	fs_add_ptr(block, UINT64_MAX - 4095, 1);	/* beyond the end */
	fs_add_ptr(block, 8192, FS_GENERATION + 1);	/* newer */
	fs_add_ptr(block, 12288, FS_GENERATION);
	e2pf_btrfs_plan_node(&super, &ptr, block, keep, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.last.logical, 12288);
	assert_int_equal(found.last.level, 1);
	assert_int_equal(found.last.owner, 5);
	/* However many items the block claims, none beyond its end is read. */
	put32(block + BT_HEADER_NRITEMS, UINT32_MAX);
	found.count = 0;
	e2pf_btrfs_plan_node(&super, &ptr, block, keep, &found);
	assert_int_equal(found.count, 1);
}

static void test_roots(void **state)
{
	const struct e2pf_btrfs_super super = sound_super();
	struct found found = { .count = 0 };
	uint8_t leaf[FS_NODE], short_item[100] = { 0 }, *entry;

	(void)state;
	fs_block(leaf, MIB, BT_ROOT_TREE_OBJECTID, 0);
	fs_add_item(leaf, 300, BT_ROOT_ITEM_KEY, 0, short_item, 100);
	fs_add_item(leaf, 300, BT_INODE_ITEM_KEY, 0, short_item, 100);
	fs_add_root(leaf, 301, 4096, 8);	/* no such level */
	fs_add_root(leaf, 302, 0, 0);		/* no address */
	fs_add_root(leaf, 303, 8192, 3);
	e2pf_btrfs_plan_roots(&super, leaf, keep, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.last.owner, 303);
	assert_int_equal(found.last.level, 3);
	assert_int_equal(found.last.generation, FS_GENERATION);
	/* An item outside the leaf. */
	entry = leaf + BT_HEADER_BYTES + 4 * BT_ITEM_BYTES;
	put32(entry + BT_ITEM_OFFSET, FS_NODE);
	found.count = 0;
	e2pf_btrfs_plan_roots(&super, leaf, keep, &found);
	assert_int_equal(found.count, 0);
	put32(entry + BT_ITEM_OFFSET, 0);
	put32(entry + BT_ITEM_SIZE, UINT32_MAX);
	e2pf_btrfs_plan_roots(&super, leaf, keep, &found);
	assert_int_equal(found.count, 0);
}

static void test_chunk_leaf(void **state)
{
	const struct e2pf_btrfs_super super = sound_super();
	uint8_t leaf[FS_NODE], item[512];
	size_t size = fs_chunk(item, MIB, META, 1, 0);
	unsigned n = 0;

	(void)state;
	fs_block(leaf, MIB, BT_CHUNK_TREE_OBJECTID, 0);
	fs_add_item(leaf, 256, BT_CHUNK_ITEM_KEY, MIB, item, size);
	fs_add_item(leaf, 256, BT_CHUNK_ITEM_KEY, MIB + 1, item, size);
	fs_add_item(leaf, 1, BT_DEV_ITEM_KEY, 1, item, size);
	e2pf_btrfs_plan_chunks(&super, leaf, count_chunk, &n);
	assert_int_equal(n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_super),
		cmocka_unit_test(test_bad_super),
		cmocka_unit_test(test_unknown_formats),
		cmocka_unit_test(test_metadata_uuid),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_bad_chunks),
		cmocka_unit_test(test_sys_array),
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_node),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_chunk_leaf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
