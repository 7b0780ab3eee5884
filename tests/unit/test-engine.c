/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The engine on a simulated device and clock: that it reads everything once,
 * what it counts, that it can be stopped in every state, and the priorities of its
 * threads.  No test depends on speed: each waits for a state.
 */
#include <stdatomic.h>

#include "unit.h"
#include "lib/thread.h"
#include "engine-rig.h"
#include "prefetch/survey.h"
#include "prefetch/state.h"

/* Requests in flight at first. */
#define FIRST_REQUESTS 4u

/* Units are announced; taken, some at a time; and a phase ends. */
#define LOCKS_OF_A_CLAIM 4u

RIG_TESTS(errors_tolerated, 2, rig_set_up(r, 40, 1))
{
	uint32_t g, bad = way ? 40 : 1;

	for (g = 0; g < bad; g++)
		fake_set_bad(&r->dev, r->fs.groups[g].inode_table, 1);
	rig_run(r);
	assert_int_equal(rig_stats(r).gave_up, way);
	assert_false(pf_engine_reads_ahead(r->e));
	assert_int_equal(rig_stats(r).errors, 1 + way);
	assert_int_equal(rig_table_asked(r, 39), !way);
}

static struct pf_engine *starting;
static unsigned prepared;

static unsigned stop_meanwhile(void *unused, unsigned workers)
{
	(void)unused;
	prepared++;
	assert_int_equal(fake_threads_alive(), 0);
	assert_false(pf_engine_wait(starting, 0));
	assert_false(pf_engine_stop(starting, 0));
	return workers;
}

/* Between the decision to start and the first thread: each ends without taking
 * anything. */
RIG_TESTS(stopped_while_starting, 2, rig_set_up(r, 8, 2))
{
	prepared = 0;
	r->options.before_threads = stop_meanwhile;
	rig_new(r);
	starting = r->e;
	fake_threads_fail_create(way ? 0 : -1);
	assert_int_equal(pf_engine_start(r->e, &r->options), way ? EAGAIN : 0);
	assert_int_equal(prepared, 1);
	assert_true(pf_engine_stop(r->e, -1));
	assert_int_equal(fake_missing_asked(&r->dev), 0);
	fake_threads_reset();
	r->options.before_threads = NULL;
	rig_go_on(r);
	assert_int_equal(rig_table_asked(r, 7), 1);
}

/* While two workers wait for the device: nothing else ends them. */
RIG_TESTS(stopped_while_waiting, FAKE_OPS, rig_set_up(r, 80, 2))
{
	fake_hold(&r->dev, way, true);
	rig_settle(r);
	assert_int_equal(fake_blocked(&r->dev, way), 2);
	assert_false(pf_engine_wait(r->e, 1));
	/* Without a wait, and with a short one. */
	assert_false(pf_engine_stop(r->e, 0));
	assert_false(pf_engine_stop(r->e, 1));
	assert_int_equal(pf_engine_start(r->e, &r->options), EBUSY);
	fake_hold(&r->dev, way, false);
	assert_true(pf_engine_stop(r->e, -1));
	assert_int_equal(fake_threads_alive(), 0);
}

static void make_flat_directories(struct rig *r, unsigned count)
{
	uint64_t dir = tiny_free_block(&r->fs, 0) + 10;
	unsigned i;

	for (i = 0; i < count; i++, dir += 2)
		tiny_inode(&r->fs, 12 + i, LINUX_S_IFDIR, 0, &dir, 1);
}

/* Blocks that are only read ahead report no error: it is noticed when there is
 * no room for more requests and they have not arrived. */
RIG_TESTS(errors_of_unparsed_blocks, 2, rig_set_up_sized(r, 2, 512, 1))
{
	enum { DIRS = 100 };
	uint64_t dir[DIRS];
	unsigned i;

	r->classes = 1u << EXT4_DIRS | 1u << EXT4_INODES;
	for (i = 0; i < DIRS; i++) {
		dir[i] = tiny_free_block(&r->fs, 0) + 10 + 2 * i;
		tiny_inode(&r->fs, i < 50 ? 12 + i : INODES + i - 49,
			   LINUX_S_IFDIR, 0, &dir[i], 1);
		if (way)
			fake_set_bad(&r->dev, dir[i], 1);
	}
	rig_run(r);
	/* Each is waited for, except those in flight at the end. */
	assert_uint_in_range(rig_asked_of(r, dir, DIRS), way ? 2 : DIRS,
			     way ? 2 + FIRST_REQUESTS : DIRS);
	assert_int_equal(rig_stats(r).errors, way ? 2 : 0);
	assert_int_equal(rig_stats(r).gave_up, way);
}

/* What lies in gaps may be what is failing. */
RIG_TESTS(gaps_of_a_degraded_device, 2, rig_set_up_sized(r, 1, 512, 1))
{
	uint64_t between = tiny_free_block(&r->fs, 0) + 11;

	make_flat_directories(r, 2);
	r->options.seek_bound = true;
	rig_new(r);
	r->e->health.degraded = way;
	rig_go_on(r);
	assert_int_equal(rig_asked(r, between - 1), 1);
	assert_int_equal(rig_asked(r, between), !way);
	assert_int_equal(rig_asked(r, between + 1), 1);
}

/* Requests that take long, and blocks that were evicted again, are not errors;
 * and evicted blocks are not read again. */
RIG_TESTS(late_blocks_are_no_errors, 2, rig_set_up_sized(r, 1, 512, 1))
{
	uint64_t dir[50];
	unsigned i;

	make_flat_directories(r, 50);
	r->classes &= ~(1u << EXT4_BITMAPS);
	/* The tables arrive, and the first request of a directory block does not. */
	fake_hold(&r->dev, FAKE_READ, true);
	rig_settle(r);
	fake_hold(&r->dev, FAKE_WILLNEED, true);
	fake_hold(&r->dev, FAKE_READ, false);
	fake_threads_settle();
	assert_int_equal(fake_blocked(&r->dev, FAKE_WILLNEED), 1);
	fake_set_late(&r->dev, true);
	fake_hold(&r->dev, FAKE_WILLNEED, false);
	fake_threads_settle();
	/* The worker waits for the first, or the tables made room for
	 * some more. */
	for (i = 0; i < 50; i++)
		dir[i] = tiny_free_block(&r->fs, 0) + 10 + 2 * i;
	assert_uint_in_range(rig_asked_of(r, dir, 50), FIRST_REQUESTS - 2,
			     FIRST_REQUESTS + 4);
	if (way)
		memset(r->dev.in_flight, 0, r->dev.blocks);
	fake_set_late(&r->dev, false);
	fake_complete(&r->dev);
	assert_true(pf_engine_wait(r->e, -1));
	assert_int_equal(rig_asked(r, dir[49]), 1);
	assert_int_equal(rig_stats(r).errors, 0);
	/* Except for the one that was waited for. */
	assert_uint_in_range(r->dev.missing_read, 0, 1);
}

/* A sector that cannot be read is asked for once, whether it would be parsed or not,
 * and nothing more is until the checker has read it; with the second one the engine
 * gives up. */
RIG_TESTS(bad_sector_asked_for_once, 2, rig_set_up(r, 2, 1))
{
	enum { DIRS = 40 };
	uint64_t dir[DIRS], at, bad;
	unsigned i;

	r->classes = way ? EXT4_ALL_CLASSES : 1u << EXT4_DIRS;
	at = tiny_free_block(&r->fs, 0);
	for (i = 0; i < DIRS; i++)
		dir[i] = at + 2 * i;
	bad = way ? r->fs.groups[0].inode_table : dir[0];
	fake_set_bad(&r->dev, bad, 1);
	fake_set_bad(&r->dev, dir[DIRS - 1], 1);
	fake_tell(&r->dev);
	/* What completes before would allow more requests. */
	for (i = 0; !way && i < 2; i++)
		r->fs.groups[i].inodes_in_use = 0;
	rig_start(r);
	if (!way) {
		fake_threads_settle();
		ext4_source_list_begin(r->fs.ext4, r->e, DIRS, EXT4_DIRS);
		ext4_source_list_add(r->fs.ext4, r->e, dir, DIRS);
	}
	while (!rig_stats(r).slow_or_failed)
		sched_yield();
	/* The checker's own readahead is not refused any more. */
	assert_false(pf_engine_reads_ahead(r->e));
	assert_int_equal(rig_asked_of(r, dir, DIRS), way ? 0 : FIRST_REQUESTS);
	rig_read_fails(r, bad * BS);
	for (i = 0; i < 4; i++)
		rig_checker_reads(r, at + 100 + i, 1);
	fake_threads_settle();
	assert_int_equal(rig_asked(r, bad), 1);
	assert_int_equal(r->dev.bad_read, 0);
	assert_false(rig_stats(r).gave_up);
	rig_read_fails(r, dir[DIRS - 1] * BS);
	assert_true(rig_stats(r).gave_up);
	assert_int_equal(rig_stats(r).degraded_at, bad * BS);
}

/* A sector that fails at once is known to before a second has passed. */
RIG_TEST(bad_sector_that_fails_at_once, 2, 1)
{
	fake_set_bad(&r->dev, r->fs.groups[0].inode_table, 1);
	fake_tell(&r->dev);
	r->dev.fails_at_once = true;
	rig_run(r);
	assert_int_equal(rig_stats(r).errors, 1);
	assert_true(r->dev.clock < PF_STALLED_NS);
	/* The checker meets the same one. */
	rig_read_fails(r, r->fs.groups[0].inode_table * BS);
	assert_int_equal(rig_stats(r).slow_or_failed, 1);
	assert_false(rig_stats(r).gave_up);
}

static bool count_disks(void *ctx, struct pf_disk_counters *disks)
{
	return !memcpy(disks, ctx, sizeof(*disks)) || disks->in_flight != UINT64_MAX;
}

/* What the disks did while a read took three seconds. */
enum { THEY_READ, THEY_STOOD_STILL, THEY_ARE_UNKNOWN, THEY_WERE_LOOKED_AT_LONG_AGO,
       DISKS };

/* A read that took long because this process stood still says nothing of a disk. */
RIG_TESTS(pause_is_no_slow_read, DISKS, rig_set_up(r, 2, 1))
{
	struct pf_disk_counters disks = { .busy_ns = 7 };
	struct pf_read read = { .offset = BS, .length = BS };

	r->options.ctx = &disks;
	r->options.count_disks = count_disks;
	if (way == THEY_ARE_UNKNOWN)
		disks.in_flight = UINT64_MAX;
	fake_advance(&r->dev, SECOND);
	rig_settle(r);
	if (way == THEY_WERE_LOOKED_AT_LONG_AGO)
		fake_advance(&r->dev, 2 * SECOND);
	pf_engine_before_read(r->e, &read);
	fake_advance(&r->dev, 3 * SECOND);
	disks.busy_ns += way == THEY_READ ? 2 * SECOND : SECOND;
	pf_engine_after_read(r->e, &read);
	assert_int_equal(rig_stats(r).slow_or_failed, way != THEY_STOOD_STILL);
	assert_int_equal(r->e->health.stalled != 0, way != THEY_STOOD_STILL);
}

/* Nobody but a worker reads a page that failed, also if the disks are busy, or
 * unknown. */
RIG_TESTS(bad_sectors_without_a_checker, 4, rig_set_up(r, 2, 1))
{
	static const uint64_t in_flight[] = { 0, 1, UINT64_MAX, 0 };
	struct pf_disk_counters disks = { .in_flight = in_flight[way] };
	unsigned i, bad = way == 3 ? 1 : 2;

	r->options.ctx = &disks;
	r->options.count_disks = count_disks;
	r->options.has_checker = false;
	for (i = 0; i < bad; i++)
		fake_set_bad(&r->dev, r->fs.groups[i].inode_table, 1);
	fake_tell(&r->dev);
	rig_start(r);
	assert_true(pf_engine_wait(r->e, 20000));
	assert_int_equal(rig_stats(r).errors, bad);
	assert_int_equal(rig_stats(r).gave_up, bad == 2);
	assert_true(r->dev.clock < (disks.in_flight ? 15 : 1) * SECOND);
}

/* Nobody but a worker reads a page that was written in part, so it does not wait for
 * that, also if the device has been slow. */
RIG_TESTS(written_in_part_without_a_checker, 2, rig_set_up(r, 40, 1))
{
	struct pf_disk_counters disks = { .in_flight = 1 };
	unsigned i;

	r->options.ctx = &disks;
	r->options.count_disks = count_disks;
	r->options.has_checker = false;
	for (i = 0; i < 40; i++)
		fake_set_in_part(&r->dev, r->fs.groups[i].inode_table, 8);
	fake_tell(&r->dev);
	rig_new(r);
	r->e->health.degraded = way;
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
	assert_true(pf_engine_wait(r->e, 20000));
	assert_int_equal(rig_stats(r).errors, 0);
	assert_true(r->dev.clock < SECOND);
}

/* A stalled device is left to the checker until it serves the checker again. */
RIG_TESTS(stalled_device, 3, rig_set_up(r, 2, 1))
{
	enum { DIRS = 40 };
	uint64_t dir[DIRS], at;
	unsigned i;

	r->classes = 1u << EXT4_DIRS;
	r->fs.groups[0].inodes_in_use = 0;
	r->fs.groups[1].inodes_in_use = 0;
	at = tiny_free_block(&r->fs, 0);
	for (i = 0; i < DIRS; i++)
		dir[i] = at + 2 * i;
	rig_settle(r);
	ext4_source_list_begin(r->fs.ext4, r->e, DIRS, EXT4_DIRS);
	r->dev.tick = 3 * SECOND;
	if (way == 0) {
		/* The checker notices it. */
		rig_checker_reads(r, at + 100, 1);
	} else if (way == 1) {
		/* Its read fails, and would again. */
		rig_read_fails(r, (at + 100) * BS);
	} else {
		/* Or a worker does, when there is no room for more
		 * requests. */
		for (i = 0; i < DIRS; i++)
			fake_set_bad(&r->dev, dir[i], 1);
	}
	ext4_source_list_add(r->fs.ext4, r->e, dir, DIRS);
	fake_threads_settle();
	assert_int_equal(rig_asked_of(r, dir, DIRS), way < 2 ? 0 : FIRST_REQUESTS);
	/* A read from memory is not an answer of the device, however
	 * long it took; and a slow read cancels three quick ones. */
	fake_set_resident(&r->dev, at + 100, 1, true);
	r->dev.tick = SECOND / 100;
	for (i = 0; i < 10; i++)
		rig_checker_reads(r, at + 100, 1);
	r->dev.tick = 0;
	for (i = 0; i < 3; i++)
		rig_checker_reads(r, at + 101 + i, 1);
	r->dev.tick = SECOND;
	rig_checker_reads(r, at + 104, 1);
	r->dev.tick = 0;
	for (i = 0; i < 3; i++)
		rig_checker_reads(r, at + 105 + i, 1);
	fake_threads_settle();
	assert_int_equal(rig_asked(r, dir[DIRS - 1]), 0);
	memset(r->dev.bad, 0, r->dev.blocks);
	rig_checker_reads(r, at + 108, 1);
	fake_threads_settle();
	assert_int_equal(rig_asked(r, dir[DIRS - 1]), 1);
}

/* A stop waits for what is in flight if it is told to, but not after a read that
 * fails. */
RIG_TESTS(stop_that_drains, 4, rig_set_up(r, 1, 1))
{
	bool drains = way & 1, bad = way & 2;

	r->classes = 1u << EXT4_BITMAPS;
	r->options.drain = drains;
	fake_set_late(&r->dev, true);
	if (bad)
		fake_set_bad(&r->dev, 0, r->dev.blocks);
	rig_settle(r);
	assert_int_equal(fake_missing_asked(&r->dev), 2);
	assert_int_equal(pf_engine_stop(r->e, drains && !bad ? 50 : -1),
			 !drains || bad);
	fake_set_late(&r->dev, false);
	fake_complete(&r->dev);
	assert_true(pf_engine_stop(r->e, -1));
	assert_int_equal(rig_stats(r).errors, drains && bad);
}

/* Another start has all of the budget, and what the first one read no longer
 * counts as ahead.  Which of two workers gets the last of the budget is open. */
RIG_TEST(stopped_at_the_budget, 1, 2)
{
	uint64_t before = 0, asked = 0;
	unsigned start;

	make_flat_directories(r, 30);
	r->options.budget = 20 * BS;
	rig_new(r);
	for (start = 0; start < 2; start++) {
		fake_threads_reset();
		assert_int_equal(pf_engine_start(r->e, &r->options), 0);
		fake_threads_settle();
		asked = fake_missing_asked(&r->dev);
		assert_uint_in_range(asked - before, TABLE_BLOCKS + 8,
				     TABLE_BLOCKS + 12);
		assert_true(pf_engine_wait(r->e, 1));
		assert_true(pf_engine_stop(r->e, -1));
		fake_set_resident(&r->dev, 0, r->dev.blocks, false);
		before = asked;
	}
	assert_int_equal(rig_stats(r).wasted_bytes, asked * BS);
}

RIG_TESTS(threads_that_cannot_be_had, 4, rig_set_up(r, 10, 4))
{
	rig_make_directories(r);
	rig_new(r);
	fake_threads_fail_create(way);
	assert_int_equal(pf_engine_start(r->e, &r->options), way ? 0 : EAGAIN);
	assert_int_equal(rig_stats(r).threads, way);
	assert_int_equal(pf_engine_reads_ahead(r->e), way > 0);
	assert_true(pf_engine_wait(r->e, -1));
	if (way)
		rig_assert_all_asked_once(r);
	/* It can be tried again. */
	assert_true(pf_engine_stop(r->e, -1));
	assert_true(pf_engine_stop(r->e, 0));
	assert_false(pf_engine_reads_ahead(r->e));
	fake_threads_reset();
	rig_go_on(r);
	rig_assert_all_asked_once(r);
}

static void use_up(struct rig *r, int n)
{
	const uint64_t list[] = { 100, 120, 140 };
	struct pf_class_count plan[EXT4_CLASSES];

	r->source = tiny_source(&r->fs, r->classes);
	fake_fail_allocation(n);
	r->e = pf_engine_new(r->source, &r->device);
	if (!r->e)
		return;
	pf_survey_count(r->source, &r->device, plan);
	fake_set_resident(&r->dev, 0, r->dev.blocks, false);
	if (pf_engine_start(r->e, &r->options) == 0)
		pf_engine_wait(r->e, -1);
	ext4_source_list_begin(r->fs.ext4, r->e, 3, EXT4_DIRS);
	ext4_source_list_add(r->fs.ext4, r->e, list, 3);
	pf_engine_wait(r->e, -1);
}

TEST(allocations_that_fail)
{
	bool failed = true;
	struct rig r;
	int n;

	for (n = 0; failed; n++) {
		rig_set_up(&r, 10, 2);
		rig_make_directories(&r);
		use_up(&r, n);
		failed = fake_allocation_failed();
		fake_fail_allocation(-1);
		if (!failed)
			rig_assert_all_asked_once(&r);
		rig_tear_down(&r);
	}
	assert_uint_in_range(n, 10, 200);
}

/* How often the engine's lock is taken; waits take it, too, and are not counted. */
static pthread_mutex_t *counted;
static atomic_uint taken;
extern __typeof__(pthread_mutex_lock) __real_pthread_mutex_lock;
extern __typeof__(pthread_mutex_lock) __wrap_pthread_mutex_lock;

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	taken += mutex == counted;
	return __real_pthread_mutex_lock(mutex);
}

static unsigned locks_taken(void)
{
	return atomic_exchange(&taken, 0);
}

/* Once for each read of the checker, not for its reports while nobody waits for them, and
 * twice for each request: is there room for it, and what it is. */
RIG_TEST(lock_is_taken_rarely, 2, 1)
{
	enum { DIRS = 40 };
	uint64_t dir[DIRS], at = tiny_free_block(&r->fs, 0);
	unsigned i;

	r->classes = 1u << EXT4_DIRS;
	for (i = 0; i < 2; i++)
		r->fs.groups[i].inodes_in_use = 0;
	for (i = 0; i < DIRS; i++)
		dir[i] = at + 2 * i;
	rig_settle(r);
	counted = &r->e->lock;
	ext4_source_list_begin(r->fs.ext4, r->e, DIRS, EXT4_DIRS);
	fake_threads_settle();
	locks_taken();
	ext4_source_list_add(r->fs.ext4, r->e, dir, DIRS);
	fake_threads_settle();
	assert_int_equal(rig_asked_of(r, dir, DIRS), DIRS);
	assert_uint_in_range(locks_taken(), 2 * DIRS, 2 * DIRS + LOCKS_OF_A_CLAIM);
	for (i = 0; i < DIRS; i++)
		pf_engine_report_position(r->e, EXT4_PHASE_LIST, i);
	assert_int_equal(locks_taken(), 0);
	for (i = 0; i < DIRS; i++)
		rig_checker_reads(r, dir[i], 1);
	assert_int_equal(locks_taken(), DIRS);
	/* A read that has to wait for the device. */
	rig_checker_reads(r, at + 100, 1);
	assert_int_equal(locks_taken(), 1);
	counted = NULL;
}

RIG_TEST(figures_add_up, 10, 2)
{
	struct pf_engine_stats st;
	uint64_t blocks = 0, began = r->dev.clock, opened, b;
	uint32_t g;

	rig_make_directories(r);
	r->dev.tick = 1000;
	r->dev.miss_ns = 100000;
	fake_set_resident(&r->dev, r->fs.groups[4].inode_table, TABLE_BLOCKS,
			  true);
	rig_run(r);
	for (b = 0; b < r->dev.blocks; b++)
		blocks += rig_asked(r, b);
	st = rig_stats(r);
	assert_int_equal(blocks, 10 * (2 + TABLE_BLOCKS + 2) - TABLE_BLOCKS);
	assert_int_equal(st.prefetched_bytes, blocks * BS);
	assert_int_equal(st.planned_bytes, (blocks + TABLE_BLOCKS) * BS);
	assert_int_equal(st.prefetched_requests, r->dev.requests);
	assert_int_equal(st.wasted_bytes, blocks * BS);
	assert_int_equal(st.checker_bytes, 0);

	opened = r->dev.clock;
	pf_engine_begin_stage(r->e, EXT4_PASS1);
	for (g = 0; g < 10; g++)
		assert_int_equal(rig_checker_reads(r, r->fs.groups[g].inode_table,
						   TABLE_BLOCKS), g != 4);
	pf_engine_begin_stage(r->e, EXT4_PASS2);
	rig_checker_reads(r, 200, 3);
	rig_checker_reads(r, 200, 3);
	fake_advance(&r->dev, 500);
	st = rig_stats(r);
	assert_int_equal(st.wasted_bytes, (blocks - 9 * TABLE_BLOCKS) * BS);
	assert_int_equal(st.checker_bytes, (10 * TABLE_BLOCKS + 6) * BS);
	assert_int_equal(st.stage[EXT4_OPEN].ns, opened - began);
	assert_int_equal(st.stage[EXT4_PASS1].reads, 10);
	assert_int_equal(st.stage[EXT4_PASS1].stalls, 0);
	assert_int_equal(st.stage[EXT4_PASS1].ns, 10000);
	assert_int_equal(st.stage[EXT4_PASS2].reads, 2);
	assert_int_equal(st.stage[EXT4_PASS2].stalls, 1);
	assert_int_equal(st.stage[EXT4_PASS2].stall_ns, 101000);
	assert_int_equal(st.stage[EXT4_PASS2].ns, 102500);
	assert_int_equal(st.prefetched_bytes, blocks * BS);
}

/* Nothing is requested; and what an earlier start has read changes nothing. */
RIG_TESTS(plan_counted, 2, rig_set_up(r, 10, 2))
{
	struct pf_class_count plan[EXT4_CLASSES];

	rig_make_directories(r);
	if (way) {
		rig_run(r);
		assert_true(pf_engine_stop(r->e, -1));
	} else {
		rig_new(r);
	}
	assert_int_equal(pf_survey_count(r->source, &r->device, plan), 0);
	assert_int_equal(plan[EXT4_BITMAPS].bytes, 20 * BS);
	assert_int_equal(plan[EXT4_INODES].bytes, 10 * TABLE_BLOCKS * BS);
	assert_int_equal(plan[EXT4_EXTENTS].bytes, 10 * BS);
	assert_int_equal(plan[EXT4_EXTENTS].runs, 10);
	assert_int_equal(plan[EXT4_DIRS].bytes, 10 * BS);
	assert_int_equal(plan[EXT4_INDIRECT].bytes, 0);
	assert_int_equal(!fake_missing_asked(&r->dev), !way);
}

static bool again;

static const struct pf_phase *first_again(struct pf_source *source,
					  const struct pf_phase *after)
{
	if (!after || again)
		return ext4_source_ops.next(source, after);
	again = true;
	return after;
}

/* A phase that comes again, with units of everything, is not counted twice. */
RIG_TEST(plan_counted_anew, 10, 2)
{
	struct pf_class_count plan[EXT4_CLASSES];

	rig_new(r);
	r->ops.next = first_again;
	again = false;
	assert_int_equal(pf_survey_count(r->source, &r->device, plan), 0);
	assert_true(again);
	assert_int_equal(plan[EXT4_INODES].bytes, 10 * TABLE_BLOCKS * BS);
}

/* With a head, gaps of these sizes are read, unless they hold unused parts of
 * tables. */
RIG_TESTS(unused_tables, 2, rig_set_up_sized(r, 8, 16, 1))
{
	unsigned g;

	for (g = 0; g < 8; g += 2)
		r->fs.groups[g].inodes_in_use = INODES / 4;
	r->options.seek_bound = true;
	rig_new(r);
	r->fs.ext4->options.guarded = way;
	rig_go_on(r);
	for (g = 0; g < 7; g++) {
		uint64_t table = r->fs.groups[g].inode_table;

		assert_int_equal(rig_asked(r, table), 1);
		assert_int_equal(rig_asked(r, table + TABLE_BLOCKS - 1),
				 g % 2 || !way);
		assert_int_equal(rig_asked(r, table + TABLE_BLOCKS),
				 g % 2 || !way);
	}
}

/* Unreadable tables are skipped, until there are too many. */
RIG_TESTS(plan_with_errors, 2, rig_set_up(r, 40, 1))
{
	struct pf_class_count plan[EXT4_CLASSES];
	uint32_t g, bad = 15 + way;

	for (g = 0; g < bad; g++)
		fake_set_bad(&r->dev, r->fs.groups[g].inode_table, 1);
	rig_new(r);
	assert_int_equal(pf_survey_count(r->source, &r->device, plan), way ? EIO : 0);
	assert_int_equal(plan[EXT4_BITMAPS].bytes, 80 * BS);
}

UNIT_MAIN(NULL, NULL)
