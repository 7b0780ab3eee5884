/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a check is likely to take: what it computes, and what it waits, on
 * flash and where there is a head. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "report/estimate.h"

/* 1000 blocks here and there. */
static const struct e2pf_probe scattered = {
	.plan = { [E2PF_EXTENTS] = { .bytes = 4096000, .runs = 1000 } },
	.report = { .block_size = 4096, .topo = { .spindles = 1 } },
	.measured = true,
	.speed = {
		.latency_ns = 1000000, .deep_latency_ns = 100000, .byte_ps = 1
	}
};

static void computing_alone(void **state)
{
	struct e2pf_probe p = {
		.report.block_size = 4096, .inodes = 1000000
	};

	(void)state;
	/* No forecast without a measurement. */
	p.stock.high = p.prefetch.high = 1;
	e2pf_estimate_check(&p);
	assert_true(p.stock.high == 0 && p.prefetch.high == 0);
	p.measured = true;
	e2pf_estimate_check(&p);
	assert_float_equal(p.stock.low, 0.6, 1e-6);
	assert_float_equal(p.stock.high, 2.4, 1e-6);
	assert_true(p.stock.low < p.stock.expected &&
		    p.stock.expected < p.stock.high);
	assert_true(p.prefetch.high < p.stock.high);
}

static void flash(void **state)
{
	struct e2pf_probe p = scattered;

	(void)state;
	e2pf_estimate_check(&p);
	assert_float_equal(p.stock.expected, 0.75, 1e-4);
	assert_float_equal(p.stock.low, 0.375, 1e-4);
	assert_float_equal(p.stock.high, 1.5, 1e-4);
	assert_float_equal(p.prefetch.expected, 0.05, 1e-4);
}

static void a_head(void **state)
{
	struct e2pf_probe p = scattered, three;

	(void)state;
	p.speed.has_head = true;
	p.speed.latency_ns = 10000000;
	p.speed.deep_latency_ns = 4000000;
	three = p;
	e2pf_estimate_check(&p);
	assert_float_equal(p.stock.expected, 4.0, 1e-4);
	assert_float_equal(p.stock.low, 1.4, 1e-4);
	assert_float_equal(p.prefetch.expected, 1.0, 1e-4);
	assert_float_equal(p.prefetch.high, 1 / 0.35, 1e-4);
	three.report.topo.spindles = 3;
	e2pf_estimate_check(&three);
	assert_float_equal(three.prefetch.expected, 1.0 / 3, 1e-4);
}

/* A journal is not read, however large. */
static void the_journal(void **state)
{
	struct e2pf_probe p = scattered, with = scattered;

	(void)state;
	with.plan[E2PF_FILES].bytes = 1u << 30;
	with.plan[E2PF_FILES].runs = 1u << 10;
	e2pf_estimate_check(&p);
	e2pf_estimate_check(&with);
	assert_float_equal(with.stock.high, p.stock.high, 1e-9);
}

/* A check with readahead that took a second, of which it waited 0.3 for what
 * was read ahead and 0.2 for the rest-> */
static void without(void **state)
{
	struct e2pf_report r = {
		.block_size = 4096, .engine = {
			.latency_ns = 1000000, .deep_latency_ns = 500000,
			.own_stall_ns = 200000000
		}
	};
	struct e2pf_engine_stats *st = &r.engine;
	double sorted;

	(void)state;
	st->stage[1].stall_ns = st->stage[2].stall_ns = 250000000;
	st->asked[E2PF_DIRS].bytes = 2000 * 4096;
	st->asked[E2PF_DIRS].runs = 2000;
	/* 2,000 reads of 0.75 ms, and 0.066 s of transfer. */
	assert_float_equal(e2pf_estimate_without(&r, 1.0),
			   1.0 - 0.3 + 1.566, 0.01);
	/* A journal is not read again by the check. */
	st->asked[E2PF_FILES] = st->asked[E2PF_DIRS];
	assert_float_equal(e2pf_estimate_without(&r, 1.0),
			   1.0 - 0.3 + 1.566, 0.01);
	/* With a head a read costs what one of a sorted queue does. */
	st->has_head = true;
	st->latency_ns = 500000;
	sorted = e2pf_estimate_without(&r, 1.0);
	st->latency_ns = 4000000;
	assert_float_equal(e2pf_estimate_without(&r, 1.0), sorted, 1e-9);
	st->has_head = false;
	/* What was measured is rather the processor than the device. */
	st->deep_latency_ns = 150000;
	assert_true(e2pf_estimate_without(&r, 1.0) == 0);
	st->deep_latency_ns = 500000;
	/* Nothing was gained. */
	st->asked[E2PF_DIRS].runs = st->asked[E2PF_DIRS].bytes = 0;
	assert_true(e2pf_estimate_without(&r, 1.0) == 0);
	/* Nothing was measured. */
	st->asked[E2PF_DIRS] = st->asked[E2PF_FILES];
	st->latency_ns = 0;
	assert_true(e2pf_estimate_without(&r, 1.0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computing_alone),
		cmocka_unit_test(flash),
		cmocka_unit_test(a_head),
		cmocka_unit_test(the_journal),
		cmocka_unit_test(without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
