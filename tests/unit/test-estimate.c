/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* How long a check is likely to take: what it computes, and what it waits, on
 * flash and where there is a head. */
#include "unit.h"
#include "ext4/ext4_probe.h"

#define MS 1000000u

TEST(forecasts)
{
	/* 1000 blocks here and there, or a million inodes; what a check takes,
	 * the least and the most that it may. */
	static const struct {
		bool has_head;
		uint64_t latency_ns, least_ns, deep_latency_ns;
		unsigned spindles, class;
		uint64_t runs, inodes;
		double stock, stock_low, stock_high, prefetch, prefetch_high;
	} of[] = {
		/* Computing alone. */
		{ false, 0, 0, 0, 1, E2PF_EXTENTS, 0, 1000000,
		  1.2, 0.6, 2.4, 0.6, 1.2 },
		{ false, MS, MS, MS / 10, 1, E2PF_EXTENTS, 1000, 0,
		  0.75, 0.375, 1.5, 0.05, 0.1 },
		/* Two of three reads waited for the processor, too: the range is
		 * wide, and nothing if they waited for long. */
		{ false, 4 * MS, MS, MS / 10, 1, E2PF_EXTENTS, 1000, 0,
		  0.75, 0.375, 6, 0.05, 0.1 },
		{ false, 5 * MS, MS, MS / 10, 1, E2PF_EXTENTS, 1000, 0,
		  0, 0, 0, 0, 0 },
		{ true, 10 * MS, 2 * MS, 4 * MS, 1, E2PF_EXTENTS, 1000, 0,
		  4, 1.2, 8, 0.6, 0.6 / 0.35 },
		{ true, 10 * MS, 2 * MS, 4 * MS, 3, E2PF_EXTENTS, 1000, 0,
		  4, 1.2, 8, 0.2, 0.2 / 0.35 },
		/* A journal is not read, however large. */
		{ false, MS, MS, MS / 10, 1, E2PF_FILES, 1000, 0,
		  0, 0, 0, 0, 0 },
	};
	size_t i;

	for (i = 0; i < COUNT(of); i++) {
		struct e2pf_probe p = {
			.report = {
				.block_size = 4096,
				.topo.spindles = of[i].spindles
			},
			.inodes = of[i].inodes,
			.speed = {
				.has_head = of[i].has_head, .byte_ps = 1,
				.latency_ns = of[i].latency_ns,
				.least_ns = of[i].least_ns,
				.deep_latency_ns = of[i].deep_latency_ns
			},
			.stock.high = 1, .prefetch.high = 1
		};

		p.plan[of[i].class].bytes = of[i].runs * 4096;
		p.plan[of[i].class].runs = of[i].runs;
		/* No forecast without a measurement. */
		e2pf_probe_estimate(&p);
		assert_true(p.stock.high == 0 && p.prefetch.high == 0);
		p.measured = true;
		e2pf_probe_estimate(&p);
		assert_float_equal(p.stock.expected, of[i].stock, 1e-4);
		assert_float_equal(p.stock.high, of[i].stock_high, 1e-4);
		assert_float_equal(p.stock.low, of[i].stock_low, 1e-4);
		assert_float_equal(p.prefetch.expected, of[i].prefetch, 1e-4);
		assert_float_equal(p.prefetch.high, of[i].prefetch_high, 1e-4);
	}
}

/* A check with readahead that took a second, of which it waited 0.3 for what
 * was read ahead and 0.2 for the rest. */
TEST(without)
{
	struct e2pf_report r = {
		.block_size = 4096, .windows = e2pf_ext4_windows,
		.classes = E2PF_CLASSES, .engine = {
			.latency_ns = 1000000, .deep_latency_ns = 500000,
			.least_latency_ns = 1000000,
			.own_stall_ns = 200000000
		}
	};
	struct e2pf_engine_stats *st = &r.engine;
	struct e2pf_estimate without;

	st->stage[1].stall_ns = st->stage[2].stall_ns = 250000000;
	st->by_class[E2PF_DIRS].bytes = 2000 * 4096;
	st->by_class[E2PF_DIRS].runs = 2000;
	/* 2,000 reads of 0.75 ms, and 0.066 s of transfer. */
	without = e2pf_estimate_without(&r, 1.0);
	assert_float_equal(without.expected, 1.0 - 0.3 + 1.566, 0.01);
	assert_float_equal(without.low, 1.0 - 0.3 + 1.566 / 2, 0.01);
	assert_float_equal(without.high, 1.0 - 0.3 + 1.566 * 2, 0.01);
	/* A journal is not read again by the check. */
	st->by_class[E2PF_FILES] = st->by_class[E2PF_DIRS];
	assert_float_equal(e2pf_estimate_without(&r, 1.0).expected,
			   1.0 - 0.3 + 1.566, 0.01);
	/* With a head a read costs what one of a sorted queue does: 2,000 of 0.5
	 * ms.  No check is slower than without prefetching. */
	st->has_head = true;
	st->latency_ns = 4000000;
	without = e2pf_estimate_without(&r, 1.0);
	assert_float_equal(without.expected, 1.0 - 0.3 + 1.066, 0.01);
	assert_float_equal(without.low, 1.0 - 0.3 + 1.066 * 0.3, 0.01);
	assert_true(e2pf_estimate_without(&r, 10.0).low > 10);
	st->own_stall_ns = 0;
	assert_true(e2pf_estimate_without(&r, 1.0).low == 1.0);
	st->own_stall_ns = 200000000;
	/* It cannot have read all that in a sixth of the time. */
	assert_true(e2pf_estimate_without(&r, 0.055).high > 0);
	assert_true(e2pf_estimate_without(&r, 0.05).high == 0);
	/* Too busy to tell. */
	st->has_head = false;
	assert_true(e2pf_estimate_without(&r, 1.0).high > 0);
	st->latency_ns = 4000001;
	assert_true(e2pf_estimate_without(&r, 1.0).high == 0);
	st->latency_ns = 1000000;
	/* What was measured is rather the processor than the device. */
	st->deep_latency_ns = 150000;
	assert_true(e2pf_estimate_without(&r, 1.0).high == 0);
	st->deep_latency_ns = 500000;
	/* Nothing was gained. */
	st->by_class[E2PF_DIRS].runs = st->by_class[E2PF_DIRS].bytes = 0;
	assert_true(e2pf_estimate_without(&r, 1.0).high == 0);
	/* Nothing was measured. */
	st->by_class[E2PF_DIRS] = st->by_class[E2PF_FILES];
	st->latency_ns = 0;
	assert_true(e2pf_estimate_without(&r, 1.0).high == 0);
}

UNIT_MAIN(NULL, NULL)
