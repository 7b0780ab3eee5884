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
#include <stdio.h>
#include <stdlib.h>
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
		.passed = part, .passed_items = part, .parsed_items = part,
		.usual_seconds = 0.001, .table_bytes = 100 * MIB,
		.seeds_bytes = 100 * MIB * part,
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
		f.seconds = f.cpu = t;
		f.stalled = 0;
		f.rest_part = 0;
		f.passed = f.passed_items = t / 30;
		e2pf_progress_estimate(&past, &f, &left);
		assert_near(&left, 30 - t);
	}
}

/* What has been read ahead takes only computing. */
static void flash_all_read(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f = evenly(10, 10);

	(void)state;
	f.passed = f.passed_items = 0.5;
	f.cpu = 1;
	f.stalled = 9;
	f.rest_part = 0;
	e2pf_progress_estimate(&past, &f, &left);
	assert_float_equal(left.seconds, 1, 0.01);
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
		f.parsed_items = tables / (100 * MIB);
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

/* Blocks that others are known to lead to count before they are found. */
static void expected_blocks(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f = evenly(10, 10);

	(void)state;
	f.has_head = true;
	f.passed = 0;
	f.stalled = 10;
	f.request_bytes = MIB;
	f.read_runs = f.runs = 100;
	f.expected_bytes = 200 * MIB;
	f.expected_runs = 200;
	e2pf_progress_estimate(&past, &f, &left);
	assert_near(&left, 20);
	assert_float_equal(left.planned_bytes / MIB, 300, 1);
	/* And as much is in places that wait for a later phase. */
	f.deferred_bytes = 100 * MIB;
	f.deferred_runs = 300;
	e2pf_progress_estimate(&past, &f, &left);
	assert_near(&left, 40);
}

/* What a request costs is learned: the second half of the time is spent on small
 * requests, of which each takes as long as a MiB and not as a quarter. */
static void requests_weighed(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f;
	unsigned t;

	(void)state;
	for (t = 1; t <= 20; t++) {
		f = evenly(10, 10);
		f.has_head = true;
		f.passed = 0;
		f.seconds = f.stalled = t;
		f.request_bytes = MIB / 4;
		/* 10 MiB/s without requests, then ten requests. */
		f.read_bytes = f.read_span_bytes =
			(t < 10 ? t : 10) * 10 * MIB + t;
		f.read_runs = f.requests = 1 + (t > 10 ? t - 10 : 0) * 10;
		f.span_bytes = 200 * MIB;
		f.found_bytes = 200 * MIB;
		f.runs = 201;
		e2pf_progress_estimate(&past, &f, &left);
	}
	/* 100 MiB and 100 requests. */
	assert_near(&left, 20);
	assert_true(past.request_bytes > 0.8 * MIB);
}

/* Where groups without inodes have tables, too, the place among inodes counts as
 * much as what these lead to. */
static void place_by_inodes(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f = evenly(10, 20);

	(void)state;
	/* A tenth of the tables have half of the inodes, which led to
	 * 400 MiB. */
	f.seeds_bytes = f.span_bytes = f.read_span_bytes = 10 * MIB;
	f.passed = 0.1;
	f.passed_items = f.parsed_items = 0.5;
	f.found_bytes = f.read_bytes = f.span_bytes = f.read_span_bytes =
		410 * MIB;
	f.rest_part = 0;
	e2pf_progress_estimate(&past, &f, &left);
	assert_float_equal(left.planned_bytes / MIB, 900, 1);
	assert_near(&left, 10 * 490 / 410.0);
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

/* How long the walk took is known, although nobody looked when it ended. */
static void walk_ends_unseen(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f = evenly(1, 2);

	(void)state;
	f.rest_part = 2;
	f.stalled = 0;
	f.cpu = 1;
	e2pf_progress_estimate(&past, &f, &left);
	f = evenly(4, 4);
	f.rest_part = 2;
	f.stalled = 0;
	f.cpu = 4;
	e2pf_progress_estimate(&past, &f, &left);
	/* Two seconds for the walk, and two of four for the rest. */
	assert_float_equal(left.seconds, 2, 0.01);
	/* The processor has other things to do: six seconds for five. */
	f.seconds = 6;
	f.cpu = 5;
	e2pf_progress_estimate(&past, &f, &left);
	assert_float_equal(left.seconds, 1.2, 0.01);
}

/* After the walk, the processor's pace in it tells the rest. */
static void the_rest(void **state)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_facts f = {
		.seconds = 10, .cpu = 9, .measurable = true, .passed = 1,
		.passed_items = 1, .parsed_items = 1,
		.usual_seconds = 9, .rest_part = 0.5 / 0.9
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

/* The columns of fixtures/progress.txt, in order. */
static void read_facts(char *line, double *real, struct e2pf_progress_facts *f)
{
	double walks = 0, measurable = 0, has_head = 0;
	double *const column[] = {
		real,
		&f->seconds, &f->cpu, &f->stalled, &walks, &measurable,
		&f->passed, &f->passed_items, &f->parsed_items, &f->rest_done,
		&f->rest_part, &f->usual_seconds, &f->table_bytes,
		&f->seeds_bytes, &f->found_bytes, &f->expected_bytes,
		&f->expected_runs, &f->read_bytes, &f->span_bytes,
		&f->read_span_bytes, &f->runs, &f->read_runs, &f->requests,
		&f->in_flight, &f->deferred_bytes, &f->deferred_runs,
		&has_head, &f->request_bytes
	};
	unsigned i;

	for (i = 0; i < sizeof(column) / sizeof(*column); i++) {
		char *end;

		*column[i] = strtod(line, &end);
		assert_ptr_not_equal(end, line);
		line = end;
	}
	f->walks = walks > 0;
	f->measurable = measurable > 0;
	f->has_head = has_head > 0;
	f->table_bytes *= 1024;
	f->seeds_bytes *= 1024;
	f->found_bytes *= 1024;
	f->expected_bytes *= 1024;
	f->read_bytes *= 1024;
	f->span_bytes *= 1024;
	f->read_span_bytes *= 1024;
	f->deferred_bytes *= 1024;
	f->request_bytes *= 1024;
}

/* Of real checks, from a third of the way on: within 15 % of the whole on the
 * average of each, and never beyond 30 %. */
static void recorded(void **state)
{
	const char *srcdir = getenv("srcdir");
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_left left;
	struct e2pf_progress_facts f;
	double took = 0, real, error, errors = 0;
	unsigned seen = 0, checks = 0;
	char line[512];
	FILE *file;

	(void)state;
	snprintf(line, sizeof(line), "%s/fixtures/progress.txt",
		 srcdir ? srcdir : ".");
	file = fopen(line, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "check %*s %lf", &took) == 1) {
			memset(&past, 0, sizeof(past));
			errors = seen = 0;
			checks++;
		}
		if (*line < '0' || *line > '9')
			continue;
		memset(&f, 0, sizeof(f));
		read_facts(line, &real, &f);
		e2pf_progress_estimate(&past, &f, &left);
		if (real > took * 2 / 3)
			continue;
		assert_true(left.known);
		error = (left.seconds - real) / took;
		assert_true(error > -0.3 && error < 0.3);
		errors += error < 0 ? -error : error;
		seen++;
		/* Near its end. */
		if (real < took / 10)
			assert_true(errors / seen < 0.15);
	}
	fclose(file);
	assert_int_equal(checks, 5);
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
		"waits for the disk sdb, 812 of 1600 groups, 120 of 300 MiB "
		"read, 45 MiB/s");
	p.wait = E2PF_WAITS_SECTOR;
	p.wait_seconds = 7;
	p.wait_at = 4096;
	p.left.known = false;
	p.places = 0;
	e2pf_progress_line(&p, line, sizeof(line));
	assert_string_equal(line, "/dev/sdb1: pass1, time left unknown, waits for "
		"a slow read of sdb at byte 4096, for 7 s, 120 of 300 MiB read, "
		"45 MiB/s");
	e2pf_progress_line(&p, line, 20);
	assert_int_equal(strlen(line), 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flash_by_place),
		cmocka_unit_test(flash_all_read),
		cmocka_unit_test(head_by_reading),
		cmocka_unit_test(expected_blocks),
		cmocka_unit_test(requests_count),
		cmocka_unit_test(requests_weighed),
		cmocka_unit_test(place_by_inodes),
		cmocka_unit_test(rest_by_time),
		cmocka_unit_test(the_last_requests),
		cmocka_unit_test(walk_ends_unseen),
		cmocka_unit_test(the_rest),
		cmocka_unit_test(unknown),
		cmocka_unit_test(recorded),
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
