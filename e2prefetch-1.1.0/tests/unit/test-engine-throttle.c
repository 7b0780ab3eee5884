/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far the engine reads ahead of a checker, and that it stays within its
 * memory budget, on a simulated device and clock.
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

#include "engine/engine_state.h"
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
	e2pf_ext4_at_group(r.fs.ext4, r.e, 10);
	fake_hold(&r.dev, FAKE_WILLNEED, false);
	fake_threads_settle();
	/* Current batches were already in flight; the next ones are ahead of
	 * the checker. */
	for (g = 0; g < 20; g++)
		assert_int_equal(rig_table_asked(&r, g), g < 3 || g > 10);
	rig_tear_down(&r);

	/* The group that the checker is at does not count as passed. */
	rig_set_up(&r, 20, 3);
	fake_hold(&r.dev, FAKE_WILLNEED, true);
	rig_start(&r);
	fake_threads_settle();
	e2pf_ext4_at_group(r.fs.ext4, r.e, 4);
	fake_hold(&r.dev, FAKE_WILLNEED, false);
	fake_threads_settle();
	for (g = 0; g < 20; g++)
		assert_int_equal(rig_table_asked(&r, g), g != 3);
	rig_tear_down(&r);
}

/* Table blocks ahead of a checker at group `at`. */
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
	static const unsigned workers[] = { 1, 4 };
	struct rig r;
	uint32_t at, n;

	(void)state;
	for (n = 0; n < 2; n++) {
		rig_set_up(&r, 60, workers[n]);
		r.cfg.budget = 40 * BS;
		r.classes = 1u << E2PF_INODES;
		rig_start(&r);
		fake_threads_settle();
		for (at = 0; at < 60; at++) {
			uint64_t ahead;

			e2pf_ext4_at_group(r.fs.ext4, r.e, at);
			fake_threads_settle();
			ahead = tables_ahead(&r, at);
			/* At most one run too many for each worker. */
			assert_uint_in_range(ahead, 0,
					40 + workers[n] * TABLE_BLOCKS);
			if (at < 50 && workers[n] == 1)
				assert_uint_in_range(ahead, 16, 100);
		}
		/* With several workers one may be overtaken while the others
		 * have used the budget up. */
		for (at = 0; at < 60; at++)
			assert_uint_in_range(rig_table_asked(&r, at), workers[n] == 1, 1);
		rig_tear_down(&r);
	}
}

/* The checker's progress reports do not wake workers that have nothing to do:
 * those that have read everything, and those whose window is still full. */
static void idle_workers_not_woken(void **state)
{
	struct rig r;
	unsigned before;
	uint32_t at;

	(void)state;
	rig_set_up(&r, 60, 16);
	rig_start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	fake_threads_settle();
	before = fake_threads_woken();
	for (at = 0; at < 60; at++)
		e2pf_ext4_at_group(r.fs.ext4, r.e, at);
	assert_int_equal(fake_threads_woken(), before);
	rig_tear_down(&r);

	/* Nor do its reads, in a phase in which reads free the budget. */
	rig_set_up(&r, 60, 16);
	r.cfg.budget = 200 * BS;
	r.classes = 1u << E2PF_BITMAPS;
	rig_start(&r);
	e2pf_ext4_list_begin(r.fs.ext4, r.e, 0);
	assert_true(e2pf_engine_wait(r.e, -1));
	fake_threads_settle();
	before = fake_threads_woken();
	for (at = 0; at < 60; at++)
		rig_checker_reads(&r, r.fs.groups[at].block_bitmap, 2);
	assert_int_equal(fake_threads_woken(), before);
	assert_int_equal(rig_stats(&r).wasted_bytes, 0);
	rig_tear_down(&r);
}

/* Requests turn out to be dear when one of two workers has read all of its
 * units: it takes those that the other one has left. */
static void idle_worker_woken_for_adjacent_units(void **state)
{
	struct rig r;
	uint32_t g;

	(void)state;
	rig_set_up(&r, 60, 2);
	r.classes = 1u << E2PF_INODES;
	fake_hold(&r.dev, FAKE_WILLNEED, true);
	fake_hold_only(&r.dev, 0);
	rig_start(&r);
	fake_threads_settle();
	for (g = 0; g < 60; g++)
		assert_int_equal(rig_table_asked(&r, g), g % 2);
	pthread_mutex_lock(&r.e->lock);
	assert_int_equal(r.e->worker[1].state, WORKER_IDLE);
	e2pf_control_set(&r.e->control, 333000, 8);
	e2pf_follow_control(r.e);
	pthread_mutex_unlock(&r.e->lock);
	fake_threads_settle();
	/* The other one is still in its first request. */
	assert_int_equal(fake_blocked(&r.dev, FAKE_WILLNEED), 1);
	for (g = 1; g < 60; g++)
		assert_int_equal(rig_table_asked(&r, g), 1);
	rig_tear_down(&r);
}

/* A worker that has used up the budget is woken when there is room for a whole
 * batch, here a group. */
static void throttled_worker_woken_by_the_batch(void **state)
{
	struct rig r;
	unsigned before;
	uint32_t at;

	(void)state;
	rig_set_up(&r, 60, 1);
	r.cfg.budget = 4 * TABLE_BLOCKS * BS;
	r.classes = 1u << E2PF_INODES;
	rig_start(&r);
	fake_threads_settle();
	for (at = 0; at < 40; at++) {
		e2pf_ext4_at_group(r.fs.ext4, r.e, at);
		fake_threads_settle();
		before = fake_threads_woken();
		/* Again: nothing new. */
		e2pf_ext4_at_group(r.fs.ext4, r.e, at);
		assert_int_equal(fake_threads_woken(), before);
		assert_true(tables_ahead(&r, at) >= TABLE_BLOCKS);
	}
	assert_true(fake_threads_woken() <= 60);
	rig_tear_down(&r);
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
	assert_uint_in_range(fake_missing_asked(&r.dev), 40, 48);
	/* The budget counts from each start. */
	assert_true(e2pf_engine_stop(r.e, -1));
	assert_int_equal(e2pf_engine_start(r.e), 0);
	assert_true(e2pf_engine_wait(r.e, -1));
	assert_true(e2pf_engine_gave_up(r.e));
	assert_uint_in_range(fake_missing_asked(&r.dev), 80, 96);
	rig_tear_down(&r);
}

/* Two workers read tables: the first, at group 0, waits for the device, and the
 * second has gone as far as it may. */
static void start_with_one_held(struct rig *r, unsigned blocks)
{
	r->cfg.budget = blocks * BS;
	r->classes = 1u << E2PF_INODES | 1u << E2PF_DIRS;
	/* Both take their first batch before one of them goes on. */
	fake_hold(&r->dev, FAKE_READ, true);
	rig_start(r);
	fake_threads_settle();
	fake_hold_only(&r->dev, 0);
	fake_threads_settle();
}

/* The part of the budget that the far worker must leave is available to the
 * worker that the checker reaches first. */
static void nearest_worker_not_starved(void **state)
{
	struct rig r;
	uint32_t g;

	(void)state;
	rig_set_up(&r, 20, 2);
	start_with_one_held(&r, 40);
	/* Half the budget: 8 blocks of group 0, and 16 of its own. */
	for (g = 0; g < 20; g++)
		assert_int_equal(rig_table_asked(&r, g),
				 g == 0 || g == 1 || g == 3);
	fake_hold(&r.dev, FAKE_READ, false);
	fake_threads_settle();
	for (g = 0; g < 20; g++)
		assert_int_equal(rig_table_asked(&r, g), g < 5);
	rig_tear_down(&r);
}

/* When the near worker has no work left, the other one may use all of the
 * budget. */
static void nearest_worker_takes_over(void **state)
{
	struct rig r;
	uint32_t g;

	(void)state;
	rig_set_up(&r, 20, 2);
	for (g = 2; g < 20; g += 2)
		r.fs.groups[g].inodes_in_use = 0;
	start_with_one_held(&r, 40);
	assert_int_equal(rig_table_asked(&r, 5), 0);
	fake_hold(&r.dev, FAKE_READ, false);
	fake_threads_settle();
	assert_int_equal(rig_table_asked(&r, 5), 1);
	assert_int_equal(rig_table_asked(&r, 7), 1);
	assert_int_equal(rig_table_asked(&r, 9), 0);
	rig_tear_down(&r);
}

/* The near worker overtakes the other, which then is the near one, and so
 * on. */
static void nearest_worker_by_turns(void **state)
{
	struct rig r;
	uint32_t g;

	(void)state;
	rig_set_up(&r, 20, 2);
	/* One batch of ten blocks: groups 2, 4 and 6. */
	r.fs.groups[4].inodes_in_use = 8;
	r.fs.groups[6].inodes_in_use = 8;
	start_with_one_held(&r, 56);
	assert_int_equal(rig_table_asked(&r, 5), 1);
	assert_int_equal(rig_table_asked(&r, 7), 0);
	fake_hold(&r.dev, FAKE_READ, false);
	fake_threads_settle();
	/* 32 blocks of groups 0, 1, 3 and 5, ten, eight of 7, eight of 8. */
	for (g = 0; g < 20; g++)
		assert_int_equal(rig_table_asked(&r, g), g < 9);
	rig_tear_down(&r);
}

static uint64_t machine_has;

static struct e2pf_engine *asking;

/* Workers call this without the engine's lock; otherwise it would deadlock. */
static uint64_t ask_machine(void *ctx)
{
	if (asking && fake_worker() >= 0)
		e2pf_engine_progress(asking);
	return *(uint64_t *)ctx;
}

static void machine_with_little_memory(void **state)
{
	struct rig r;

	(void)state;
	rig_set_up(&r, 400, 1);
	r.classes = 1u << E2PF_INODES;
	r.cfg.available = ask_machine;
	r.cfg.available_ctx = &machine_has;
	machine_has = 0;
	rig_start(&r);
	fake_threads_settle();
	/* One MiB is always allowed. */
	assert_uint_in_range(fake_missing_asked(&r.dev), 1024, 1024 + 8);
	/* More memory is available now, which the next query finds. */
	machine_has = PLENTY;
	asking = r.e;
	fake_advance(&r.dev, SECOND);
	e2pf_ext4_at_group(r.fs.ext4, r.e, 1);
	fake_threads_settle();
	assert_int_equal(fake_missing_asked(&r.dev), 400 * TABLE_BLOCKS);
	asking = NULL;
	rig_tear_down(&r);
}

/* Without a checker that uses the blocks, three quarters of the available
 * memory are filled. */
static void three_quarters_without_checker(void **state)
{
	struct rig r;

	(void)state;
	rig_set_up(&r, 600, 1);
	r.classes = 1u << E2PF_INODES;
	r.cfg.paced = false;
	r.cfg.available = ask_machine;
	r.cfg.available_ctx = &machine_has;
	machine_has = 4 << 20;
	r.cfg.budget = e2pf_engine_budget(machine_has, false);
	rig_start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	assert_true(e2pf_engine_gave_up(r.e));
	assert_uint_in_range(fake_missing_asked(&r.dev), 3072, 3072 + 8);
	rig_tear_down(&r);
}

/*
 * The block sets have no room for a single run.  Requested blocks count against
 * the budget all the same, until the checker has passed them.
 */
static void unrecorded_tables(void **state)
{
	struct e2pf_engine_stats st;
	struct rig r;
	uint32_t at;

	(void)state;
	rig_set_up(&r, 60, 1);
	r.cfg.set_memory = 1;
	r.cfg.budget = 40 * BS;
	r.classes = 1u << E2PF_INODES;
	rig_start(&r);
	for (at = 0; at < 60; at++) {
		e2pf_ext4_at_group(r.fs.ext4, r.e, at);
		fake_threads_settle();
		assert_uint_in_range(tables_ahead(&r, at), at < 50 ? 16 : 0,
				40 + TABLE_BLOCKS);
	}
	st = rig_stats(&r);
	assert_int_equal(st.prefetched_bytes, 60 * TABLE_BLOCKS * BS);
	assert_uint_in_range(st.peak_lookahead_bytes, 40 * BS,
			(40 + TABLE_BLOCKS) * BS);
	/* The last batch has not been passed. */
	assert_uint_in_range(st.wasted_bytes, TABLE_BLOCKS * BS, 40 * BS);
	e2pf_ext4_list_begin(r.fs.ext4, r.e, 0);
	assert_int_equal(rig_stats(&r).wasted_bytes, 0);
	rig_tear_down(&r);
}

static void unrecorded_total(void **state)
{
	struct rig r;

	(void)state;
	rig_set_up(&r, 60, 1);
	r.cfg.set_memory = 1;
	r.cfg.paced = false;
	r.cfg.budget = 40 * BS;
	rig_start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	assert_true(e2pf_engine_gave_up(r.e));
	assert_uint_in_range(fake_missing_asked(&r.dev), 40, 48);
	rig_tear_down(&r);
}

/* The block sets have room for eight runs, which the bitmaps take.  The
 * deferred directories are eight more runs, of ten blocks each. */
static void unrecorded_directories(void **state)
{
	enum { LEAVES = 10, GROUPS = 8 };
	uint64_t dir[GROUPS * LEAVES], node;
	struct rig r;
	unsigned i, g, asked = 0;

	(void)state;
	rig_set_up(&r, GROUPS, 1);
	for (i = 0; i < GROUPS * LEAVES; i++)
		dir[i] = tiny_free_block(&r.fs, i / LEAVES) + 10 + i % LEAVES;
	for (g = 0; g < GROUPS; g++) {
		node = tiny_free_block(&r.fs, g);
		tiny_inode(&r.fs, g * INODES + 20, LINUX_S_IFDIR, 1, &node,
			   1);
		tiny_node(&r.fs, node, 0, &dir[g * LEAVES], LEAVES);
	}
	r.cfg.set_memory = 48;
	r.cfg.has_head = true;
	r.cfg.budget = 2 * 8 * GROUPS * BS;
	rig_start(&r);
	fake_threads_settle();
	for (i = 0; i < GROUPS * LEAVES; i++)
		asked += fake_asked(&r.dev, dir[i]);
	/* Half of the budget, minus the bitmaps. */
	assert_uint_in_range(asked, 40, 48);
	e2pf_ext4_list_begin(r.fs.ext4, r.e, GROUPS * LEAVES);
	e2pf_ext4_list_put(r.fs.ext4, r.e, dir, GROUPS * LEAVES);
	for (i = 0; i < GROUPS * LEAVES; i++) {
		e2pf_ext4_list_at(r.fs.ext4, r.e, i);
		fake_threads_settle();
	}
	for (i = 0; i < GROUPS * LEAVES; i++)
		assert_int_equal(fake_asked(&r.dev, dir[i]), 1);
	rig_tear_down(&r);
}

/* In the last pass, every read is of a bitmap and frees its part of the
 * budget. */
static void unrecorded_bitmaps(void **state)
{
	struct rig r;

	(void)state;
	rig_set_up(&r, 40, 1);
	r.cfg.set_memory = 1;
	r.cfg.budget = 20 * BS;
	r.classes = 1u << E2PF_BITMAPS;
	rig_start(&r);
	e2pf_ext4_list_begin(r.fs.ext4, r.e, 0);
	fake_threads_settle();
	assert_uint_in_range(fake_missing_asked(&r.dev), 20, 22);
	e2pf_engine_stage(r.e, E2PF_EXT4_PASS3);
	rig_checker_reads(&r, r.fs.groups[0].inode_table, TABLE_BLOCKS);
	fake_threads_settle();
	assert_uint_in_range(fake_missing_asked(&r.dev), 20, 22);
	e2pf_engine_stage(r.e, E2PF_EXT4_PASS5);
	rig_checker_reads_bitmaps(&r);
	rig_assert_bitmaps_asked(&r, 1);
	rig_tear_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overtaken),
		cmocka_unit_test(budget_kept),
		cmocka_unit_test(idle_workers_not_woken),
		cmocka_unit_test(idle_worker_woken_for_adjacent_units),
		cmocka_unit_test(throttled_worker_woken_by_the_batch),
		cmocka_unit_test(total_budget),
		cmocka_unit_test(nearest_worker_not_starved),
		cmocka_unit_test(nearest_worker_takes_over),
		cmocka_unit_test(nearest_worker_by_turns),
		cmocka_unit_test(machine_with_little_memory),
		cmocka_unit_test(three_quarters_without_checker),
		cmocka_unit_test(unrecorded_tables),
		cmocka_unit_test(unrecorded_total),
		cmocka_unit_test(unrecorded_directories),
		cmocka_unit_test(unrecorded_bitmaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
