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
	assert_null(e2pf_btrfs_plan_super(bytes, 65536, &super));
	return super;
}

static void test_super(void **state)
{
	struct e2pf_btrfs_super super = sound_super();

	(void)state;
	assert_int_equal(super.device.devid, 1);
	assert_int_equal(super.nodesize, FS_NODE);
	assert_int_equal(super.root.logical, 8 * MIB);
	assert_int_equal(super.root.owner, BT_ROOT_TREE_OBJECTID);
	assert_int_equal(super.chunk_root.logical, 4 * MIB);
	assert_memory_equal(super.fsid, super.device.node_fsid, E2PF_BTRFS_UUID);
	assert_int_equal(e2pf_btrfs_super_offset(0), 65536);
	assert_int_equal(e2pf_btrfs_super_offset(1), 64 * MIB);
	assert_int_equal(e2pf_btrfs_super_offset(2), 256 * 1024 * MIB);
}

/* A change to one field of the superblock, and why nothing is planned then;
 * formats in which blocks are elsewhere are refused by name. */
static void test_bad_super(void **state)
{
	static const char bad[] = "the superblock is damaged";
	static const struct {
		unsigned at, bytes;
		uint64_t value;
		const char *why;
	} damages[] = {
		{ BT_SUPER_MAGIC, 8, 1, bad },
		{ BT_SUPER_BYTENR, 8, 0, bad },
		{ BT_SUPER_NODESIZE, 4, 0, bad },
		{ BT_SUPER_NODESIZE, 4, 12288, bad },
		{ BT_SUPER_NODESIZE, 4, 131072, bad },
		{ BT_SUPER_NODESIZE, 4, 65536, NULL },
		{ BT_SUPER_SECTORSIZE, 4, 512, bad },
		{ BT_SUPER_SECTORSIZE, 4, 8192, bad },
		{ BT_SUPER_SYS_ARRAY_SIZE, 4, 2049, bad },
		{ BT_SUPER_SYS_ARRAY_SIZE, 4, 2048, NULL },
		{ BT_SUPER_ROOT, 8, 0, bad },
		{ BT_SUPER_ROOT, 8, 4097, bad },
		{ BT_SUPER_CHUNK_ROOT, 8, 1, bad },
		{ BT_SUPER_ROOT_LEVEL, 1, 8, bad },
		{ BT_SUPER_ROOT_LEVEL, 1, 7, NULL },
		{ BT_SUPER_INCOMPAT, 8, BT_FEATURE_INCOMPAT_METADATA_UUID,
		  NULL },
		{ BT_SUPER_INCOMPAT, 8, BT_FEATURE_INCOMPAT_EXTENT_TREE_V2 |
		  BT_FEATURE_INCOMPAT_METADATA_UUID,
		  "extent-tree-v2 is not supported" },
		{ BT_SUPER_INCOMPAT, 8, BT_FEATURE_INCOMPAT_RAID_STRIPE_TREE,
		  "raid-stripe-tree is not supported" },
		{ BT_SUPER_INCOMPAT, 8, BT_FEATURE_INCOMPAT_REMAP_TREE,
		  "remap-tree is not supported" },
	};
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES];
	struct e2pf_btrfs_super super;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		uint64_t value = htole64(damages[i].value);
		const char *why;

		fs_super(bytes, 1, 4 * MIB, 8 * MIB);
		memcpy(bytes + damages[i].at, &value, damages[i].bytes);
		why = e2pf_btrfs_plan_super(bytes, 65536, &super);
		if (damages[i].why)
			assert_string_equal(why, damages[i].why);
		else
			assert_null(why);
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
	assert_null(e2pf_btrfs_plan_super(bytes, 65536, &super));
	assert_int_equal(super.fsid[0], 0xf5);
	assert_int_equal(super.device.node_fsid[0], 0xa1);
}

static bool plan_chunk(const struct e2pf_btrfs_super *super, uint64_t logical,
		       const uint8_t *bytes, size_t size,
		       struct e2pf_btrfs_chunk *chunk)
{
	const struct e2pf_btrfs_item item = {
		.key = { 256, logical, BT_CHUNK_ITEM_KEY }, .bytes = bytes,
		.size = (uint32_t)size
	};

	return e2pf_btrfs_plan_chunk(super, &item, chunk);
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

		assert_true(plan_chunk(&super, 16 * MIB, item, size, &chunk));
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

static void test_bad_chunks(void **state)
{
	const uint64_t raid1 = META | BT_BLOCK_GROUP_RAID1;
	const uint64_t raid10 = META | BT_BLOCK_GROUP_RAID10;
	const struct {
		uint64_t length, type;
		unsigned stripes, sub;
		uint64_t logical;
		size_t cut;		/* bytes at the item's end */
		bool valid;
	} cases[] = {
		{ MIB, raid1, 2, 0, 0, 0, true },
		{ MIB, raid1, 2, 0, 0, 1, false },
		{ MIB, raid1, 2, 0, 0, 2 * BT_STRIPE_BYTES + 1, false },
		{ MIB, raid1, 2, 0, 1, 0, false },
		{ MIB, raid1, 2, 0, UINT64_MAX - 4095, 0, false },
		{ MIB, raid1, 3, 0, 0, 0, false },
		{ MIB, META, 2, 0, 0, 0, false },
		{ MIB, META, 0, 0, 0, 0, false },
		{ 0, META, 1, 0, 0, 0, false },
		{ 4097, META, 1, 0, 0, 0, false },
		{ UINT64_MAX - 4095, META, 1, 0, 0, 0, false },
		{ MIB, META | BT_BLOCK_GROUP_RAID0, 64, 0, 0, 0, true },
		{ MIB, META | BT_BLOCK_GROUP_RAID0, 65, 0, 0, 0, false },
		{ MIB, raid10, 4, 2, 0, 0, true },
		{ MIB, raid10, 4, 3, 0, 0, false },
		{ MIB, raid10, 3, 2, 0, 0, false },
		{ MIB, META | BT_BLOCK_GROUP_RAID6, 2, 0, 0, 0, false },
		{ MIB, raid1 | BT_BLOCK_GROUP_RAID0, 2, 0, 0, 0, false },
	};
	const struct e2pf_btrfs_super super = sound_super();
	struct e2pf_btrfs_chunk chunk;
	uint8_t item[4096];
	size_t i, size;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		size = fs_chunk(item, cases[i].length, cases[i].type,
				cases[i].stripes, cases[i].sub);
		assert_int_equal(plan_chunk(&super, cases[i].logical, item,
					    size - cases[i].cut, &chunk),
				 cases[i].valid);
		put64(item + BT_CHUNK_STRIPE_LEN, 4096);
		assert_false(plan_chunk(&super, cases[i].logical, item, size,
					&chunk));
	}
}

struct chunks {
	const struct e2pf_btrfs_super *super;
	unsigned count;
};

static void count_chunk(void *ctx, const struct e2pf_btrfs_item *item)
{
	struct chunks *c = ctx;
	struct e2pf_btrfs_chunk chunk;

	c->count += e2pf_btrfs_plan_chunk(c->super, item, &chunk);
}

static void test_sys_array(void **state)
{
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES], item[512];
	struct e2pf_btrfs_super super;
	uint32_t size, cut;
	struct chunks c = { .super = &super };

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
		c.count = 0;
		e2pf_btrfs_plan_sys_array(&super, count_chunk, &c);
		assert_int_equal(c.count, cut / (size / 2));
	}
	/* A key of another kind ends the array. */
	bytes[BT_SUPER_SYS_ARRAY + 8] = 1;
	e2pf_btrfs_plan_super(bytes, 65536, &super);
	c.count = 0;
	e2pf_btrfs_plan_sys_array(&super, count_chunk, &c);
	assert_int_equal(c.count, 0);
}

static void test_fits(void **state)
{
	const uint64_t csums = BT_CSUM_TREE_OBJECTID;
	const uint32_t most = (FS_NODE - BT_HEADER_BYTES) / BT_PTR_BYTES;
	const struct {
		uint64_t owner, newer;	/* of the pointer */
		uint64_t address, block_owner;
		unsigned level, items;
		bool fits;
	} cases[] = {
		{ csums, 0, MIB, csums, 1, 0, true },
		{ csums, 0, MIB, csums, 1, most, true },
		{ csums, 0, MIB, csums, 1, most + 1, false },
		{ csums, 0, MIB + 4096, csums, 1, 0, false },
		{ csums, 0, MIB, csums, 0, 0, false },
		{ csums, 0, MIB, 256, 1, 0, false },
		{ csums, 1, MIB, csums, 1, 0, false },
		/* Snapshots share blocks of their source. */
		{ 300, 0, MIB, 256, 1, 0, true },
		{ BT_FS_TREE_OBJECTID, 0, MIB, 256, 1, 0, true },
	};
	const struct e2pf_btrfs_super super = sound_super();
	uint8_t block[FS_NODE];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct e2pf_btrfs_ptr ptr = {
			.logical = MIB, .owner = cases[i].owner, .level = 1,
			.generation = FS_GENERATION + cases[i].newer
		};

		fs_block(block, cases[i].address, cases[i].block_owner,
			 cases[i].level);
		put32(block + BT_HEADER_NRITEMS, cases[i].items);
		assert_int_equal(e2pf_btrfs_fits(&super, &ptr, block),
				 cases[i].fits);
	}
}

struct found {
	const struct e2pf_btrfs_super *super;
	unsigned count;
	struct e2pf_btrfs_ptr last;
};

static void keep(void *ctx, const struct e2pf_btrfs_node *node)
{
	struct found *found = ctx;

	found->count++;
	found->last = node->ptr;
}

static void keep_root(void *ctx, const struct e2pf_btrfs_item *item)
{
	struct found *found = ctx;
	struct e2pf_btrfs_ptr root;

	if (!e2pf_btrfs_plan_root(found->super, item, &root))
		return;
	found->count++;
	found->last = root;
}

static void test_node(void **state)
{
	const struct e2pf_btrfs_super super = sound_super();
	const struct e2pf_btrfs_node node = {
		.ptr = { .owner = 5, .level = 2 }
	};
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
	e2pf_btrfs_plan_node(&super, &node, block, keep, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.last.logical, 12288);
	assert_int_equal(found.last.level, 1);
	assert_int_equal(found.last.owner, 5);
	/* However many items the block claims, none beyond its end is read. */
	put32(block + BT_HEADER_NRITEMS, UINT32_MAX);
	found.count = 0;
	e2pf_btrfs_plan_node(&super, &node, block, keep, &found);
	assert_int_equal(found.count, 1);
}

static void test_roots(void **state)
{
	const struct e2pf_btrfs_super super = sound_super();
	struct found found = { .super = &super };
	uint8_t leaf[FS_NODE], short_item[100] = { 0 }, *entry;

	(void)state;
	fs_block(leaf, MIB, BT_ROOT_TREE_OBJECTID, 0);
	fs_add_item(leaf, 300, BT_ROOT_ITEM_KEY, 0, short_item, 100);
	fs_add_item(leaf, 300, BT_INODE_ITEM_KEY, 0, short_item, 100);
	fs_add_root(leaf, 301, 4096, 8);	/* no such level */
	fs_add_root(leaf, 302, 0, 0);		/* no address */
	fs_add_root(leaf, 303, 8192, 3);
	e2pf_btrfs_plan_leaf(&super, leaf, keep_root, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.last.owner, 303);
	assert_int_equal(found.last.level, 3);
	assert_int_equal(found.last.generation, FS_GENERATION);
	/* An item outside the leaf. */
	entry = leaf + BT_HEADER_BYTES + 4 * BT_ITEM_BYTES;
	put32(entry + BT_ITEM_OFFSET, FS_NODE);
	found.count = 0;
	e2pf_btrfs_plan_leaf(&super, leaf, keep_root, &found);
	assert_int_equal(found.count, 0);
	put32(entry + BT_ITEM_OFFSET, 0);
	put32(entry + BT_ITEM_SIZE, UINT32_MAX);
	e2pf_btrfs_plan_leaf(&super, leaf, keep_root, &found);
	assert_int_equal(found.count, 0);
}

static void test_chunk_leaf(void **state)
{
	const struct e2pf_btrfs_super super = sound_super();
	uint8_t leaf[FS_NODE], item[512];
	size_t size = fs_chunk(item, MIB, META, 1, 0);
	struct chunks c = { .super = &super };

	(void)state;
	fs_block(leaf, MIB, BT_CHUNK_TREE_OBJECTID, 0);
	fs_add_item(leaf, 256, BT_CHUNK_ITEM_KEY, MIB, item, size);
	fs_add_item(leaf, 256, BT_CHUNK_ITEM_KEY, MIB + 1, item, size);
	fs_add_item(leaf, 1, BT_DEV_ITEM_KEY, 1, item, size);
	e2pf_btrfs_plan_leaf(&super, leaf, count_chunk, &c);
	assert_int_equal(c.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_super),
		cmocka_unit_test(test_bad_super),
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
