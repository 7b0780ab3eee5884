/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a check is likely to take: what it computes, and what it waits, on
 * flash and where there is a head. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "estimate.h"

/* 1000 blocks here and there. */
static const struct e2pf_facts scattered = {
	.plan[E2PF_EXTENTS] = { .blocks = 1000, .runs = 1000 },
	.block_size = 4096,
	.measured = true,
	.latency = 0.001,
	.several = 0.0001,
	.bytes_per_second = 1e12
};

static void computing_alone(void **state)
{
	struct e2pf_facts f = { .block_size = 4096, .inodes = 1000000 };
	struct e2pf_range stock, prefetch;

	(void)state;
	e2pf_estimate_check(&f, &stock, &prefetch);
	assert_float_equal(stock.low, 0.6, 1e-6);
	assert_float_equal(stock.high, 2.4, 1e-6);
	assert_true(stock.low < stock.expected && stock.expected < stock.high);
	assert_true(prefetch.high < stock.high);
}

static void flash(void **state)
{
	struct e2pf_range stock, prefetch;

	(void)state;
	e2pf_estimate_check(&scattered, &stock, &prefetch);
	assert_float_equal(stock.low, 0.5, 1e-4);
	assert_float_equal(stock.high, 1.0, 1e-4);
	assert_float_equal(prefetch.high, 0.1, 1e-4);
}

static void a_head(void **state)
{
	struct e2pf_facts f = scattered;
	struct e2pf_range stock, prefetch, three;

	(void)state;
	f.has_head = true;
	f.latency = 0.010;
	f.several = 0.004;
	e2pf_estimate_check(&f, &stock, &prefetch);
	assert_float_equal(stock.low, 1.0, 1e-4);
	assert_float_equal(stock.high, 14.0, 1e-4);
	assert_float_equal(prefetch.low, 0.5, 1e-4);
	assert_float_equal(prefetch.high, 2.0, 1e-4);
	f.heads = 3;
	e2pf_estimate_check(&f, &stock, &three);
	assert_true(three.low < prefetch.low);
}

/* A journal is not read, however large. */
static void the_journal(void **state)
{
	struct e2pf_facts f = scattered;
	struct e2pf_range stock, with, prefetch;

	(void)state;
	f.plan[E2PF_FILES].blocks = 1u << 18;
	f.plan[E2PF_FILES].runs = 1u << 10;
	e2pf_estimate_check(&scattered, &stock, &prefetch);
	e2pf_estimate_check(&f, &with, &prefetch);
	assert_float_equal(with.high, stock.high, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(computing_alone),
		cmocka_unit_test(flash),
		cmocka_unit_test(a_head),
		cmocka_unit_test(the_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
