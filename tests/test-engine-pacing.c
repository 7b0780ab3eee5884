/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far the engine reads ahead of a checker, and in which order, on a
 * simulated device and clock.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine-rig.h"

static void overtaken(void **state)
{
	struct rig r;
	uint32_t g;

	(void)state;
	rig_set_up(&r, 20, 3);
	fake_hold(&r.dev, FAKE_WILLNEED, true);
	rig_start(&r);
	fake_threads_settle();
	assert_int_equal(fake_blocked(&r.dev, FAKE_WILLNEED), 3);
	e2pf_engine_at_group(r.e, 10);
	fake_hold(&r.dev, FAKE_WILLNEED, false);
	fake_threads_settle();
	/* Those at hand were under way, the next are in front of it. */
	for (g = 0; g < 20; g++)
		assert_int_equal(rig_table_asked(&r, g), g < 3 || g > 10);
	rig_tear_down(&r);
}

/* What is ahead of the checker at group `at`, in table blocks. */
static uint64_t tables_ahead(struct rig *r, uint32_t at)
{
	uint64_t blocks = 0;
	uint32_t g;

	for (g = at; g < r->fs.geo.groups; g++)
		blocks += rig_table_asked(r, g) * TABLE_BLOCKS;
	return blocks;
}

static void budget_kept(void **state)
{
	static const unsigned lanes[] = { 1, 4 };
	struct rig r;
	uint32_t at, n;

	(void)state;
	for (n = 0; n < 2; n++) {
		rig_set_up(&r, 60, lanes[n]);
		r.cfg.budget = 40 * BS;
		r.cfg.classes = 1u << E2PF_INODES;
		rig_start(&r);
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
			assert_in_range(rig_table_asked(&r, at), lanes[n] == 1, 1);
		rig_tear_down(&r);
	}
}

static void total_budget(void **state)
{
	struct rig r;

	(void)state;
	rig_set_up(&r, 60, 1);
	r.cfg.paced = false;
	r.cfg.budget = 40 * BS;
	rig_start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	assert_true(e2pf_engine_gave_up(r.e));
	assert_in_range(fake_missing_asked(&r.dev), 40, 48);
	rig_tear_down(&r);
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
	rig_set_up(&r, 400, 1);
	r.cfg.classes = 1u << E2PF_INODES;
	r.cfg.available = ask_machine;
	r.cfg.available_ctx = &machine_has;
	machine_has = 0;
	rig_start(&r);
	fake_threads_settle();
	/* A mebibyte is always allowed. */
	assert_in_range(fake_missing_asked(&r.dev), 1024, 1024 + 8);
	/* It has more now, which is seen when it is asked again. */
	machine_has = PLENTY;
	fake_advance(&r.dev, SECOND);
	e2pf_engine_at_group(r.e, 1);
	fake_threads_settle();
	assert_int_equal(fake_missing_asked(&r.dev), 400 * TABLE_BLOCKS);
	rig_tear_down(&r);
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
	rig_set_up(&r, 1, 1);
	at = tiny_free_block(&r.fs, 0);
	for (i = 0; i < DIRECTORIES; i++) {
		dir[i] = at + 10 + 2 * i;
		tiny_inode(&r.fs, 12 + i, LINUX_S_IFDIR, 0, &dir[i], 1);
	}
	r.cfg.budget = 40 * BS;
	rig_start(&r);
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
		rig_checker_reads(&r, dir[i], 1);
	}
	for (i = 0; i < DIRECTORIES; i++)
		assert_int_equal(fake_asked(&r.dev, dir[i]), 1);
	assert_int_equal(r.dev.missing_read, 0);
	rig_tear_down(&r);
}

/* A long list of which little is missing: many batches, few bytes. */
static void list_of_many_batches(void **state)
{
	enum { PARTS = 100, PART = 512 };
	uint64_t *list = calloc(PARTS * PART, sizeof(*list)), first;
	struct rig r;
	unsigned i, asked;

	(void)state;
	rig_set_up(&r, 2, 1);
	r.cfg.classes = 1u << E2PF_DIRS;
	r.fs.groups[0].inodes_in_use = r.fs.groups[1].inodes_in_use = 0;
	for (i = 0; i < PARTS; i++)
		list[i * PART] = 100 + i;
	rig_start(&r);
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
	rig_tear_down(&r);
	free(list);
}

static void list_out_of_range(void **state)
{
	const uint64_t list[] = { 0, UINT64_MAX, 100, 1u << 20, 2 * PER_GROUP };
	struct rig r;

	(void)state;
	rig_set_up(&r, 2, 1);
	rig_start(&r);
	e2pf_engine_list_begin(r.e, 5);
	e2pf_engine_list_put(r.e, list, 5);
	fake_threads_settle();
	assert_int_equal(fake_asked(&r.dev, 100), 1);
	assert_int_equal(fake_asked(&r.dev, 2 * PER_GROUP), 1);
	rig_tear_down(&r);
}

/* Too many bitmaps for an eighth of the budget come last, all of them. */
static void bitmaps_after_the_list(void **state)
{
	const uint64_t list[] = { 100, 110, 120, 130, 140, 150, 160, 170 };
	struct rig r;
	uint32_t g;

	(void)state;
	rig_set_up(&r, 16, 2);
	r.cfg.budget = 200 * BS;
	rig_start(&r);
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
		rig_checker_reads(&r, r.fs.groups[g].inode_table, TABLE_BLOCKS);
	e2pf_engine_list_put(r.e, list + 4, 4);
	e2pf_engine_list_at(r.e, 7);
	fake_threads_settle();
	for (g = 0; g < 16; g++)
		assert_int_equal(fake_asked(&r.dev,
					    r.fs.groups[g].block_bitmap), 1);
	rig_tear_down(&r);
}

/* Bitmaps wait for the budget, and go on as the checker reads. */
static void bitmaps_within_the_budget(void **state)
{
	struct rig r;
	uint32_t g;

	(void)state;
	rig_set_up(&r, 40, 1);
	r.cfg.budget = 20 * BS;
	r.cfg.classes = 1u << E2PF_BITMAPS;
	rig_start(&r);
	e2pf_engine_list_begin(r.e, 0);
	fake_threads_settle();
	assert_in_range(fake_missing_asked(&r.dev), 20, 22);
	for (g = 0; g < 40; g++) {
		rig_checker_reads(&r, r.fs.groups[g].block_bitmap, 2);
		fake_threads_settle();
	}
	for (g = 0; g < 40; g++)
		assert_int_equal(fake_asked(&r.dev,
					    r.fs.groups[g].block_bitmap), 1);
	rig_tear_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overtaken),
		cmocka_unit_test(budget_kept),
		cmocka_unit_test(total_budget),
		cmocka_unit_test(machine_with_little_memory),
		cmocka_unit_test(directories_by_the_list),
		cmocka_unit_test(list_of_many_batches),
		cmocka_unit_test(list_out_of_range),
		cmocka_unit_test(bitmaps_after_the_list),
		cmocka_unit_test(bitmaps_within_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
