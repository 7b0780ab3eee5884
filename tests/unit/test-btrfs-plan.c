/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The planner for btrfs and the chunk map, on hand-made bytes: what they find in
 * valid structures, and that they find nothing in a structure with a bad field.
 */
#include "unit.h"
#include "btrfs-fs.h"

#define MIB (UINT64_C(1) << 20)
#define METADATA BTRFS_BLOCK_GROUP_METADATA

TEST(test_super)
{
	struct bt_super super = fs_sound_super();
	uint8_t bytes[BT_SUPER_BYTES];

	assert_int_equal(super.device.devid, 1);
	assert_int_equal(super.nodesize, FS_NODE);
	assert_int_equal(super.root.logical, 8 * MIB);
	assert_int_equal(super.root.owner, BTRFS_ROOT_TREE_OBJECTID);
	assert_int_equal(super.chunk_root.logical, 4 * MIB);
	assert_int_equal(super.fsid[0], 0xf5);
	fs_super(bytes, 1, 4 * MIB, 8 * MIB);
	memset(bytes + 571, 0xa1, BT_UUID);
	put64(bytes + BT_SUPER_INCOMPAT, BTRFS_FEATURE_INCOMPAT_METADATA_UUID);
	assert_null(bt_plan_super(bytes, &super));
	assert_int_equal(super.fsid[0], 0xa1);
}

/* A change to one field of the superblock, and why nothing is planned then;
 * formats in which blocks are elsewhere, by the numbers of the kernel's headers,
 * are refused. */
TEST(test_bad_super)
{
	static const char bad[] = "the superblock is damaged";
	static const char other[] =
		"unsupported filesystem feature";
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
		{ BT_SUPER_INCOMPAT, 8, BTRFS_FEATURE_INCOMPAT_METADATA_UUID,
		  NULL },
		{ BT_SUPER_INCOMPAT, 8, 1 << 13 |
		  BTRFS_FEATURE_INCOMPAT_METADATA_UUID, other },
		{ BT_SUPER_INCOMPAT, 8, 1 << 14, other },
		{ BT_SUPER_INCOMPAT, 8, 1 << 17, other },
		{ BT_SUPER_INCOMPAT, 8, 1 << 12, other },
	};
	uint8_t bytes[BT_SUPER_BYTES];
	struct bt_super super;
	size_t i;

	for (i = 0; i < COUNT(damages); i++) {
		uint64_t value = htole64(damages[i].value);
		const char *why;

		fs_super(bytes, 1, 4 * MIB, 8 * MIB);
		memcpy(bytes + damages[i].at, &value, damages[i].bytes);
		why = bt_plan_super(bytes, &super);
		if (damages[i].why)
			assert_string_equal(why, damages[i].why);
		else
			assert_null(why);
	}
}

/* Where the stripes of a chunk lie that begins at this address: one on each
 * device. */
#define META (8 * MIB)
#define STRIPE(i) (META + (i) * FS_STRIPES)
#define UNIT 65536u

/* Where a block of a chunk is found, for each profile. */
TEST(test_offsets)
{
	static const struct {
		uint64_t type;
		unsigned stripes, missing;	/* devices that are not open */
		uint64_t offset;		/* in the chunk */
		uint32_t nodesize;
		struct pf_ref part;	/* length 0: nowhere */
	} cases[] = {
#define PART(i, at, bytes) \
	{ .device = (i), .offset = STRIPE(i) + (at), .length = (bytes) }
#define AT(unit, i, row) \
	(unit) * UNIT + 4096, FS_NODE, PART(i, (row) * UNIT + 4096, FS_NODE)
		{ 0, 1, 0, AT(5, 0, 5) },
		/* The first copy, or the next one if its device is missing. */
		{ BTRFS_BLOCK_GROUP_DUP, 2, 0, AT(5, 0, 5) },
		{ BTRFS_BLOCK_GROUP_RAID1, 2, 1, AT(5, 1, 5) },
		{ BTRFS_BLOCK_GROUP_RAID1C3, 3, 2, AT(5, 2, 5) },
		{ BTRFS_BLOCK_GROUP_RAID1C4, 4, 3, AT(5, 3, 5) },
		{ BTRFS_BLOCK_GROUP_RAID1, 2, 2, 4096, FS_NODE, PART(0, 0, 0) },
		/* Contiguous stripes are one part. */
		{ BTRFS_BLOCK_GROUP_RAID1, 2, 0, UNIT - 4096, 16384,
		  PART(0, UNIT - 4096, 16384) },
		{ BTRFS_BLOCK_GROUP_RAID0, 3, 0, AT(5, 2, 1) },
		{ BTRFS_BLOCK_GROUP_RAID0, 3, 1, 4096, FS_NODE, PART(0, 0, 0) },
		/* At two offsets; beyond the end of the chunk, and outside. */
		{ BTRFS_BLOCK_GROUP_RAID0, 2, 0, UNIT - 4096, 16384,
		  PART(0, 0, 0) },
		{ BTRFS_BLOCK_GROUP_RAID0, 2, 0, 12 * MIB - 4096, 16384,
		  PART(0, 0, 0) },
		{ 0, 1, 0, 12 * MIB - 4096, 16384, PART(0, 0, 0) },
		{ 0, 1, 0, -UINT64_C(4096), FS_NODE, PART(0, 0, 0) },
		{ BTRFS_BLOCK_GROUP_RAID10, 4, 0, AT(5, 2, 2) },
		{ BTRFS_BLOCK_GROUP_RAID10, 4, 1, AT(4, 1, 2) },
		/* Rows of two units and rotating parity: 0 1 P, P 2 3,
		 * 5 P 4. */
		{ BTRFS_BLOCK_GROUP_RAID5, 3, 0, AT(0, 0, 0) },
		{ BTRFS_BLOCK_GROUP_RAID5, 3, 0, AT(1, 1, 0) },
		{ BTRFS_BLOCK_GROUP_RAID5, 3, 0, AT(2, 1, 1) },
		{ BTRFS_BLOCK_GROUP_RAID5, 3, 0, AT(3, 2, 1) },
		{ BTRFS_BLOCK_GROUP_RAID5, 3, 0, AT(5, 0, 2) },
		{ BTRFS_BLOCK_GROUP_RAID6, 4, 0, AT(7, 0, 3) },
	};
	size_t i, j;

	for (i = 0; i < COUNT(cases); i++) {
		const struct pf_ref *part = &cases[i].part;
		struct bt_chunk_map map;
		struct pf_ref found;

		fs_map(&map, 4);
		map.super.nodesize = cases[i].nodesize;
		for (j = 0; j < cases[i].missing; j++)
			map.device[j].devid = 0;
		fs_add_chunk(&map, META, METADATA | cases[i].type,
			     cases[i].stripes, 12 * MIB, 1);
		bt_chunk_map_finish(&map);
		assert_int_equal(bt_chunk_map_find(&map, META +
						   cases[i].offset, &found),
				 part->length != 0);
		if (part->length) {
			assert_int_equal(found.offset, part->offset);
			assert_int_equal(found.length, part->length);
			assert_int_equal(found.device, part->device);
		}
		bt_chunk_map_free(&map);
	}
}

/* A stripe without a name is on no device, also not on one that is not there. */
TEST(test_nameless)
{
	struct bt_chunk_map map;
	struct pf_ref found;

	fs_map(&map, 2);
	fs_add_chunk(&map, META, METADATA, 1, MIB, 0);
	bt_chunk_map_finish(&map);
	assert_int_equal(map.count, 1);
	assert_false(bt_chunk_map_find(&map, META, &found));
	bt_chunk_map_free(&map);
}

/* The first copy, on a device that is open, of any copy. */
TEST(test_first_copies)
{
	static const struct {
		uint64_t type;
		unsigned stripes, missing;
		unsigned device, first;		/* of its copy, and of the first */
	} cases[] = {
		{ 0, 1, 0, 0, 0 },
		{ BTRFS_BLOCK_GROUP_RAID1, 2, 0, 0, 0 },
		{ BTRFS_BLOCK_GROUP_RAID1, 2, 0, 1, 0 },
		{ BTRFS_BLOCK_GROUP_RAID1, 2, 1, 1, 1 },
		{ BTRFS_BLOCK_GROUP_RAID1C4, 4, 0, 3, 0 },
		{ BTRFS_BLOCK_GROUP_RAID1C4, 4, 2, 3, 2 },
		{ BTRFS_BLOCK_GROUP_RAID10, 4, 0, 1, 0 },
		{ BTRFS_BLOCK_GROUP_RAID10, 4, 0, 3, 2 },
		{ BTRFS_BLOCK_GROUP_RAID0, 3, 0, 2, 2 },
		{ BTRFS_BLOCK_GROUP_RAID5, 3, 0, 2, 2 },
	};
	struct bt_chunk_map map;
	size_t i, j;

	for (i = 0; i < COUNT(cases); i++) {
		uint64_t offset = STRIPE(cases[i].device) + UNIT + 4096;
		uint64_t before = STRIPE(0) - 4096;
		unsigned device = cases[i].device, other = 0;

		fs_map(&map, 4);
		for (j = 0; j < cases[i].missing; j++)
			map.device[j].devid = 0;
		fs_add_chunk(&map, META, METADATA | cases[i].type,
			     cases[i].stripes, 12 * MIB, 1);
		bt_chunk_map_finish(&map);
		bt_chunk_map_first_copy(&map, &device, &offset);
		assert_int_equal(device, cases[i].first);
		assert_int_equal(offset, STRIPE(cases[i].first) + UNIT + 4096);
		bt_chunk_map_first_copy(&map, &other, &before);
		assert_int_equal(other, 0);
		assert_int_equal(before, STRIPE(0) - 4096);
		bt_chunk_map_free(&map);
	}
}

/* From address to slot and back, even if chunks overlap or contain data. */
TEST(test_slots_of_chunks)
{
	struct bt_chunk_map map;
	uint64_t slot, logical;

	fs_map(&map, 1);
	fs_add_chunk(&map, META, METADATA, 1, MIB, 1);
	fs_add_chunk(&map, META, METADATA, 1, MIB, 1);
	fs_add_chunk(&map, META + MIB / 2, METADATA, 1, MIB, 1);
	fs_add_chunk(&map, MIB, BTRFS_BLOCK_GROUP_SYSTEM, 1, MIB, 1);
	fs_add_chunk(&map, 64 * MIB, 1, 1, MIB, 1);
	/* A chunk that needs too much memory is left out. */
	fs_add_chunk(&map, 1024 * MIB, METADATA, 1, UINT64_C(1) << 60, 1);
	bt_chunk_map_finish(&map);
	assert_int_equal(map.count, 3);
	assert_int_equal(map.slots, 2 * MIB / FS_NODE);
	for (slot = 0; slot < map.slots; slot++) {
		logical = bt_chunk_map_logical(&map, slot);
		assert_int_equal(bt_chunk_map_slot(&map, logical), slot);
	}
	assert_int_equal(bt_chunk_map_logical(&map, map.slots), 0);
	assert_true(bt_chunk_map_slot(&map, MIB + 512) == UINT64_MAX);
	assert_true(bt_chunk_map_slot(&map, 64 * MIB) == UINT64_MAX);
	bt_chunk_map_free(&map);
}

static bool is_chunk(const struct bt_item *item)
{
	struct bt_chunk_map map;
	bool added;

	fs_map(&map, 1);
	bt_chunk_map_add(&map, item);
	added = map.added;
	bt_chunk_map_free(&map);
	return added;
}

TEST(test_bad_chunks)
{
	const uint64_t raid1 = METADATA | BTRFS_BLOCK_GROUP_RAID1;
	const uint64_t raid10 = METADATA | BTRFS_BLOCK_GROUP_RAID10;
	const struct {
		uint64_t length, type;
		unsigned stripes, sub;
		uint64_t logical;
		uint32_t cut;		/* bytes at the item's end */
		bool valid;
	} cases[] = {
		{ MIB, raid1, 2, 0, 0, 0, true },
		{ MIB, BTRFS_BLOCK_GROUP_RAID1, 2, 0, 0, 0, false },
		{ MIB, raid1, 2, 0, 0, 1, false },
		{ MIB, raid1, 2, 0, 0, 2 * BT_SIZE(stripe) + 1, false },
		{ MIB, raid1, 2, 0, 1, 0, false },
		{ MIB, raid1, 2, 0, UINT64_MAX - 4095, 0, false },
		{ MIB, raid1, 3, 0, 0, 0, false },
		{ MIB, METADATA, 2, 0, 0, 0, false },
		{ MIB, METADATA, 0, 0, 0, 0, false },
		{ 0, METADATA, 1, 0, 0, 0, false },
		{ 4097, METADATA, 1, 0, 0, 0, false },
		{ UINT64_MAX - 4095, METADATA, 1, 0, 0, 0, false },
		{ MIB, METADATA | BTRFS_BLOCK_GROUP_RAID0, 64, 0, 0, 0, true },
		{ MIB, METADATA | BTRFS_BLOCK_GROUP_RAID0, 65, 0, 0, 0, false },
		{ MIB, raid10, 4, 2, 0, 0, true },
		{ MIB, raid10, 4, 3, 0, 0, false },
		{ MIB, raid10, 3, 2, 0, 0, false },
		{ MIB, METADATA | BTRFS_BLOCK_GROUP_RAID6, 2, 0, 0, 0, false },
		{ MIB, raid1 | BTRFS_BLOCK_GROUP_RAID0, 2, 0, 0, 0, false },
	};
	uint8_t bytes[4096];
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		struct bt_item item = {
			.key = { 256, cases[i].logical, BTRFS_CHUNK_ITEM_KEY },
			.bytes = bytes, .size = (uint32_t)
			fs_chunk(bytes, cases[i].length, cases[i].type,
				 cases[i].stripes, cases[i].sub)
		};

		item.size -= cases[i].cut;
		assert_int_equal(is_chunk(&item), cases[i].valid);
		item.key.type = BTRFS_DEV_ITEM_KEY;
		assert_false(is_chunk(&item));
		item.key.type = BTRFS_CHUNK_ITEM_KEY;
		put64(bytes + BT_AT(chunk, stripe_len), 4096);
		assert_false(is_chunk(&item));
	}
}

static void count_chunk(void *ctx, const struct bt_item *item)
{
	*(unsigned *)ctx += is_chunk(item);
}

TEST(test_sys_array)
{
	uint8_t bytes[BT_SUPER_BYTES], item[512];
	struct bt_super super;
	uint32_t size, cut;
	unsigned count;

	fs_super(bytes, 1, 4 * MIB, 8 * MIB);
	size = (uint32_t)fs_chunk(item, 4 * MIB, BTRFS_BLOCK_GROUP_SYSTEM, 1,
				  0);
	fs_add_sys(bytes, 4 * MIB, item, size);
	fs_add_sys(bytes, 32 * MIB, item, size);
	size = bt_le32(bytes + BT_SUPER_SYS_ARRAY_SIZE);
	for (cut = 0; cut <= size; cut++) {
		put32(bytes + BT_SUPER_SYS_ARRAY_SIZE, cut);
		bt_plan_super(bytes, &super);
		count = 0;
		bt_plan_sys_array(&super, count_chunk, &count);
		assert_int_equal(count, cut / (size / 2));
	}
	/* A key of another kind ends the array. */
	bytes[BT_SUPER_SYS_ARRAY + 8] = 1;
	bt_plan_super(bytes, &super);
	count = 0;
	bt_plan_sys_array(&super, count_chunk, &count);
	assert_int_equal(count, 0);
}

TEST(test_fits)
{
	const uint64_t csums = BTRFS_CSUM_TREE_OBJECTID;
	const uint32_t max = (FS_NODE - BT_HEADER_BYTES) / BT_PTR_BYTES;
	const struct {
		uint64_t owner, newer;	/* of the pointer */
		uint64_t address, block_owner;
		unsigned level, items;
		bool fits;
	} cases[] = {
		{ csums, 0, MIB, csums, 1, 0, true },
		{ csums, 0, MIB, csums, 1, max, true },
		{ csums, 0, MIB, csums, 1, max + 1, false },
		{ csums, 0, MIB + 4096, csums, 1, 0, false },
		{ csums, 0, MIB, csums, 0, 0, false },
		{ csums, 0, MIB, 256, 1, 0, false },
		{ csums, 1, MIB, csums, 1, 0, false },
		/* Snapshots share blocks of their source. */
		{ 300, 0, MIB, 256, 1, 0, true },
		{ BTRFS_FS_TREE_OBJECTID, 0, MIB, 256, 1, 0, true },
	};
	const struct bt_super super = fs_sound_super();
	uint8_t block[FS_NODE];
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		const struct bt_ptr ptr = {
			.logical = MIB, .owner = cases[i].owner, .level = 1,
			.generation = FS_GENERATION + cases[i].newer
		};

		fs_block(block, cases[i].address, cases[i].block_owner,
			 cases[i].level);
		put32(block + BT_HEADER_NRITEMS, cases[i].items);
		assert_int_equal(bt_fits(&super, &ptr, block),
				 cases[i].fits);
		block[BT_HEADER_FSID]++;
		assert_false(bt_fits(&super, &ptr, block));
	}
}

struct found {
	const struct bt_super *super;
	unsigned count;
	struct bt_ptr last;
};

static void keep_node(void *ctx, const struct bt_node *node)
{
	struct found *found = ctx;

	found->count++;
	found->last = node->ptr;
}

static void keep_root(void *ctx, const struct bt_item *item)
{
	struct found *found = ctx;
	struct bt_ptr root;

	if (!bt_plan_root(found->super, item, &root))
		return;
	found->count++;
	found->last = root;
}

TEST(test_node)
{
	const struct bt_super super = fs_sound_super();
	const struct bt_node node = {
		.ptr = { .owner = 5, .level = 2 }
	};
	struct found found = { .count = 0 };
	uint8_t block[FS_NODE];

	fs_block(block, MIB, 5, 2);
	fs_add_ptr(block, 0, 1);		/* no address */
	fs_add_ptr(block, 4097, 1);		/* not a multiple of the sector
						   size */
	fs_add_ptr(block, UINT64_MAX - 4095, 1);	/* beyond the end */
	fs_add_ptr(block, 8192, FS_GENERATION + 1);	/* newer */
	fs_add_ptr(block, 12288, FS_GENERATION);
	bt_plan_node(&super, &node, block, keep_node, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.last.logical, 12288);
	assert_int_equal(found.last.level, 1);
	assert_int_equal(found.last.owner, 5);
	/* However many items the block claims, none beyond its end is read. */
	put32(block + BT_HEADER_NRITEMS, UINT32_MAX);
	found.count = 0;
	bt_plan_node(&super, &node, block, keep_node, &found);
	assert_int_equal(found.count, 1);
}

TEST(test_roots)
{
	const struct bt_super super = fs_sound_super();
	struct found found = { .super = &super };
	uint8_t leaf[FS_NODE], short_item[100] = { 0 }, *entry;

	fs_block(leaf, MIB, BTRFS_ROOT_TREE_OBJECTID, 0);
	fs_add_item(leaf, 300, BTRFS_ROOT_ITEM_KEY, 0, short_item, 100);
	fs_add_item(leaf, 300, BTRFS_INODE_ITEM_KEY, 0, short_item, 100);
	fs_add_root(leaf, 301, 4096, 8);	/* no such level */
	fs_add_root(leaf, 302, 0, 0);		/* no address */
	fs_add_root(leaf, 303, 8192, 3);
	bt_plan_leaf(&super, leaf, keep_root, &found);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.last.owner, 303);
	assert_int_equal(found.last.level, 3);
	assert_int_equal(found.last.generation, FS_GENERATION);
	/* One that is beyond the last. */
	put32(leaf + BT_HEADER_NRITEMS, 4);
	found.count = 0;
	bt_plan_leaf(&super, leaf, keep_root, &found);
	assert_int_equal(found.count, 0);
	put32(leaf + BT_HEADER_NRITEMS, 5);
	/* An item outside the leaf. */
	entry = leaf + BT_HEADER_BYTES + 4 * BT_ITEM_BYTES;
	put32(entry + BT_ITEM_OFFSET, FS_NODE);
	found.count = 0;
	bt_plan_leaf(&super, leaf, keep_root, &found);
	assert_int_equal(found.count, 0);
	put32(entry + BT_ITEM_OFFSET, 0);
	put32(entry + BT_ITEM_SIZE, UINT32_MAX);
	bt_plan_leaf(&super, leaf, keep_root, &found);
	assert_int_equal(found.count, 0);
}

UNIT_MAIN(NULL, NULL)
