/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The priorities of the threads, that each of them begins with them, and that a checker
 * does not wait for those that the disk serves after it.
 */
#include <sys/resource.h>
#include <sys/syscall.h>

#include "unit.h"
#include "device/thread.h"
#include "engine-rig.h"

#define GROUPS 40u

/* On a device that seeks a checker does not wait for a worker where the disk serves it before
 * the workers. */
RIG_TEST(not_at_the_gate, GROUPS, 1)
{
	r->cfg.seeks = r->cfg.ungated = true;
	fake_hold(&r->dev, FAKE_WILLNEED, true);
	rig_start(r);
	fake_threads_settle();
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

RIG_TEST(each_thread_begins, GROUPS, 3)
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
