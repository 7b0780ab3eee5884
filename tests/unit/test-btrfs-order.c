/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The order in which leaves are read: trees in turn, sweeps, leaves taken
 * along, devices in turn, and bounded memory.
 */
#include "unit.h"
#include "btrfs-fs.h"
#include "btrfs/leaf_order.h"

#define MIB (UINT64_C(1) << 20)
#define PORTION 512u

/* Bytes that nodes and links take, at most. */
#define ROOM_FOR(nodes, links) ((nodes) * 32u + (links) * sizeof(uint64_t))

/* Two chunks of 16 MiB: slots 0 to 4095 on device 0, the rest on device 1. */
#define CHUNK (16 * MIB)
#define SLOTS ((unsigned)(CHUNK / FS_NODE))

/* The root of a tree, by its slot. */
#define ROOT(slot, l) { .logical = CHUNK + (slot) * FS_NODE, .level = (l) }

struct forest {
	struct e2pf_leaf_order order;
	struct e2pf_slot_set seen;
	struct e2pf_chunk_map map;
};

static void set_up(struct forest *f, uint64_t link_bytes)
{
	fs_map(&f->map, 2);
	fs_add_chunk(&f->map, 2 * CHUNK, BTRFS_BLOCK_GROUP_METADATA, 1, CHUNK, 2);
	fs_add_chunk(&f->map, CHUNK, BTRFS_BLOCK_GROUP_METADATA, 1, CHUNK, 1);
	e2pf_chunk_map_finish(&f->map);
	assert_int_equal(f->map.slots, 2 * SLOTS);
	assert_true(e2pf_slot_set_init(&f->seen, f->map.slots));
	memset(&f->order, 0, sizeof(f->order));
	e2pf_leaf_order_clear(&f->order, link_bytes);
}

static void tear_down(struct forest *f)
{
	e2pf_leaf_order_clear(&f->order, 0);
	e2pf_slot_set_free(&f->seen);
	e2pf_chunk_map_free(&f->map);
}

static void expect(const struct forest *f, const uint64_t *leaf, size_t count)
{
	size_t i;

	assert_int_equal(f->order.leaves, count);
	for (i = 0; i < count; i++)
		assert_int_equal(f->order.leaf[i].slot, leaf[i]);
}

/* Tree 0 is node 100 with the leaves 30, 10 and 20; tree 1 is node 200 over
 * nodes 201 and 100, and has 15 and 35 of its own; tree 2 is the leaf 12. */
static const struct e2pf_btrfs_ptr roots[] = {
	ROOT(100, 1), ROOT(200, 2), ROOT(12, 0)
};

/* Trees 4 to 6, of leaves beside each other. */
static const struct e2pf_btrfs_ptr side_by_side[] = {
	ROOT(1, 1), ROOT(2, 1), ROOT(3, 1)
};

static void grow(struct forest *f)
{
	const uint64_t first[] = { 30, 10, 20 }, own[] = { 35, 20, 15 };
	const uint64_t nodes[] = { 201, 100 };
	const uint64_t a[] = { 10, 20, 30, 40 }, b[] = { 11, 21, 31 };
	const uint64_t c[] = { 12, 22, 32 };

	e2pf_leaf_order_add(&f->order, 201, 1, own, 3);
	e2pf_leaf_order_add(&f->order, 200, 2, nodes, 2);
	e2pf_leaf_order_add(&f->order, 100, 1, first, 3);
	e2pf_leaf_order_add(&f->order, 1, 1, a, 4);
	e2pf_leaf_order_add(&f->order, 2, 1, b, 3);
	e2pf_leaf_order_add(&f->order, 3, 1, c, 3);
}

TEST(test_orders)
{
	static const struct {
		const struct e2pf_btrfs_ptr *root;
		size_t roots;
		struct e2pf_sweeps sweeps;
		uint64_t leaf[10];
		size_t leaves;
	} cases[] = {
		/* Each tree's leaves in the order of addresses, after those of
		 * earlier trees; shared leaves come with the first tree. */
		{ roots, 3, { .most = 16, .room = 100 },
		  { 10, 20, 30, 15, 35, 12 }, 6 },
		/* A sweep has at least its part of the leaves. */
		{ roots, 3, { .most = 1, .room = 100 },
		  { 10, 12, 15, 20, 30, 35 }, 6 },
		{ roots + 1, 2, { .most = 2, .room = 100 },
		  { 10, 15, 20, 30, 35, 12 }, 6 },
		/* Leaves of later trees that lie between two of a tree come
		 * with it, unless the two are too far apart. */
		{ roots, 3, { .most = 16, .near = 10, .room = 100 },
		  { 10, 12, 15, 20, 30, 35 }, 6 },
		{ roots, 3, { .most = 16, .near = 9, .room = 100 },
		  { 10, 20, 30, 15, 35, 12 }, 6 },
		/* If not all leaves may be ahead of the check, two thirds of
		 * those that may are taken along, from the lowest slots on.
		 * There is room for more when the check has come to a sweep of
		 * which some were taken along. */
		{ side_by_side, 3,
		  { .most = 1, .near = 10, .room = 6, .by_device = true },
		  { 10, 11, 12, 20, 21, 22, 30, 40, 31, 32 }, 10 },
		{ side_by_side, 3,
		  { .most = 1, .near = 11, .room = 3, .by_device = true },
		  { 10, 11, 12, 20, 30, 40, 21, 22, 31, 32 }, 10 },
	};
	struct forest f;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		set_up(&f, MIB);
		grow(&f);
		e2pf_leaf_order_make(&f.order, cases[i].root, cases[i].roots,
				     &cases[i].sweeps, &f.map, &f.seen);
		expect(&f, cases[i].leaf, cases[i].leaves);
		assert_false(e2pf_slot_set_add(&f.seen, 10));
		assert_true(e2pf_slot_set_add(&f.seen, 100));
		assert_true(e2pf_slot_set_add(&f.seen, 101));
		assert_false(e2pf_slot_set_add(&f.seen, 100));
		assert_false(e2pf_slot_set_add(&f.seen, 2 * SLOTS));
		tear_down(&f);
	}
}

/* Portions of the devices alternate. */
TEST(test_devices)
{
	const struct e2pf_sweeps sweeps = {
		.most = 16, .room = 10000, .by_device = true
	};
	const struct e2pf_btrfs_ptr root = ROOT(1, 1);
	uint64_t child[3 * PORTION];
	struct forest f;
	unsigned i;

	set_up(&f, MIB);
	for (i = 0; i < 2 * PORTION; i++)
		child[i] = 10 + i;
	for (; i < 3 * PORTION - 1; i++)
		child[i] = SLOTS + 10 + i;
	e2pf_leaf_order_add(&f.order, 1, 1, child, i);
	e2pf_leaf_order_make(&f.order, &root, 1, &sweeps, &f.map, &f.seen);
	assert_int_equal(f.order.leaves, i);
	for (i = 0; i < f.order.leaves; i++)
		assert_int_equal(f.order.leaf[i].slot,
				 i < PORTION ? 10 + i :
				 i < 2 * PORTION - 1 ? SLOTS + 10 + PORTION + i :
				 i - PORTION + 11);
	tear_down(&f);
}

/* A node that claims to be its own child, a level that is not the pointer's, a
 * root that was never read, and no room for links. */
TEST(test_hostile)
{
	const struct e2pf_btrfs_ptr root[] = {
		ROOT(1, 1), ROOT(1, 2), ROOT(2, 3), ROOT(9, 1)
	};
	const uint64_t child[] = { 1, 2, 7 }, other[] = { 1, 2, 8 };
	const struct e2pf_sweeps sweeps = { .most = 16, .room = 100 };
	const uint64_t found[] = { 1, 2, 7 };
	struct forest f;

	set_up(&f, ROOM_FOR(1, 3));
	e2pf_leaf_order_add(&f.order, 1, 2, other, 2);
	e2pf_leaf_order_add(&f.order, 2, 1, child, 3);
	assert_int_equal(f.order.left, 3);
	e2pf_leaf_order_make(&f.order, root, 4, &sweeps, &f.map, &f.seen);
	expect(&f, NULL, 0);
	tear_down(&f);
	set_up(&f, MIB);
	e2pf_leaf_order_add(&f.order, 1, 2, other, 3);
	e2pf_leaf_order_add(&f.order, 2, 1, child, 3);
	e2pf_leaf_order_make(&f.order, root, 4, &sweeps, &f.map, &f.seen);
	expect(&f, found, 3);
	tear_down(&f);
}

/* Nodes without children take memory, too. */
TEST(test_empty_nodes)
{
	const uint64_t none = 0;
	struct forest f;
	unsigned i;

	set_up(&f, ROOM_FOR(10, 0));
	for (i = 0; i < 1000; i++)
		e2pf_leaf_order_add(&f.order, i, 1, &none, 0);
	assert_uint_in_range(f.order.nodes, 10, 20);
	tear_down(&f);
}

UNIT_MAIN(NULL, NULL)
