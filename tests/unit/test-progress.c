/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time left of a check that reads and computes at known rates, and the line
 * that tells it. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "report/progress.h"

#define MIB (1024.0 * 1024.0)

/* A quarter of what is left, or less. */
static void assert_near(const struct e2pf_progress_left *left, double real)
{
	assert_true(left->known);
	assert_true(left->seconds > real * 0.75 && left->seconds < real * 1.25);
	assert_true(left->low <= left->seconds &&
		    left->seconds <= left->high);
}

/* A walk over tables of 100 MiB, evenly, in `whole` seconds. */
static struct e2pf_progress_facts evenly(double seconds, double whole)
{
	double part = seconds / whole;

	return (struct e2pf_progress_facts) {
		.seconds = seconds, .stalled = seconds, .walks = true, .measurable = true,
		.passed = part, .items = 1000, .table_bytes = 100 * MIB,
		.seeds_bytes = 100 * MIB * part,
		.parsed_bytes = 100 * MIB * part,
		.found_bytes = 100 * MIB * part,
		.span_bytes = 100 * MIB * part,
		.read_bytes = 100 * MIB * part,
		.read_span_bytes = 100 * MIB * part, .runs = 400 * part,
		.read_runs = 400 * part, .requests = 400 * part,
		.request_bytes = 65536, .rest_part = 0.5
	};
}

static void flash_by_place(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f;
	unsigned i;

	(void)state;
	for (i = 1; i < 30; i++) {
		double t = i;

		/* All has been read ahead in the first half. */
		f = evenly(t < 15 ? 2 * t : 30, 30);
		f.seconds = f.stalled = t;
		f.passed = t / 30;
		e2pf_progress_estimate(&past, &f, &left);
		assert_near(&left, 30 - t);
	}
}

/* On a head the checker stays where it is while the tables are read, and then
 * what they refer to: twice as much, found evenly. */
static void head_by_reading(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f;
	unsigned i;

	(void)state;
	for (i = 1; i < 30; i++) {
		double t = i, tables = (t < 10 ? t : 10) * 10 * MIB;

		f = evenly(t, 30);
		f.has_head = true;
		f.passed = 0;
		f.cpu = 0.001;
		f.stalled = t;
		f.seeds_bytes = 100 * MIB;
		f.parsed_bytes = tables;
		f.found_bytes = f.span_bytes = 100 * MIB + 2 * tables;
		f.read_bytes = f.read_span_bytes = t * 10 * MIB;
		f.runs = f.found_bytes / 65536;
		f.read_runs = f.read_bytes / 65536;
		f.requests = f.read_runs;
		e2pf_progress_estimate(&past, &f, &left);
		assert_near(&left, 30 - t);
		if (t > 1)
			assert_float_equal(left.planned_bytes / MIB, 300, 1);
	}
}

/* Blocks that others are known to lead to count before they are found, as runs
 * like those that were found already: here one for each MiB. */
static void expected_blocks(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f = evenly(10, 10);

	(void)state;
	f.has_head = true;
	f.passed = 0;
	f.stalled = 10;
	f.seeds_bytes = f.parsed_bytes = 100 * MIB;
	f.request_bytes = MIB;
	f.read_runs = f.runs = 100;
	f.expected_bytes = 200 * MIB;
	f.deep_bytes = 1e6 * MIB;
	f.deep_areas = 1e6;
	e2pf_progress_estimate(&past, &f, &left);
	assert_near(&left, 20);
	assert_float_equal(left.planned_bytes / MIB, 300, 1);
}

/* A request for a small block takes as long as many bytes. */
static void requests_count(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f = evenly(10, 10);

	(void)state;
	f.has_head = true;
	f.passed = 0;
	f.stalled = 10;
	f.request_bytes = MIB / 4;	/* 100 MiB read by 400 */
	f.runs += 1600;
	f.span_bytes += 1600 * 4096;
	f.found_bytes += 1600 * 4096;
	e2pf_progress_estimate(&past, &f, &left);
	assert_near(&left, 20);
	/* Gaps that runs read through take time as well. */
	f.seconds = f.stalled = 10.01;
	f.runs = 400;
	f.span_bytes = 300 * MIB;
	e2pf_progress_estimate(&past, &f, &left);
	assert_near(&left, 10);
}

/* Where no stage tells how far the rest is, the time since the walk does. */
static void rest_by_time(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f = evenly(10, 10);
	int t;

	(void)state;
	f.rest_part = 2;
	f.stalled = 0;
	for (t = 10; t < 30; t++) {
		f.seconds = f.cpu = t;
		e2pf_progress_estimate(&past, &f, &left);
		assert_true(left.seconds > 30 - t - 2 &&
			    left.seconds < 30 - t + 2);
	}
	f.seconds = f.cpu = 1000;
	e2pf_progress_estimate(&past, &f, &left);
	assert_true(left.seconds > 0 && left.seconds < 2);
}

/* What is in flight is not there yet: while nothing is asked for, time passes
 * and less is left. */
static void the_last_requests(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f = evenly(10, 10);
	double first;

	(void)state;
	f.has_head = true;
	f.passed = 0;
	f.stalled = 10;
	f.request_bytes = 0;
	f.in_flight = 128;
	f.in_flight_bytes = 50 * MIB;
	e2pf_progress_estimate(&past, &f, &left);
	first = left.seconds;
	assert_true(first > 2);
	f.seconds = f.stalled = 12;
	e2pf_progress_estimate(&past, &f, &left);
	assert_float_equal(first - left.seconds, 2, 0.1);
	f.seconds = f.stalled = 100;
	e2pf_progress_estimate(&past, &f, &left);
	assert_true(left.seconds < 0.1);
}

/* After the walk, the processor's pace in it tells the rest. */
static void the_rest(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_facts f = {
		.seconds = 10, .cpu = 9, .measurable = true, .passed = 1,
		.items = 10000000, .rest_part = 0.5 / 0.9
	};
	struct e2pf_progress_left slow, left;

	(void)state;
	e2pf_progress_estimate(&past, &f, &slow);
	assert_near(&slow, 5);
	f.rest_done = 0.6;
	e2pf_progress_estimate(&past, &f, &left);
	assert_near(&left, 2);
	memset(&past, 0, sizeof(past));
	f.seconds = f.cpu = 18;
	f.rest_done = 0;
	e2pf_progress_estimate(&past, &f, &left);
	assert_near(&left, 10);
}

/* Nothing is known: no number is made up, and none is negative or infinite. */
static void unknown(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_facts f = { .walks = true };
	struct e2pf_progress_left left;

	(void)state;
	e2pf_progress_estimate(&past, &f, &left);
	assert_false(left.known);
	f.seconds = 5;
	e2pf_progress_estimate(&past, &f, &left);
	assert_false(left.known);
	f.measurable = true;
	e2pf_progress_estimate(&past, &f, &left);
	assert_true(left.known);
	assert_true(left.low >= 0 && left.seconds >= 0 &&
		    left.high < 1e9);
	/* A walk begins again: what was read counts from the start. */
	f = evenly(20, 30);
	e2pf_progress_estimate(&past, &f, &left);
	f = evenly(1, 30);
	f.seconds = 21;
	f.passed = 0;
	e2pf_progress_estimate(&past, &f, &left);
	assert_true(left.known && left.seconds >= 0 && left.high < 1e9);
}

static void lines(void **state)
{
	struct e2pf_progress p = {
		.device = "/dev/sdb1", .stage = "pass1", .place = 812,
		.places = 1600, .unit = "groups",
		.read_bytes = 120 * (uint64_t)MIB, .bytes_per_second = 45 * MIB,
		.left = { .known = true, .planned_bytes = 300 * MIB,
			  .seconds = 12, .low = 10, .high = 6000 },
		.wait = E2PF_WAITS_DISK, .disk = "sdb"
	};
	char line[256];

	(void)state;
	e2pf_progress_line(&p, line, sizeof(line));
	assert_string_equal(line, "/dev/sdb1: pass1, 12 s left (10 s to 1.7 h), "
		"812 of 1600 groups, 120 of 300 MiB read, 45 MiB/s, waits for "
		"the disk sdb");
	p.wait = E2PF_WAITS_SECTOR;
	p.wait_seconds = 7;
	p.wait_at = 4096;
	p.left.known = false;
	p.places = 0;
	e2pf_progress_line(&p, line, sizeof(line));
	assert_string_equal(line, "/dev/sdb1: pass1, time left unknown, 120 of "
		"300 MiB read, 45 MiB/s, waits for a slow read of sdb at byte "
		"4096, for 7 s");
	e2pf_progress_line(&p, line, 20);
	assert_int_equal(strlen(line), 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flash_by_place),
		cmocka_unit_test(head_by_reading),
		cmocka_unit_test(expected_blocks),
		cmocka_unit_test(requests_count),
		cmocka_unit_test(rest_by_time),
		cmocka_unit_test(the_last_requests),
		cmocka_unit_test(the_rest),
		cmocka_unit_test(unknown),
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
