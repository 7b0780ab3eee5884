/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btrfs as a source of work: a small filesystem in memory, walked by the
 * engine; and the set of blocks.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

#include "btrfs-fs.h"
#include "fake-device.h"
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
	put64(item + BT_AT(chunk, stripe) + BT_AT(stripe, offset), offset);
}

static void make_chunks(struct memory *m, uint8_t *super)
{
	uint8_t item[256], *leaf = at(m, SYS);
	size_t size = fs_chunk(item, MIB, BTRFS_BLOCK_GROUP_SYSTEM, 1, 0);

	fs_block(leaf, SYS, BTRFS_CHUNK_TREE_OBJECTID, 0);
	fs_add_sys(super, SYS, item, size);
	fs_add_item(leaf, 256, BTRFS_CHUNK_ITEM_KEY, SYS, item, size);
	size = fs_chunk(item, 4 * MIB, BTRFS_BLOCK_GROUP_METADATA, 1, 0);
	set_offset(item, 4 * MIB);
	fs_add_item(leaf, 256, BTRFS_CHUNK_ITEM_KEY, META, item, size);
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
	fs_block(roots, META, BTRFS_ROOT_TREE_OBJECTID, 0);
	fs_add_root(roots, BTRFS_EXTENT_TREE_OBJECTID, META + MIB, 1);
	make_tree(m, META + MIB, BTRFS_EXTENT_TREE_OBJECTID, 5);
	fs_add_root(roots, BTRFS_FS_TREE_OBJECTID, META + 2 * MIB, 1);
	make_tree(m, META + 2 * MIB, BTRFS_FS_TREE_OBJECTID, 9);
	/* A snapshot of it, and a tree that is one leaf. */
	fs_add_root(roots, 256, META + 2 * MIB, 1);
	fs_add_root(roots, BTRFS_CSUM_TREE_OBJECTID, META + 3 * MIB, 0);
	fs_block(at(m, META + 3 * MIB), META + 3 * MIB,
		 BTRFS_CSUM_TREE_OBJECTID, 0);
	assert_null(e2pf_btrfs_plan_super(super, 65536, &parsed));
	return parsed;
}

static int read_block(void *ctx, const struct e2pf_ref *ref, void *bytes)
{
	struct e2pf_device *dev = ctx;

	return dev->ops->read(dev, bytes, ref->offset, ref->length);
}

/* A source for this filesystem, and as many devices of this size. */
static void new_source(struct e2pf_btrfs *btrfs, struct memory *m,
		       const struct e2pf_btrfs_super *super, unsigned devices)
{
	*btrfs = (struct e2pf_btrfs) {
		.map = {
			.super = *super, .devices = devices,
			.device = { super->device, super->device }
		},
		.bytes = { DEVICE, DEVICE }
	};
	btrfs->map.device[1].devid = 2;
	e2pf_btrfs_init(btrfs, read_block, &m->fake.dev);
}

static void expect_blocks(struct memory *m,
			  const struct e2pf_btrfs_super *super, unsigned roots,
			  unsigned nodes, unsigned leaves)
{
	struct e2pf_btrfs btrfs;
	struct e2pf_class_count count[E2PF_BTRFS_CLASSES];
	struct e2pf_device *dev = &m->fake.dev;
	struct e2pf_engine_config cfg = {
		.devices = &dev, .budget = MIB,
		.source = &btrfs.source
	};
	struct e2pf_engine *engine;

	new_source(&btrfs, m, super, 1);
	engine = e2pf_engine_new(&cfg);
	assert_int_equal(e2pf_engine_plan(engine, count), 0);
	e2pf_engine_free(engine);
	assert_int_equal(count[E2PF_BTRFS_CLASS_ROOTS].bytes,
			 roots * FS_NODE);
	assert_int_equal(count[E2PF_BTRFS_CLASS_NODES].bytes,
			 nodes * FS_NODE);
	assert_int_equal(count[E2PF_BTRFS_CLASS_LEAVES].bytes,
			 leaves * FS_NODE);
	e2pf_btrfs_fini(&btrfs);
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

/*
 * Blocks that the check reads when it opens the filesystem come before leaves
 * that can wait, even if such a block is itself a leaf; and each block comes
 * once, however many devices there are.  The leaves of block groups come first,
 * then those of the extent tree, and of the other trees by their numbers.
 */
static void test_phases(void **state)
{
	const struct e2pf_start start = { .budget = MIB };
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);
	struct e2pf_btrfs btrfs;
	struct phases p = { .m = &m, .source = &btrfs.source };
	/* A snapshot that is a single leaf. */
	const uint64_t leaf = META + 3 * MIB + FS_NODE;
	const uint64_t groups = META + 3 * MIB + 2 * FS_NODE;
	const struct {
		uint64_t address;
		enum e2pf_btrfs_phase phase;
	} blocks[] = {
		{ META, E2PF_BTRFS_ROOTS },
		{ META + MIB, E2PF_BTRFS_TREES },
		{ META + 2 * MIB, E2PF_BTRFS_TREES },
		/* The single leaf of checksums. */
		{ META + 3 * MIB, E2PF_BTRFS_TREES },
		/* These in this order. */
		{ groups + FS_NODE, E2PF_BTRFS_LEAVES },
		{ META + MIB + FS_NODE, E2PF_BTRFS_LEAVES },
		{ META + 2 * MIB + FS_NODE, E2PF_BTRFS_LEAVES },
		{ leaf, E2PF_BTRFS_LEAVES },
	};
	unsigned before = 0;
	size_t i;

	(void)state;
	new_source(&btrfs, &m, &super, 2);
	fs_add_root(at(&m, META), 257, leaf, 0);
	fs_add_root(at(&m, META), BT_BLOCK_GROUP_TREE_OBJECTID, groups, 1);
	make_tree(&m, groups, BT_BLOCK_GROUP_TREE_OBJECTID, 1);
	p.source->ops->begin(p.source, &start);
	seed_phases(&p, E2PF_BTRFS_PHASES);
	for (i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		uint64_t block = (blocks[i].address - META + 4 * MIB) / FS_NODE;

		assert_int_equal(p.of[block], blocks[i].phase + 1);
		if (blocks[i].phase == E2PF_BTRFS_LEAVES) {
			assert_true(p.place[block] > before);
			before = p.place[block];
		}
	}
	e2pf_btrfs_fini(&btrfs);
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
	struct e2pf_btrfs btrfs;
	struct phases p = { .m = &m, .source = &btrfs.source };
	bool more;
	size_t i;

	(void)state;
	new_source(&btrfs, &m, &super, 1);
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
		assert_int_equal(btrfs.window, cases[i].window);
		/* The check keeps so few leaves on any machine. */
		assert_int_equal(btrfs.used_once, cases[i].window);
		assert_int_equal(btrfs.order.left, 14 - cases[i].leaves);
	}
	e2pf_btrfs_fini(&btrfs);
	free(m.bytes);
}

/* Blocks that two trees share are read once; a leaf is not parsed; and if a
 * block does not match its pointer, none of its own pointers is used. */
static void test_walk(void **state)
{
	struct memory m;
	struct e2pf_btrfs_super super = make_fs(&m);
	uint8_t *node = at(&m, META + 2 * MIB);
	unsigned i;

	(void)state;
	expect_blocks(&m, &super, 1, 2, 15);
	assert_int_equal(m.fake.reads, 4);
	/* A node refers to its own ancestors, and to everything twice. */
	for (i = 0; i < 20; i++)
		fs_add_ptr(node, META + 2 * MIB + i % 2 * FS_NODE,
			   FS_GENERATION);
	expect_blocks(&m, &super, 1, 2, 15);
	node[BT_HEADER_FSID] ^= 1;
	expect_blocks(&m, &super, 1, 2, 6);
	at(&m, META + MIB)[BT_HEADER_GENERATION] ^= 1;
	expect_blocks(&m, &super, 1, 2, 1);
	/* Without the chunk tree no other block has a known place. */
	at(&m, SYS)[BT_HEADER_LEVEL] ^= 1;
	expect_blocks(&m, &super, 0, 0, 0);
	free(m.bytes);
}

static void test_slots(void **state)
{
	struct e2pf_slot_set set;

	(void)state;
	assert_true(e2pf_slot_set_init(&set, 1 << 20));
	assert_true(e2pf_slot_set_add(&set, (1 << 20) - 1));
	assert_true(e2pf_slot_set_add(&set, 65));
	assert_false(e2pf_slot_set_add(&set, 65));
	assert_true(e2pf_slot_set_add(&set, 66));
	assert_false(e2pf_slot_set_add(&set, 1 << 20));
	assert_false(e2pf_slot_set_add(&set, UINT64_MAX));
	e2pf_slot_set_free(&set);
	assert_false(e2pf_slot_set_add(&set, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_room_for_leaves),
		cmocka_unit_test(test_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
