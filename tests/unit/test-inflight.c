/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many requests of a worker may be in flight: at first, after requests that
 * completed in time, and after a late one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/inflight.h"

#define MS UINT64_C(1000000)

/* Requests that can be made until the oldest has to complete. */
static unsigned fill(struct e2pf_inflight *f)
{
	unsigned n = 0;

	while (!e2pf_inflight_is_full(f) && n < 5000)
		e2pf_inflight_add(f, 0, n++, 4096, 0);
	return n;
}

/* The first requests in flight complete within a quarter of a second. */
static void to_begin_with(void **state)
{
	static const struct {
		uint64_t request_ns;
		unsigned first;
	} cases[] = {
		{ 0, 4 }, { 1, 64 }, { MS, 64 }, { 4 * MS, 62 }, { 10 * MS, 25 },
		{ 50 * MS, 5 }, { 200 * MS, 4 }, { 4000 * MS, 4 },
		{ UINT64_MAX, 4 },
	};
	struct e2pf_inflight f;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e2pf_inflight_init(&f, cases[i].request_ns);
		/* If there are many, only one in two is tracked. */
		assert_uint_in_range(fill(&f), cases[i].first - 1,
				     cases[i].first + 1);
	}
}

static void twice_as_many_in_time(void **state)
{
	struct e2pf_inflight f;
	unsigned limit = 4, round, n;

	(void)state;
	e2pf_inflight_init(&f, 0);
	for (round = 0; round < 12; round++) {
		fill(&f);
		for (n = f.used; n; n--)
			e2pf_inflight_completed(&f, false);
		limit = limit * 2 < E2PF_INFLIGHT_MOST ? limit * 2 :
			E2PF_INFLIGHT_MOST;
		assert_uint_in_range(f.limit, limit * 15 / 16, limit);
	}
}

static void half_when_late(void **state)
{
	struct e2pf_inflight f;
	unsigned n;

	(void)state;
	e2pf_inflight_init(&f, MS);
	for (n = 0; n < 10; n++) {
		fill(&f);
		e2pf_inflight_completed(&f, true);
	}
	assert_int_equal(f.limit, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(to_begin_with),
		cmocka_unit_test(twice_as_many_in_time),
		cmocka_unit_test(half_when_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
