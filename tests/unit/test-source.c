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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_read_once),
		cmocka_unit_test(phases_in_order),
		cmocka_unit_test(hostile_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
