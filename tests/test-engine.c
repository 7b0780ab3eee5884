/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine on a simulated device and clock: what it reads ahead and how
 * far, when a checker waits, and that it ends in every state.  No test
 * depends on how fast anything is: each waits for a state.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine.h"
#include "fake-device.h"
#include "fake-threads.h"
#include "tiny-fs.h"

#define BS 1024u
#define INODES 64u
#define TABLE_BLOCKS 8u
#define PER_GROUP 256u
#define PLENTY (64u << 20)
#define SECOND UINT64_C(1000000000)

struct rig {
	struct tiny_fs fs;
	struct fake_device dev;
	struct e2pf_engine_config cfg;
	struct e2pf_engine *e;
};

static void set_up(struct rig *r, uint32_t groups, unsigned lanes)
{
	memset(r, 0, sizeof(*r));
	fake_threads_reset();
	tiny_new(&r->fs, groups, PER_GROUP, INODES, BS);
	fake_new(&r->dev, r->fs.image, r->fs.size, BS);
	r->cfg = (struct e2pf_engine_config) {
		.geo = &r->fs.geo, .groups = r->fs.groups,
		.dev = &r->dev.dev, .lanes = lanes, .paced = true,
		.budget = PLENTY, .classes = E2PF_ALL_CLASSES
	};
}

static void start(struct rig *r)
{
	r->e = e2pf_engine_new(&r->cfg);
	assert_non_null(r->e);
	assert_int_equal(e2pf_engine_start(r->e), 0);
}

static void tear_down(struct rig *r)
{
	fake_hold(&r->dev, FAKE_WILLNEED, false);
	fake_hold(&r->dev, FAKE_READ, false);
	fake_set_late(&r->dev, false);
	fake_complete(&r->dev);
	e2pf_engine_free(r->e);
	assert_int_equal(fake_threads_alive(), 0);
	fake_free(&r->dev);
	tiny_free(&r->fs);
}

static struct e2pf_engine_stats stats_of(struct rig *r)
{
	struct e2pf_engine_stats st;

	e2pf_engine_get_stats(r->e, &st);
	return st;
}

/* Times the table of a group was asked for. */
static unsigned table_asked(struct rig *r, uint32_t group)
{
	return fake_asked(&r->dev, r->fs.groups[group].inode_table);
}

static void checker_reads(struct rig *r, uint64_t block, uint64_t count)
{
	struct e2pf_read read = { .offset = block * BS, .length = count * BS };
	char *buf = malloc(count * BS);

	e2pf_engine_before_read(r->e, &read);
	r->dev.dev.ops->read(&r->dev.dev, buf, block * BS,
			     (uint32_t)(count * BS));
	e2pf_engine_after_read(r->e, &read);
	free(buf);
}

/* A directory with one leaf node, in each group, in blocks of the next. */
static void make_directories(struct rig *r)
{
	uint32_t g;

	for (g = 0; g < r->fs.geo.groups; g++) {
		uint64_t at = tiny_free_block(&r->fs,
					      (g + 1) % r->fs.geo.groups);
		uint64_t node = at + 5, data = at + 10;

		tiny_inode(&r->fs, g * INODES + 20, LINUX_S_IFDIR, 1, &node,
			   1);
		tiny_node(&r->fs, node, 0, &data, 1);
	}
}

static void assert_all_asked_once(struct rig *r)
{
	uint32_t g, i;

	for (g = 0; g < r->fs.geo.groups; g++) {
		uint64_t at = tiny_free_block(&r->fs, g);

		for (i = 0; i < TABLE_BLOCKS + 2; i++)
			assert_int_equal(fake_asked(&r->dev,
				r->fs.groups[g].block_bitmap + i), 1);
		assert_int_equal(fake_asked(&r->dev, at + 5), 1);
		assert_int_equal(fake_asked(&r->dev, at + 10), 1);
		assert_int_equal(fake_asked(&r->dev, at + 6), 0);
	}
	assert_int_equal(r->dev.missing_read, 0);
}

static void all_once_in_stripes(void **state)
{
	static const struct {
		uint32_t groups;
		unsigned lanes;
		bool block_order, paced;
	} ways[] = {
		{ 10, 1, false, false }, { 10, 3, false, false },
		{ 10, 3, false, true }, { 10, 1, true, true },
		{ 10, 2, true, false }, { 2, 8, false, true },
		{ 1, 1, false, true }, { 1, 5, true, true },
	};
	struct rig r;
	size_t w, i;
	uint32_t g;

	(void)state;
	for (w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		set_up(&r, ways[w].groups, ways[w].lanes);
		make_directories(&r);
		r.cfg.block_order = ways[w].block_order;
		r.cfg.paced = ways[w].paced;
		start(&r);
		assert_true(e2pf_engine_wait(r.e, -1));
		assert_all_asked_once(&r);
		assert_false(e2pf_engine_gave_up(r.e));
		assert_int_equal(e2pf_engine_progress(r.e), ways[w].groups);
		assert_int_equal(stats_of(&r).lanes, ways[w].lanes);
		for (i = 0; i < r.dev.events; i++) {
			const struct fake_event *ev = &r.dev.event[i];

			for (g = 0; g < ways[w].groups; g++)
				if (ev->block <= r.fs.groups[g].inode_table &&
				    r.fs.groups[g].inode_table <
				    ev->block + ev->count)
					assert_int_equal(ev->lane,
						g % ways[w].lanes);
		}
		tear_down(&r);
	}
}

static void no_inodes_in_use(void **state)
{
	struct rig r;
	uint32_t g;

	(void)state;
	set_up(&r, 4, 2);
	for (g = 0; g < 4; g++)
		r.fs.groups[g].inodes_in_use = 0;
	start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	for (g = 0; g < 4; g++) {
		assert_int_equal(table_asked(&r, g), 0);
		assert_int_equal(fake_asked(&r.dev,
					    r.fs.groups[g].block_bitmap), 1);
	}
	tear_down(&r);
}

static void overtaken(void **state)
{
	struct rig r;
	uint32_t g;

	(void)state;
	set_up(&r, 20, 3);
	fake_hold(&r.dev, FAKE_WILLNEED, true);
	start(&r);
	fake_threads_settle();
	assert_int_equal(fake_blocked(&r.dev, FAKE_WILLNEED), 3);
	e2pf_engine_at_group(r.e, 10);
	fake_hold(&r.dev, FAKE_WILLNEED, false);
	fake_threads_settle();
	/* Those at hand were under way, the next are in front of it. */
	for (g = 0; g < 20; g++)
		assert_int_equal(table_asked(&r, g), g < 3 || g > 10);
	tear_down(&r);
}

/* What is ahead of the checker at group `at`, in table blocks. */
static uint64_t tables_ahead(struct rig *r, uint32_t at)
{
	uint64_t blocks = 0;
	uint32_t g;

	for (g = at; g < r->fs.geo.groups; g++)
		blocks += table_asked(r, g) * TABLE_BLOCKS;
	return blocks;
}

static void budget_kept(void **state)
{
	static const unsigned lanes[] = { 1, 4 };
	struct rig r;
	uint32_t at, n;

	(void)state;
	for (n = 0; n < 2; n++) {
		set_up(&r, 60, lanes[n]);
		r.cfg.budget = 40 * BS;
		r.cfg.classes = 1u << E2PF_INODES;
		start(&r);
		fake_threads_settle();
		for (at = 0; at < 60; at++) {
			uint64_t ahead;

			e2pf_engine_at_group(r.e, at);
			fake_threads_settle();
			ahead = tables_ahead(&r, at);
			/* No more than a run above, for each lane. */
			assert_in_range(ahead, 0,
					40 + lanes[n] * TABLE_BLOCKS);
			if (at < 50 && lanes[n] == 1)
				assert_in_range(ahead, 16, 100);
		}
		/* Of several lanes one may be overtaken while the others have
		 * used the budget up. */
		for (at = 0; at < 60; at++)
			assert_in_range(table_asked(&r, at), lanes[n] == 1, 1);
		tear_down(&r);
	}
}

static void total_budget(void **state)
{
	struct rig r;

	(void)state;
	set_up(&r, 60, 1);
	r.cfg.paced = false;
	r.cfg.budget = 40 * BS;
	start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	assert_true(e2pf_engine_gave_up(r.e));
	assert_in_range(fake_missing_asked(&r.dev), 40, 48);
	tear_down(&r);
}

static uint64_t machine_has;

static uint64_t ask_machine(void *ctx)
{
	return *(uint64_t *)ctx;
}

static void machine_with_little_memory(void **state)
{
	struct rig r;

	(void)state;
	set_up(&r, 400, 1);
	r.cfg.classes = 1u << E2PF_INODES;
	r.cfg.available = ask_machine;
	r.cfg.available_ctx = &machine_has;
	machine_has = 0;
	start(&r);
	fake_threads_settle();
	/* A mebibyte is always allowed. */
	assert_in_range(fake_missing_asked(&r.dev), 1024, 1024 + 8);
	/* It has more now, which is seen when it is asked again. */
	machine_has = PLENTY;
	fake_advance(&r.dev, SECOND);
	e2pf_engine_at_group(r.e, 1);
	fake_threads_settle();
	assert_int_equal(fake_missing_asked(&r.dev), 400 * TABLE_BLOCKS);
	tear_down(&r);
}

#define DIRECTORIES 50u

/* In pass 1 directory blocks get half of the budget; the list has them all. */
static void directories_by_the_list(void **state)
{
	uint64_t dir[DIRECTORIES], first = 7, at;
	unsigned asked = 0;
	struct rig r;
	uint32_t i;

	(void)state;
	set_up(&r, 1, 1);
	at = tiny_free_block(&r.fs, 0);
	for (i = 0; i < DIRECTORIES; i++) {
		dir[i] = at + 10 + 2 * i;
		tiny_inode(&r.fs, 12 + i, LINUX_S_IFDIR, 0, &dir[i], 1);
	}
	r.cfg.budget = 40 * BS;
	start(&r);
	fake_threads_settle();
	for (i = 0; i < DIRECTORIES; i++)
		asked += fake_asked(&r.dev, dir[i]);
	/* The two bitmaps are of that half too. */
	assert_in_range(asked, 18, 19);
	assert_int_equal(e2pf_engine_list_wants(r.e, &first), 0);
	e2pf_engine_list_begin(r.e, DIRECTORIES);
	assert_int_equal(e2pf_engine_list_wants(r.e, &first), DIRECTORIES);
	assert_int_equal(first, 0);
	e2pf_engine_list_put(r.e, dir, 20);
	assert_int_equal(e2pf_engine_list_wants(r.e, &first),
			 DIRECTORIES - 20);
	assert_int_equal(first, 20);
	e2pf_engine_list_put(r.e, dir + 20, DIRECTORIES - 20);
	assert_int_equal(e2pf_engine_list_wants(r.e, &first), 0);
	for (i = 0; i < DIRECTORIES; i++) {
		fake_threads_settle();
		e2pf_engine_list_at(r.e, i);
		checker_reads(&r, dir[i], 1);
	}
	for (i = 0; i < DIRECTORIES; i++)
		assert_int_equal(fake_asked(&r.dev, dir[i]), 1);
	assert_int_equal(r.dev.missing_read, 0);
	tear_down(&r);
}

/* A long list of which little is missing: many batches, few bytes. */
static void list_of_many_batches(void **state)
{
	enum { PARTS = 100, PART = 512 };
	uint64_t *list = calloc(PARTS * PART, sizeof(*list)), first;
	struct rig r;
	unsigned i, asked;

	(void)state;
	set_up(&r, 2, 1);
	r.cfg.classes = 1u << E2PF_DIRS;
	r.fs.groups[0].inodes_in_use = r.fs.groups[1].inodes_in_use = 0;
	for (i = 0; i < PARTS; i++)
		list[i * PART] = 100 + i;
	start(&r);
	e2pf_engine_list_begin(r.e, PARTS * PART);
	assert_int_equal(e2pf_engine_list_wants(r.e, &first), PARTS * PART);
	e2pf_engine_list_put(r.e, list, PARTS * PART);
	fake_threads_settle();
	for (i = 0; i < PARTS; i++) {
		e2pf_engine_list_at(r.e, i * PART + 1);
		fake_threads_settle();
	}
	for (i = asked = 0; i < PARTS; i++)
		asked += fake_asked(&r.dev, 100 + i);
	assert_int_equal(asked, PARTS);
	tear_down(&r);
	free(list);
}

static void list_out_of_range(void **state)
{
	const uint64_t list[] = { 0, UINT64_MAX, 100, 1u << 20, 2 * PER_GROUP };
	struct rig r;

	(void)state;
	set_up(&r, 2, 1);
	start(&r);
	e2pf_engine_list_begin(r.e, 5);
	e2pf_engine_list_put(r.e, list, 5);
	fake_threads_settle();
	assert_int_equal(fake_asked(&r.dev, 100), 1);
	assert_int_equal(fake_asked(&r.dev, 2 * PER_GROUP), 1);
	tear_down(&r);
}

/* Too many bitmaps for an eighth of the budget come last, all of them. */
static void bitmaps_after_the_list(void **state)
{
	const uint64_t list[] = { 100, 110, 120, 130, 140, 150, 160, 170 };
	struct rig r;
	uint32_t g;

	(void)state;
	set_up(&r, 16, 2);
	r.cfg.budget = 200 * BS;
	start(&r);
	e2pf_engine_at_group(r.e, 15);
	fake_threads_settle();
	for (g = 0; g < 16; g++)
		assert_int_equal(fake_asked(&r.dev,
					    r.fs.groups[g].block_bitmap), 0);
	e2pf_engine_list_begin(r.e, 8);
	fake_threads_settle();
	e2pf_engine_list_put(r.e, list, 4);
	e2pf_engine_list_at(r.e, 3);
	fake_threads_settle();
	assert_int_equal(fake_asked(&r.dev, r.fs.groups[0].block_bitmap), 0);
	for (g = 0; g < 16; g++)
		checker_reads(&r, r.fs.groups[g].inode_table, TABLE_BLOCKS);
	e2pf_engine_list_put(r.e, list + 4, 4);
	e2pf_engine_list_at(r.e, 7);
	fake_threads_settle();
	for (g = 0; g < 16; g++)
		assert_int_equal(fake_asked(&r.dev,
					    r.fs.groups[g].block_bitmap), 1);
	tear_down(&r);
}

/* Bitmaps wait for the budget, and go on as the checker reads. */
static void bitmaps_within_the_budget(void **state)
{
	struct rig r;
	uint32_t g;

	(void)state;
	set_up(&r, 40, 1);
	r.cfg.budget = 20 * BS;
	r.cfg.classes = 1u << E2PF_BITMAPS;
	start(&r);
	e2pf_engine_list_begin(r.e, 0);
	fake_threads_settle();
	assert_in_range(fake_missing_asked(&r.dev), 20, 22);
	for (g = 0; g < 40; g++) {
		checker_reads(&r, r.fs.groups[g].block_bitmap, 2);
		fake_threads_settle();
	}
	for (g = 0; g < 40; g++)
		assert_int_equal(fake_asked(&r.dev,
					    r.fs.groups[g].block_bitmap), 1);
	tear_down(&r);
}

/* A checker's read in a thread of its own, to be found at the gate. */
struct gated {
	struct rig *r;
	struct e2pf_read read;
	pthread_t thread;
};

static void *read_gated(void *arg)
{
	struct gated *g = arg;

	e2pf_engine_before_read(g->r->e, &g->read);
	e2pf_engine_after_read(g->r->e, &g->read);
	return NULL;
}

static void begin_gated(struct gated *g, struct rig *r, uint64_t block)
{
	*g = (struct gated) {
		.r = r, .read = { .offset = block * BS, .length = BS }
	};
	fake_checker_create(&g->thread, read_gated, g);
	while (!stats_of(r).gate_waits)
		sched_yield();
}

/* A sweep whose reads are in flight. */
static void start_gated(struct rig *r)
{
	set_up(r, 4, 1);
	r->cfg.block_order = true;
	fake_set_late(&r->dev, true);
	start(r);
	fake_threads_settle();
}

static void gate_opened_by_the_sweep(void **state)
{
	struct rig r;
	struct gated g;

	(void)state;
	start_gated(&r);
	fake_set_late(&r.dev, false);
	begin_gated(&g, &r, r.fs.groups[0].inode_table);
	fake_hold(&r.dev, FAKE_READ, true);
	fake_complete(&r.dev);
	pthread_join(g.thread, NULL);
	assert_int_equal(stats_of(&r).gate_waits, 1);
	assert_int_equal(stats_of(&r).phase[E2PF_PHASE_OPEN].stalls, 1);
	tear_down(&r);
}

static void gate_opened_by_the_end(void **state)
{
	struct rig r;
	struct gated g;

	(void)state;
	start_gated(&r);
	/* A block no sweep comes by. */
	begin_gated(&g, &r, 1);
	fake_set_late(&r.dev, false);
	fake_complete(&r.dev);
	pthread_join(g.thread, NULL);
	assert_true(e2pf_engine_wait(r.e, -1));
	tear_down(&r);
}

static void gate_opened_by_patience(void **state)
{
	struct rig r;
	struct gated g;

	(void)state;
	start_gated(&r);
	begin_gated(&g, &r, r.fs.groups[0].inode_table);
	fake_advance(&r.dev, 2 * SECOND);
	pthread_join(g.thread, NULL);
	assert_int_equal(stats_of(&r).phase[E2PF_PHASE_OPEN].stall_ns,
			 2 * SECOND);
	tear_down(&r);
}

static void gate_opened_by_a_stop(void **state)
{
	struct rig r;
	struct gated g;

	(void)state;
	start_gated(&r);
	begin_gated(&g, &r, r.fs.groups[0].inode_table);
	assert_false(e2pf_engine_stop(r.e, 10));
	pthread_join(g.thread, NULL);
	fake_complete(&r.dev);
	assert_true(e2pf_engine_stop(r.e, -1));
	tear_down(&r);
}

static void gate_opened_by_errors(void **state)
{
	struct rig r;
	struct gated g;

	(void)state;
	set_up(&r, 20, 1);
	r.cfg.block_order = true;
	fake_set_bad(&r.dev, 1, r.dev.blocks - 1);
	fake_hold(&r.dev, FAKE_READ, true);
	start(&r);
	fake_threads_settle();
	begin_gated(&g, &r, r.fs.groups[0].inode_table);
	fake_hold(&r.dev, FAKE_READ, false);
	pthread_join(g.thread, NULL);
	assert_true(e2pf_engine_gave_up(r.e));
	tear_down(&r);
}

/* What is in memory, and flash, never waits. */
static void no_gate(void **state)
{
	struct rig r;

	(void)state;
	start_gated(&r);
	fake_set_resident(&r.dev, 1, 1, true);
	checker_reads(&r, 1, 1);
	assert_int_equal(stats_of(&r).gate_waits, 0);
	tear_down(&r);

	set_up(&r, 4, 1);
	fake_set_late(&r.dev, true);
	start(&r);
	fake_threads_settle();
	checker_reads(&r, 1, 1);
	assert_int_equal(stats_of(&r).gate_waits, 0);
	tear_down(&r);
}

static void errors_tolerated(void **state)
{
	struct rig r;
	uint32_t g;

	(void)state;
	set_up(&r, 40, 1);
	for (g = 0; g < 15; g++)
		fake_set_bad(&r.dev, r.fs.groups[g].inode_table, 1);
	start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	assert_false(e2pf_engine_gave_up(r.e));
	assert_int_equal(stats_of(&r).errors, 15);
	assert_int_equal(table_asked(&r, 39), 1);
	tear_down(&r);

	set_up(&r, 40, 1);
	for (g = 0; g < 40; g++)
		fake_set_bad(&r.dev, r.fs.groups[g].inode_table, 1);
	start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	assert_true(e2pf_engine_gave_up(r.e));
	assert_false(e2pf_engine_reads_ahead(r.e));
	assert_int_equal(stats_of(&r).errors, 16);
	tear_down(&r);
}

static void asleep_while_all_is_there(void **state)
{
	struct rig r;
	unsigned i;

	(void)state;
	set_up(&r, 4, 2);
	make_directories(&r);
	fake_set_resident(&r.dev, 0, r.dev.blocks, true);
	start(&r);
	assert_int_equal(fake_threads_alive(), 0);
	assert_false(e2pf_engine_reads_ahead(r.e));
	fake_set_resident(&r.dev, 0, r.dev.blocks, false);
	for (i = 0; i < 15; i++)
		checker_reads(&r, 200 + i, 1);
	assert_int_equal(fake_threads_alive(), 0);
	checker_reads(&r, 200, 1);	/* a hit */
	assert_int_equal(fake_threads_alive(), 0);
	checker_reads(&r, 220, 1);
	assert_int_equal(fake_threads_alive(), 2);
	assert_true(e2pf_engine_wait(r.e, -1));
	assert_int_equal(table_asked(&r, 3), 1);
	assert_true(e2pf_engine_stop(r.e, -1));
	tear_down(&r);
}

/* Woken while the directory list is walked: from the checker's place on. */
static void woken_in_the_list(void **state)
{
	uint64_t list[40], first;
	struct rig r;
	unsigned i;

	(void)state;
	set_up(&r, 1, 3);
	fake_set_resident(&r.dev, 0, r.dev.blocks, true);
	for (i = 0; i < 40; i++)
		list[i] = 100 + 2 * i;
	start(&r);
	e2pf_engine_list_begin(r.e, 40);
	assert_int_equal(e2pf_engine_list_wants(r.e, &first), 0);
	fake_set_resident(&r.dev, 0, r.dev.blocks, false);
	for (i = 0; i < 16; i++) {
		e2pf_engine_list_at(r.e, i);
		checker_reads(&r, list[i], 1);
	}
	assert_int_equal(fake_threads_alive(), 3);
	e2pf_engine_list_put(r.e, list,
			     e2pf_engine_list_wants(r.e, &first) >= 40 ? 40 :
			     0);
	fake_threads_settle();
	for (i = 0; i < 40; i++)
		assert_int_equal(fake_asked(&r.dev, list[i]), i > 15);
	tear_down(&r);
}

static void stopped_in_every_state(void **state)
{
	enum fake_op op;
	struct rig r;

	(void)state;
	/* Never started. */
	set_up(&r, 8, 2);
	r.e = e2pf_engine_new(&r.cfg);
	assert_true(e2pf_engine_stop(r.e, 0));
	assert_true(e2pf_engine_stop(r.e, -1));
	/* Idle. */
	assert_int_equal(e2pf_engine_start(r.e), 0);
	fake_threads_settle();
	assert_true(e2pf_engine_reads_ahead(r.e));
	assert_true(e2pf_engine_stop(r.e, -1));
	assert_false(e2pf_engine_reads_ahead(r.e));
	assert_true(e2pf_engine_stop(r.e, -1));
	tear_down(&r);
	/* Waiting for the budget. */
	set_up(&r, 60, 2);
	r.cfg.budget = 20 * BS;
	start(&r);
	fake_threads_settle();
	assert_true(e2pf_engine_stop(r.e, -1));
	tear_down(&r);
	/* Waiting for the device. */
	for (op = 0; op < FAKE_OPS; op++) {
		set_up(&r, 8, 2);
		fake_hold(&r.dev, op, true);
		start(&r);
		fake_threads_settle();
		assert_int_equal(fake_blocked(&r.dev, op), 2);
		assert_false(e2pf_engine_wait(r.e, 1));
		assert_false(e2pf_engine_stop(r.e, 1));
		fake_pass(&r.dev, op, 1);
		assert_false(e2pf_engine_stop(r.e, 1));
		fake_hold(&r.dev, op, false);
		assert_true(e2pf_engine_stop(r.e, -1));
		assert_int_equal(fake_threads_alive(), 0);
		tear_down(&r);
	}
}

static void started_again(void **state)
{
	struct rig r;

	(void)state;
	set_up(&r, 10, 3);
	make_directories(&r);
	fake_hold(&r.dev, FAKE_READ, true);
	start(&r);
	fake_threads_settle();
	assert_false(e2pf_engine_stop(r.e, 1));
	fake_hold(&r.dev, FAKE_READ, false);
	assert_true(e2pf_engine_stop(r.e, -1));
	fake_threads_reset();
	r.cfg.lanes = 2;
	e2pf_engine_configure(r.e, &r.cfg);
	assert_int_equal(e2pf_engine_start(r.e), 0);
	assert_true(e2pf_engine_wait(r.e, -1));
	assert_all_asked_once(&r);
	assert_int_equal(e2pf_engine_progress(r.e), 10);
	assert_int_equal(stats_of(&r).lanes, 3);
	tear_down(&r);
}

static void threads_that_cannot_be_had(void **state)
{
	struct rig r;
	int n;

	(void)state;
	for (n = 0; n < 4; n++) {
		set_up(&r, 10, 4);
		make_directories(&r);
		r.e = e2pf_engine_new(&r.cfg);
		fake_threads_fail_create(n);
		assert_int_equal(e2pf_engine_start(r.e), n ? 0 : EAGAIN);
		assert_int_equal(stats_of(&r).lanes, n);
		assert_int_equal(e2pf_engine_reads_ahead(r.e), n > 0);
		assert_true(e2pf_engine_wait(r.e, -1));
		if (n)
			assert_all_asked_once(&r);
		/* And it can be tried again. */
		assert_true(e2pf_engine_stop(r.e, -1));
		fake_threads_reset();
		assert_int_equal(e2pf_engine_start(r.e), 0);
		assert_true(e2pf_engine_wait(r.e, -1));
		assert_all_asked_once(&r);
		tear_down(&r);
	}
}

static void use_up(struct rig *r, int n)
{
	const uint64_t list[] = { 100, 120, 140 };
	struct e2pf_class_plan plan[E2PF_CLASSES];

	fake_fail_allocation(n);
	r->e = e2pf_engine_new(&r->cfg);
	if (!r->e)
		return;
	e2pf_engine_plan(r->e, plan);
	fake_set_resident(&r->dev, 0, r->dev.blocks, false);
	if (e2pf_engine_start(r->e) == 0)
		e2pf_engine_wait(r->e, -1);
	e2pf_engine_list_begin(r->e, 3);
	e2pf_engine_list_put(r->e, list, 3);
	e2pf_engine_wait(r->e, -1);
}

static void allocations_that_fail(void **state)
{
	bool failed = true;
	struct rig r;
	int n;

	(void)state;
	for (n = 0; failed; n++) {
		set_up(&r, 10, 2);
		make_directories(&r);
		use_up(&r, n);
		failed = fake_allocation_failed();
		fake_fail_allocation(-1);
		if (!failed)
			assert_all_asked_once(&r);
		tear_down(&r);
	}
	assert_in_range(n, 15, 200);
}

static void figures_add_up(void **state)
{
	struct e2pf_engine_stats st;
	uint64_t blocks = 0, b;
	struct rig r;
	uint32_t g;

	(void)state;
	set_up(&r, 10, 2);
	make_directories(&r);
	r.dev.tick = 1000;
	fake_set_resident(&r.dev, r.fs.groups[4].inode_table, TABLE_BLOCKS,
			  true);
	start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	for (b = 0; b < r.dev.blocks; b++)
		blocks += fake_asked(&r.dev, b);
	st = stats_of(&r);
	assert_int_equal(blocks, 10 * (2 + TABLE_BLOCKS + 2) - TABLE_BLOCKS);
	assert_int_equal(st.prefetched_bytes, blocks * BS);
	assert_int_equal(st.planned_bytes, (blocks + TABLE_BLOCKS) * BS);
	assert_int_equal(st.prefetched_requests, r.dev.requests);
	assert_int_equal(st.peak_lookahead_bytes, blocks * BS);
	assert_int_equal(st.wasted_bytes, blocks * BS);
	assert_int_equal(st.checker_bytes, 0);

	e2pf_engine_phase(r.e, E2PF_PHASE_PASS1);
	for (g = 0; g < 10; g++)
		checker_reads(&r, r.fs.groups[g].inode_table, TABLE_BLOCKS);
	e2pf_engine_phase(r.e, E2PF_PHASE_PASS2);
	checker_reads(&r, 200, 3);
	checker_reads(&r, 200, 3);
	fake_advance(&r.dev, 500);
	st = stats_of(&r);
	assert_int_equal(st.wasted_bytes,
			 (blocks - 9 * TABLE_BLOCKS) * BS);
	assert_int_equal(st.checker_bytes, (10 * TABLE_BLOCKS + 6) * BS);
	assert_int_equal(st.phase[E2PF_PHASE_PASS1].reads, 10);
	assert_int_equal(st.phase[E2PF_PHASE_PASS1].hits, 10);
	assert_int_equal(st.phase[E2PF_PHASE_PASS1].stalls, 0);
	assert_int_equal(st.phase[E2PF_PHASE_PASS1].ns, 10000);
	assert_int_equal(st.phase[E2PF_PHASE_PASS2].reads, 2);
	assert_int_equal(st.phase[E2PF_PHASE_PASS2].hits, 1);
	assert_int_equal(st.phase[E2PF_PHASE_PASS2].stalls, 1);
	assert_int_equal(st.phase[E2PF_PHASE_PASS2].stall_ns, 1000);
	assert_int_equal(st.phase[E2PF_PHASE_PASS2].ns, 2500);
	assert_int_equal(st.prefetched_bytes, blocks * BS);
	tear_down(&r);
}

static void plan_counted(void **state)
{
	struct e2pf_class_plan plan[E2PF_CLASSES];
	struct rig r;

	(void)state;
	set_up(&r, 10, 2);
	make_directories(&r);
	r.e = e2pf_engine_new(&r.cfg);
	assert_int_equal(e2pf_engine_plan(r.e, plan), 0);
	assert_int_equal(plan[E2PF_BITMAPS].blocks, 20);
	assert_int_equal(plan[E2PF_INODES].blocks, 10 * TABLE_BLOCKS);
	assert_int_equal(plan[E2PF_EXTENTS].blocks, 10);
	assert_int_equal(plan[E2PF_EXTENTS].runs, 10);
	assert_int_equal(plan[E2PF_DIRS].blocks, 10);
	assert_int_equal(plan[E2PF_INDIRECT].blocks, 0);
	assert_int_equal(fake_missing_asked(&r.dev), 0);
	tear_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_once_in_stripes),
		cmocka_unit_test(no_inodes_in_use),
		cmocka_unit_test(overtaken),
		cmocka_unit_test(budget_kept),
		cmocka_unit_test(total_budget),
		cmocka_unit_test(machine_with_little_memory),
		cmocka_unit_test(directories_by_the_list),
		cmocka_unit_test(list_of_many_batches),
		cmocka_unit_test(list_out_of_range),
		cmocka_unit_test(bitmaps_after_the_list),
		cmocka_unit_test(bitmaps_within_the_budget),
		cmocka_unit_test(gate_opened_by_the_sweep),
		cmocka_unit_test(gate_opened_by_the_end),
		cmocka_unit_test(gate_opened_by_patience),
		cmocka_unit_test(gate_opened_by_a_stop),
		cmocka_unit_test(gate_opened_by_errors),
		cmocka_unit_test(no_gate),
		cmocka_unit_test(errors_tolerated),
		cmocka_unit_test(asleep_while_all_is_there),
		cmocka_unit_test(woken_in_the_list),
		cmocka_unit_test(stopped_in_every_state),
		cmocka_unit_test(started_again),
		cmocka_unit_test(threads_that_cannot_be_had),
		cmocka_unit_test(allocations_that_fail),
		cmocka_unit_test(figures_add_up),
		cmocka_unit_test(plan_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
