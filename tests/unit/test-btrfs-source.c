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
	assert_int_equal(e2pf_btrfs_plan_super(super, 65536, &parsed),
			 E2PF_BTRFS_OK);
	return parsed;
}

static struct e2pf_btrfs_member make_member(uint64_t devid)
{
	struct e2pf_btrfs_member member = { .bytes = DEVICE, .devid = devid };

	memset(member.uuid, (int)devid, E2PF_BTRFS_UUID);
	memset(member.node_fsid, 0xf5, E2PF_BTRFS_UUID);
	return member;
}

static int read_block(void *ctx, const struct e2pf_ref *ref, void *bytes)
{
	struct e2pf_device *dev = ctx;

	return dev->ops->read(dev, bytes, ref->offset, ref->length);
}

static void plan(struct memory *m, const struct e2pf_btrfs_super *super,
		 struct e2pf_class_count *count)
{
	const struct e2pf_btrfs_member member = make_member(1);
	struct e2pf_btrfs *btrfs = e2pf_btrfs_new(super, &member, 1,
						   read_block, &m->fake.dev);
	struct e2pf_device *dev = &m->fake.dev;
	struct e2pf_engine_config cfg = { .devices = &dev, .budget = MIB };
	struct e2pf_engine *engine;

	assert_non_null(btrfs);
	cfg.source = e2pf_btrfs_source(btrfs);
	engine = e2pf_engine_new(&cfg);
	assert_int_equal(e2pf_engine_plan(engine, count), 0);
	e2pf_engine_free(engine);
	e2pf_btrfs_free(btrfs);
}

static void expect_blocks(const struct e2pf_class_count *count,
			  unsigned roots, unsigned extents, unsigned nodes,
			  unsigned leaves)
{
	assert_int_equal(count[E2PF_BTRFS_CLASS_ROOTS].bytes,
			 roots * FS_NODE);
	assert_int_equal(count[E2PF_BTRFS_CLASS_EXTENTS].bytes,
			 extents * FS_NODE);
	assert_int_equal(count[E2PF_BTRFS_CLASS_NODES].bytes,
			 nodes * FS_NODE);
	assert_int_equal(count[E2PF_BTRFS_CLASS_LEAVES].bytes,
			 leaves * FS_NODE);
}

/* Blocks that two trees share are read once; a leaf is not parsed. */
static void test_walk(void **state)
{
	struct e2pf_class_count count[E2PF_BTRFS_CLASSES];
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);

	(void)state;
	plan(&m, &super, count);
	expect_blocks(count, 1, 6, 1, 10);
	assert_int_equal(m.fake.reads, 4);
	free(m.bytes);
}

/* The phase in which the source passes on each block of the device. */
struct phases {
	struct memory *m;
	struct e2pf_source *source;
	uint8_t now;			/* current phase, counted from 1 */
	uint8_t of[DEVICE / FS_NODE];
};

static void note_phase(void *ctx, const struct e2pf_ref *ref)
{
	struct phases *p = ctx;

	assert_int_equal(p->of[ref->offset / FS_NODE], 0);
	p->of[ref->offset / FS_NODE] = p->now;
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
	const struct e2pf_btrfs_member members[] = {
		make_member(1), make_member(2)
	};
	const struct e2pf_start start = { .budget = MIB };
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);
	struct e2pf_btrfs *btrfs = e2pf_btrfs_new(&super, members, 2,
						   read_block, &m.fake.dev);
	struct phases p = { .m = &m };
	uint64_t leaf = META + 3 * MIB + FS_NODE;

	(void)state;
	assert_non_null(btrfs);
	/* A snapshot that is a single leaf. */
	fs_add_root(at(&m, META), 257, leaf, 0);
	p.source = e2pf_btrfs_source(btrfs);
	p.source->ops->begin(p.source, &start);
	seed_phases(&p, E2PF_BTRFS_PHASES);
	assert_int_equal(phase_of(&p, META), E2PF_BTRFS_ROOTS + 1);
	/* Roots, including the single leaf of checksums; the extent tree. */
	assert_int_equal(phase_of(&p, META + MIB), E2PF_BTRFS_TREES + 1);
	assert_int_equal(phase_of(&p, META + 2 * MIB), E2PF_BTRFS_TREES + 1);
	assert_int_equal(phase_of(&p, META + 3 * MIB), E2PF_BTRFS_TREES + 1);
	assert_int_equal(phase_of(&p, META + MIB + FS_NODE),
			 E2PF_BTRFS_TREES + 1);
	assert_int_equal(phase_of(&p, META + 2 * MIB + FS_NODE),
			 E2PF_BTRFS_LEAVES + 1);
	assert_int_equal(phase_of(&p, leaf), E2PF_BTRFS_LEAVES + 1);
	e2pf_btrfs_free(btrfs);
	free(m.bytes);
}

/* If not all leaves fit into the budget, they are read in a window; of the
 * extent tree, as many are read as fit. */
static void test_room_for_leaves(void **state)
{
	const struct e2pf_btrfs_member member = make_member(1);
	struct e2pf_start start = { .paced = true };
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);
	struct e2pf_btrfs *btrfs = e2pf_btrfs_new(&super, &member, 1,
						   read_block, &m.fake.dev);
	struct phases p = { .m = &m };
	struct e2pf_ref ref;
	bool more, planned;
	int room;

	(void)state;
	assert_non_null(btrfs);
	p.source = e2pf_btrfs_source(btrfs);
	for (room = 9; room >= 8; room--) {
		start.budget = (uint64_t)room * FS_NODE;
		p.source->ops->begin(p.source, &start);
		memset(p.of, 0, sizeof(p.of));
		seed_phases(&p, E2PF_BTRFS_LEAVES);
		assert_int_equal(p.source->ops->units(p.source,
						      E2PF_BTRFS_LEAVES,
						      &more), 9);
		assert_int_equal(e2pf_btrfs_has_window(btrfs), room == 8);
		/* The check keeps nine small leaves on any machine. */
		assert_int_equal(e2pf_btrfs_used_once(btrfs), room == 8);
		assert_int_equal(e2pf_btrfs_leaves_left(btrfs), 0);
		assert_true(e2pf_btrfs_copy_read(btrfs, 0, 6 * MIB + FS_NODE,
						 &ref, &planned));
		assert_true(planned);
	}
	start.budget = 2 * FS_NODE;
	p.source->ops->begin(p.source, &start);
	memset(p.of, 0, sizeof(p.of));
	seed_phases(&p, E2PF_BTRFS_LEAVES);
	for (room = 0; room <= 5; room++)
		assert_int_equal(!phase_of(&p, META + MIB +
					   (unsigned)room * FS_NODE),
				 room > 2);
	/* There is no room to keep track of the leaves. */
	start.budget = FS_NODE / 4;
	p.source->ops->begin(p.source, &start);
	memset(p.of, 0, sizeof(p.of));
	seed_phases(&p, E2PF_BTRFS_LEAVES);
	assert_int_equal(p.source->ops->units(p.source, E2PF_BTRFS_LEAVES,
					      &more), 0);
	assert_int_equal(e2pf_btrfs_leaves_left(btrfs), 9 * FS_NODE);
	assert_true(e2pf_btrfs_copy_read(btrfs, 0, 6 * MIB + FS_NODE, &ref,
					 &planned));
	assert_false(planned);
	e2pf_btrfs_free(btrfs);
	free(m.bytes);
}

/* Which copy of a place the check reads, and whether a walk will read it. */
static void test_copy_read(void **state)
{
	const struct e2pf_btrfs_member member = make_member(1);
	struct e2pf_class_count count[E2PF_BTRFS_CLASSES];
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);
	struct e2pf_btrfs *btrfs = e2pf_btrfs_new(&super, &member, 1,
						   read_block, &m.fake.dev);
	struct e2pf_device *dev = &m.fake.dev;
	struct e2pf_engine_config cfg = { .devices = &dev, .budget = MIB };
	struct e2pf_engine *engine;
	struct e2pf_ref ref;
	bool planned;

	(void)state;
	assert_non_null(btrfs);
	/* Blocks are known before a walk, but not what is planned. */
	assert_true(e2pf_btrfs_copy_read(btrfs, 0, 5 * MIB + FS_NODE, &ref,
					 &planned));
	assert_false(planned);
	assert_int_equal(ref.offset, 5 * MIB + FS_NODE);
	cfg.source = e2pf_btrfs_source(btrfs);
	engine = e2pf_engine_new(&cfg);
	assert_int_equal(e2pf_engine_plan(engine, count), 0);
	assert_true(e2pf_btrfs_copy_read(btrfs, 0, 5 * MIB + FS_NODE, &ref,
					 &planned));
	assert_true(planned);
	assert_int_equal(ref.offset, 5 * MIB + FS_NODE);
	assert_int_equal(ref.length, FS_NODE);
	assert_true(e2pf_btrfs_copy_read(btrfs, 0, 5 * MIB + 9 * FS_NODE, &ref,
					 &planned));
	assert_false(planned);
	assert_false(e2pf_btrfs_copy_read(btrfs, 0, 12 * MIB, &ref, &planned));
	e2pf_engine_free(engine);
	e2pf_btrfs_free(btrfs);
	free(m.bytes);
}

/* If a block does not match its pointer, none of its own pointers is used. */
static void test_wrong_block(void **state)
{
	struct e2pf_class_count count[E2PF_BTRFS_CLASSES];
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);

	(void)state;
	at(&m, META + 2 * MIB)[BT_HEADER_FSID] ^= 1;
	plan(&m, &super, count);
	expect_blocks(count, 1, 6, 1, 1);
	at(&m, META + MIB)[BT_HEADER_GENERATION] ^= 1;
	plan(&m, &super, count);
	expect_blocks(count, 1, 1, 1, 1);
	/* Without the chunk tree no other block has a known place. */
	at(&m, SYS)[BT_HEADER_LEVEL] ^= 1;
	plan(&m, &super, count);
	expect_blocks(count, 0, 0, 0, 0);
	free(m.bytes);
}

/* A node refers to its own ancestors, and to everything twice. */
static void test_loop(void **state)
{
	struct e2pf_class_count count[E2PF_BTRFS_CLASSES];
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);
	uint8_t *node = at(&m, META + 2 * MIB);
	unsigned i;

	(void)state;
	for (i = 0; i < 20; i++)
		fs_add_ptr(node, META + 2 * MIB + i % 2 * FS_NODE,
			   FS_GENERATION);
	plan(&m, &super, count);
	expect_blocks(count, 1, 6, 1, 10);
	free(m.bytes);
}

static void add_chunk(struct e2pf_chunk_map *map, uint64_t logical,
		      uint64_t type, unsigned stripes, uint64_t length)
{
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES], item[512];
	struct e2pf_btrfs_super super;
	struct e2pf_btrfs_chunk chunk;
	size_t size = fs_chunk(item, length, type, stripes, 2);

	fs_super(bytes, 1, SYS, META);
	e2pf_btrfs_plan_super(bytes, 65536, &super);
	if (!map->nodesize)
		e2pf_chunk_map_init(map, &super, map->devices,
				    map->device_count);
	assert_true(e2pf_btrfs_plan_chunk(&super, logical, item, size,
					  &chunk));
	e2pf_chunk_map_add(map, &chunk);
}

static struct e2pf_btrfs_device device_of(uint64_t devid)
{
	struct e2pf_btrfs_device device = { .devid = devid };

	memset(device.uuid, (int)devid, E2PF_BTRFS_UUID);
	return device;
}

/* The first copy is read, or the next one if its device is missing. */
static void test_missing_device(void **state)
{
	struct e2pf_btrfs_device devices[2] = { device_of(1), device_of(2) };
	struct e2pf_chunk_map map = { .devices = devices, .device_count = 2 };
	struct e2pf_btrfs_extent extent[E2PF_BTRFS_PARTS];
	const uint64_t raid1 = BT_BLOCK_GROUP_METADATA | BT_BLOCK_GROUP_RAID1;

	(void)state;
	add_chunk(&map, META, raid1, 2, MIB);
	e2pf_chunk_map_finish(&map);
	assert_int_equal(e2pf_chunk_map_find(&map, META + 65536, extent), 1);
	assert_int_equal(extent[0].device, 0);
	assert_int_equal(extent[0].offset, MIB + 65536);
	assert_int_equal(e2pf_chunk_map_address(&map, 0, MIB + 65536),
			 META + 65536);
	assert_int_equal(e2pf_chunk_map_address(&map, 1, 2 * MIB + 65536),
			 META + 65536);
	e2pf_chunk_map_free(&map);

	map = (struct e2pf_chunk_map) { .devices = devices + 1,
					.device_count = 1 };
	add_chunk(&map, META, raid1, 2, MIB);
	add_chunk(&map, META + MIB, BT_BLOCK_GROUP_METADATA, 1, MIB);
	e2pf_chunk_map_finish(&map);
	assert_int_equal(e2pf_chunk_map_find(&map, META + 65536, extent), 1);
	assert_int_equal(extent[0].device, 0);
	assert_int_equal(extent[0].offset, 2 * MIB + 65536);
	assert_int_equal(e2pf_chunk_map_find(&map, META + MIB, extent), 0);
	e2pf_chunk_map_free(&map);
}

/* A block across the end of a stripe has two parts; one beyond the end of the
 * chunk has none. */
static void test_parts(void **state)
{
	struct e2pf_btrfs_device devices[2] = { device_of(1), device_of(2) };
	struct e2pf_chunk_map map = { .devices = devices, .device_count = 2 };
	struct e2pf_btrfs_extent extent[E2PF_BTRFS_PARTS];

	(void)state;
	add_chunk(&map, META, BT_BLOCK_GROUP_SYSTEM | BT_BLOCK_GROUP_RAID0,
		  2, MIB);
	map.nodesize = 16384;
	e2pf_chunk_map_finish(&map);
	assert_int_equal(e2pf_chunk_map_find(&map, META + 65536 - 4096,
					     extent), 2);
	assert_int_equal(extent[0].device, 0);
	assert_int_equal(extent[0].length, 4096);
	assert_int_equal(extent[1].device, 1);
	assert_int_equal(extent[1].offset, 2 * MIB);
	assert_int_equal(extent[1].length, 12288);
	assert_int_equal(e2pf_chunk_map_find(&map, META + MIB - 4096,
					     extent), 0);
	assert_int_equal(e2pf_chunk_map_find(&map, META - 4096, extent), 0);
	assert_int_equal(e2pf_chunk_map_address(&map, 0, MIB + 65536 + 4096),
			 META + 2 * 65536 + 4096);
	assert_int_equal(e2pf_chunk_map_address(&map, 1, 2 * MIB + 4096),
			 META + 65536 + 4096);
	assert_int_equal(e2pf_chunk_map_address(&map, 1, 2 * MIB + MIB / 2),
			 0);
	assert_int_equal(e2pf_chunk_map_address(&map, 1, MIB), 0);
	assert_true(e2pf_chunk_map_in_system(&map, 1, 2 * MIB));
	assert_false(e2pf_chunk_map_in_system(&map, 1, MIB));
	e2pf_chunk_map_free(&map);
}

/* From address to slot and back, even if chunks overlap or contain data. */
static void test_slots_of_chunks(void **state)
{
	struct e2pf_btrfs_device device = device_of(1);
	struct e2pf_chunk_map map = { .devices = &device, .device_count = 1 };
	const uint64_t meta = BT_BLOCK_GROUP_METADATA;
	bool aligned;
	uint64_t slot, logical;

	(void)state;
	add_chunk(&map, META, meta, 1, MIB);
	add_chunk(&map, META, meta, 1, MIB);
	add_chunk(&map, META + MIB / 2, meta, 1, MIB);
	add_chunk(&map, SYS, BT_BLOCK_GROUP_SYSTEM, 1, MIB);
	add_chunk(&map, 64 * MIB, BT_BLOCK_GROUP_DATA, 1, MIB);
	/* A chunk that needs too much memory is left out. */
	add_chunk(&map, 1024 * MIB, meta, 1, UINT64_C(1) << 60);
	e2pf_chunk_map_finish(&map);
	assert_int_equal(map.count, 3);
	assert_int_equal(map.slots, 2 * MIB / FS_NODE);
	for (slot = 0; slot < map.slots; slot++) {
		logical = e2pf_chunk_map_logical(&map, slot);
		assert_int_equal(e2pf_chunk_map_slot(&map, logical, &aligned),
				 slot);
		assert_true(aligned);
	}
	assert_int_equal(e2pf_chunk_map_logical(&map, map.slots), 0);
	map.nodesize = 16384;
	e2pf_chunk_map_slot(&map, SYS + 4096, &aligned);
	assert_false(aligned);
	assert_int_equal(e2pf_chunk_map_slot(&map, 64 * MIB, &aligned),
			 UINT64_MAX);
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
	assert_true(e2pf_slot_set_has(&set, 65));
	assert_false(e2pf_slot_set_has(&set, 66));
	assert_false(e2pf_slot_set_has(&set, 500000));
	assert_false(e2pf_slot_set_has(&set, UINT64_C(1) << 40));
	assert_false(e2pf_slot_set_add(&set, UINT64_C(1) << 40));
	e2pf_slot_set_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_room_for_leaves),
		cmocka_unit_test(test_copy_read),
		cmocka_unit_test(test_wrong_block),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_missing_device),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_slots_of_chunks),
		cmocka_unit_test(test_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
