/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Blocks that several files claim, read ahead in the order in which pass 1D
 * clones them. */
#include "unit.h"
#include "e2fsck/check.h"
#include "engine-rig.h"

#define BLOCKS 8000u

/* An engine that sleeps because all samples are cached. */
static void set_up(struct rig *r)
{
	e2fsck_clones_forget();
	rig_set_up_sized(r, 1, 8192, 1);
	fake_set_resident(&r->dev, 0, r->dev.blocks, true);
	rig_start(r);
	assert_int_equal(fake_threads_alive(), 0);
	fake_set_resident(&r->dev, 100, BLOCKS - 100, false);
}

/* Each block is read once, however many files claim it. */
RIG_TESTS(each_once, 1, set_up(r))
{
	unsigned i;

	for (i = 200; i < 7900; i += 10)
		e2fsck_clones_add(i);
	for (i = 200; i < 7900; i += 10)
		e2fsck_clones_add(i);
	fake_threads_settle();
	assert_int_equal(fake_threads_alive(), 0);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 150); /* not in the list */
	assert_int_equal(fake_threads_alive(), 0);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 200);
	fake_threads_settle();
	for (i = 210; i < 7900; i++)
		assert_int_equal(rig_asked(r, i), i % 10 == 0);
	/* Other phases may add a few. */
	assert_uint_in_range(rig_stats(r).planned_bytes, 769 * BS, 869 * BS);
}

/* More than the engine is passed at a time, in one run and in two. */
RIG_TESTS(many, 2, set_up(r))
{
	unsigned i, gap = way ? 1000 : 0;

	for (i = 200; i < 7900; i++)
		if (i != gap)
			e2fsck_clones_add(i);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 200);
	fake_threads_settle();
	for (i = 201; i < 7900; i++)
		assert_int_equal(rig_asked(r, i), i != gap);
}

/* A new scan discards the blocks that an earlier one found.  The clone of a
 * block that is not in the list does not start readahead. */
RIG_TESTS(forgotten, 1, set_up(r))
{
	/* Each block is claimed once. */
	e2fsck_clones_report_block(r->fs.ext4, r->e, 300);
	fake_threads_settle();
	assert_int_equal(fake_threads_alive(), 0);
	e2fsck_clones_forget();
	e2fsck_clones_add(300);
	e2fsck_clones_forget();
	e2fsck_clones_add(400);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 500);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 400);
	fake_threads_settle();
	assert_int_equal(rig_asked(r, 300), 0);
	/* The list is complete once cloning has begun. */
	e2fsck_clones_add(500);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 500);
	fake_threads_settle();
	assert_int_equal(rig_asked(r, 500), 0);
}

/* A file whose blocks the user does not want cloned is passed over; pass 1D in
 * another order than the files' ends the readahead, and nothing else. */
RIG_TESTS(other_orders, 1, set_up(r))
{
	unsigned i;

	for (i = 200; i < 7900; i += 3)
		e2fsck_clones_add(i);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 200);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 5000);
	fake_threads_settle();
	assert_int_equal(rig_asked(r, 5003), 1);
	for (i = 4997; i > 203; i -= 3)
		e2fsck_clones_report_block(r->fs.ext4, r->e, i);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 203);
	fake_threads_settle();
}

/* The list has its limit: what is beyond it begins nothing. */
RIG_TESTS(limited, 1, set_up(r))
{
	unsigned i;

	for (i = 1; i < 600000; i += 2)
		e2fsck_clones_add(i);
	e2fsck_clones_report_block(r->fs.ext4, r->e, i - 2);
	assert_int_equal(fake_threads_alive(), 0);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 201);
	assert_int_not_equal(fake_threads_alive(), 0);
}

/* Whichever allocation fails, the check goes on, with the blocks that there was memory
 * for.  The two on a number that is too large share a bit. */
RIG_TESTS(no_memory, 4, set_up(r))
{
	unsigned i;

	fake_fail_allocation((int)way);
	for (i = 300; i < 7900; i += 300)
		e2fsck_clones_add(i);
	fake_fail_allocation(-1);
	e2fsck_clones_add(400);
	e2fsck_clones_add(UINT64_MAX);
	e2fsck_clones_add(400 + (UINT64_C(1) << 40));
	e2fsck_clones_report_block(r->fs.ext4, r->e, UINT64_MAX - 1);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 500);
	e2fsck_clones_report_block(r->fs.ext4, r->e, 600);
	fake_threads_settle();
	assert_int_equal(rig_asked(r, 500), 0);
	assert_int_equal(rig_asked(r, 900), 1);
}

/* The engine has stopped, and wants nothing: scripts/test-valgrind.sh sees
 * whether anything is taken from what it did not say. */
RIG_TESTS(stopped, 1, set_up(r))
{
	e2fsck_clones_add(300);
	assert_true(pf_engine_stop(r->e, -1));
	e2fsck_clones_report_block(r->fs.ext4, r->e, 300);
	assert_int_equal(rig_asked(r, 300), 0);
}

UNIT_MAIN(NULL, NULL)
