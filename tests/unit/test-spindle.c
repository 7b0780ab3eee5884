/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The single-spindle detector: the limits between a device that seeks and one that
 * does not, and what follows for the threads.  test-topology.c has the order that
 * follows from what the kernel declares of real machines.
 */
#include "unit.h"
#include "device/spindle.h"

#define US UINT64_C(1000)

TEST(limits)
{
	assert_true(e2pf_measured_seeks(2000 * US, 1200 * US));
	assert_false(e2pf_measured_seeks(2000 * US - 1, 1200 * US));
	assert_false(e2pf_measured_seeks(2000 * US, 1200 * US - 1));
}

/* Disks that are known, or, with 0, nothing known of a device. */
static struct e2pf_topology made(unsigned disks, unsigned spindles)
{
	return (struct e2pf_topology) {
		.devices = 1, .disks = disks, .spindles = spindles
	};
}

TEST(threads)
{
	static const struct {
		unsigned disks, spindles, wanted;
		bool blind, seeks;
		unsigned threads, seek_threads;
		bool single;
	} rows[] = {
		{ 1, 1, 0, false, true, 2, 1, true },
		{ 3, 3, 0, false, true, 2, 2, false },
		{ 2, 1, 0, false, true, 2, 1, true },
		{ 1, 0, 0, false, false, 2, 1, false },
		{ 0, 0, 0, false, true, 2, 1, true },
		{ 1, 1, 5, false, true, 5, 5, true },
		{ 1, 1, 0, true, false, 2, 1, false },
		{ 0, 0, 0, true, false, 2, 1, false },
	};
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		struct e2pf_topology topo = made(rows[i].disks, rows[i].spindles);
		struct e2pf_policy policy = e2pf_policy_choose(
			&topo, rows[i].wanted, rows[i].blind);

		assert_int_equal(policy.seeks, rows[i].seeks);
		assert_int_equal(policy.measure, !rows[i].spindles &&
				 !rows[i].blind);
		assert_int_equal(policy.threads, rows[i].threads);
		assert_int_equal(policy.seek_threads, rows[i].seek_threads);
		assert_int_equal(e2pf_single_spindle(&topo, policy.seeks),
				 rows[i].single);
	}
}

UNIT_MAIN(NULL, NULL)
