/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine with a source other than ext4: the toy filesystem, on two simulated
 * devices, using only the interface of source.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "fake-device.h"
#include "fake-threads.h"
#include "toy-image.h"

struct rig {
	struct toy_fs fs;
	struct fake_device dev[2];
	struct e2pf_device *device[2];
	struct e2pf_engine_config cfg;
	struct e2pf_engine *e;
	unsigned char cls[TOY_NODES];	/* by place; TOY_CLASSES: nothing */
};

static struct toy_block *at(struct rig *r, uint32_t place)
{
	return &r->fs.image[place / TOY_BLOCKS][place % TOY_BLOCKS];
}

static void set_up(struct rig *r, unsigned workers, bool has_head)
{
	unsigned i;

	memset(r, 0, sizeof(*r));
	fake_threads_reset();
	toy_new(&r->fs);
	toy_make(&r->fs, r->cls);
	for (i = 0; i < 2; i++) {
		fake_new(&r->dev[i], r->fs.image[i], TOY_BLOCKS * TOY_BLOCK,
			 TOY_BLOCK);
		r->device[i] = &r->dev[i].dev;
	}
	r->cfg = (struct e2pf_engine_config) {
		.source = &r->fs.source, .devices = r->device,
		.threads = workers, .head_threads = workers,
		.has_head = has_head, .paced = true,
		.budget = 1 << 20
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
	unsigned i;

	e2pf_engine_free(r->e);
	assert_int_equal(fake_threads_alive(), 0);
	for (i = 0; i < 2; i++) {
		fake_free(&r->dev[i]);
		free(r->fs.image[i]);
	}
}

static unsigned asked(struct rig *r, uint32_t place)
{
	return fake_asked(&r->dev[place / TOY_BLOCKS], place % TOY_BLOCKS);
}

/* The number of requested blocks of this class. */
static unsigned asked_of(struct rig *r, enum toy_class cls)
{
	unsigned n = 0;
	uint32_t place;

	for (place = 0; place < TOY_NODES; place++)
		n += r->cls[place] == cls && asked(r, place);
	return n;
}

static void assert_all_asked_once(struct rig *r)
{
	uint32_t place;

	for (place = 0; place < TOY_NODES; place++)
		if (r->cls[place] != TOY_CLASSES)
			assert_int_equal(asked(r, place), 1);
		else if (!r->cfg.has_head)	/* else gaps are read */
			assert_int_equal(asked(r, place), 0);
	/* Only blocks that had been read ahead were parsed. */
	assert_int_equal(r->dev[0].missing_read + r->dev[1].missing_read, 0);
}

static void all_read_once(void **state)
{
	static const struct {
		unsigned workers;
		bool has_head, paced;
	} ways[] = {
		{ 1, false, true }, { 3, false, true }, { 3, false, false },
		{ 1, true, true }, { 2, true, false }, { 8, false, true },
	};
	struct rig r;
	size_t w;

	(void)state;
	for (w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		set_up(&r, ways[w].workers, ways[w].has_head);
		r.cfg.paced = ways[w].paced;
		start(&r);
		assert_true(e2pf_engine_wait(r.e, -1));
		assert_all_asked_once(&r);
		/* Including units that were found while reading. */
		assert_int_equal(r.fs.roots, TOY_ROOTS);
		assert_false(e2pf_engine_gave_up(r.e));
		tear_down(&r);
	}
}

/* On both devices the map is read before any node, and data after all trees, in
 * device order. */
static void phases_in_order(void **state)
{
	struct rig r;
	unsigned d;

	(void)state;
	set_up(&r, 1, false);
	start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	for (d = 0; d < 2; d++) {
		unsigned last = TOY_MAP;
		uint64_t place = 0;
		size_t i;

		for (i = 0; i < r.dev[d].events; i++) {
			const struct fake_event *ev = &r.dev[d].event[i];
			unsigned cls = r.cls[d * TOY_BLOCKS + ev->block];

			if (ev->op != FAKE_WILLNEED)
				continue;
			assert_uint_in_range(cls, last, TOY_DATA);
			if (cls == TOY_DATA && last == TOY_DATA)
				assert_true(ev->block > place);
			last = cls;
			place = ev->block;
		}
		assert_int_equal(last, TOY_DATA);
	}
	tear_down(&r);
}

/* A checker reads a block, on its device. */
static void check_block(struct rig *r, uint32_t place)
{
	struct e2pf_device *dev = r->device[place / TOY_BLOCKS];
	struct e2pf_read read = {
		.device = place / TOY_BLOCKS,
		.offset = (uint64_t)(place % TOY_BLOCKS) * TOY_BLOCK,
		.length = TOY_BLOCK
	};
	char buf[TOY_BLOCK];

	e2pf_engine_before_read(r->e, &read);
	assert_int_equal(dev->ops->read(dev, buf, read.offset, TOY_BLOCK), 0);
	e2pf_engine_after_read(r->e, &read);
}

static void every_read_a_hit(void **state)
{
	struct e2pf_engine_stats st;
	uint32_t place;
	struct rig r;

	(void)state;
	set_up(&r, 3, false);
	start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	e2pf_engine_get_stats(r.e, &st);
	assert_int_equal(st.prefetched_bytes, TOY_ALL_BLOCKS * TOY_BLOCK);
	assert_int_equal(st.peak_lookahead_bytes, TOY_ALL_BLOCKS * TOY_BLOCK);
	assert_int_equal(st.wasted_bytes, TOY_ALL_BLOCKS * TOY_BLOCK);
	e2pf_engine_stage(r.e, 1);
	for (place = 0; place < TOY_NODES; place++)
		if (r.cls[place] != TOY_CLASSES)
			check_block(&r, place);
	e2pf_engine_get_stats(r.e, &st);
	assert_int_equal(st.stage[1].reads, TOY_ALL_BLOCKS);
	assert_int_equal(st.stage[1].hits, TOY_ALL_BLOCKS);
	assert_int_equal(st.wasted_bytes, 0);
	/* Only the checker reads blocks that no tree refers to. */
	check_block(&r, 1);
	e2pf_engine_get_stats(r.e, &st);
	assert_int_equal(st.stage[1].reads, TOY_ALL_BLOCKS + 1);
	assert_int_equal(st.stage[1].hits + st.stage[1].stalls, TOY_ALL_BLOCKS + 1);
	tear_down(&r);
}

/* The readahead window stays within the budget while a checker goes from root to
 * root, and everything is read in the end. */
static void budget_kept(void **state)
{
	static const unsigned workers[] = { 1, 3 };
	struct rig r;
	unsigned w, unit, budget = 24;

	(void)state;
	for (w = 0; w < 2; w++) {
		set_up(&r, workers[w], false);
		r.cfg.budget = budget * TOY_BLOCK;
		start(&r);
		for (unit = 0; unit < TOY_ROOTS; unit++) {
			unsigned nodes;

			e2pf_engine_at(r.e, TOY_READ_TREES, unit);
			fake_threads_settle();
			nodes = asked_of(&r, TOY_NODE);
			/* Each worker checks the budget before a run, which
			 * may exceed it by one block. */
			assert_uint_in_range(nodes, unit ? unit : 1,
					unit * (1 + TOY_NODES_OF_ROOT) + budget +
					workers[w]);
			if (unit < TOY_ROOTS / 2 && workers[w] == 1)
				assert_int_equal(asked_of(&r, TOY_DATA), 0);
		}
		/* Data, which only a later phase needs, may use half of it. */
		assert_uint_in_range(asked_of(&r, TOY_DATA), 1,
				budget / 2 + workers[w]);
		e2pf_engine_stop(r.e, -1);
		tear_down(&r);
	}
}

/* Blocks with arbitrary contents: it ends, and requests nothing outside. */
static void hostile_blocks(void **state)
{
	uint32_t seed, i, word;
	struct rig r;

	(void)state;
	for (seed = 1; seed <= 20; seed++) {
		uint32_t x = seed;

		set_up(&r, 1 + seed % 3, seed % 2);
		for (i = 0; i < TOY_NODES; i++)
			for (word = 0; word < TOY_BLOCK / 4; word++) {
				x = x * 1664525 + 1013904223;
				((uint32_t *)at(&r, i))[word] = x >> 22;
			}
		at(&r, 0)->count = TOY_ENTRIES;
		r.cfg.paced = false;
		start(&r);
		assert_true(e2pf_engine_wait(r.e, -1));
		assert_int_equal(r.dev[0].missing_read, 0);
		assert_int_equal(r.dev[1].missing_read, 0);
		tear_down(&r);
	}
}

static void plan_counted_by_class(void **state)
{
	struct e2pf_class_count count[TOY_CLASSES];
	struct rig r;

	(void)state;
	set_up(&r, 1, false);
	r.e = e2pf_engine_new(&r.cfg);
	assert_int_equal(e2pf_engine_plan(r.e, count), 0);
	assert_int_equal(count[TOY_MAP].bytes, TOY_MAP_PARTS * TOY_BLOCK);
	assert_int_equal(count[TOY_NODE].bytes, TOY_ALL_NODES * TOY_BLOCK);
	assert_int_equal(count[TOY_DATA].bytes, TOY_ALL_DATA * TOY_BLOCK);
	assert_int_equal(count[TOY_DATA].runs, TOY_ALL_DATA);
	assert_int_equal(asked_of(&r, TOY_MAP), 0);
	tear_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_read_once),
		cmocka_unit_test(phases_in_order),
		cmocka_unit_test(every_read_a_hit),
		cmocka_unit_test(budget_kept),
		cmocka_unit_test(hostile_blocks),
		cmocka_unit_test(plan_counted_by_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
