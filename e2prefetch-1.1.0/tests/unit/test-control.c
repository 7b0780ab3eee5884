/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The controller: costs and gaps from completions on synthetic devices.  A device
 * with limits takes for `n` requests of `size` bytes the longer of n * request_ns
 * and n * size * byte_ns, as a volume does.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/control.h"

#define MS 1000000u

struct model {
	struct e2pf_control c;
	uint64_t now, began;
	double request_ns, byte_ns;
	double busy;		/* part of the time that a thread waits */
	uint64_t latency_ns;
};

static void begin(struct model *m, double request_ns, double byte_ns)
{
	*m = (struct model) {
		.now = MS, .began = MS, .request_ns = request_ns,
		.byte_ns = byte_ns, .busy = 1, .latency_ns = MS / 2
	};
	e2pf_control_init(&m->c, false);
	e2pf_control_count(&m->c, m->now, 0, 0, 0);
}

static double larger(double a, double b) { return a > b ? a : b; }

/* Requests complete, 32 at a time, of 64 in flight. */
static void complete(struct model *m, unsigned requests, uint64_t size)
{
	double each = larger(m->request_ns, (double)size * m->byte_ns);
	unsigned i, j;

	for (i = 0; i < requests; i += 32) {
		uint64_t ns = (uint64_t)(32 * each);

		m->now += ns;
		/* Few in flight at first, to know the latency alone. */
		for (j = 0; j < 8; j++)
			e2pf_control_came(&m->c, i ? 64 : 1, (i ? 64 : 1) * size,
					  m->latency_ns +
					  (i ? (uint64_t)(64 * each) : 0));
		e2pf_control_asked(&m->c, 32, 32 * size);
		e2pf_control_count(&m->c, m->now,
				   (uint64_t)((double)ns * m->busy), 32,
				   32 * size);
	}
}

static void assert_near(uint64_t value, uint64_t wanted)
{
	assert_uint_in_range(value, wanted - wanted / 20,
			     wanted + wanted / 20);
}

/* 3,000 requests and 125 MB per second: a request is worth 41,600 bytes.  Small
 * requests have gaps read through, large ones only the least. */
static void test_dear(void **state)
{
	struct model m;

	(void)state;
	begin(&m, 333000, 8);
	assert_int_equal(e2pf_control_gap(&m.c), 0);
	complete(&m, 2000, 4096);
	assert_true(m.c.dear);
	assert_near(e2pf_control_gap(&m.c), 33300);
	complete(&m, 4000, 250000);
	assert_near(e2pf_control_gap(&m.c), 33300 / 8);
	assert_near(e2pf_control_widest_gap(&m.c), 33300);
}

/* Requests near their worth, where both limits are felt, change no figure: gaps
 * would widen, requests grow, and cost more yet. */
static void test_no_drift(void **state)
{
	struct model m;

	(void)state;
	begin(&m, 333000, 8);
	complete(&m, 2000, 4096);
	complete(&m, 20000, 100000);
	complete(&m, 20000, 20000);
	assert_near(e2pf_control_widest_gap(&m.c), 33300);
}

/* A burst hides the limit at first; later it is gone again. */
static void test_changes(void **state)
{
	struct model m;

	(void)state;
	begin(&m, 12000, 0.5);
	complete(&m, 30000, 4096);
	assert_false(m.c.dear);
	assert_int_equal(e2pf_control_gap(&m.c), 0);
	m.request_ns = 333000;
	complete(&m, 2000, 4096);
	assert_true(m.c.dear);
	m.request_ns = 12000;
	complete(&m, 60000, 4096);
	assert_false(m.c.dear);
	assert_int_equal(e2pf_control_gap(&m.c), 0);
}

/* While the processor is the limit, and while the queue is not felt, nothing is
 * learned. */
static void test_not_the_limit(void **state)
{
	struct model m;

	(void)state;
	begin(&m, 333000, 8);
	m.busy = 0.5;
	complete(&m, 4000, 4096);
	assert_false(m.c.dear);
	begin(&m, 333000, 8);
	m.latency_ns = 50 * MS;
	complete(&m, 4000, 4096);
	assert_false(m.c.dear);
}

/* What a probe has measured holds until completions say otherwise. */
static void test_set(void **state)
{
	struct model m;

	(void)state;
	begin(&m, 666000, 8);
	e2pf_control_set(&m.c, 333000, 16);
	e2pf_control_asked(&m.c, 100, 4096 * 100);
	assert_near(e2pf_control_gap(&m.c), 16650);
	complete(&m, 2000, 4096);
	assert_near(e2pf_control_gap(&m.c), 33300);
}

/* With a head, gaps are read through from the start. */
static void test_head(void **state)
{
	uint64_t least, most;
	struct model m;

	(void)state;
	begin(&m, 4000000, 8);
	e2pf_control_init(&m.c, true);
	e2pf_control_gap_range(&m.c, &least, &most);
	assert_int_equal(e2pf_control_gap(&m.c), 64 << 10);
	complete(&m, 2000, 4096);
	assert_near(e2pf_control_gap(&m.c), 4000000 / 8 / 2);
	assert_uint_in_range(e2pf_control_gap(&m.c), least, most);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dear),
		cmocka_unit_test(test_no_drift),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_not_the_limit),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_head)
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
