/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The parts that decide what is read ahead of a send, on hand-made bytes: keys
 * and key ranges, the results of a tree search, the walk over a tree's nodes,
 * and the order of the reads.
 */
#include <linux/btrfs.h>

#include "unit.h"
#include "btrfs-fs.h"
#include "btrfs/send_items.h"

#define MIB (UINT64_C(1) << 20)
#define TREE 256u

static struct bt_super super;

FIXTURE(set_up)
{
	super = fs_sound_super();
	return 0;
}

static struct bt_key key(uint64_t objectid, uint8_t type,
			 uint64_t offset)
{
	return (struct bt_key){ objectid, offset, type };
}

TEST(test_keys)
{
	/* Sorted as in a tree. */
	const struct bt_key k[] = {
		key(0, 0, 0), key(0, 0, 1), key(0, 1, 0),
		key(0, 255, UINT64_MAX), key(1, 0, 0), key(1, 108, 4096),
		key(UINT64_MAX, 255, UINT64_MAX)
	};
	struct bt_key before;
	size_t i, j;

	for (i = 0; i < COUNT(k); i++) {
		for (j = 0; j < COUNT(k); j++)
			assert_int_equal(bt_compare(&k[i], &k[j]),
					 i < j ? -1 : i > j);
		before = bt_before(k[i]);
		assert_int_equal(bt_compare(&before, &k[i]),
				 i ? -1 : 0);
	}
	before = bt_before(k[4]);
	assert_int_equal(bt_compare(&before, &k[3]), 0);
}

static bool add(struct bt_ranges *r, uint64_t from, uint64_t to)
{
	const struct bt_range keys = bt_keys_of(from, to);

	return bt_ranges_add(r, &keys);
}

TEST(test_ranges)
{
	static const struct {
		uint64_t from, to;
		bool meets;
	} cases[] = {
		{ 0, 9, false }, { 0, 10, true }, { 39, 39, true },
		{ 40, 49, false }, { 40, 50, true }, { 51, UINT64_MAX, false },
	};
	struct bt_ranges r = { .count = 0 };
	uint64_t i;

	bt_ranges_finish(&r);
	assert_false(bt_ranges_meet(&r, &(struct bt_range) {
		.last = key(UINT64_MAX, 0, 0) }));
	add(&r, 30, 39);
	add(&r, 10, 19);
	add(&r, 20, 24);		/* adjacent to the previous one */
	assert_int_equal(r.count, 2);
	add(&r, 15, 34);
	add(&r, 50, 50);
	bt_ranges_finish(&r);
	assert_int_equal(r.count, 2);
	for (i = 0; i < COUNT(cases); i++) {
		const struct bt_range keys = {
			key(cases[i].from, 0, 0), key(cases[i].to, 0, 0)
		};

		assert_int_equal(bt_ranges_meet(&r, &keys), cases[i].meets);
	}
	/* The number of ranges is limited; a rejected one changes nothing. */
	for (r.count = i = 0; i < BT_MAX_ITEMS; i++)
		assert_true(add(&r, 2 * i, 2 * i));
	assert_false(add(&r, UINT64_MAX, UINT64_MAX));
	assert_int_equal(r.count, BT_MAX_ITEMS);
	free(r.range);
}

/*
 * Results of a tree search.
 */

static uint8_t found[4096];
static size_t used;

/* An item of three bytes. */
static void put_found(uint64_t objectid, uint32_t type, uint32_t claimed)
{
	struct btrfs_ioctl_search_header h = {
		.objectid = objectid, .type = type, .len = claimed
	};

	memcpy(found + used, &h, sizeof(h));
	used += sizeof(h) + 3;
}

static void add_up(void *ctx, const struct bt_item *item)
{
	*(uint64_t *)ctx += item->key.objectid * item->size;
}

static uint64_t sum_found(size_t size, uint32_t count)
{
	uint64_t sum = 0;

	bt_items_found(found, size, count, add_up, &sum);
	return sum;
}

/* The fuzz target looks for reads beyond the end. */
TEST(test_found)
{
	put_found(5, 1, 3);
	put_found(7, 108, 3);
	assert_int_equal(sum_found(used, 2), 36);
	assert_int_equal(sum_found(used, 1), 15);
	assert_int_equal(sum_found(used, UINT32_MAX), 36);
	/* Only complete items are reported. */
	assert_int_equal(sum_found(used - 1, 2), 15);
	assert_int_equal(sum_found(0, 2), 0);
	/* An invalid type, and an item longer than the buffer. */
	used = 0;
	put_found(5, 256, 3);
	assert_int_equal(sum_found(used, 1), 0);
	used = 0;
	put_found(5, 1, UINT32_MAX);
	assert_int_equal(sum_found(used, 1), 0);
}

TEST(test_data)
{
	const uint8_t data = BTRFS_EXTENT_DATA_KEY, reg = BTRFS_FILE_EXTENT_REG;
	const uint64_t end = -UINT64_C(4096);
	const struct {
		bool valid;
		uint8_t key, type, compression;
		unsigned cut;		/* bytes at the item's end */
		uint64_t from, extent, skip, length;
	} cases[] = {
		/* An extent of 64 KiB; 4 KiB at 8 KiB are in use. */
		{ true, data, reg, 0, 0, 0, MIB, 8192, 4096 },
		{ true, data, BTRFS_FILE_EXTENT_PREALLOC, 0, 0, 4096, MIB, 8192,
		  4096 },
		/* Compressed bytes may be fewer. */
		{ true, data, reg, 1, 0, 0, MIB, 8192, 131072 },
		{ false, data, 77, 0, 0, 0, MIB, 0, 4096 },
		{ false, BTRFS_INODE_ITEM_KEY, reg, 0, 0, 0, MIB, 0, 4096 },
		{ false, data, reg, 0, 1, 0, MIB, 0, 4096 },
		/* Beyond the largest file; a hole; beyond the last address; of
		 * the extent; no bytes. */
		{ false, data, reg, 0, 0, end, MIB, 0, 4096 },
		{ false, data, reg, 0, 0, 0, 0, 0, 4096 },
		{ false, data, reg, 0, 0, 0, end, 0, 4096 },
		{ false, data, reg, 0, 0, 0, MIB, 8192, 65536 },
		{ false, data, reg, 0, 0, 0, MIB, end, 4096 },
		{ false, data, reg, 0, 0, 0, MIB, 0, 0 },
		/* At each of these bounds, and one beyond it. */
		{ true, data, reg, 0, 0, INT64_MAX - 4096, MIB, 0, 4096 },
		{ false, data, reg, 0, 0, INT64_MAX - 4095, MIB, 0, 4096 },
		{ true, data, reg, 0, 0, 0, UINT64_MAX - 65536, 0, 4096 },
		{ false, data, reg, 0, 0, 0, UINT64_MAX - 65535, 0, 4096 },
		{ true, data, reg, 0, 0, 0, MIB, 65536 - 4096, 4096 },
		{ false, data, reg, 0, 0, 0, MIB, 65536 - 4095, 4096 },
		{ false, data, reg, 0, 0, 0, MIB, 65537, 4096 },
		{ true, data, reg, 1, 0, 0, MIB, 0, INT64_MAX },
		{ false, data, reg, 1, 0, 0, MIB, 0, UINT64_C(1) << 63 },
	};
	struct bt_job d;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		const struct btrfs_file_extent_item extent = {
			.generation = htole64(8), .type = cases[i].type,
			.compression = cases[i].compression,
			.disk_bytenr = htole64(cases[i].extent),
			.disk_num_bytes = htole64(65536),
			.offset = htole64(cases[i].skip),
			.num_bytes = htole64(cases[i].length)
		};
		const struct bt_item item = {
			.key = { 300, cases[i].from, cases[i].key },
			.bytes = (const uint8_t *)&extent,
			.size = (uint32_t)sizeof(extent) - cases[i].cut
		};

		assert_int_equal(bt_item_data(&item, &d), cases[i].valid);
		if (!cases[i].valid)
			continue;
		assert_int_equal(d.inode, 300);
		assert_int_equal(d.from, cases[i].from);
		assert_int_equal(d.length, cases[i].type == reg ?
					   cases[i].length : 0);
		assert_int_equal(d.generation, 8);
		assert_int_equal(d.keys.first.objectid, cases[i].extent);
		assert_int_equal(d.offset, cases[i].extent +
				 (d.compressed ? 0 : cases[i].skip));
		assert_int_equal(d.compressed, cases[i].compression);
	}
}

static void count_reference(void *ctx, uint64_t tree,
			    const struct bt_key *key)
{
	uint64_t *sum = ctx;

	if (!tree) {
		*sum += key->objectid;
		return;
	}
	assert_int_equal(key->objectid, 300);
	assert_int_equal(key->type, BTRFS_EXTENT_DATA_KEY);
	*sum += tree;
}

static uint64_t references(const uint8_t *bytes, size_t size, uint8_t type)
{
	struct bt_item item = {
		.key = { 64 * MIB, 65536, type }, .bytes = bytes,
		.size = (uint32_t)size
	};
	uint64_t sum = 0;

	bt_item_references(&item, count_reference, &sum);
	return sum;
}

static size_t add_reference(uint8_t *at, uint64_t tree)
{
	at[0] = BTRFS_EXTENT_DATA_REF_KEY;
	put64(at + 1, tree);
	put64(at + 9, 300);
	return 1 + BT_SIZE(extent_data_ref);
}

TEST(test_references)
{
	const uint8_t type = BTRFS_EXTENT_ITEM_KEY;
	uint8_t bytes[256] = { 0 };
	size_t size = BT_SIZE(extent_item), first;

	put64(bytes + BT_AT(extent_item, flags), BTRFS_EXTENT_FLAG_DATA);
	/* A leaf at address 7. */
	bytes[size] = BTRFS_SHARED_DATA_REF_KEY;
	put64(bytes + size + 1, 7);
	size += 1 + 8 + BT_SIZE(shared_data_ref);
	size += add_reference(bytes + size, 256);
	first = size;
	size += add_reference(bytes + size, 1000);
	assert_int_equal(references(bytes, size, type), 1263);
	assert_int_equal(references(bytes, size - 1, type), 263);
	assert_int_equal(references(bytes, first, type), 263);
	assert_int_equal(references(bytes, 0, type), 0);
	assert_int_equal(references(bytes, size, BTRFS_METADATA_ITEM_KEY), 0);
	/* After a reference of unknown type, nothing more is reported. */
	bytes[first] = 1;
	assert_int_equal(references(bytes, size, type), 263);
	put64(bytes + BT_AT(extent_item, flags), 2);
	assert_int_equal(references(bytes, size, type), 0);
}

/* Contents in the item itself. */
TEST(test_inline)
{
	struct btrfs_file_extent_item extent = {
		.type = BTRFS_FILE_EXTENT_INLINE, .generation = htole64(8)
	};
	struct bt_item item = {
		.key = { 300, 0, BTRFS_EXTENT_DATA_KEY },
		.bytes = (const uint8_t *)&extent, .size = 21 + 7
	};
	struct bt_job d;

	assert_true(bt_item_data(&item, &d));
	assert_int_equal(d.sent, 7);
	assert_int_equal(d.generation, 8);
	assert_int_equal(d.length + d.stored, 0);
	item.size = 21;
	assert_false(bt_item_data(&item, &d));
	item.size = 28;
	extent.type = BTRFS_FILE_EXTENT_REG;
	assert_false(bt_item_data(&item, &d));
}

/*
 * The walk: a root of level 2 at 16 MiB with nodes at 17 and 18 MiB, each with
 * four leaves, which cover 100 inode numbers each.
 */

static uint8_t node[3][FS_NODE];
static unsigned reads, broken;

static void make_tree(void)
{
	unsigned i, j;

	fs_block(node[0], 16 * MIB, TREE, 2);
	for (i = 0; i < 2; i++) {
		fs_block(node[i + 1], (17 + i) * MIB, TREE, 1);
		/* The nodes are of generations 5 and 7, their newest leaves of
		 * 5 and 6. */
		for (j = 0; j < 4; j++)
			fs_add_child(node[i + 1], (20 + 4 * i + j) * MIB,
				     2 + j + 2 * i - (i && j == 3),
				     400 * i + 100 * j, 0, 0);
		fs_add_child(node[0], (17 + i) * MIB, i ? 7 : 5, 400 * i, 0,
			     0);
	}
	put64(node[1] + BT_HEADER_GENERATION, 5);
	reads = broken = 0;
}

static bool read_node(void *ctx, const struct bt_ptr *ptr,
		      void *block)
{
	unsigned i = (unsigned)(ptr->logical / MIB) - 16;

	(void)ctx;
	reads++;
	if (i > 2 || i == broken - 1)
		return false;
	memcpy(block, node[i], FS_NODE);
	return bt_fits(&super, ptr, block);
}

/* The leaves that a walk finds. */
struct walked {
	struct bt_key last;
	unsigned bits, leaves, max;	/* leaves, before it is ended */
};

static bool see_leaf(void *ctx, const struct bt_node *leaf)
{
	struct walked *w = ctx;

	assert_true(!w->bits ||
		    bt_compare(&w->last, &leaf->keys.first) < 0);
	w->last = leaf->keys.first;
	w->bits |= 1u << (leaf->ptr.logical / MIB - 20);
	return ++w->leaves % w->max;
}

/* Bit mask of the leaves that a walk finds, which ends after each `most`. */
static unsigned leaves(unsigned max, uint64_t generation,
		       const struct bt_ranges *ranges)
{
	struct bt_ptr root = { 16 * MIB, FS_GENERATION, TREE, 2 };
	struct walked w = { .max = max };
	struct bt_tree_walk walk = {
		.super = &super, .read = read_node, .leaf = see_leaf,
		.ctx = &w, .generation = generation, .ranges = ranges
	};

	do
		bt_tree_walk(&walk, &root);
	while (walk.ended);
	return w.bits;
}

TEST(test_walk)
{
	static const struct {
		unsigned max;		/* leaves at a time */
		uint64_t generation;
		unsigned ranges;	/* of those below */
		unsigned broken;	/* a node that cannot be read */
		unsigned leaves, reads;
	} cases[] = {
		{ 99, 0, 0, 0, 0xff, 3 },
		/* Generations of leaves: 2 3 4 5, 4 5 6 6. */
		{ 99, 4, 0, 0, 0xe8, 3 },
		/* Subtrees that are older, or hold no key in the ranges, are
		 * not read. */
		{ 99, 5, 0, 0, 0xc0, 2 },
		{ 99, FS_GENERATION, 0, 0, 0, 0 },
		{ 99, 0, 2, 0, 0x0a, 2 },
		{ 99, 0, 3, 0, 0x8a, 3 },
		/* In parts; each reads the path to its leaves. */
		{ 3, 0, 0, 0, 0xff, 2 + 3 + 2 },
		{ 1, 0, 3, 0, 0x8a, 2 + 2 + 2 },
		/* If a node cannot be read, only its own leaves are missing. */
		{ 99, 0, 0, 2, 0xf0, 3 },
	};
	static const uint64_t keys[][2] = {
		{ 150, 199 }, { 300, 300 }, { 1000, 1000 }
	};
	size_t i, j;

	for (i = 0; i < COUNT(cases); i++) {
		struct bt_ranges r = { .count = 0 };

		make_tree();
		broken = cases[i].broken;
		for (j = 0; j < cases[i].ranges; j++)
			assert_true(add(&r, keys[j][0], keys[j][1]));
		bt_ranges_finish(&r);
		assert_int_equal(leaves(cases[i].max, cases[i].generation,
					r.count ? &r : NULL),
				 cases[i].leaves);
		assert_int_equal(reads, cases[i].reads);
		free(r.range);
	}
	/* A leaf may have one key. */
	make_tree();
	put64(node[2] + BT_HEADER_BYTES + BT_PTR_BYTES, 400);
	put64(node[2] + BT_HEADER_BYTES + BT_PTR_BYTES + BT_AT(disk_key, offset), 1);
	assert_int_equal(leaves(99, 0, NULL), 0xff);
}

TEST(test_damaged_walk)
{
	struct bt_ptr root = { 16 * MIB, FS_GENERATION, TREE, 0 };
	struct walked w = { .max = 99, .bits = 0 };
	struct bt_tree_walk walk = {
		.super = &super, .read = read_node, .leaf = see_leaf,
		.ctx = &w
	};

	make_tree();
	/* Keys out of order.  The planner's test has the other reasons to refuse a
	 * node. */
	put64(node[2] + BT_HEADER_BYTES, 501);
	assert_int_equal(leaves(99, 0, NULL), 0xef);
	/* A root that is a leaf, found once; one that is too high. */
	root.logical = 20 * MIB;
	bt_tree_walk(&walk, &root);
	bt_tree_walk(&walk, &root);
	assert_int_equal(w.leaves, 1);
	root.logical = 16 * MIB;
	root.level = BT_LEVELS;
	node[0][BT_HEADER_LEVEL] = BT_LEVELS;
	memset(&walk.after, 0, sizeof(walk.after));
	bt_tree_walk(&walk, &root);
	assert_int_equal(w.leaves, 1);
}

/*
 * The order of the reads.
 */

static void add_job(struct bt_jobs *jobs, uint64_t offset, uint64_t inode,
		    uint64_t length)
{
	struct bt_job job = {
		.offset = offset, .inode = inode, .length = length
	};

	assert_true(bt_jobs_add(jobs, &job));
}

/* A file's data, in two extents. */
static void add_extent(struct bt_jobs *jobs, uint64_t extent, uint64_t inode,
		      uint64_t from, uint64_t length)
{
	add_job(jobs, extent, inode, length);
	jobs->job[jobs->count - 1].from = from;
	jobs->job[jobs->count - 1].stored = length;
}

/* Each window's inodes and bytes. */
TEST(test_windows)
{
	static const struct {
		uint64_t max, bytes, sent;
		unsigned count;
		uint64_t first;		/* inode */
	} windows[] = {
		/* An extent is cut to 8192 bytes, and counts in full as sent. */
		{ 8192, 4096, 64 + 4096, 1, 3 },
		{ 8192, 8192, 64 + 10000, 1, 7 },
		/* 8 has no data to read; 9 shares an extent with 3. */
		{ 99999, 8192 + 4096, 4 * 64 + 9000 + 4096, 2, 7 },
		{ 99999, 0, 0, 0, 0 },
	};
	struct bt_jobs jobs = { .count = 0 }, window = { .count = 0 };
	size_t next = 0, i, j;

	add_extent(&jobs, 40000, 9, 0, 4096);
	add_extent(&jobs, 20000, 8, 0, 0);
	add_extent(&jobs, 50000, 7, 10000, 9000);
	add_extent(&jobs, 60000, 7, 19000, 4096);
	add_extent(&jobs, 10000, 7, 0, 10000);
	add_extent(&jobs, 40000, 3, 0, 4096);
	bt_jobs_order_files(&jobs);
	for (i = 0; i < COUNT(windows); i++) {
		uint64_t bytes = 0;

		assert_int_equal(bt_jobs_window(&jobs, &next, &window, 8192,
						windows[i].max, 100),
				 windows[i].sent + 100);
		for (j = 0; j < window.count; j++) {
			bytes += window.job[j].length;
			assert_int_equal(window.job[j].stored,
					 window.job[j].length);
		}
		assert_int_equal(window.count, windows[i].count);
		assert_int_equal(bytes, windows[i].bytes);
		if (j)
			assert_int_equal(window.job[0].inode,
					 windows[i].first);
	}
	assert_int_equal(next, jobs.count);
	while (jobs.count < BT_MAX_ITEMS)
		add_job(&jobs, 0, 0, 0);
	assert_false(bt_jobs_add(&jobs, &jobs.job[0]));
	free(jobs.job);
	free(window.job);
}

UNIT_MAIN(set_up, NULL)
