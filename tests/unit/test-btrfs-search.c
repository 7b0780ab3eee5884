/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts that decide what is read ahead of a send, on hand-made bytes: keys
 * and key ranges, the results of a tree search, the walk over a tree's nodes,
 * and the order of the reads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <linux/btrfs.h>

#include "btrfs-fs.h"
#include "send/jobs.h"
#include "send/tree_walk.h"

#define MIB (UINT64_C(1) << 20)
#define TREE 256u

static struct e2pf_btrfs_super super;

static int set_up(void **state)
{
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES];

	(void)state;
	fs_super(bytes, 1, 4 * MIB, 8 * MIB);
	return e2pf_btrfs_plan_super(bytes, 65536, &super) != E2PF_BTRFS_OK;
}

static struct e2pf_btrfs_key key(uint64_t objectid, uint8_t type,
				 uint64_t offset)
{
	return (struct e2pf_btrfs_key){ objectid, offset, type };
}

static void test_keys(void **state)
{
	/* Sorted as in a tree. */
	const struct e2pf_btrfs_key k[] = {
		key(0, 0, 0), key(0, 0, 1), key(0, 1, 0),
		key(0, 255, UINT64_MAX), key(1, 0, 0), key(1, 108, 4096),
		key(UINT64_MAX, 255, UINT64_MAX)
	};
	struct e2pf_btrfs_key before;
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(k) / sizeof(*k); i++) {
		for (j = 0; j < sizeof(k) / sizeof(*k); j++)
			assert_int_equal(e2pf_btrfs_compare(&k[i], &k[j]),
					 i < j ? -1 : i > j);
		before = e2pf_btrfs_before(k[i]);
		assert_int_equal(e2pf_btrfs_compare(&before, &k[i]),
				 i ? -1 : 0);
	}
	before = e2pf_btrfs_before(k[4]);
	assert_int_equal(e2pf_btrfs_compare(&before, &k[3]), 0);
}

static void add(struct e2pf_btrfs_ranges *r, uint64_t from, uint64_t to)
{
	struct e2pf_btrfs_key first = key(from, 0, 0);
	struct e2pf_btrfs_key last = key(to, UINT8_MAX, UINT64_MAX);

	assert_true(e2pf_btrfs_ranges_add(r, &first, &last));
}

static bool meets(const struct e2pf_btrfs_ranges *r, uint64_t from,
		  uint64_t to)
{
	struct e2pf_btrfs_key first = key(from, 0, 0), last = key(to, 0, 0);

	return e2pf_btrfs_ranges_meet(r, &first, &last);
}

static void test_ranges(void **state)
{
	struct e2pf_btrfs_ranges r = { .count = 0 };
	uint64_t i;

	(void)state;
	e2pf_btrfs_ranges_finish(&r);
	assert_false(meets(&r, 0, UINT64_MAX));
	add(&r, 30, 39);
	add(&r, 10, 19);
	add(&r, 20, 24);		/* adjacent to the previous one */
	assert_int_equal(r.count, 2);
	add(&r, 15, 34);
	add(&r, 50, 50);
	e2pf_btrfs_ranges_finish(&r);
	assert_int_equal(r.count, 2);
	assert_false(meets(&r, 0, 9));
	assert_true(meets(&r, 0, 10));
	assert_true(meets(&r, 39, 39));
	assert_false(meets(&r, 40, 49));
	assert_true(meets(&r, 40, 50));
	assert_false(meets(&r, 51, UINT64_MAX));
	e2pf_btrfs_ranges_empty(&r);
	/* The number of ranges is limited; a rejected one changes nothing. */
	for (i = 0; i < E2PF_BTRFS_RANGES_MOST; i++)
		add(&r, 2 * i, 2 * i);
	{
		struct e2pf_btrfs_key far = key(UINT64_MAX, 0, 0);

		assert_false(e2pf_btrfs_ranges_add(&r, &far, &far));
	}
	assert_int_equal(r.count, E2PF_BTRFS_RANGES_MOST);
	e2pf_btrfs_ranges_free(&r);
	assert_int_equal(r.room, 0);
}

/*
 * Results of a tree search.
 */

static uint8_t found[4096];
static size_t used;

static void put_found(uint64_t objectid, uint32_t type, uint64_t offset,
		      const void *bytes, uint32_t size)
{
	struct btrfs_ioctl_search_header h = {
		.transid = 9, .objectid = objectid, .offset = offset,
		.type = type, .len = size
	};

	memcpy(found + used, &h, sizeof(h));
	used += sizeof(h);
	memcpy(found + used, bytes, size);
	used += size;
}

struct seen {
	unsigned count;
	uint64_t objectids;		/* sum */
	uint32_t bytes;
};

static void see(void *ctx, const struct e2pf_btrfs_item *item)
{
	struct seen *s = ctx;
	uint32_t i;

	s->count++;
	s->objectids += item->key.objectid;
	assert_int_equal(item->generation, 9);
	for (i = 0; i < item->size; i++)
		s->bytes += item->bytes[i];
}

static struct seen look(size_t size, uint32_t count)
{
	struct seen s = { .count = 0 };
	/* A separate allocation, so that a sanitizer catches a read beyond its
	 * end. */
	uint8_t *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, found, size);
	e2pf_btrfs_plan_found(copy, size, count, see, &s);
	free(copy);
	return s;
}

static void test_found(void **state)
{
	static const uint8_t ones[3] = { 1, 1, 1 };
	struct seen s;
	size_t size;

	(void)state;
	used = 0;
	put_found(5, 1, 0, ones, 3);
	put_found(7, 108, 0, ones, 0);
	put_found(9, 12, 0, ones, 3);
	s = look(used, 3);
	assert_int_equal(s.count, 3);
	assert_int_equal(s.objectids, 21);
	assert_int_equal(s.bytes, 6);
	assert_int_equal(look(used, 2).count, 2);
	assert_int_equal(look(used, UINT32_MAX).count, 3);
	/* Wherever the bytes are cut off, only complete items are reported. */
	for (size = 0; size < used; size++)
		assert_true(look(size, 3).count < 3);
	/* An invalid type, and an item longer than the buffer. */
	used = 0;
	put_found(5, 256, 0, ones, 3);
	assert_int_equal(look(used, 1).count, 0);
	used = 0;
	put_found(5, 1, 0, ones, 3);
	memset(found + offsetof(struct btrfs_ioctl_search_header, len), 0xff,
	       4);
	assert_int_equal(look(used, 1).count, 0);
}

static uint8_t file_extent[BT_FILE_EXTENT_BYTES];

#define AT(field) (file_extent + BT_FILE_EXTENT_ ## field)

static struct e2pf_btrfs_item extent_item(void)
{
	memset(file_extent, 0, sizeof(file_extent));
	put64(AT(GENERATION), 8);
	*AT(TYPE) = BT_FILE_EXTENT_REG;
	put64(AT(DISK_BYTENR), 64 * MIB);
	put64(AT(DISK_NUM_BYTES), 65536);
	put64(AT(OFFSET), 8192);
	put64(AT(NUM_BYTES), 4096);
	return (struct e2pf_btrfs_item){
		.key = { 300, 12288, BT_EXTENT_DATA_KEY }, .generation = 9,
		.bytes = file_extent, .size = sizeof(file_extent)
	};
}

static void test_data(void **state)
{
	struct e2pf_btrfs_item item = extent_item();
	struct e2pf_btrfs_data d;

	(void)state;
	assert_true(e2pf_btrfs_plan_data(&item, &d));
	assert_int_equal(d.inode, 300);
	assert_int_equal(d.offset, 12288);
	assert_int_equal(d.length, 4096);
	assert_int_equal(d.generation, 8);
	assert_int_equal(d.extent, 64 * MIB);
	assert_int_equal(d.logical, 64 * MIB + 8192);
	assert_true(d.written && !d.compressed);
	*AT(TYPE) = BT_FILE_EXTENT_PREALLOC;
	assert_true(e2pf_btrfs_plan_data(&item, &d) && !d.written);
	*AT(TYPE) = BT_FILE_EXTENT_INLINE;
	assert_false(e2pf_btrfs_plan_data(&item, &d));
	*AT(TYPE) = 77;
	assert_false(e2pf_btrfs_plan_data(&item, &d));

	item = extent_item();
	*AT(COMPRESSION) = 1;
	put64(AT(NUM_BYTES), 131072);
	assert_true(e2pf_btrfs_plan_data(&item, &d) && d.compressed);
	assert_int_equal(d.logical, 64 * MIB);

	/* A hole; no bytes; beyond the end of its extent; twice beyond the last
	 * address; beyond the largest file; too short; of another type. */
	item = extent_item();
	put64(AT(DISK_BYTENR), 0);
	assert_false(e2pf_btrfs_plan_data(&item, &d));
	item = extent_item();
	put64(AT(NUM_BYTES), 0);
	assert_false(e2pf_btrfs_plan_data(&item, &d));
	item = extent_item();
	put64(AT(NUM_BYTES), 65536);
	assert_false(e2pf_btrfs_plan_data(&item, &d));
	item = extent_item();
	put64(AT(OFFSET), UINT64_MAX);
	assert_false(e2pf_btrfs_plan_data(&item, &d));
	item = extent_item();
	put64(AT(DISK_BYTENR), UINT64_MAX - 4095);
	assert_false(e2pf_btrfs_plan_data(&item, &d));
	item = extent_item();
	item.key.offset = UINT64_MAX - 4095;
	assert_false(e2pf_btrfs_plan_data(&item, &d));
	item = extent_item();
	item.size--;
	assert_false(e2pf_btrfs_plan_data(&item, &d));
	item = extent_item();
	item.key.type = BT_INODE_ITEM_KEY;
	assert_false(e2pf_btrfs_plan_data(&item, &d));
}

static void count_reference(void *ctx, const struct e2pf_btrfs_reference *r)
{
	uint64_t *sum = ctx;

	assert_int_equal(r->inode, 300);
	*sum += r->tree;
}

static uint64_t references(const uint8_t *bytes, size_t size, uint8_t type)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct e2pf_btrfs_item item = {
		.key = { 64 * MIB, 65536, type }, .bytes = copy,
		.size = (uint32_t)size
	};
	uint64_t sum = 0;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	e2pf_btrfs_plan_references(&item, count_reference, &sum);
	free(copy);
	return sum;
}

static size_t add_reference(uint8_t *at, uint64_t tree)
{
	at[0] = BT_EXTENT_DATA_REF_KEY;
	put64(at + 1, tree);
	put64(at + 9, 300);
	return 1 + BT_EXTENT_DATA_REF_BYTES;
}

static void test_references(void **state)
{
	uint8_t bytes[256] = { 0 };
	size_t size = BT_EXTENT_ITEM_BYTES, first, i;

	(void)state;
	put64(bytes + BT_EXTENT_ITEM_FLAGS, BT_EXTENT_FLAG_DATA);
	bytes[size] = BT_SHARED_DATA_REF_KEY;
	size += 1 + 8 + BT_SHARED_DATA_REF_BYTES;
	size += add_reference(bytes + size, 256);
	first = size;
	size += add_reference(bytes + size, 1000);
	assert_int_equal(references(bytes, size, BT_EXTENT_ITEM_KEY), 1256);
	for (i = first; i < size; i++)
		assert_int_equal(references(bytes, i, BT_EXTENT_ITEM_KEY),
				 256);
	assert_int_equal(references(bytes, 0, BT_EXTENT_ITEM_KEY), 0);
	assert_int_equal(references(bytes, size, BT_METADATA_ITEM_KEY), 0);
	/* After a reference of unknown type, nothing more is reported. */
	bytes[first] = 1;
	assert_int_equal(references(bytes, size, BT_EXTENT_ITEM_KEY), 256);
	put64(bytes + BT_EXTENT_ITEM_FLAGS, BT_EXTENT_FLAG_TREE_BLOCK);
	assert_int_equal(references(bytes, size, BT_EXTENT_ITEM_KEY), 0);
}

static void test_inode_and_root(void **state)
{
	uint8_t bytes[BT_ROOT_ITEM_BYTES] = { 0 };
	struct e2pf_btrfs_item item = {
		.key = { 300, 0, BT_INODE_ITEM_KEY }, .bytes = bytes,
		.size = BT_INODE_ITEM_BYTES
	};
	struct e2pf_btrfs_ptr root;
	uint64_t changed = 0;

	(void)state;
	put64(bytes + BT_INODE_ITEM_TRANSID, 42);
	assert_true(e2pf_btrfs_plan_inode(&item, &changed));
	assert_int_equal(changed, 42);
	item.size--;
	assert_false(e2pf_btrfs_plan_inode(&item, &changed));

	memset(bytes, 0, sizeof(bytes));
	item.key = key(TREE, BT_ROOT_ITEM_KEY, 0);
	item.size = sizeof(bytes);
	assert_false(e2pf_btrfs_plan_root(&super, &item, &root));
	put64(bytes + BT_ROOT_ITEM_BYTENR, 16 * MIB);
	put64(bytes + BT_ROOT_ITEM_GENERATION, 7);
	assert_true(e2pf_btrfs_plan_root(&super, &item, &root));
	assert_int_equal(root.logical, 16 * MIB);
	assert_int_equal(root.owner, TREE);
	bytes[BT_ROOT_ITEM_LEVEL] = E2PF_BTRFS_LEVELS;
	assert_false(e2pf_btrfs_plan_root(&super, &item, &root));
	bytes[BT_ROOT_ITEM_LEVEL] = 1;
	put64(bytes + BT_ROOT_ITEM_BYTENR, 16 * MIB + 1);
	assert_false(e2pf_btrfs_plan_root(&super, &item, &root));
	put64(bytes + BT_ROOT_ITEM_BYTENR, 16 * MIB);
	item.size = BT_ROOT_ITEM_LEVEL;
	assert_false(e2pf_btrfs_plan_root(&super, &item, &root));
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

static bool read_node(void *ctx, const struct e2pf_btrfs_ptr *ptr,
		      void *block)
{
	unsigned i = (unsigned)(ptr->logical / MIB) - 16;

	(void)ctx;
	reads++;
	if (i > 2 || i == broken - 1)
		return false;
	memcpy(block, node[i], FS_NODE);
	return e2pf_btrfs_fits(&super, ptr, block);
}

/* Bit mask of the leaves that a walk finds. */
static unsigned leaves(uint64_t generation,
		       const struct e2pf_btrfs_ranges *ranges)
{
	struct e2pf_btrfs_ptr root = { 16 * MIB, FS_GENERATION, TREE, 2 };
	struct e2pf_tree_walk walk = {
		.super = &super, .read = read_node, .generation = generation,
		.ranges = ranges
	};
	struct e2pf_btrfs_child leaf, last = { .first = { 0 } };
	unsigned bits = 0;

	assert_true(e2pf_tree_walk_begin(&walk, &root));
	while (e2pf_tree_walk_next(&walk, &leaf)) {
		assert_true(!bits || e2pf_btrfs_compare(&last.first,
							&leaf.first) < 0);
		last = leaf;
		bits |= 1u << (leaf.ptr.logical / MIB - 20);
	}
	e2pf_tree_walk_free(&walk);
	return bits;
}

static void test_walk(void **state)
{
	struct e2pf_btrfs_ranges r = { .count = 0 };

	(void)state;
	make_tree();
	assert_int_equal(leaves(0, NULL), 0xff);
	assert_int_equal(reads, 3);
	/* Generations of leaves: 2 3 4 5, 4 5 6 6. */
	assert_int_equal(leaves(4, NULL), 0xe8);
	/* Subtrees that are older, or hold no key in the ranges, are not
	 * read. */
	reads = 0;
	assert_int_equal(leaves(5, NULL), 0xc0);
	assert_int_equal(reads, 2);
	assert_int_equal(leaves(FS_GENERATION, NULL), 0);
	add(&r, 150, 199);
	add(&r, 300, 300);
	e2pf_btrfs_ranges_finish(&r);
	reads = 0;
	assert_int_equal(leaves(0, &r), 0x0a);
	assert_int_equal(reads, 2);
	add(&r, 1000, 1000);
	e2pf_btrfs_ranges_finish(&r);
	assert_int_equal(leaves(0, &r), 0x8a);
	e2pf_btrfs_ranges_free(&r);
	/* If a node cannot be read, only its own leaves are missing. */
	broken = 2;
	assert_int_equal(leaves(0, NULL), 0xf0);
}

static void test_damaged_walk(void **state)
{
	struct e2pf_btrfs_ptr root = { 16 * MIB, FS_GENERATION, TREE, 0 };
	struct e2pf_tree_walk walk = { .super = &super, .read = read_node };
	struct e2pf_btrfs_child leaf;

	(void)state;
	make_tree();
	/* Newer than its node; no address; not aligned; keys out of order. */
	put64(node[1] + BT_HEADER_BYTES + BT_PTR_GENERATION, 6);
	put64(node[1] + BT_HEADER_BYTES + BT_PTR_BYTES + BT_PTR_BLOCKPTR, 0);
	put64(node[1] + BT_HEADER_BYTES + 2 * BT_PTR_BYTES + BT_PTR_BLOCKPTR,
	      22 * MIB + 1);
	put64(node[2] + BT_HEADER_BYTES, 501);
	assert_int_equal(leaves(0, NULL), 0xe8);
	/* A node that claims more entries than it has room for is rejected. */
	make_tree();
	put32(node[2] + BT_HEADER_NRITEMS, UINT32_MAX);
	assert_int_equal(leaves(0, NULL), 0x0f);
	/* A pointer to an ancestor is rejected by its level. */
	make_tree();
	put64(node[0] + BT_HEADER_BYTES + BT_PTR_BLOCKPTR, 16 * MIB);
	assert_int_equal(leaves(0, NULL), 0xf0);
	/* A root that is a leaf; one that is too high. */
	assert_true(e2pf_tree_walk_begin(&walk, &root));
	assert_true(e2pf_tree_walk_next(&walk, &leaf));
	assert_int_equal(leaf.ptr.logical, 16 * MIB);
	assert_false(e2pf_tree_walk_next(&walk, &leaf));
	root.level = E2PF_BTRFS_LEVELS;
	node[0][BT_HEADER_LEVEL] = E2PF_BTRFS_LEVELS;
	assert_true(e2pf_tree_walk_begin(&walk, &root));
	assert_false(e2pf_tree_walk_next(&walk, &leaf));
	e2pf_tree_walk_free(&walk);
}

/*
 * The order of the reads.
 */

static void add_job(struct e2pf_jobs *jobs, unsigned device, uint64_t offset,
		    uint64_t inode, uint64_t length)
{
	struct e2pf_job job = {
		.device = device, .offset = offset, .inode = inode,
		.length = length
	};

	assert_true(e2pf_jobs_add(jobs, &job));
}

static void test_order(void **state)
{
	struct e2pf_jobs jobs = { .count = 0 };
	unsigned i, passed = 0;

	(void)state;
	e2pf_jobs_order(&jobs);
	for (i = 0; i < 1000; i++)
		add_job(&jobs, 0, i * 7919 % 1000, 0, 0);
	for (i = 0; i < 10; i++)
		add_job(&jobs, 1, 10 - i, 0, 0);
	e2pf_jobs_order(&jobs);
	for (i = 1; i < jobs.count; i++) {
		unsigned j = i - 1;

		while (j && jobs.job[j].device != jobs.job[i].device)
			j--;
		if (jobs.job[j].device == jobs.job[i].device)
			assert_true(jobs.job[j].offset < jobs.job[i].offset);
		if (jobs.job[i].device)
			passed++;
		/* One read of the second device for each hundred of the
		 * first. */
		assert_uint_in_range(passed, i / 101, i / 101 + 1);
	}
	e2pf_jobs_free(&jobs);
}

static void test_keep_data(void **state)
{
	struct e2pf_jobs jobs = { .count = 0 };

	(void)state;
	add_job(&jobs, 0, 3, 9, 4096);
	add_job(&jobs, 0, 2, 8, 0);
	add_job(&jobs, 0, 1, 7, 10000);
	add_job(&jobs, 0, 4, 3, 4096);
	assert_int_equal(e2pf_jobs_keep_data(&jobs, 8192, 13000), 12288);
	assert_int_equal(jobs.count, 2);
	assert_int_equal(jobs.job[0].inode, 3);
	assert_int_equal(jobs.job[1].length, 8192);
	assert_int_equal(e2pf_jobs_keep_data(&jobs, 8192, 0), 0);
	assert_int_equal(jobs.count, 0);
	add_job(&jobs, 0, 1, 0, 0);
	add_job(&jobs, 0, 2, 0, 0);
	jobs.job[1].parse = true;
	assert_int_equal(e2pf_jobs_keep_parsed(&jobs), 1);
	assert_int_equal(jobs.count, 1);
	assert_int_equal(jobs.job[0].offset, 2);
	while (jobs.count < E2PF_JOBS_MOST)
		add_job(&jobs, 0, 0, 0, 0);
	assert_false(e2pf_jobs_add(&jobs, &jobs.job[0]));
	e2pf_jobs_free(&jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_inode_and_root),
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_damaged_walk),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_keep_data),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
