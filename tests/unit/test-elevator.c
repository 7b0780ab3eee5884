/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Elevator passes over small hand-made filesystems: the order and merging of
 * requests, that everything is visited once, and that no damaged tree makes a
 * pass long.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fake-device.h"
#include "engine/elevator.h"
#include "tiny-fs.h"

#define BS 1024u
#define ISSUES 4096

struct issued {
	uint64_t block;
	uint64_t end;
	size_t refs;
};

struct rig {
	struct tiny_fs fs;
	struct fake_device dev;
	struct e2pf_device *device;
	struct e2pf_elevator elevator;
	struct issued run[ISSUES];
	size_t runs;
	unsigned *visits;	/* per block: times it was issued as a
				   reference */
	unsigned arrivals, errors;
	int runs_left;		/* until issue returns false; -1: never */
	int arrivals_left;
};

static bool on_issue(void *ctx, const struct e2pf_ref *refs, size_t n)
{
	struct rig *r = ctx;
	struct issued run = { .block = refs[0].offset / BS, .refs = n };
	size_t i;
	uint32_t j;

	if (r->runs_left == 0)
		return false;
	r->runs_left -= r->runs_left > 0;
	for (i = 0; i < n; i++) {
		uint64_t block = refs[i].offset / BS;
		uint32_t count = refs[i].length / BS;

		if (block + count > run.end)
			run.end = block + count;
		for (j = 0; j < count; j++)
			r->visits[block + j]++;
	}
	if (r->runs < ISSUES)
		r->run[r->runs] = run;
	r->runs++;
	return true;
}

static bool on_arrived(void *ctx, int error, uint64_t waited_ns)
{
	struct rig *r = ctx;

	(void)waited_ns;
	r->arrivals++;
	r->errors += error != 0;
	if (r->arrivals_left == 0)
		return false;
	r->arrivals_left -= r->arrivals_left > 0;
	return true;
}

static const struct e2pf_elevator_ops ops = {
	.issue = on_issue,
	.arrived = on_arrived,
};

/* Read these classes of the filesystem, bitmaps along with the tables. */
static void want(struct rig *r, unsigned classes)
{
	const struct e2pf_start start = {
		.budget = UINT64_MAX, .has_head = true
	};

	r->elevator.source = tiny_source(&r->fs, classes);
	r->elevator.source->ops->begin(r->elevator.source, &start);
}

static void set_up(struct rig *r, uint32_t groups, uint32_t per_group,
		   uint32_t inodes)
{
	memset(r, 0, sizeof(*r));
	tiny_new(&r->fs, groups, per_group, inodes, 1024);
	fake_new(&r->dev, r->fs.image, r->fs.size, 1024);
	r->visits = calloc(r->fs.geo.blocks, sizeof(*r->visits));
	assert_non_null(r->visits);
	r->runs_left = r->arrivals_left = -1;
	r->device = &r->dev.dev;
	r->elevator.devices = &r->device;
	r->elevator.ops = &ops;
	r->elevator.ctx = r;
	r->elevator.issue_ahead = 1 << 20;
	r->elevator.level_cap = 4096;
	r->elevator.parse_left = 100000;
	e2pf_elevator_init(&r->elevator);
	want(r, E2PF_ALL_CLASSES);
}

static void tear_down(struct rig *r)
{
	e2pf_elevator_fini(&r->elevator);
	fake_free(&r->dev);
	tiny_free(&r->fs);
	free(r->visits);
}

static void forget(struct rig *r)
{
	memset(r->visits, 0, r->fs.geo.blocks * sizeof(*r->visits));
	r->runs = r->arrivals = r->errors = 0;
	r->runs_left = r->arrivals_left = -1;
}

static void run_all(struct rig *r)
{
	uint32_t g;

	/* Backwards, to test that the pass sorts. */
	for (g = r->fs.geo.groups; g-- > 0;)
		r->elevator.source->ops->seed(r->elevator.source,
			E2PF_EXT4_TABLES, g, e2pf_elevator_add, &r->elevator);
	e2pf_elevator_run(&r->elevator);
}

static void add(struct rig *r, uint64_t block, uint32_t count)
{
	const struct e2pf_ref ref = {
		.offset = block * BS, .length = count * BS, .cls = E2PF_DIRS
	};

	e2pf_elevator_add(&r->elevator, &ref);
}

static void assert_run(const struct rig *r, size_t i, uint64_t block,
		       uint64_t end)
{
	assert_true(i < r->runs);
	assert_int_equal(r->run[i].block, block);
	assert_int_equal(r->run[i].end, end);
}

static void merged_and_sorted(void **state)
{
	struct rig r;

	(void)state;
	set_up(&r, 1, 512, 8);
	add(&r, 300, 2);
	add(&r, 100, 1);
	add(&r, 101, 1);
	add(&r, 105, 1);	/* a gap of three blocks */
	add(&r, 302, 1);
	e2pf_elevator_run(&r.elevator);
	assert_int_equal(r.runs, 3);
	assert_run(&r, 0, 100, 102);
	assert_run(&r, 1, 105, 106);
	assert_run(&r, 2, 300, 303);

	forget(&r);
	r.elevator.gap = 3 * BS;
	r.elevator.gap_room = 3 * BS;
	add(&r, 300, 1);
	add(&r, 105, 1);
	add(&r, 100, 2);
	add(&r, 110, 1);	/* a gap of four */
	e2pf_elevator_run(&r.elevator);
	assert_int_equal(r.runs, 3);
	assert_run(&r, 0, 100, 106);
	assert_run(&r, 1, 110, 111);
	assert_run(&r, 2, 300, 301);

	/* Gaps of three and one, then two, where five blocks are allowed. */
	forget(&r);
	r.elevator.gap_room = 5 * BS;
	add(&r, 100, 1);
	add(&r, 104, 1);
	add(&r, 106, 1);
	add(&r, 109, 1);
	e2pf_elevator_run(&r.elevator);
	assert_int_equal(r.runs, 2);
	assert_run(&r, 0, 100, 107);
	assert_run(&r, 1, 109, 110);

	/* A run ends when it is long enough. */
	forget(&r);
	r.elevator.source->run_most = 3 * BS;
	add(&r, 100, 2);
	add(&r, 102, 2);
	add(&r, 104, 1);
	e2pf_elevator_run(&r.elevator);
	assert_int_equal(r.runs, 2);
	assert_run(&r, 0, 100, 104);
	assert_run(&r, 1, 104, 105);
	r.elevator.source->run_most = 0;

	/* A long run that contains short ones, then one after it. */
	forget(&r);
	add(&r, 100, 50);
	add(&r, 110, 1);
	add(&r, 152, 1);
	e2pf_elevator_run(&r.elevator);
	assert_int_equal(r.runs, 1);
	assert_run(&r, 0, 100, 153);
	tear_down(&r);
}

static void duplicates_dropped(void **state)
{
	struct rig r;
	unsigned i;

	(void)state;
	set_up(&r, 1, 512, 8);
	for (i = 0; i < 1000; i++) {
		add(&r, 200, 1);
		add(&r, 100 + 2 * (i % 10), 1);
	}
	e2pf_elevator_run(&r.elevator);
	assert_int_equal(r.runs, 11);
	assert_int_equal(r.visits[200], 1);
	assert_int_equal(r.visits[100], 1);
	tear_down(&r);
}

/* References outside the device are ignored. */
static void outside_the_device(void **state)
{
	struct e2pf_ref ref = { .length = BS, .cls = E2PF_DIRS };
	struct rig r;
	unsigned i;

	(void)state;
	set_up(&r, 1, 512, 8);
	for (i = 0; i < 6; i++) {
		struct e2pf_ref bad = ref;

		switch (i) {
		case 0: bad.offset = r.fs.size; break;
		case 1: bad.offset = UINT64_MAX - BS + 1; break;
		case 2: bad.offset = r.fs.size - BS, bad.length = 2 * BS; break;
		case 3: bad.length = 0; break;
		case 4: bad.device = 1; break;
		case 5: bad.cls = E2PF_CLASSES; break;
		}
		e2pf_elevator_add(&r.elevator, &bad);
	}
	e2pf_elevator_run(&r.elevator);
	assert_int_equal(r.runs, 0);
	ref.offset = r.fs.size - BS;
	e2pf_elevator_add(&r.elevator, &ref);
	e2pf_elevator_run(&r.elevator);
	assert_int_equal(r.runs, 1);
	tear_down(&r);
}

/* Directories of two leaf nodes each, spread over the groups. */
static unsigned make_trees(struct rig *r, unsigned files)
{
	uint32_t groups = r->fs.geo.groups, per = r->fs.geo.inodes_per_group;
	unsigned i, made = 0;

	for (i = 0; i < files; i++) {
		uint32_t g = i % groups;
		/* Blocks of group g are in the opposite group. */
		uint64_t at = tiny_free_block(&r->fs, groups - 1 - g) +
			      12 * (i / groups);
		uint64_t node[2] = { at + 9, at + 2 };
		uint64_t data[2] = { at + 7, at + 4 };
		uint32_t ino = g * per + 13 + i / groups;

		tiny_inode(&r->fs, ino, LINUX_S_IFDIR, 1, node, 2);
		tiny_node(&r->fs, node[0], 0, &data[0], 1);
		tiny_node(&r->fs, node[1], 0, &data[1], 1);
		made += 4;
	}
	return made;
}

static void assert_trees_visited_once(const struct rig *r, unsigned files)
{
	uint32_t groups = r->fs.geo.groups;
	unsigned i;

	for (i = 0; i < files; i++) {
		uint64_t at = tiny_free_block(&r->fs, groups - 1 - i % groups) +
			      12 * (i / groups);

		assert_int_equal(r->visits[at + 9], 1);
		assert_int_equal(r->visits[at + 2], 1);
		assert_int_equal(r->visits[at + 7], 1);
		assert_int_equal(r->visits[at + 4], 1);
		assert_int_equal(r->visits[at + 3], 0);
	}
}

static void levels_in_block_order(void **state)
{
	unsigned levels = 1, refs = 0;
	struct rig r;
	size_t i;

	(void)state;
	set_up(&r, 4, 512, 64);
	make_trees(&r, 40);
	run_all(&r);
	assert_trees_visited_once(&r, 40);
	for (i = 0; i < r.runs; i++) {
		refs += r.run[i].refs;
		if (i && r.run[i].block < r.run[i - 1].end)
			levels++;
	}
	/* Tables and bitmaps, nodes, directories: each in ascending order. */
	assert_int_equal(levels, 3);
	/* The bitmaps of a group are adjacent. */
	assert_int_equal(refs, 4 * 2 + 160);
	/* Each table in one piece, and each node. */
	assert_int_equal(r.arrivals, 4 + 80);
	for (i = 0; i < 4; i++) {
		uint64_t table = r.fs.groups[i].inode_table;

		assert_int_equal(r.visits[table], 1);
		assert_int_equal(r.visits[table + 7], 1);
		assert_int_equal(r.visits[table - 1], 1);
		assert_int_equal(r.visits[table - 2], 1);
	}
	tear_down(&r);
}

static void full_levels(void **state)
{
	static const size_t caps[] = { 1, 2, 3, 7, 64 };
	struct rig r;
	size_t i;

	(void)state;
	set_up(&r, 4, 512, 64);
	make_trees(&r, 40);
	for (i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		unsigned l;

		e2pf_elevator_fini(&r.elevator);
		r.elevator.level_cap = caps[i];
		forget(&r);
		run_all(&r);
		assert_trees_visited_once(&r, 40);
		assert_int_equal(r.arrivals, 4 + 80);
		for (l = 1; l <= E2PF_LEVELS; l++)
			assert_uint_in_range(r.elevator.level[l].room, 0, caps[i]);
	}
	tear_down(&r);
}

/* Adjacent nodes come as one run, and each is parsed. */
static void neighbours_all_parsed(void **state)
{
	uint64_t node[4] = { 101, 102, 103, 104 }, data;
	struct rig r;
	unsigned i;

	(void)state;
	set_up(&r, 1, 512, 64);
	tiny_inode(&r.fs, 20, LINUX_S_IFDIR, 1, node, 4);
	for (i = 0; i < 4; i++) {
		data = 200 + 10 * i;
		tiny_node(&r.fs, node[i], 0, &data, 1);
	}
	run_all(&r);
	for (i = 0; i < 4; i++) {
		assert_int_equal(r.visits[node[i]], 1);
		assert_int_equal(r.visits[200 + 10 * i], 1);
	}
	tear_down(&r);
}

/* With a small limit on issued bytes, everything is still read. */
static void issue_ahead_is_kept(void **state)
{
	struct rig r;
	size_t i, before = 0;
	uint64_t issued = 0;

	(void)state;
	set_up(&r, 8, 512, 64);
	r.elevator.issue_ahead = 1024;
	want(&r, 1u << E2PF_INODES | 1u << E2PF_EXTENTS);
	make_trees(&r, 8);
	run_all(&r);
	assert_int_equal(r.arrivals, 8 + 16);
	/* With one block allowed, no run is issued until the previous one was
	 * read. */
	for (i = 0; i < r.runs; i++)
		issued += r.run[i].end - r.run[i].block;
	for (i = 0; i < r.dev.events; i++) {
		assert_int_equal(r.dev.event[i].op, FAKE_READ);
		before += r.dev.event[i].count;
	}
	assert_int_equal(before, issued);
	tear_down(&r);
}

/* All nodes of all depths refer to all others, as often as possible. */
static void hostile_tree(void **state)
{
	uint64_t all[80];
	struct rig r;
	unsigned i;

	(void)state;
	set_up(&r, 1, 2048, 1024);
	for (i = 0; i < 80; i++)
		all[i] = 1000 + 2 * i;
	for (i = 13; i <= 1024; i++)
		tiny_inode(&r.fs, i, LINUX_S_IFDIR, 1 + i % 5, all + i % 70,
			   4);
	for (i = 0; i < 80; i++)
		tiny_node(&r.fs, all[i], i % 5, all, 80);
	r.elevator.level_cap = 8;
	r.elevator.parse_left = 5000;
	run_all(&r);
	assert_uint_in_range(r.arrivals, 4, 5000 + 4);
	assert_int_equal(r.elevator.parse_left, 0);
	/* References come only from parsed blocks. */
	assert_uint_in_range(r.runs, 1, 5004 * 85);

	/* If a level has room for all references, duplicates are dropped, and
	 * the pass is short. */
	e2pf_elevator_fini(&r.elevator);
	r.elevator.level_cap = 100000;
	r.elevator.parse_left = 5000;
	forget(&r);
	run_all(&r);
	assert_uint_in_range(r.arrivals, 5, 1500);
	tear_down(&r);
}

static void one_node_for_all(void **state)
{
	uint64_t node = 1500, data = 1600;
	struct rig r;
	unsigned i;

	(void)state;
	set_up(&r, 1, 2048, 1024);
	for (i = 13; i <= 1024; i++)
		tiny_inode(&r.fs, i, LINUX_S_IFDIR, 1, &node, 1);
	tiny_node(&r.fs, node, 0, &data, 1);
	run_all(&r);
	assert_int_equal(r.visits[node], 1);
	assert_int_equal(r.visits[data], 1);
	assert_int_equal(r.arrivals, 1 + 1);	/* 128 KiB of table */

	forget(&r);
	e2pf_elevator_fini(&r.elevator);
	r.elevator.level_cap = 4;
	r.elevator.parse_left = 10;
	run_all(&r);
	assert_int_equal(r.arrivals, 1 + 10);
	tear_down(&r);
}

static void groups_with_one_table(void **state)
{
	struct rig r;

	(void)state;
	set_up(&r, 8, 256, 64);
	r.fs.groups[3].inode_table = r.fs.groups[5].inode_table =
		r.fs.groups[1].inode_table;
	r.fs.groups[5].inodes_in_use = 16;
	r.fs.groups[7].inodes_in_use = 0;
	run_all(&r);
	/* Each has its own inodes there, so each is parsed. */
	assert_int_equal(r.arrivals, 7);
	assert_int_equal(r.visits[r.fs.groups[0].inode_table], 1);
	assert_int_equal(r.visits[r.fs.groups[7].inode_table], 0);
	tear_down(&r);
}

static void ended_by_its_owner(void **state)
{
	struct rig r;
	int i;

	(void)state;
	set_up(&r, 4, 512, 64);
	make_trees(&r, 40);
	for (i = 0; i < 1000; i++) {
		forget(&r);
		r.runs_left = i;
		run_all(&r);
		if (r.runs_left > 0)
			break;
		assert_int_equal(r.runs, i);
	}
	assert_uint_in_range(i, 5, 168);
	for (i = 0; i < 84; i++) {
		forget(&r);
		r.arrivals_left = i;
		run_all(&r);
		assert_int_equal(r.arrivals, i + 1);
	}
	/* Nothing of that remains. */
	forget(&r);
	run_all(&r);
	assert_trees_visited_once(&r, 40);
	assert_int_equal(r.arrivals, 84);
	tear_down(&r);
}

/* The pass is ended in the middle of overflowing levels. */
static void ended_while_full(void **state)
{
	struct rig r;
	int i;

	(void)state;
	set_up(&r, 4, 512, 64);
	make_trees(&r, 40);
	r.elevator.level_cap = 3;
	for (i = 0; i < 84; i++) {
		forget(&r);
		r.arrivals_left = i;
		run_all(&r);
		assert_int_equal(r.arrivals, i + 1);
	}
	forget(&r);
	run_all(&r);
	assert_trees_visited_once(&r, 40);
	tear_down(&r);
}

static void errors_passed_on(void **state)
{
	struct rig r;
	uint64_t at;

	(void)state;
	set_up(&r, 4, 512, 64);
	make_trees(&r, 40);
	at = tiny_free_block(&r.fs, 3);
	fake_set_bad(&r.dev, at + 9, 1);
	fake_set_bad(&r.dev, r.fs.groups[2].inode_table, 1);
	run_all(&r);
	assert_int_equal(r.errors, 2);
	/* Nothing from the ten files of group 2, 20 nodes. */
	assert_int_equal(r.arrivals, 84 - 20);
	assert_int_equal(r.visits[at + 9], 1);
	assert_int_equal(r.visits[at + 7], 0);
	assert_int_equal(r.visits[at + 4], 1);
	assert_int_equal(r.visits[tiny_free_block(&r.fs, 0) + 7], 1);
	assert_int_equal(r.visits[tiny_free_block(&r.fs, 1) + 7], 0);
	tear_down(&r);
}

static void classes_asked_for(void **state)
{
	struct rig r;
	uint64_t at;

	(void)state;
	set_up(&r, 4, 512, 64);
	make_trees(&r, 40);
	at = tiny_free_block(&r.fs, 0);
	want(&r, E2PF_ALL_CLASSES & ~(1u << E2PF_DIRS | 1u << E2PF_BITMAPS));
	run_all(&r);
	assert_int_equal(r.visits[at + 9], 1);
	assert_int_equal(r.visits[at + 7], 0);
	assert_int_equal(r.visits[r.fs.groups[0].block_bitmap], 0);
	assert_int_equal(r.visits[r.fs.groups[0].inode_table], 1);

	/* Blocks that refer to wanted ones are read whatever their class. */
	forget(&r);
	want(&r, 1u << E2PF_DIRS);
	run_all(&r);
	assert_trees_visited_once(&r, 40);
	assert_int_equal(r.visits[r.fs.groups[0].inode_table], 1);

	/* Bitmaps refer to no other blocks. */
	forget(&r);
	want(&r, 1u << E2PF_BITMAPS);
	run_all(&r);
	assert_int_equal(r.visits[r.fs.groups[0].block_bitmap], 1);
	assert_int_equal(r.arrivals, 0);
	tear_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merged_and_sorted),
		cmocka_unit_test(duplicates_dropped),
		cmocka_unit_test(outside_the_device),
		cmocka_unit_test(levels_in_block_order),
		cmocka_unit_test(full_levels),
		cmocka_unit_test(neighbours_all_parsed),
		cmocka_unit_test(issue_ahead_is_kept),
		cmocka_unit_test(hostile_tree),
		cmocka_unit_test(one_node_for_all),
		cmocka_unit_test(groups_with_one_table),
		cmocka_unit_test(ended_by_its_owner),
		cmocka_unit_test(ended_while_full),
		cmocka_unit_test(errors_passed_on),
		cmocka_unit_test(classes_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
