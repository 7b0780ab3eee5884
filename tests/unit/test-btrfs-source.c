/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * btrfs as a source of work: what it passes on of a small filesystem in memory, and
 * in which order; and the order in which leaves are read: trees in turn, sweeps,
 * leaves taken along, devices in turn, and bounded memory.
 */
#include "unit.h"
#include "btrfs-fs.h"
#include "btrfs/leaf_order.h"

#define MIB (UINT64_C(1) << 20)
#define DEVICE (16 * MIB)

/*
 * The filesystem: a system chunk at address 1 MiB, a metadata chunk at 8 MiB
 * that begins 4 MiB into the device.  The system chunk's stripe is at 1 MiB.
 */
#define SYS (1 * MIB)
#define META (8 * MIB)

static uint8_t *at(uint8_t *device, uint64_t logical)
{
	return device + (logical >= META ? logical - META + 4 * MIB : logical);
}

static void make_tree(uint8_t *device, uint64_t root, uint64_t owner,
		      unsigned leaves)
{
	uint8_t *node = at(device, root);
	unsigned i;

	fs_block(node, root, owner, 1);
	for (i = 1; i <= leaves; i++) {
		fs_add_ptr(node, root + i * FS_NODE, FS_GENERATION);
		fs_block(at(device, root + i * FS_NODE), root + i * FS_NODE,
			 owner, 0);
	}
}

/* When the source passes a block on: the phase, and its number in the order. */
struct phases {
	uint8_t *device;
	struct bt_source btrfs;
	struct pf_source *source;
	uint8_t now;			/* current phase, counted from 1 */
	uint8_t of[DEVICE / FS_NODE];
	unsigned order[DEVICE / FS_NODE], count, of_class[BT_CLASSES];
};

/* The chunk of metadata is in this leaf of the chunk tree alone. */
static void make_chunks(uint8_t *super, uint8_t *leaf)
{
	uint8_t item[256];
	size_t size = fs_chunk(item, MIB, BTRFS_BLOCK_GROUP_SYSTEM, 1, 0);

	fs_block(leaf, SYS, BTRFS_CHUNK_TREE_OBJECTID, 0);
	fs_add_sys(super, SYS, item, size);
	fs_add_item(leaf, 256, BTRFS_CHUNK_ITEM_KEY, SYS, item, size);
	size = fs_chunk(item, 4 * MIB, BTRFS_BLOCK_GROUP_METADATA, 1, 0);
	put64(item + BT_AT(chunk, stripe) + BT_AT(stripe, offset), 4 * MIB);
	fs_add_item(leaf, 256, BTRFS_CHUNK_ITEM_KEY, META, item, size);
}

static int read_block(void *device, const struct pf_ref *ref, void *bytes)
{
	memcpy(bytes, (uint8_t *)device + ref->offset, ref->length);
	return 0;
}

/* The filesystem, on one device and a missing one. */
static struct phases *make_fs(void)
{
	struct phases *p = calloc(1, sizeof(*p));
	uint8_t super[BT_SUPER_BYTES], *device, *roots;
	struct bt_chunk_map *map;

	assert_non_null(p);
	map = &p->btrfs.map;
	device = p->device = calloc(1, DEVICE);
	assert_non_null(device);
	fs_super(super, 1, SYS + FS_NODE, META);
	super[BT_SUPER_CHUNK_ROOT_LEVEL] = 1;
	fs_block(at(device, SYS + FS_NODE), SYS + FS_NODE,
		 BTRFS_CHUNK_TREE_OBJECTID, 1);
	fs_add_ptr(at(device, SYS + FS_NODE), SYS, FS_GENERATION);
	make_chunks(super, at(device, SYS));
	roots = at(device, META);
	fs_block(roots, META, BTRFS_ROOT_TREE_OBJECTID, 0);
	fs_add_root(roots, BTRFS_EXTENT_TREE_OBJECTID, META + MIB, 1);
	make_tree(device, META + MIB, BTRFS_EXTENT_TREE_OBJECTID, 5);
	fs_add_root(roots, BTRFS_FS_TREE_OBJECTID, META + 2 * MIB, 1);
	make_tree(device, META + 2 * MIB, BTRFS_FS_TREE_OBJECTID, 9);
	/* A snapshot of it, and a tree that is one leaf. */
	fs_add_root(roots, 256, META + 2 * MIB, 1);
	fs_add_root(roots, BTRFS_CSUM_TREE_OBJECTID, META + 3 * MIB, 0);
	fs_block(at(device, META + 3 * MIB), META + 3 * MIB,
		 BTRFS_CSUM_TREE_OBJECTID, 0);
	assert_null(bt_plan_super(super, &map->super));
	map->devices = 2;
	map->device[0] = map->device[1] = map->super.device;
	map->device[1].devid = 2;
	p->btrfs.bytes[0] = p->btrfs.bytes[1] = DEVICE;
	p->source = &p->btrfs.source;
	bt_source_init(&p->btrfs, read_block, device);
	assert_int_equal(map->count, 2);
	assert_int_equal(map->tree_blocks, 2);
	return p;
}

static void free_fs(struct phases *p)
{
	bt_source_fini(&p->btrfs);
	free(p->device);
	free(p);
}

static void note_phase(void *ctx, const struct pf_ref *ref)
{
	struct phases *p = ctx;

	assert_int_equal(p->of[ref->offset / FS_NODE], 0);
	p->of[ref->offset / FS_NODE] = p->now;
	p->order[ref->offset / FS_NODE] = p->count++;
	p->of_class[ref->cls]++;
	if (ref->parse)
		p->source->ops->parse(p->source, ref, 0,
				      p->device + ref->offset, FS_NODE,
				      note_phase, p);
}

/* Begin, seed the phases below this one, and go on to it. */
static void seed_phases(struct phases *p, const struct pf_options *options,
			unsigned end)
{
	struct pf_source *source = p->source;
	const struct pf_phase *phase;
	uint64_t unit;
	bool more;

	memset(p->of, 0, sizeof(p->of));
	memset(p->of_class, 0, sizeof(p->of_class));
	source->ops->begin(source, options, false);
	for (phase = source->ops->next(source, NULL);
	     phase && phase->number < end;
	     phase = source->ops->next(source, phase)) {
		p->now = (uint8_t)(phase->number + 1);
		assert_int_equal(phase->at_once, BT_LEAF_PORTION);
		for (unit = 0; unit < source->ops->units(source, phase->number,
							 &more); unit++)
			source->ops->seed(source, phase->number, unit,
					  note_phase, p);
	}
}

static void expect_blocks(struct phases *p, unsigned roots, unsigned nodes,
			  unsigned leaves)
{
	const struct pf_options options = { .budget = MIB };

	seed_phases(p, &options, BT_PHASES);
	assert_int_equal(p->of_class[BT_CLASS_ROOTS], roots);
	assert_int_equal(p->of_class[BT_CLASS_NODES], nodes);
	assert_int_equal(p->of_class[BT_CLASS_LEAVES], leaves);
}

/* The roots of trees come before all leaves, even those that are leaves; each
 * block comes once, however many devices there are; and the leaves of a tree
 * follow those of one with a lower number. */
TEST(test_phases)
{
	struct phases *p = make_fs();
	/* A snapshot that is a single leaf. */
	const uint64_t leaf = META + 3 * MIB + FS_NODE;
	const struct {
		uint64_t address;
		enum bt_phase phase;
	} blocks[] = {
		{ META, BT_PHASE_NODES },
		{ META + MIB, BT_PHASE_NODES },
		{ META + 2 * MIB, BT_PHASE_NODES },
		{ META + 3 * MIB, BT_PHASE_NODES },
		{ leaf, BT_PHASE_NODES },
		/* These in this order. */
		{ META + MIB + FS_NODE, BT_PHASE_LEAVES },
		{ META + 2 * MIB + FS_NODE, BT_PHASE_LEAVES },
	};
	unsigned before = 0;
	size_t i;

	fs_add_root(at(p->device, META), 257, leaf, 0);
	expect_blocks(p, 1, 2, 16);
	for (i = 0; i < COUNT(blocks); i++) {
		uint64_t block = (blocks[i].address - META + 4 * MIB) / FS_NODE;

		assert_int_equal(p->of[block], blocks[i].phase + 1);
		if (blocks[i].phase == BT_PHASE_LEAVES) {
			assert_true(p->order[block] > before);
			before = p->order[block];
		}
	}
	free_fs(p);
}

/* If not all leaves fit into the budget, they are read in a window, and if there
 * is no room to keep track of them, they are left to the check. */
TEST(test_room_for_leaves)
{
	static const struct {
		uint64_t budget;
		unsigned leaves;
		bool window;			/* they are used once */
	} cases[] = {
		{ 14 * FS_NODE, 14, false },
		{ 13 * FS_NODE, 14, true },
		{ FS_NODE / 8, 0, false },
	};
	struct phases *p = make_fs();
	bool more;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		const struct pf_options options = {
			.has_checker = true, .budget = cases[i].budget
		};

		seed_phases(p, &options, BT_PHASE_LEAVES);
		assert_int_equal(p->source->ops->units(p->source,
						       BT_PHASE_LEAVES,
						       &more), cases[i].leaves);
		/* The check keeps so few leaves on any machine. */
		assert_int_equal(p->btrfs.drop_read, cases[i].window);
	}
	free_fs(p);
}

struct order {
	uint64_t leaf[30];	/* their numbers in the chunk of metadata */
	unsigned leaves, sweeps;
};

static void keep_leaf(void *ctx, const struct pf_ref *ref)
{
	struct order *order = ctx;
	uint64_t leaf = (ref->offset - 4 * MIB) / FS_NODE;

	assert_true(order->leaves < COUNT(order->leaf));
	if (!order->leaves || leaf < order->leaf[order->leaves - 1])
		order->sweeps++;
	order->leaf[order->leaves++] = leaf;
}

static struct order leaves_of(struct phases *p, bool seek_bound)
{
	const struct pf_options options = { .budget = MIB,
					  .seek_bound = seek_bound };
	struct order order = { .leaves = 0 };
	bool more;
	uint64_t i;

	seed_phases(p, &options, BT_PHASE_LEAVES);
	for (i = 0; i < p->source->ops->units(p->source, BT_PHASE_LEAVES,
					      &more); i++)
		p->source->ops->seed(p->source, BT_PHASE_LEAVES, i, keep_leaf,
				     &order);
	return order;
}

/* A disk gets few sweeps, which take leaves of later trees along over longer gaps. */
TEST(test_sweeps_of_a_device)
{
	static const struct {
		bool seek_bound;
		unsigned sweeps, near;
	} cases[] = { { true, 3, 128 }, { false, 15, 12 } };
	struct phases *p = make_fs();
	uint8_t *roots = at(p->device, META);
	size_t i;
	unsigned k;

	for (i = 0; i < COUNT(cases); i++) {
		const unsigned near = cases[i].near;
		const uint64_t leaf[] = {
			100, 100 + near / 2, 100 + near,
			100 + 2 * near + 1, 100 + near + near / 2
		};
		struct order order;

		/* Trees of two leaves, the last one at the lowest address. */
		fs_block(roots, META, BTRFS_ROOT_TREE_OBJECTID, 0);
		for (k = 0; k < 15; k++) {
			fs_add_root(roots, 300 - k, META + (k + 1) * 65536, 1);
			make_tree(p->device, META + (k + 1) * 65536, 300 - k, 2);
		}
		order = leaves_of(p, cases[i].seek_bound);
		assert_int_equal(order.leaves, 30);
		assert_int_equal(order.sweeps, cases[i].sweeps);
		/* Leaves 0, 2 and 3 are the first tree's. */
		fs_block(roots, META, BTRFS_ROOT_TREE_OBJECTID, 0);
		for (k = 0; k < 2; k++) {
			fs_add_root(roots, 256 + k, META + (k + 1) * FS_NODE, 1);
			make_tree(p->device, META + (k + 1) * FS_NODE, 256 + k, 0);
		}
		for (k = 0; k < COUNT(leaf); k++)
			fs_add_ptr(at(p->device, META + (1 + (k == 1 || k == 4)) *
				      FS_NODE), META + leaf[k] * FS_NODE,
				   FS_GENERATION);
		order = leaves_of(p, cases[i].seek_bound);
		assert_int_equal(order.leaves, COUNT(leaf));
		assert_memory_equal(order.leaf, leaf, sizeof(leaf));
	}
	free_fs(p);
}

static void keep_sample(void *ctx, const struct pf_ref *ref)
{
	uint64_t *last = ctx;

	assert_false(ref->parse);
	assert_true(ref->offset > *last);
	*last = ref->offset;
}

/* Samples lie all over both chunks, whose blocks are not parsed. */
TEST(test_samples)
{
	const struct pf_options options = { .budget = MIB };
	struct phases *p = make_fs();
	uint64_t i, before, last = 0;

	p->source->ops->begin(p->source, &options, false);
	assert_int_equal(p->source->samples, 64);
	for (i = 0; i < 64; i++) {
		before = last;
		p->source->ops->sample(p->source, i, keep_sample, &last);
		assert_true(last > before);
		if (!i)
			assert_int_equal(last, SYS);
	}
	/* 20 of 1,280 blocks before the end. */
	assert_int_equal(last, 8 * MIB - 20 * FS_NODE);
	free_fs(p);
}

/* Blocks that two trees share are read once; a leaf is not parsed; and if a
 * block does not match its pointer, none of its own pointers is used. */
TEST(test_walk)
{
	struct phases *p = make_fs();
	uint8_t *node = at(p->device, META + 2 * MIB);
	uint8_t *roots = at(p->device, META);
	unsigned i;

	expect_blocks(p, 1, 2, 15);
	/* A node refers to its own ancestors, and to everything twice. */
	for (i = 0; i < 20; i++)
		fs_add_ptr(node, META + 2 * MIB + i % 2 * FS_NODE,
			   FS_GENERATION);
	expect_blocks(p, 1, 2, 15);
	node[BT_HEADER_FSID] ^= 1;
	expect_blocks(p, 1, 2, 6);
	/* It claims to be of the root tree, or elsewhere, or a leaf. */
	node[BT_HEADER_FSID] ^= 1;
	put64(node + BT_HEADER_OWNER, BTRFS_ROOT_TREE_OBJECTID);
	expect_blocks(p, 1, 2, 6);
	put64(node + BT_HEADER_OWNER, BTRFS_FS_TREE_OBJECTID);
	put64(node + BT_HEADER_BYTENR, META + MIB);
	expect_blocks(p, 1, 2, 6);
	fs_block(node, META + 2 * MIB, BTRFS_FS_TREE_OBJECTID, 0);
	fs_add_root(node, 300, META + MIB + FS_NODE, 1);
	expect_blocks(p, 1, 2, 6);
	put64(roots + BT_HEADER_OWNER, BTRFS_FS_TREE_OBJECTID);
	expect_blocks(p, 1, 0, 0);
	free_fs(p);
}

/*
 * The order of leaves.
 */

#define PORTION 512u

/* Bytes that nodes and links take, at most. */
#define ROOM_FOR(nodes, links) ((nodes) * 32u + (links) * sizeof(uint64_t))

/* Two chunks of 16 MiB: slots 0 to 4095 on device 0, the rest on device 1. */
#define CHUNK (16 * MIB)
#define SLOTS ((unsigned)(CHUNK / FS_NODE))

/* The root of a tree, by its slot. */
#define ROOT(slot, l) { .logical = CHUNK + (slot) * FS_NODE, .level = (l) }

struct forest {
	struct bt_leaf_order order;
	struct bt_slot_set seen;
	struct bt_chunk_map map;
};

static void set_up(struct forest *f, uint64_t link_bytes)
{
	fs_map(&f->map, 2);
	fs_add_chunk(&f->map, 2 * CHUNK, BTRFS_BLOCK_GROUP_METADATA, 1, CHUNK, 2);
	fs_add_chunk(&f->map, CHUNK, BTRFS_BLOCK_GROUP_METADATA, 1, CHUNK, 1);
	bt_chunk_map_finish(&f->map);
	assert_int_equal(f->map.slots, 2 * SLOTS);
	assert_true(bt_slot_set_init(&f->seen, f->map.slots));
	memset(&f->order, 0, sizeof(f->order));
	bt_leaf_order_clear(&f->order, link_bytes);
}

static void tear_down(struct forest *f)
{
	bt_leaf_order_clear(&f->order, 0);
	bt_slot_set_free(&f->seen);
	bt_chunk_map_free(&f->map);
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
static const struct bt_ptr roots[] = {
	ROOT(100, 1), ROOT(200, 2), ROOT(12, 0)
};

/* Trees 4 to 6, of leaves beside each other. */
static const struct bt_ptr side_by_side[] = {
	ROOT(1, 1), ROOT(2, 1), ROOT(3, 1)
};

static void grow(struct forest *f)
{
	const uint64_t first[] = { 30, 10, 20 }, own[] = { 35, 20, 15 };
	const uint64_t nodes[] = { 201, 100 };
	const uint64_t a[] = { 10, 20, 30, 40 }, b[] = { 11, 21, 31 };
	const uint64_t c[] = { 12, 22, 32 };

	bt_leaf_order_add(&f->order, 201, 1, own, 3);
	bt_leaf_order_add(&f->order, 200, 2, nodes, 2);
	bt_leaf_order_add(&f->order, 100, 1, first, 3);
	bt_leaf_order_add(&f->order, 1, 1, a, 4);
	bt_leaf_order_add(&f->order, 2, 1, b, 3);
	bt_leaf_order_add(&f->order, 3, 1, c, 3);
}

TEST(test_orders)
{
	static const struct {
		const struct bt_ptr *root;
		size_t roots;
		struct bt_sweeps sweeps;
		uint64_t leaf[10];
		size_t leaves;
	} cases[] = {
		/* Each tree's leaves in the order of addresses, after those of
		 * earlier trees; shared leaves come with the first tree. */
		{ roots, 3, { .max = 16, .room = 100 },
		  { 10, 20, 30, 15, 35, 12 }, 6 },
		/* A sweep has at least its part of the leaves. */
		{ roots, 3, { .max = 1, .room = 100 },
		  { 10, 12, 15, 20, 30, 35 }, 6 },
		{ roots + 1, 2, { .max = 2, .room = 100 },
		  { 10, 15, 20, 30, 35, 12 }, 6 },
		/* Leaves of later trees that lie between two of a tree come
		 * with it, unless the two are too far apart. */
		{ roots, 3, { .max = 16, .near = 10, .room = 100 },
		  { 10, 12, 15, 20, 30, 35 }, 6 },
		{ roots, 3, { .max = 16, .near = 9, .room = 100 },
		  { 10, 20, 30, 15, 35, 12 }, 6 },
		/* If not all leaves may be ahead of the check, two thirds of
		 * those that may are taken along, from the lowest slots on.
		 * There is room for more when the check has come to a sweep
		 * that lost some of its leaves to an earlier one. */
		{ side_by_side, 3,
		  { .max = 1, .near = 10, .room = 6, .by_device = true },
		  { 10, 11, 12, 20, 21, 22, 30, 40, 31, 32 }, 10 },
		{ side_by_side, 3,
		  { .max = 1, .near = 11, .room = 3, .by_device = true },
		  { 10, 11, 12, 20, 30, 40, 21, 22, 31, 32 }, 10 },
	};
	struct forest f;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		set_up(&f, MIB);
		grow(&f);
		bt_leaf_order_make(&f.order, cases[i].root, cases[i].roots,
				   &cases[i].sweeps, &f.map, &f.seen);
		expect(&f, cases[i].leaf, cases[i].leaves);
		assert_false(bt_slot_set_add(&f.seen, 10));
		assert_true(bt_slot_set_add(&f.seen, 100));
		assert_true(bt_slot_set_add(&f.seen, 101));
		assert_false(bt_slot_set_add(&f.seen, 100));
		assert_false(bt_slot_set_add(&f.seen, 2 * SLOTS));
		tear_down(&f);
	}
}

/* Portions of the devices alternate. */
TEST(test_devices)
{
	const struct bt_sweeps sweeps = {
		.max = 16, .room = 10000, .by_device = true
	};
	const struct bt_ptr root = ROOT(1, 1);
	uint64_t child[3 * PORTION];
	struct forest f;
	unsigned i;

	set_up(&f, MIB);
	for (i = 0; i < 2 * PORTION; i++)
		child[i] = 10 + i;
	for (; i < 3 * PORTION - 1; i++)
		child[i] = SLOTS + 10 + i;
	bt_leaf_order_add(&f.order, 1, 1, child, i);
	bt_leaf_order_make(&f.order, &root, 1, &sweeps, &f.map, &f.seen);
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
	const struct bt_ptr root[] = {
		ROOT(1, 1), ROOT(1, 2), ROOT(2, 3), ROOT(9, 1)
	};
	const uint64_t child[] = { 1, 2, 7 }, other[] = { 1, 2, 8 };
	const struct bt_sweeps sweeps = { .max = 16, .room = 100 };
	const uint64_t found[] = { 1, 2, 7 };
	struct forest f;

	set_up(&f, ROOM_FOR(1, 3));
	bt_leaf_order_add(&f.order, 1, 2, other, 2);
	bt_leaf_order_add(&f.order, 2, 1, child, 3);
	bt_leaf_order_make(&f.order, root, 4, &sweeps, &f.map, &f.seen);
	expect(&f, NULL, 0);
	tear_down(&f);
	set_up(&f, MIB);
	bt_leaf_order_add(&f.order, 1, 2, other, 3);
	bt_leaf_order_add(&f.order, 2, 1, child, 3);
	bt_leaf_order_make(&f.order, root, 4, &sweeps, &f.map, &f.seen);
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
		bt_leaf_order_add(&f.order, i, 1, &none, 0);
	assert_uint_in_range(f.order.nodes, 10, 20);
	tear_down(&f);
}

UNIT_MAIN(NULL, NULL)
