/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the checker would have asked for by itself, and what is made of that:
 * requests, the kernel's own read-ahead taken off, and how long they take. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/alone.h"
#include "summary.h"

#define KIB 1024u
#define MIB (KIB * KIB)
#define PAGE 4096u

static struct e2pf_alone a;

static int fresh(void **state)
{
	(void)state;
	memset(&a, 0, sizeof(a));
	return 0;
}

static void far_reads(void **state)
{
	uint64_t i;

	(void)state;
	for (i = 1; i <= 100; i++)
		e2pf_alone_add(&a, i * 64 * MIB, PAGE, PAGE);
	assert_int_equal(a.requests, 100);
	assert_int_equal(a.near, 0);
	assert_int_equal(a.bytes, 100 * PAGE);
}

static void near_reads(void **state)
{
	uint64_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		e2pf_alone_add(&a, 64 * MIB + i * 64 * KIB, PAGE, PAGE);
	assert_int_equal(a.requests, 100);
	assert_int_equal(a.near, 99);
}

/* 4 KiB, and windows of 16, 32, 64 and 128 KiB: then one for each 128. */
static void a_sequence(void **state)
{
	uint64_t i;

	(void)state;
	for (i = 0; i < (4 + 16 + 32 + 64 + 10 * 128) / 4; i++)
		e2pf_alone_add(&a, 64 * MIB + i * PAGE, PAGE, PAGE);
	assert_int_equal(a.requests, 1 + 3 + 10);
	assert_int_equal(a.bytes, i * PAGE);
}

/* The page before was read a while ago: the kernel reads a first window. */
static void behind_what_was_read(void **state)
{
	(void)state;
	e2pf_alone_add(&a, 64 * MIB, PAGE, PAGE);
	e2pf_alone_add(&a, 256 * MIB, PAGE, PAGE);
	e2pf_alone_add(&a, 64 * MIB + PAGE, PAGE, PAGE);
	e2pf_alone_add(&a, 64 * MIB + 4 * PAGE, PAGE, PAGE);
	assert_int_equal(a.requests, 3);
	e2pf_alone_add(&a, 64 * MIB + 5 * PAGE, PAGE, PAGE);
	assert_int_equal(a.requests, 4);
}

static void what_was_not_read_ahead(void **state)
{
	(void)state;
	e2pf_alone_add(&a, 64 * MIB, PAGE, 0);
	e2pf_alone_add(&a, 64 * MIB, PAGE, PAGE);
	assert_int_equal(a.requests, 0);
}

/* The largest numbers there are. */
static void the_end(void **state)
{
	(void)state;
	e2pf_alone_add(&a, UINT64_MAX - PAGE, PAGE, PAGE);
	e2pf_alone_add(&a, 0, 1ull << 40, PAGE);
	assert_int_equal(a.requests, 2);
}

static void estimates(void **state)
{
	struct e2pf_engine_stats st = {
		.alone_requests = 3000,
		.alone_near = 1000,
		.own_stall_ns = 1000000000
	};
	struct e2pf_estimate est;

	(void)state;
	assert_false(e2pf_estimate_alone(&st, &est));
	/* Flash: from half the time to all of it, and its own waits. */
	st.latency_ns = 1000000;
	st.deep_latency_ns = 200000;
	assert_true(e2pf_estimate_alone(&st, &est));
	assert_true(est.probed);
	assert_float_equal(est.low, 2.5, 1e-6);
	assert_float_equal(est.high, 4.0, 1e-6);
	/* A disk: near requests cost little. */
	st.has_head = true;
	st.latency_ns = 10000000;
	st.deep_latency_ns = 4000000;
	assert_true(e2pf_estimate_alone(&st, &est));
	assert_float_equal(est.low, 1 + 4.0, 1e-6);
	assert_float_equal(est.high, 1 + 28 + 0.25, 1e-6);
	/* One that says it rotates is not measured. */
	st.latency_ns = st.deep_latency_ns = 0;
	st.stage[0].stalls = 2;
	st.stage[0].stall_ns = 16000000;
	assert_true(e2pf_estimate_alone(&st, &est));
	assert_false(est.probed);
	assert_float_equal(est.latency, 0.008, 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(far_reads, fresh),
		cmocka_unit_test_setup(near_reads, fresh),
		cmocka_unit_test_setup(a_sequence, fresh),
		cmocka_unit_test_setup(behind_what_was_read, fresh),
		cmocka_unit_test_setup(what_was_not_read_ahead, fresh),
		cmocka_unit_test_setup(the_end, fresh),
		cmocka_unit_test(estimates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
