/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How much the engine asks for per second, on a simulated device and clock:
 * limits of requests and bytes, divided among those who share them; and that
 * neither the end of a check nor a checker at the gate waits for them.
 */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "unit.h"
#include "device/rate.h"
#include "device/thread.h"
#include "engine-rig.h"

#define GROUPS 40u
#define MS UINT64_C(1000000)

static unsigned sharing;

static unsigned sharers(void *ctx)
{
	(void)ctx;
	return sharing;
}

static void set_up(struct rig *r, unsigned workers)
{
	rig_set_up(r, GROUPS, workers);
	r->cfg.sharers = sharers;
	sharing = 1;
}

/* Requests made when the clock has advanced so far. */
static uint64_t requests_after(struct rig *r, uint64_t ns)
{
	fake_threads_settle();
	fake_advance(&r->dev, ns);
	fake_threads_expire();
	fake_threads_settle();
	return r->dev.requests;
}

RIG_TESTS(requests_in_a_second, 1, set_up(r, 1))
{
	unsigned i;

	r->cfg.requests = 10;
	rig_start(r);
	assert_int_equal(requests_after(r, 0), 1);
	assert_int_equal(requests_after(r, 99 * MS), 1);
	assert_int_equal(requests_after(r, 1 * MS), 2);
	/* Ten a second from there on, and no more if it is polled more
	 * often. */
	for (i = 0; i < 100; i++)
		requests_after(r, 10 * MS);
	assert_uint_in_range(r->dev.requests, 11, 12);
	/* What was not used while nobody looked is lost, but a moment's. */
	assert_uint_in_range(requests_after(r, 5 * SECOND), 12, 13);
	assert_uint_in_range(requests_after(r, 0), 12, 13);
}

/* With both limits, the one that is reached first decides.  A first request waits
 * for nothing. */
static const struct {
	uint64_t bandwidth;
	unsigned requests, workers, least, most;	/* blocks */
} limits[] = {
	{ 100 * BS, 0, 2, 90, 100 + 2 * TABLE_BLOCKS },
	{ 1 << 30, 5, 1, 5 * TABLE_BLOCKS, 6 * TABLE_BLOCKS },
	{ 16 * BS, 1000000, 1, 8, 24 + TABLE_BLOCKS },
	{ 0, 0, 1, GROUPS * TABLE_BLOCKS, GROUPS * PER_GROUP },
};

RIG_TESTS(in_a_second, COUNT(limits), set_up(r, limits[way].workers))
{
	unsigned i;

	r->classes = 1u << E2PF_INODES;
	r->cfg.bandwidth = limits[way].bandwidth;
	r->cfg.requests = limits[way].requests;
	rig_start(r);
	for (i = 0; i < 100; i++)
		requests_after(r, 10 * MS);
	assert_uint_in_range(fake_missing_asked(&r->dev),
			     limits[way].least, limits[way].most);
}

/* Four checks have a quarter each; when the others end, one has everything
 * again. */
RIG_TESTS(shared, 1, set_up(r, 1))
{
	uint64_t before;
	unsigned i;

	r->cfg.requests = 20;
	sharing = 4;
	rig_start(r);
	for (i = 0; i < 100; i++)
		requests_after(r, 10 * MS);
	assert_uint_in_range(r->dev.requests, 5, 6);
	sharing = 0;
	requests_after(r, SECOND / 5);
	before = r->dev.requests;
	for (i = 0; i < 50; i++)
		requests_after(r, 10 * MS);
	assert_uint_in_range(r->dev.requests - before, 9, 11);
}

/* Blocks that the checker has passed are no longer asked for. */
RIG_TEST(overtaken, 10 * GROUPS, 1)
{
	r->cfg.requests = 1;
	r->classes = 1u << E2PF_INODES;
	rig_start(r);
	assert_int_equal(requests_after(r, 0), 1);
	assert_int_equal(rig_table_asked(r, 0), 1);
	e2pf_ext4_at_group(r->e, 9 * GROUPS);
	assert_int_equal(requests_after(r, SECOND), 2);
	assert_int_equal(rig_table_asked(r, 1), 0);
	assert_int_equal(rig_table_asked(r, 9 * GROUPS + 1), 1);
}

/* On a rotational disk a checker waits for a worker that reads, but not for one
 * that has to wait for the limit, nor if the disk serves it before the workers. */
RIG_TESTS(not_at_the_gate, 2, set_up(r, 1))
{
	r->cfg.has_head = true;
	r->cfg.requests = way ? 0 : 1;
	r->cfg.ungated = way;
	fake_hold(&r->dev, FAKE_WILLNEED, way);
	rig_start(r);
	assert_int_equal(requests_after(r, 0), !way);
	e2pf_ext4_at_group(r->e, 30);
	rig_checker_reads(r, r->fs.groups[30].inode_table, 1);
	assert_int_equal(rig_stats(r).gate_waits, 0);
}

static unsigned begun, prepared;

static void count_preparation(void)
{
	assert_int_equal(begun, 0);
	prepared++;
}

static void count_threads(void *ctx)
{
	(void)ctx;
	__atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
}

RIG_TESTS(each_thread_begins, 1, set_up(r, 3))
{
	begun = prepared = 0;
	r->cfg.thread_begins = count_threads;
	r->cfg.before_threads = count_preparation;
	rig_settle(r);
	assert_int_equal(begun, 3);
	assert_int_equal(prepared, 1);
}

/* In its own thread: neither priority can be raised again without
 * privileges. */
static void *lower(void *ctx)
{
	long *is = ctx;

	e2pf_priority_set(0, 0);
	is[0] = syscall(SYS_ioprio_get, 1, 0);
	is[1] = getpriority(PRIO_PROCESS, 0);
	e2pf_priority_set(3 << 13, 19);
	is[2] = syscall(SYS_ioprio_get, 1, 0);
	is[3] = getpriority(PRIO_PROCESS, 0);
	e2pf_priority_set(0, 5);
	is[4] = getpriority(PRIO_PROCESS, 0);
	return NULL;
}

TEST(priorities)
{
	long before = getpriority(PRIO_PROCESS, 0), is[5];
	long io = syscall(SYS_ioprio_get, 1, 0);
	pthread_t thread;

	assert_int_equal(fake_checker_create(&thread, lower, is), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(is[0], io);
	assert_int_equal(is[1], before);
	assert_int_equal(is[2], 3 << 13);
	assert_int_equal(is[3], 19);
	/* It is only ever lowered. */
	assert_int_equal(is[4], 19);
	/* This thread is not affected. */
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	assert_int_equal(syscall(SYS_ioprio_get, 1, 0), io);
	assert_true(e2pf_priority_is_low(3 << 13));
	assert_true(e2pf_priority_is_low(2 << 13 | 5));
	assert_false(e2pf_priority_is_low(2 << 13 | 4));
	assert_false(e2pf_priority_is_low(0));
}

UNIT_MAIN(NULL, NULL)
