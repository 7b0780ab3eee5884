/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How far the engine reads ahead of a checker, and that it stays within its
 * memory budget, on a simulated device and clock.
 */
#include "unit.h"
#include "prefetch/state.h"
#include "engine-rig.h"

/* The `workers` have taken 32 groups each, a quarter of the budget, and are in their
 * first requests when the checker gets to group `at`. */
static const struct {
	unsigned workers, at, left_out[2], end[2];
} of[] = {
	{ 3, 100, { 1, 33 }, { 32, 64 } },
	{ 3, 96, { 65 }, { 96 } },
	/* The group that the checker is at does not count as passed. */
	{ 3, 31, { 0 }, { 0 } }, { 3, 32, { 1 }, { 32 } },
	/* Those that it has passed are not taken, either. */
	{ 1, 50, { 1, 32 }, { 32, 51 } },
};

RIG_TESTS(overtaken, COUNT(of), rig_set_up(r, 120, of[way].workers))
{
	unsigned i;
	uint32_t g;

	r->options.budget = 4 * 32 * TABLE_BLOCKS * BS;
	fake_hold(&r->dev, FAKE_WILLNEED, true);
	rig_settle(r);
	assert_int_equal(fake_blocked(&r->dev, FAKE_WILLNEED),
			 of[way].workers);
	pf_engine_report_position(r->e, EXT4_PHASE_TABLES, of[way].at);
	fake_hold(&r->dev, FAKE_WILLNEED, false);
	fake_threads_settle();
	for (i = 0; i < 2; i++)
		for (g = of[way].left_out[i]; g < of[way].end[i]; g++)
			assert_int_equal(rig_table_asked(r, g), 0);
	for (g = of[way].at + 1; g < 120; g++)
		assert_int_equal(rig_table_asked(r, g), 1);
	assert_int_equal(rig_table_asked(r, 0), 1);
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

RIG_TESTS(budget_kept, 2, rig_set_up(r, 60, way ? 4 : 1))
{
	const unsigned workers = r->options.threads;
	uint32_t at;

	r->options.budget = 40 * BS;
	r->classes = 1u << EXT4_INODES;
	rig_settle(r);
	for (at = 0; at < 60; at++) {
		uint64_t ahead;

		pf_engine_report_position(r->e, EXT4_PHASE_TABLES, at);
		fake_threads_settle();
		ahead = tables_ahead(r, at);
		/* At most one run too many for each worker. */
		assert_uint_in_range(ahead, 0, 40 + workers * TABLE_BLOCKS);
		if (at < 50 && workers == 1)
			assert_uint_in_range(ahead, 16, 100);
	}
	/* With several workers one may be overtaken while the others
	 * have used the budget up. */
	for (at = 0; at < 60; at++)
		assert_uint_in_range(rig_table_asked(r, at), workers == 1, 1);
}

/* The checker's progress reports do not wake workers that have nothing to do: those
 * that have read everything, and those whose window is still full; nor do its reads,
 * in a phase in which reads free the budget. */
RIG_TESTS(idle_workers_not_woken, 2, rig_set_up(r, 60, 16))
{
	unsigned before;
	uint32_t at;

	if (way) {
		r->options.budget = 200 * BS;
		r->classes = 1u << EXT4_BITMAPS;
	}
	rig_start(r);
	if (way)
		ext4_source_list_begin(r->fs.ext4, r->e, 0, EXT4_DIRS);
	assert_true(pf_engine_wait(r->e, -1));
	fake_threads_settle();
	before = fake_threads_woken();
	for (at = 0; at < 60; at++)
		if (way)
			rig_checker_reads(r, r->fs.groups[at].block_bitmap, 2);
		else
			pf_engine_report_position(r->e, EXT4_PHASE_TABLES, at);
	assert_int_equal(fake_threads_woken(), before);
	assert_true(!way || !rig_stats(r).wasted_bytes);
}

/* The checker reports its position between the worker's decision to sleep and
 * its sleep, when it wakes nobody because nobody sleeps yet.  The last reading
 * of the clock before a sleep is made there. */
static struct rig *reporting;
static unsigned clock_readings, report_at;

static void report_position(struct fake_device *f)
{
	(void)f;
	if (fake_worker() >= 0 && ++clock_readings == report_at)
		pf_engine_report_position(reporting->e, EXT4_PHASE_TABLES, 10);
}

RIG_TESTS(report_just_before_a_sleep, 2, rig_set_up(r, 60, 1))
{
	if (!way)
		report_at = 0;
	r->options.budget = 16 * TABLE_BLOCKS * BS;
	r->classes = 1u << EXT4_INODES;
	reporting = r;
	clock_readings = 0;
	r->dev.on_now = report_position;
	rig_settle(r);
	if (way && !rig_table_asked(r, 16))
		fail_msg("a worker sleeps although the checker has made room");
	assert_int_equal(rig_table_asked(r, 15), 1);
	assert_int_equal(rig_table_asked(r, 20), way);
	report_at = clock_readings;
	r->dev.on_now = NULL;
}

/* Two workers read tables: the first, at group 0, waits for the device, and the
 * second has gone as far as it may.  The part of the budget that it must leave is
 * available to the worker that the checker reaches first. */
RIG_TEST(nearest_worker_not_starved, 20, 2)
{
	uint32_t g;

	r->options.budget = 40 * BS;
	r->classes = 1u << EXT4_INODES | 1u << EXT4_DIRS;
	/* Both take their first batch before one of them goes on. */
	fake_hold(&r->dev, FAKE_READ, true);
	rig_settle(r);
	fake_hold_only(&r->dev, 0);
	fake_threads_settle();
	/* Half the budget: 8 blocks of group 0, and 16 of its own. */
	for (g = 0; g < 20; g++)
		assert_int_equal(rig_table_asked(r, g), g < 3);
	fake_hold(&r->dev, FAKE_READ, false);
	fake_threads_settle();
	for (g = 0; g < 20; g++)
		assert_int_equal(rig_table_asked(r, g), g < 5);
}

static uint64_t machine_has;

static struct pf_engine *asking;

/* Workers call this without the engine's lock; otherwise it would deadlock. */
static uint64_t ask_machine(void *ctx)
{
	if (asking && fake_worker() >= 0)
		pf_engine_reads_ahead(asking);
	return *(uint64_t *)ctx;
}

RIG_TEST(machine_with_little_memory, 400, 1)
{
	r->classes = 1u << EXT4_INODES;
	r->options.limit = ask_machine;
	r->options.ctx = &machine_has;
	machine_has = 0;
	rig_settle(r);
	/* One MiB is always allowed. */
	assert_uint_in_range(fake_missing_asked(&r->dev), 1024, 1024 + 8);
	/* There is more memory now, which the next query finds. */
	machine_has = PLENTY;
	asking = r->e;
	fake_advance(&r->dev, SECOND);
	pf_engine_report_position(r->e, EXT4_PHASE_TABLES, 1);
	fake_threads_settle();
	assert_int_equal(fake_missing_asked(&r->dev), 400 * TABLE_BLOCKS);
	asking = NULL;
}

/* A total budget counts from each start. */
RIG_TESTS(total_budget, 2, rig_set_up(r, 900, 1))
{
	uint64_t blocks = way ? 3072 : 40;

	r->options.has_checker = false;
	machine_has = 3 << 20;
	r->options.budget = way ? machine_has : 40 * BS;
	r->options.limit = way ? ask_machine : NULL;
	r->options.ctx = &machine_has;
	rig_run(r);
	assert_true(rig_stats(r).gave_up);
	assert_uint_in_range(fake_missing_asked(&r->dev), blocks, blocks + 8);
	assert_true(pf_engine_stop(r->e, -1));
	rig_go_on(r);
	assert_true(rig_stats(r).gave_up);
	assert_uint_in_range(fake_missing_asked(&r->dev), 2 * blocks,
			     2 * blocks + 16);
	assert_int_equal(rig_stats(r).wasted_bytes,
			 fake_missing_asked(&r->dev) * BS);
}

/* Another program takes the memory while workers read, and do not wait. */
static uint64_t ask_filling(void *ctx)
{
	return (*(unsigned *)ctx)++ ? 3 << 20 : 64 << 20;
}

RIG_TEST(machine_that_fills_up, 900, 1)
{
	unsigned asked = 0;

	r->options.has_checker = false;
	r->options.budget = 48 << 20;
	r->options.limit = ask_filling;
	r->options.ctx = &asked;
	r->dev.tick = SECOND;
	rig_run(r);
	assert_true(rig_stats(r).gave_up);
	assert_uint_in_range(fake_missing_asked(&r->dev), 3072, 3072 + 8);
}

/* In the last pass bitmaps wait for the budget, and the checker's reads make room.
 * A block that cannot be recorded is not read: its use would not be noticed. */
RIG_TESTS(bitmaps_within_the_budget, 2, rig_set_up(r, way ? 300 : 40, 1))
{
	uint32_t g;

	r->classes = 1u << EXT4_BITMAPS;
	r->options.budget = way ? 8 * 2 * 300 * BS - 1 : 20 * BS;
	fake_hold(&r->dev, FAKE_WILLNEED, true);
	rig_start(r);
	if (way) {
		pthread_mutex_lock(&r->e->lock);
		pf_blockset_reset(&r->e->window.ahead, 256 * 16);
		pthread_mutex_unlock(&r->e->lock);
	}
	ext4_source_list_begin(r->fs.ext4, r->e, 0, EXT4_DIRS);
	fake_hold(&r->dev, FAKE_WILLNEED, false);
	fake_threads_settle();
	assert_uint_in_range(fake_missing_asked(&r->dev), way ? 2 * 192 : 20,
			     way ? 2 * 193 : 22);
	for (g = 0; g < r->fs.geo.groups; g++) {
		rig_checker_reads(r, r->fs.groups[g].block_bitmap, 2);
		fake_threads_settle();
	}
	rig_assert_bitmaps_asked(r, 1);
}

/* What a device that was measured has in flight at first: as many requests as take a
 * quarter of a second, 4 to 64, and 4 of any other. */
static const struct {
	uint64_t latency_qd8_ns;
	unsigned requests;
} first[] = {
	{ 0, 4 }, { SECOND / 10, 4 }, { SECOND / 40, 10 }, { SECOND / 1000, 64 }
};

/* Each that completes in time allows one more; one that takes half a second halves the
 * number. */
RIG_TESTS(requests_in_flight, COUNT(first), rig_set_up(r, 80, 1))
{
	r->classes = 1u << EXT4_INODES;
	fake_set_late(&r->dev, true);
	rig_new(r);
	r->options.measure = first[way].latency_qd8_ns;
	r->e->health.speed = (struct pf_speed) {
		.latency_ns = SECOND / 10,
		.latency_qd8_ns = first[way].latency_qd8_ns
	};
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
	fake_threads_settle();
	assert_int_equal(r->dev.requests, first[way].requests);
	if (way)
		return;
	fake_complete(&r->dev);
	fake_threads_settle();
	assert_int_equal(r->dev.requests, 4 + 8);
	fake_advance(&r->dev, SECOND * 6 / 10);
	fake_complete(&r->dev);
	fake_threads_settle();
	assert_int_equal(r->dev.requests, 4 + 8 + 4 + 7);
}

UNIT_MAIN(NULL, NULL)
