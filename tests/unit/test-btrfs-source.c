/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btrfs as a source of work: a small filesystem in memory, walked by the
 * engine; the chunk map; and the set of blocks.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

#include "btrfs-fs.h"
#include "fake-device.h"
#include "btrfs/slot_set.h"
#include "engine/engine.h"

#define MIB (UINT64_C(1) << 20)
#define DEVICE (16 * MIB)

/* A device in memory, all of which is either missing or cached. */
struct memory {
	struct fake_device fake;
	uint8_t *bytes;
};

static void new_memory(struct memory *m, uint8_t *bytes)
{
	fake_new_plain(&m->fake, bytes, DEVICE);
	m->fake.look_ns = 1000;
	m->bytes = bytes;
}

/*
 * The filesystem: a system chunk at address 1 MiB, a metadata chunk at 8 MiB
 * that begins 4 MiB into the device.  The system chunk's stripe is at 1 MiB.
 */
#define SYS (1 * MIB)
#define META (8 * MIB)

static uint8_t *at(struct memory *m, uint64_t logical)
{
	return m->bytes + (logical >= META ? logical - META + 4 * MIB :
					     logical);
}

static void set_offset(uint8_t *item, uint64_t offset)
{
	put64(item + BT_CHUNK_STRIPE + BT_STRIPE_OFFSET, offset);
}

static void make_chunks(struct memory *m, uint8_t *super)
{
	uint8_t item[256], *leaf = at(m, SYS);
	size_t size = fs_chunk(item, MIB, BT_BLOCK_GROUP_SYSTEM, 1, 0);

	fs_block(leaf, SYS, BT_CHUNK_TREE_OBJECTID, 0);
	fs_add_sys(super, SYS, item, size);
	fs_add_item(leaf, 256, BT_CHUNK_ITEM_KEY, SYS, item, size);
	size = fs_chunk(item, 4 * MIB, BT_BLOCK_GROUP_METADATA, 1, 0);
	set_offset(item, 4 * MIB);
	fs_add_item(leaf, 256, BT_CHUNK_ITEM_KEY, META, item, size);
}

static void make_tree(struct memory *m, uint64_t root, uint64_t owner,
		      unsigned leaves)
{
	uint8_t *node = at(m, root);
	unsigned i;

	fs_block(node, root, owner, 1);
	for (i = 1; i <= leaves; i++) {
		fs_add_ptr(node, root + i * FS_NODE, FS_GENERATION);
		fs_block(at(m, root + i * FS_NODE), root + i * FS_NODE, owner,
			 0);
	}
}

static struct e2pf_btrfs_super make_fs(struct memory *m)
{
	uint8_t super[E2PF_BTRFS_SUPER_BYTES], *roots;
	struct e2pf_btrfs_super parsed;

	new_memory(m, calloc(1, DEVICE));
	assert_non_null(m->bytes);
	fs_super(super, 1, SYS, META);
	make_chunks(m, super);
	roots = at(m, META);
	fs_block(roots, META, BT_ROOT_TREE_OBJECTID, 0);
	fs_add_root(roots, BT_EXTENT_TREE_OBJECTID, META + MIB, 1);
	make_tree(m, META + MIB, BT_EXTENT_TREE_OBJECTID, 5);
	fs_add_root(roots, BT_FS_TREE_OBJECTID, META + 2 * MIB, 1);
	make_tree(m, META + 2 * MIB, BT_FS_TREE_OBJECTID, 9);
	/* A snapshot of it, and a tree that is one leaf. */
	fs_add_root(roots, 256, META + 2 * MIB, 1);
	fs_add_root(roots, BT_CSUM_TREE_OBJECTID, META + 3 * MIB, 0);
	fs_block(at(m, META + 3 * MIB), META + 3 * MIB,
		 BT_CSUM_TREE_OBJECTID, 0);
	assert_null(e2pf_btrfs_plan_super(super, 65536, &parsed));
	return parsed;
}

static int read_block(void *ctx, const struct e2pf_ref *ref, void *bytes)
{
	struct e2pf_device *dev = ctx;

	return dev->ops->read(dev, bytes, ref->offset, ref->length);
}

/* A source for this filesystem, and as many devices of this size. */
static struct e2pf_btrfs *new_source(struct memory *m,
				     const struct e2pf_btrfs_super *super,
				     unsigned devices)
{
	const uint64_t bytes[] = { DEVICE, DEVICE };
	struct e2pf_btrfs_device device[] = { super->device, super->device };
	struct e2pf_btrfs *btrfs;

	device[1].devid = 2;
	btrfs = e2pf_btrfs_new(super, device, bytes, devices, read_block,
			       &m->fake.dev);
	assert_non_null(btrfs);
	return btrfs;
}

static void expect_blocks(struct memory *m,
			  const struct e2pf_btrfs_super *super, unsigned roots,
			  unsigned nodes, unsigned leaves)
{
	struct e2pf_btrfs *btrfs = new_source(m, super, 1);
	struct e2pf_class_count count[E2PF_BTRFS_CLASSES];
	struct e2pf_device *dev = &m->fake.dev;
	struct e2pf_engine_config cfg = {
		.devices = &dev, .budget = MIB,
		.source = e2pf_btrfs_source(btrfs)
	};
	struct e2pf_engine *engine = e2pf_engine_new(&cfg);

	assert_int_equal(e2pf_engine_plan(engine, count), 0);
	e2pf_engine_free(engine);
	assert_int_equal(count[E2PF_BTRFS_CLASS_ROOTS].bytes,
			 roots * FS_NODE);
	assert_int_equal(count[E2PF_BTRFS_CLASS_NODES].bytes,
			 nodes * FS_NODE);
	assert_int_equal(count[E2PF_BTRFS_CLASS_LEAVES].bytes,
			 leaves * FS_NODE);
	e2pf_btrfs_free(btrfs);
}

/* Blocks that two trees share are read once; a leaf is not parsed. */
static void test_walk(void **state)
{
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);

	(void)state;
	expect_blocks(&m, &super, 1, 2, 15);
	assert_int_equal(m.fake.reads, 4);
	free(m.bytes);
}

/* The phase in which the source passes on each block of the device, and the
 * order. */
struct phases {
	struct memory *m;
	struct e2pf_source *source;
	uint8_t now;			/* current phase, counted from 1 */
	uint8_t of[DEVICE / FS_NODE];
	unsigned place[DEVICE / FS_NODE], count;
};

static void note_phase(void *ctx, const struct e2pf_ref *ref)
{
	struct phases *p = ctx;

	assert_int_equal(p->of[ref->offset / FS_NODE], 0);
	p->of[ref->offset / FS_NODE] = p->now;
	p->place[ref->offset / FS_NODE] = p->count++;
	if (ref->parse)
		p->source->ops->parse(p->source, ref, 0,
				      p->m->bytes + ref->offset, FS_NODE,
				      note_phase, p);
}

/* Seed the phases below this one, and go on to it. */
static void seed_phases(struct phases *p, unsigned end)
{
	struct e2pf_source *source = p->source;
	const struct e2pf_phase *phase = source->ops->next(source, NULL);
	uint64_t unit;
	bool more;

	for (; phase && phase->number < end;
	     phase = source->ops->next(source, phase)) {
		p->now = (uint8_t)(phase->number + 1);
		for (unit = 0; unit < source->ops->units(source, phase->number,
							 &more); unit++)
			source->ops->seed(source, phase->number, unit,
					  note_phase, p);
	}
}

static uint8_t phase_of(const struct phases *p, uint64_t logical)
{
	return p->of[(logical - META + 4 * MIB) / FS_NODE];
}

/* Blocks that the check reads when it opens the filesystem come before leaves
 * that can wait, even if such a block is itself a leaf; and each block comes
 * once, however many devices there are. */
static void test_phases(void **state)
{
	const struct e2pf_start start = { .budget = MIB };
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);
	struct e2pf_btrfs *btrfs = new_source(&m, &super, 2);
	struct phases p = { .m = &m, .source = e2pf_btrfs_source(btrfs) };
	/* A snapshot that is a single leaf. */
	uint64_t leaf = META + 3 * MIB + FS_NODE;
	const struct {
		uint64_t address;
		enum e2pf_btrfs_phase phase;
	} blocks[] = {
		{ META, E2PF_BTRFS_ROOTS },
		{ META + MIB, E2PF_BTRFS_TREES },
		{ META + 2 * MIB, E2PF_BTRFS_TREES },
		/* The single leaf of checksums. */
		{ META + 3 * MIB, E2PF_BTRFS_TREES },
		{ META + MIB + FS_NODE, E2PF_BTRFS_LEAVES },
		{ META + 2 * MIB + FS_NODE, E2PF_BTRFS_LEAVES },
		{ leaf, E2PF_BTRFS_LEAVES },
	};
	size_t i;

	(void)state;
	fs_add_root(at(&m, META), 257, leaf, 0);
	p.source->ops->begin(p.source, &start);
	seed_phases(&p, E2PF_BTRFS_PHASES);
	for (i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		assert_int_equal(phase_of(&p, blocks[i].address),
				 blocks[i].phase + 1);
	e2pf_btrfs_free(btrfs);
	free(m.bytes);
}

/* The check reads the block groups before anything else, then the extent tree,
 * the trees of the filesystem and the other trees, by their numbers. */
static void test_turns(void **state)
{
	const struct e2pf_start start = { .budget = MIB };
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);
	struct e2pf_btrfs *btrfs = new_source(&m, &super, 1);
	struct phases p = { .m = &m, .source = e2pf_btrfs_source(btrfs) };
	const uint64_t groups = META + 3 * MIB + 2 * FS_NODE;
	unsigned of_groups, of_extents, of_files;

	(void)state;
	fs_add_root(at(&m, META), BT_BLOCK_GROUP_TREE_OBJECTID, groups, 1);
	make_tree(&m, groups, BT_BLOCK_GROUP_TREE_OBJECTID, 1);
	p.source->ops->begin(p.source, &start);
	seed_phases(&p, E2PF_BTRFS_PHASES);
	of_groups = p.place[(groups + FS_NODE - META + 4 * MIB) / FS_NODE];
	of_extents = p.place[(5 * MIB + FS_NODE) / FS_NODE];
	of_files = p.place[(6 * MIB + FS_NODE) / FS_NODE];
	assert_true(of_groups < of_extents);
	assert_true(of_extents < of_files);
	e2pf_btrfs_free(btrfs);
	free(m.bytes);
}

/* If not all leaves fit into the budget, they are read in a window, and if there
 * is no room to keep track of them, they are left to the check. */
static void test_room_for_leaves(void **state)
{
	static const struct {
		uint64_t budget;
		unsigned leaves;
		bool window;
	} cases[] = {
		{ 14 * FS_NODE, 14, false },
		{ 13 * FS_NODE, 14, true },
		{ FS_NODE / 8, 0, false },
	};
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);
	struct e2pf_btrfs *btrfs = new_source(&m, &super, 1);
	struct phases p = { .m = &m, .source = e2pf_btrfs_source(btrfs) };
	struct e2pf_btrfs_facts f;
	bool more;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct e2pf_start start = {
			.paced = true, .budget = cases[i].budget
		};

		p.source->ops->begin(p.source, &start);
		memset(p.of, 0, sizeof(p.of));
		seed_phases(&p, E2PF_BTRFS_LEAVES);
		assert_int_equal(p.source->ops->units(p.source,
						      E2PF_BTRFS_LEAVES,
						      &more), cases[i].leaves);
		f = e2pf_btrfs_facts(btrfs);
		assert_int_equal(f.window, cases[i].window);
		/* The check keeps so few leaves on any machine. */
		assert_int_equal(f.used_once, cases[i].window);
		assert_int_equal(f.bytes_left, (14 - cases[i].leaves) *
					       FS_NODE);
	}
	e2pf_btrfs_free(btrfs);
	free(m.bytes);
}

/* If a block does not match its pointer, none of its own pointers is used. */
static void test_wrong_block(void **state)
{
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);

	(void)state;
	at(&m, META + 2 * MIB)[BT_HEADER_FSID] ^= 1;
	expect_blocks(&m, &super, 1, 2, 6);
	at(&m, META + MIB)[BT_HEADER_GENERATION] ^= 1;
	expect_blocks(&m, &super, 1, 2, 1);
	/* Without the chunk tree no other block has a known place. */
	at(&m, SYS)[BT_HEADER_LEVEL] ^= 1;
	expect_blocks(&m, &super, 0, 0, 0);
	free(m.bytes);
}

/* A node refers to its own ancestors, and to everything twice. */
static void test_loop(void **state)
{
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);
	uint8_t *node = at(&m, META + 2 * MIB);
	unsigned i;

	(void)state;
	for (i = 0; i < 20; i++)
		fs_add_ptr(node, META + 2 * MIB + i % 2 * FS_NODE,
			   FS_GENERATION);
	expect_blocks(&m, &super, 1, 2, 15);
	free(m.bytes);
}

/* Where the second stripe of a chunk at META lies. */
#define SECOND (META + FS_STRIPES)

/* Where a block of a chunk is found. */
static void test_places(void **state)
{
	static const struct {
		uint64_t type, address;
		bool missing;		/* the first device */
		uint32_t nodesize;
		struct e2pf_ref part[2];
	} cases[] = {
		/* The first copy, or the next one if its device is missing. */
		{ BT_BLOCK_GROUP_RAID1, META + 65536, false, FS_NODE,
		  { { .offset = META + 65536, .length = FS_NODE } } },
		{ BT_BLOCK_GROUP_RAID1, META + 65536, true, FS_NODE,
		  { { .offset = SECOND + 65536, .length = FS_NODE } } },
		{ BT_BLOCK_GROUP_RAID0, META + 4096, true, FS_NODE,
		  { { .length = 0 } } },
		/* Across the end of a stripe; the end of the chunk; outside. */
		{ BT_BLOCK_GROUP_RAID0, META + 65536 - 4096, false, 16384,
		  { { .offset = META + 65536 - 4096, .length = 4096 },
		    { .offset = SECOND, .length = 12288, .device = 1 } } },
		{ BT_BLOCK_GROUP_RAID0, META + MIB - 4096, false, 16384,
		  { { .length = 0 } } },
		{ BT_BLOCK_GROUP_RAID0, META - 4096, false, 16384,
		  { { .length = 0 } } },
	};
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct e2pf_ref part[E2PF_BTRFS_PARTS];
		struct e2pf_chunk_map map;
		unsigned n = 0;

		fs_map(&map, 2);
		map.super.nodesize = cases[i].nodesize;
		if (cases[i].missing) {
			map.device[0] = map.device[1];
			map.devices = 1;
		}
		fs_add_chunk(&map, META, BT_BLOCK_GROUP_METADATA |
			     cases[i].type, 2, MIB, 1);
		e2pf_chunk_map_finish(&map);
		while (n < 2 && cases[i].part[n].length)
			n++;
		assert_int_equal(e2pf_chunk_map_find(&map, cases[i].address,
						     part), n);
		for (j = 0; j < n; j++) {
			assert_int_equal(part[j].offset,
					 cases[i].part[j].offset);
			assert_int_equal(part[j].length,
					 cases[i].part[j].length);
			assert_int_equal(part[j].device,
					 cases[i].part[j].device);
		}
		e2pf_chunk_map_free(&map);
	}
}

/* The address that has a copy at a byte of a device. */
static void test_addresses(void **state)
{
	static const struct {
		unsigned device;
		uint64_t offset, address;
		bool system;
	} cases[] = {
		{ 0, META + 65536, META + 65536, false },
		{ 1, SECOND + 65536, META + 65536, false },
		{ 0, META - 4096, 0, false },
		{ 1, META + 65536, 0, false },
		{ 1, SYS + 65536, SYS + 65536, true },
		/* Two stripes of 64 KiB in a row. */
		{ 0, META + MIB + 65536 + 4096, META + MIB + 131072 + 4096,
		  false },
		{ 1, SECOND + MIB + 4096, META + MIB + 65536 + 4096, false },
		{ 1, SECOND + MIB + MIB / 2, 0, false },
	};
	struct e2pf_chunk_map map;
	size_t i;
	bool system;

	(void)state;
	fs_map(&map, 2);
	fs_add_chunk(&map, META, BT_BLOCK_GROUP_METADATA |
		     BT_BLOCK_GROUP_RAID1, 2, MIB, 1);
	fs_add_chunk(&map, SYS, BT_BLOCK_GROUP_SYSTEM, 1, MIB, 2);
	fs_add_chunk(&map, META + MIB, BT_BLOCK_GROUP_METADATA |
		     BT_BLOCK_GROUP_RAID0, 2, MIB, 1);
	e2pf_chunk_map_finish(&map);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(e2pf_chunk_map_address(&map, cases[i].device,
							cases[i].offset,
							&system),
				 cases[i].address);
		assert_int_equal(system, cases[i].system);
	}
	e2pf_chunk_map_free(&map);
}

/* From address to slot and back, even if chunks overlap or contain data. */
static void test_slots_of_chunks(void **state)
{
	const uint64_t meta = BT_BLOCK_GROUP_METADATA;
	struct e2pf_chunk_map map;
	uint64_t slot, logical;

	(void)state;
	fs_map(&map, 1);
	fs_add_chunk(&map, META, meta, 1, MIB, 1);
	fs_add_chunk(&map, META, meta, 1, MIB, 1);
	fs_add_chunk(&map, META + MIB / 2, meta, 1, MIB, 1);
	fs_add_chunk(&map, SYS, BT_BLOCK_GROUP_SYSTEM, 1, MIB, 1);
	fs_add_chunk(&map, 64 * MIB, 1, 1, MIB, 1);
	/* A chunk that needs too much memory is left out. */
	fs_add_chunk(&map, 1024 * MIB, meta, 1, UINT64_C(1) << 60, 1);
	e2pf_chunk_map_finish(&map);
	assert_int_equal(map.count, 3);
	assert_int_equal(map.slots, 2 * MIB / FS_NODE);
	for (slot = 0; slot < map.slots; slot++) {
		logical = e2pf_chunk_map_logical(&map, slot);
		assert_int_equal(e2pf_chunk_map_slot(&map, logical), slot);
	}
	assert_int_equal(e2pf_chunk_map_logical(&map, map.slots), 0);
	assert_true(e2pf_chunk_map_slot(&map, SYS + 512) == UINT64_MAX);
	assert_true(e2pf_chunk_map_slot(&map, 64 * MIB) == UINT64_MAX);
	e2pf_chunk_map_free(&map);
}

static void test_slots(void **state)
{
	struct e2pf_slot_set set;

	(void)state;
	assert_true(e2pf_slot_set_init(&set, 1 << 20));
	assert_true(e2pf_slot_set_add(&set, 900000));
	assert_true(e2pf_slot_set_add(&set, 65));
	assert_false(e2pf_slot_set_add(&set, 65));
	assert_true(e2pf_slot_set_add(&set, 66));
	assert_false(e2pf_slot_set_add(&set, UINT64_C(1) << 40));
	assert_false(e2pf_slot_set_add(&set, set.pages * E2PF_SLOTS_WORD *
					     E2PF_SLOTS_WORDS));
	e2pf_slot_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_room_for_leaves),
		cmocka_unit_test(test_wrong_block),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_slots_of_chunks),
		cmocka_unit_test(test_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
