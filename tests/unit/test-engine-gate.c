/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How the engine reacts to the device and to what is cached: when a checker
 * waits at the gate, when nothing is read ahead at all, and which order is
 * chosen.
 */
#include <sched.h>
#include <signal.h>

#include "unit.h"
#include "engine-rig.h"
#include "prefetch/state.h"

/* A checker's read in its own thread, which may be waiting at the gate. */
struct gated {
	struct rig *r;
	struct pf_read read;
	pthread_t thread;
};

static void *read_gated(void *arg)
{
	struct gated *g = arg;

	pf_engine_before_read(g->r->e, &g->read);
	pf_engine_after_read(g->r->e, &g->read);
	return NULL;
}

static void begin_gated(struct gated *g, struct rig *r, uint64_t block)
{
	*g = (struct gated) {
		.r = r, .read = { .offset = block * BS, .length = BS }
	};
	fake_checker_create(&g->thread, read_gated, g);
	while (!r->e->gate.waiters)
		sched_yield();
}

/* A sweep whose reads are in flight. */
static void start_gated(struct rig *r)
{
	rig_set_up(r, 4, 1);
	r->options.seek_bound = true;
	fake_set_late(&r->dev, true);
	rig_settle(r);
	pf_engine_report_position(r->e, EXT4_PHASE_TABLES, 0);
}

/* By what the gate opens. */
enum { BY_THE_WORKER, BY_THE_END, BY_A_STOP, BY_A_SIGNAL, BY_PATIENCE, OPENERS };

/* The handler of a signal that ends the check comes after the wait. */
static const struct pf_gate *ended;
static bool after_the_wait;

static void end_check(int number)
{
	(void)number;
	if (ended->closed)
		abort();
	after_the_wait = true;
}

RIG_TESTS(gate_opened, OPENERS, start_gated(r))
{
	unsigned before = fake_checker_waits();
	struct gated g;

	ended = &r->e->gate;
	signal(SIGHUP, end_check);
	fake_set_late(&r->dev, way >= BY_A_STOP);
	/* Its deadline is not needed. */
	fake_checker_is_patient(way < BY_A_STOP);
	/* The end: a block that no worker reads. */
	begin_gated(&g, r, way == BY_THE_END ? 1 : r->fs.groups[0].inode_table);
	if (way == BY_A_STOP)
		assert_false(pf_engine_stop(r->e, 10));
	else if (way == BY_A_SIGNAL)
		pthread_kill(g.thread, SIGHUP);
	else if (way == BY_PATIENCE)
		fake_advance(&r->dev, 2 * SECOND);
	else
		fake_complete(&r->dev);
	pthread_join(g.thread, NULL);
	fake_checker_is_patient(false);
	assert_int_equal(after_the_wait, way >= BY_A_SIGNAL);
	assert_int_equal(rig_stats(r).gate_waits, 1);
	/* It has slept. */
	assert_true(fake_checker_waits() > before);
	assert_int_equal(rig_stats(r).stage[EXT4_OPEN].stalls, 1);
	if (way != BY_PATIENCE)
		return;
	/* The next read does not wait for a worker that is still stalled, either: on a
	 * device that hangs, each read would lose a second. */
	g.read.offset += BS;
	read_gated(&g);
	assert_int_equal(rig_stats(r).stage[EXT4_OPEN].stall_ns, 2 * SECOND);
}

RIG_TEST(gate_opened_by_errors, 20, 1)
{
	struct gated g;

	r->options.seek_bound = true;
	fake_set_bad(&r->dev, 1, r->dev.blocks - 1);
	fake_hold(&r->dev, FAKE_READ, true);
	rig_settle(r);
	pf_engine_report_position(r->e, EXT4_PHASE_TABLES, 0);
	begin_gated(&g, r, r->fs.groups[0].inode_table);
	fake_hold(&r->dev, FAKE_READ, false);
	pthread_join(g.thread, NULL);
	assert_true(rig_stats(r).gave_up);
}

/* Pages that were written in part are in the cache, and nobody reads them: they are not
 * requested, and what has to be parsed is read.  Nobody waits for them. */
RIG_TESTS(written_in_part, 2, rig_set_up(r, 4, 1))
{
	uint32_t g;

	rig_make_directories(r);
	r->options.seek_bound = way;
	fake_tell(&r->dev);
	fake_set_in_part(&r->dev, 1, r->dev.blocks - 1);
	/* But for one block of a table. */
	r->dev.in_part[r->fs.groups[1].inode_table + 1] = 0;
	rig_run(r);
	assert_int_equal(fake_missing_asked(&r->dev), 1);
	assert_int_equal(rig_stats(r).slow_or_failed, 0);
	for (g = 0; g < 4; g++)
		assert_true(r->dev.resident[r->fs.groups[g].inode_table]);
	assert_true(r->dev.clock < SECOND / 10);
}

/* A worker may be reading the checker's block, but not one that is in the cache and that
 * no worker has requested. */
RIG_TESTS(no_gate_for_pages_written_in_part, 1, start_gated(r))
{
	fake_set_in_part(&r->dev, 1, 1);
	rig_checker_reads(r, 1, 1);
	assert_int_equal(rig_stats(r).gate_waits, 0);
}

/* The checker waits, and time passes. */
static void pass_time(struct fake_device *f)
{
	if (fake_worker() < 0)
		fake_advance(f, 5000000);
}

static bool count_none(void *ctx, struct pf_disk_counters *disks)
{
	(void)ctx;
	*disks = (struct pf_disk_counters){ .busy_ns = 0 };
	return true;
}

/* Blocks that were requested and never come, whatever the reason: the checker loses some
 * reads' time, and then waits no more in this phase. */
RIG_TEST(blocks_that_never_come, 8, 1)
{
	unsigned i;

	r->options.seek_bound = true;
	r->options.count_disks = count_none;
	fake_set_late(&r->dev, true);
	fake_tell(&r->dev);
	rig_settle(r);
	pf_engine_report_position(r->e, EXT4_PHASE_TABLES, 0);
	r->dev.on_now = pass_time;
	for (i = 0; i < 30; i++)
		rig_checker_reads(r, r->fs.groups[i % 8].inode_table + i / 8, 1);
	r->dev.on_now = NULL;
	assert_uint_in_range(rig_stats(r).lost_ns, 40000000, SECOND / 10);
	assert_uint_in_range(rig_stats(r).gate_waits, 1, 10);
}

/* The disks have requests for a second and a half, and never do anything. */
static bool count_paused(void *ctx, struct pf_disk_counters *disks)
{
	struct rig *r = ctx;

	*disks = (struct pf_disk_counters){
		.in_flight = r->dev.clock < 3 * SECOND / 2
	};
	return true;
}

/* A worker that no longer waits for a late request, and reads it, is not throttled: a
 * read of the checker may wait for it. */
RIG_TEST(late_request_given_up, 8, 1)
{
	r->options.count_disks = count_paused;
	r->options.ctx = r;
	fake_set_late(&r->dev, true);
	fake_tell(&r->dev);
	rig_settle(r);
	assert_int_equal(rig_stats(r).slow_or_failed, 0);
	assert_true(r->dev.clock > SECOND && r->dev.reads);
	assert_int_equal(r->e->pool.throttled, 0);
}

enum { FROM_MEMORY, FROM_FLASH, BEFORE_PASS1, OF_BITMAPS, ELSEWHERE, NO_GATES };

/* Reads from memory and from flash never wait; nor does a checker that has not
 * said where it is: e2fsck looks up names before pass 1, and would wait for all
 * tables.  It does not report where it is among bitmaps, and reads much else before
 * them.  And the worker may read another group. */
RIG_TESTS(no_gate, NO_GATES, rig_set_up(r, 4, 1))
{
	r->options.seek_bound = way != FROM_FLASH;
	fake_set_late(&r->dev, true);
	fake_set_resident(&r->dev, 1, 1, way == FROM_MEMORY);
	if (way == OF_BITMAPS) {
		r->classes = 1u << EXT4_BITMAPS;
		r->options.budget = 8 * 8 * BS - 1;
	}
	if (way == ELSEWHERE)
		r->options.budget = 4 * TABLE_BLOCKS * BS;
	rig_settle(r);
	if (way == OF_BITMAPS) {
		ext4_source_list_begin(r->fs.ext4, r->e, 0, EXT4_DIRS);
		fake_threads_settle();
		assert_true(fake_missing_asked(&r->dev));
		pf_engine_begin_stage(r->e, EXT4_PASS5);
	} else if (way != BEFORE_PASS1) {
		pf_engine_report_position(r->e, EXT4_PHASE_TABLES,
					  way == ELSEWHERE ? 3 : 0);
	}
	rig_checker_reads(r, way == FROM_MEMORY ? 1 : way == OF_BITMAPS ?
			  r->fs.groups[3].block_bitmap :
			  r->fs.groups[way == ELSEWHERE ? 3 : 0].inode_table, 1);
	assert_int_equal(rig_stats(r).gate_waits, 0);
}

static unsigned measuring_reads(const struct rig *r)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < r->dev.events; i++)
		n += r->dev.event[i].op == FAKE_READ &&
		     r->dev.event[i].worker < 0;
	return n;
}

static void copy_group(void *ctx, uint32_t number, struct ext4_group *group)
{
	const struct rig *r = ctx;

	*group = r->fs.groups[number];
}

/* A device that is said to seek and does not, or the reverse. */
static void set_up_guess(struct rig *r, uint32_t groups, bool head)
{
	rig_set_up(r, groups, 4);
	r->options.seek_threads = 1;
	r->options.seek_bound = !head;
	r->options.measure = true;
	r->dev.miss_ns = head ? 10000000 : 100000;
	r->dev.ask_ns = head ? 4000000 : 20000;
	fake_hold(&r->dev, FAKE_READ, true);
}

static int (*read_device)(struct pf_device *dev, void *buf, uint64_t offset,
			  uint32_t len);
static struct pf_engine *measured;

static int read_unlocked(struct pf_device *dev, void *buf, uint64_t offset,
			 uint32_t len)
{
	/* Workers may have it at the same time. */
	if (fake_worker() < 0) {
		assert_int_equal(pthread_mutex_trylock(&measured->lock), 0);
		pthread_mutex_unlock(&measured->lock);
	}
	return read_device(dev, buf, offset, len);
}

/* A device that is stalled before it was measured is not measured. */
RIG_TEST(stalled_before_it_is_measured, 4, 1)
{
	r->options.measure = true;
	fake_set_resident(&r->dev, 0, r->dev.blocks, true);
	rig_settle(r);
	fake_set_resident(&r->dev, 0, r->dev.blocks, false);
	rig_read_fails(r, BS);
	pf_engine_wake(r->e);
	fake_threads_settle();
	assert_non_null(rig_stats(r).unmeasured);
	assert_non_null(strstr(rig_stats(r).unmeasured, "too slow"));
}

/* An engine that may read its device only without its lock: whoever asks for progress
 * does not wait for a device that hangs. */
static void new_unlocked(struct rig *r)
{
	static struct pf_device_ops ops;

	ops = *r->device->ops;
	read_device = ops.read;
	ops.read = read_unlocked;
	r->device->ops = &ops;
	rig_new(r);
	measured = r->e;
}

/* Nor for the samples, which are read when all of them seem to be cached. */
RIG_TEST(sampled_without_the_lock, 44, 1)
{
	size_t i;

	rig_make_directories(r);
	fake_set_resident(&r->dev, 0, r->dev.blocks, true);
	new_unlocked(r);
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
	assert_true(r->dev.reads > 0);
	for (i = 0; i < r->dev.events; i++)
		assert_true(r->dev.event[i].count <= 4096 / BS);
	assert_int_equal(fake_threads_alive(), 0);
}

/* Without a head, and with one.  Groups are lent, as by e2fsck: the measurement has to
 * know of them before they are made. */
RIG_TESTS(measured_without_the_lock, 2, set_up_guess(r, 44, way))
{
	struct gated g;

	new_unlocked(r);
	r->fs.ext4->groups = NULL;
	r->fs.ext4->copy_group = copy_group;
	r->fs.ext4->groups_owner = r;
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
	fake_threads_settle();
	assert_int_equal(measuring_reads(r), 11);
	assert_int_equal(fake_threads_alive(), way ? 1 : 4);
	assert_int_equal(rig_stats(r).threads, way ? 1 : 4);
	assert_int_equal(rig_stats(r).speed.seek_bound, way);
	assert_int_equal(rig_stats(r).speed.latency_ns, r->dev.miss_ns);
	assert_int_equal(rig_stats(r).speed.latency_qd8_ns, r->dev.ask_ns);
	assert_null(rig_stats(r).unmeasured);
	if (!way) {
		rig_checker_reads(r, 1, 1);
		assert_int_equal(rig_stats(r).gate_waits, 0);
		return;
	}
	pf_engine_report_position(r->e, EXT4_PHASE_TABLES, 0);
	begin_gated(&g, r, 1);
	fake_hold(&r->dev, FAKE_READ, false);
	pthread_join(g.thread, NULL);
	assert_int_equal(rig_stats(r).gate_waits, 1);
}

/* Whoever asks during a read of the checker takes nothing of the wait; time in which two
 * threads wait counts once. */
RIG_TEST(waits_are_counted_once, 4, 1)
{
	struct pf_read read = { .length = BS }, other = { .offset = BS, .length = BS };

	rig_new(r);
	pf_engine_begin_stage(r->e, EXT4_PASS1);
	pf_engine_before_read(r->e, &read);
	fake_advance(&r->dev, SECOND);
	assert_int_equal(rig_stats(r).reading_ns, SECOND);
	assert_int_equal(rig_stats(r).stage[EXT4_PASS1].stalls, 0);
	pf_engine_after_read(r->e, &read);
	assert_int_equal(rig_stats(r).reading_ns, 0);
	assert_int_equal(rig_stats(r).stage[EXT4_PASS1].stalls, 1);
	assert_int_equal(rig_stats(r).stage[EXT4_PASS1].stall_ns, SECOND);
	pf_engine_before_read(r->e, &read);
	fake_advance(&r->dev, SECOND);
	pf_engine_before_read(r->e, &other);
	fake_advance(&r->dev, SECOND);
	pf_engine_after_read(r->e, &read);
	pf_engine_after_read(r->e, &other);
	assert_int_equal(rig_stats(r).stage[EXT4_PASS1].stalls, 3);
	assert_int_equal(rig_stats(r).stage[EXT4_PASS1].stall_ns, 3 * SECOND);
}


static void sample_anything(struct pf_source *source, uint64_t index,
			    pf_sink sink, void *ctx)
{
	struct pf_ref ref = { .offset = source->bytes[0], .length = BS };

	sink(ctx, &ref);
	ref = (struct pf_ref){ .device = PF_MAX_DEVICES - 1, .length = BS,
				 .parse = true };
	sink(ctx, &ref);
	ext4_source_ops.sample(source, index, sink, ctx);
}

/* Samples that lie nowhere are dropped; the others say that all is cached. */
RIG_TEST(samples_beyond_the_device, 4, 1)
{
	fake_set_resident(&r->dev, 0, r->dev.blocks, true);
	rig_new(r);
	r->ops.sample = sample_anything;
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
	assert_int_equal(fake_threads_alive(), 0);
	assert_true(pf_engine_stop(r->e, -1));
}

/* All was cached, and is not any more: 128 reads that wait wake the workers. */
RIG_TEST(asleep_until_reads_wait, 4, 2)
{
	unsigned i;

	rig_make_directories(r);
	fake_set_resident(&r->dev, 0, r->dev.blocks, true);
	rig_start(r);
	assert_int_equal(fake_threads_alive(), 0);
	assert_true(pf_engine_reads_ahead(r->e));
	fake_set_resident(&r->dev, 0, r->dev.blocks, false);
	for (i = 0; !fake_threads_alive(); i++) {
		fake_set_resident(&r->dev, 200, 1, false);
		rig_checker_reads(r, 200, 1);
		/* A hit. */
		rig_checker_reads(r, 200, 1);
	}
	assert_int_equal(i, 128);
	assert_int_equal(fake_threads_alive(), 2);
	assert_true(pf_engine_wait(r->e, -1));
	assert_int_equal(rig_table_asked(r, 3), 1);
}

/* Woken during the walk over the directory list: it begins at the checker's
 * position. */
RIG_TEST(woken_in_the_list, 1, 3)
{
	uint64_t list[40], first;
	unsigned i;

	fake_set_resident(&r->dev, 0, r->dev.blocks, true);
	for (i = 0; i < 40; i++)
		list[i] = 100 + 2 * i;
	rig_start(r);
	ext4_source_list_begin(r->fs.ext4, r->e, 40, EXT4_DIRS);
	assert_int_equal(ext4_source_list_count_wanted(r->fs.ext4, r->e, 0,
						       &first),
			 0);
	fake_set_resident(&r->dev, 0, r->dev.blocks, false);
	for (i = 0; i < 112; i++) {
		rig_checker_reads(r, 200, 1);
		fake_set_resident(&r->dev, 200, 1, false);
	}
	for (i = 0; i < 16; i++) {
		pf_engine_report_position(r->e, EXT4_PHASE_LIST, i);
		rig_checker_reads(r, list[i], 1);
	}
	assert_int_equal(fake_threads_alive(), 3);
	assert_int_equal(ext4_source_list_count_wanted(r->fs.ext4, r->e, 15, &first), 25);
	assert_int_equal(first, 15);
	ext4_source_list_add(r->fs.ext4, r->e, list + 15, 25);
	fake_threads_settle();
	for (i = 0; i < 40; i++)
		assert_int_equal(rig_asked(r, list[i]), i > 15);
}

/* As in pass 1C, which ends when all names are found, and then pass 2: what is
 * to be read after the list is, and the list is walked over again. */
RIG_TEST(list_left_early, 40, 2)
{
	enum { LISTED = 20 };
	uint64_t dir[LISTED], at, first;
	uint32_t i;

	at = tiny_free_block(&r->fs, 0);
	for (i = 0; i < LISTED; i++)
		dir[i] = at + 10 + 2 * i;
	/* Bitmaps are not read early, and there is room for them after the
	 * tables. */
	r->options.budget = 600 * BS;
	rig_settle(r);
	ext4_source_list_begin(r->fs.ext4, r->e, LISTED, EXT4_DIRS);
	ext4_source_list_add(r->fs.ext4, r->e, dir, 5);
	pf_engine_report_position(r->e, EXT4_PHASE_LIST, 3);
	fake_threads_settle();
	assert_int_equal(rig_asked(r, r->fs.groups[7].block_bitmap), 0);
	ext4_source_list_end(r->fs.ext4, r->e);
	assert_int_equal(ext4_source_list_count_wanted(r->fs.ext4, r->e, 3,
						       &first),
			 0);
	fake_threads_settle();
	assert_int_equal(rig_asked(r, r->fs.groups[7].block_bitmap), 1);
	assert_int_equal(rig_asked(r, dir[4]), 1);
	assert_int_equal(rig_asked(r, dir[5]), 0);
	ext4_source_list_begin(r->fs.ext4, r->e, LISTED, EXT4_DIRS);
	assert_int_equal(ext4_source_list_count_wanted(r->fs.ext4, r->e, 0, &first),
			 LISTED);
	assert_int_equal(first, 0);
	ext4_source_list_add(r->fs.ext4, r->e, dir, LISTED);
	fake_threads_settle();
	for (i = 0; i < LISTED; i++)
		assert_int_equal(rig_asked(r, dir[i]), 1);
	/* A position beyond the end asks for no entries. */
	pf_engine_report_position(r->e, EXT4_PHASE_LIST, LISTED + 5);
	assert_int_equal(ext4_source_list_count_wanted(r->fs.ext4, r->e, LISTED + 5,
						       &first), 0);
}

UNIT_MAIN(NULL, NULL)
