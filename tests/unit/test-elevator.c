/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Elevator passes over small hand-made filesystems: the order and merging of
 * requests, that everything is visited once, and that no damaged tree makes a
 * stripe long.
 */
#include "unit.h"
#include "engine-rig.h"
#include "prefetch/survey.h"
#include "prefetch/elevator.h"

#define TREES 40u
#define NODES 80u

/* An elevator in this thread: what it says is read is parsed, and counted. */
static struct {
	struct rig r;
	struct pf_elevator el;
	unsigned char piece[PF_MAX_PIECE];
	struct pf_class_count count[EXT4_CLASSES];
	unsigned errors;
	size_t max_in_memory;	/* references in memory */
} p;

static void set_up(uint32_t groups, uint32_t per_group)
{
	const struct pf_options options = {
		.budget = UINT64_MAX, .seek_bound = true
	};

	memset(&p, 0, sizeof(p));
	rig_set_up_sized(&p.r, groups, per_group, 1);
	rig_new(&p.r);
	p.r.source->ops->begin(p.r.source, &options, false);
	p.el.max_refs = 4096;
	p.el.parse_left = 100000;
	p.el.max_ahead = 1 << 20;
}

FIXTURE(tear_down)
{
	pf_elevator_end(&p.el);
	rig_tear_down(&p.r);
	return 0;
}

/* A test of a stripe that it sets up. */
#define STRIPE_TEST(name) TEST_WITH(name, NULL, tear_down)

static void add(void *ctx, const struct pf_ref *ref)
{
	(void)ctx;
	if (pf_elevator_is_sound(p.r.source, ref))
		pf_elevator_add(&p.el, ref);
	if (p.el.in_memory > p.max_in_memory)
		p.max_in_memory = p.el.in_memory;
}

static void parse(const struct pf_elevator_step *step)
{
	struct pf_source *source = p.r.source;
	const struct pf_ref ref = *step->ref;

	uint32_t size = source->ops->piece(source, &ref, step->at);

	assert_uint_in_range(size, 0, sizeof(p.piece));
	if (size && p.r.device->ops->read(p.r.device, p.piece,
					  ref.offset + step->at, size))
		p.errors++;
	else if (size)
		source->ops->parse(source, &ref, step->at, p.piece, size, add,
				   NULL);
	pf_elevator_advance(&p.el, size);
}

/* Read what was added, until `errors' reads have failed. */
static void drive(unsigned errors)
{
	struct pf_elevator_step step;
	enum pf_step next = PF_STEP_RUN;
	size_t i;

	pf_elevator_begin(&p.el);
	while (next != PF_STEP_END && p.errors < errors) {
		next = pf_elevator_next(&p.el, 0, &step);
		for (i = 0; next == PF_STEP_RUN && i < step.n; i++)
			p.count[step.ref[i].cls].bytes += step.ref[i].length;
		if (next == PF_STEP_PARSE)
			parse(&step);
	}
	pf_elevator_end(&p.el);
}

/* Returns the number of reads. */
static size_t read_all(void)
{
	struct pf_source *source = p.r.source;
	uint32_t g;

	memset(p.count, 0, sizeof(p.count));
	p.r.dev.events = 0;
	p.errors = 0;
	/* Backwards, to test that it sorts. */
	for (g = p.r.fs.geo.groups; g-- > 0;)
		source->ops->seed(source, EXT4_PHASE_TABLES, g, add, NULL);
	drive(16);
	return p.r.dev.events;
}

static unsigned reads_of(uint64_t block)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < p.r.dev.events; i++)
		n += p.r.dev.event[i].block <= block && block <
		     p.r.dev.event[i].block + p.r.dev.event[i].count;
	return n;
}

/* The first block of a tree, in the opposite group of its inode. */
static uint64_t tree_at(unsigned i)
{
	uint32_t groups = p.r.fs.geo.groups;

	return tiny_free_block(&p.r.fs, groups - 1 - i % groups) +
	       12 * (i / groups);
}

/* Directories of two leaf nodes each, spread over the groups. */
static void make_trees(void)
{
	unsigned i, groups = p.r.fs.geo.groups;

	for (i = 0; i < TREES; i++) {
		uint64_t at = tree_at(i);
		uint64_t node[2] = { at + 9, at + 2 };
		uint64_t data[2] = { at + 7, at + 4 };

		tiny_inode(&p.r.fs, i % groups * INODES + 13 + i / groups,
			   LINUX_S_IFDIR, 1, node, 2);
		tiny_node(&p.r.fs, node[0], 0, &data[0], 1);
		tiny_node(&p.r.fs, node[1], 0, &data[1], 1);
	}
}

static void assert_all_once(void)
{
	unsigned i;

	for (i = 0; i < TREES; i++) {
		assert_int_equal(reads_of(tree_at(i) + 9), 1);
		assert_int_equal(reads_of(tree_at(i) + 2), 1);
	}
	assert_int_equal(p.count[EXT4_EXTENTS].bytes, 2 * TREES * BS);
	assert_int_equal(p.count[EXT4_DIRS].bytes, 2 * TREES * BS);
	assert_int_equal(p.el.in_memory, 0);
}

/* The requests for a list. */
static const struct {
	uint64_t list[6];	/* up to 0 */
	bool seek_bound;	/* gaps of 32 KiB */
	uint64_t from[4], count[4];
} lists[] = {
	{ { 300, 100, 101, 105, 301 }, false,
	  { 100, 105, 300 }, { 2, 1, 2 } },
	{ { 300, 133, 100, 167 }, true,
	  { 100, 167, 300 }, { 34, 1, 1 } },
	{ { 200, 100, 200, 100, 200 }, false,
	  { 100, 200 }, { 1, 1 } },
	{ { 100, UINT64_MAX, 1u << 20, 512 }, false,
	  { 100, 512 }, { 1, 1 } },
};

RIG_TESTS(merged_and_sorted, COUNT(lists), rig_set_up_sized(r, 1, 512, 1))
{
	size_t i, n;

	r->options.seek_bound = lists[way].seek_bound;
	r->fs.groups[0].inodes_in_use = 0;
	r->classes = 1u << EXT4_DIRS;
	rig_start(r);
	for (n = 0; lists[way].list[n]; n++)
		;
	ext4_source_list_begin(r->fs.ext4, r->e, n, EXT4_DIRS);
	ext4_source_list_add(r->fs.ext4, r->e, lists[way].list, n);
	fake_threads_settle();
	for (i = 0; i < r->dev.events; i++) {
		assert_int_equal(r->dev.event[i].block,
				 lists[way].from[i]);
		assert_int_equal(r->dev.event[i].count,
				 lists[way].count[i]);
	}
	assert_int_equal(lists[way].from[i], 0);
}

/* References outside the device are ignored. */
STRIPE_TEST(outside_the_device)
{
	struct pf_ref ref = { .length = BS, .cls = EXT4_DIRS }, bad;
	unsigned i;

	set_up(1, 512);
	for (i = 0; i < 6; i++) {
		bad = ref;
		switch (i) {
		case 0: bad.offset = p.r.fs.size; break;
		case 1: bad.offset = UINT64_MAX - BS + 1; break;
		case 2: bad.offset = p.r.fs.size - BS, bad.length *= 2; break;
		case 3: bad.length = 0; break;
		case 4: bad.device = 1; break;
		case 5: bad.cls = EXT4_CLASSES; break;
		}
		add(NULL, &bad);
	}
	assert_int_equal(p.el.in_memory, 0);
	ref.offset = p.r.fs.size - BS;
	add(NULL, &ref);
	drive(1);
	assert_int_equal(p.count[EXT4_DIRS].bytes, BS);
}

/* Tables, nodes: each in ascending order, and also if levels overflow, or the
 * stripe was ended in the middle before. */
STRIPE_TEST(each_block_once)
{
	static const size_t max[] = { 4096, 1, 2, 3, 7, 64 };
	unsigned c, i, levels = 1;

	set_up(4, 512);
	make_trees();
	for (c = 0; c < COUNT(max); c++) {
		pf_elevator_end(&p.el);
		p.max_in_memory = 0;
		p.el.max_refs = max[c];
		/* 16 of 80 nodes are tried, and the stripe ends. */
		for (i = 0; i < TREES; i++)
			fake_set_bad(&p.r.dev, tree_at(i), 10);
		assert_uint_in_range(read_all(), 1 + 16, 4 + 16);
		assert_int_equal(p.errors, 16);
		memset(p.r.dev.bad, 0, p.r.dev.blocks);
		/* That is gone.  There are four tables. */
		assert_int_equal(read_all(), 84);
		assert_all_once();
		/* Beyond the limit: tables, what one refers to, and some
		 * below that. */
		assert_uint_in_range(p.max_in_memory, 4, max[c] + 4 +
				     2 * TREES / 4 + 8);
		assert_int_equal(p.el.in_memory, 0);
		for (i = 1; !c && i < 84; i++)
			levels += p.r.dev.event[i].block <
				  p.r.dev.event[i - 1].block;
	}
	assert_int_equal(levels, 2);
}

/* All nodes of all depths refer to all others, as often as possible. */
STRIPE_TEST(hostile_tree)
{
	uint64_t all[NODES];
	unsigned i;

	set_up(1, 2048);
	for (i = 0; i < NODES; i++)
		all[i] = 1000 + 2 * i;
	for (i = 13; i <= INODES; i++)
		tiny_inode(&p.r.fs, i, LINUX_S_IFDIR, 1 + i % 5, all + i % 70,
			   4);
	for (i = 0; i < NODES; i++)
		tiny_node(&p.r.fs, all[i], i % 5, all, NODES);
	p.el.max_refs = 8;
	p.el.parse_left = 5000;
	assert_uint_in_range(read_all(), 1, 5000 + 1);
	assert_int_equal(p.el.parse_left, 0);

	/* If a level has room for all references, duplicates are dropped, and
	 * the stripe is short. */
	p.el.max_refs = 100000;
	p.el.parse_left = 5000;
	assert_uint_in_range(read_all(), 5, 1500);
	/* The limit of parsed pieces is 0. */
	p.el.parse_left = 0;
	assert_int_equal(read_all(), 1);
}

/* Each has its own inodes there, so each is parsed. */
STRIPE_TEST(groups_with_one_table)
{
	struct ext4_group *groups;

	set_up(8, 256);
	groups = p.r.fs.groups;
	groups[3].inode_table = groups[5].inode_table = groups[1].inode_table;
	groups[5].inodes_in_use = 16;
	groups[7].inodes_in_use = 0;
	assert_int_equal(read_all(), 7);
	assert_int_equal(reads_of(groups[1].inode_table), 3);
	assert_int_equal(reads_of(groups[7].inode_table), 0);
}

UNIT_MAIN(NULL, NULL)
