/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The time left of a check that reads and computes at known rates; and how long one is
 * likely to take: what it computes, and what it waits, on flash and where there is a
 * head.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "unit.h"
#include "ext4/ext4_probe.h"
#include "report/progress.h"

#define MIB (1024.0 * 1024.0)
#define MS 1000000u

/* A quarter of what is left, or less. */
static void assert_near(struct e2pf_estimate left, double real)
{
	assert_true(left.high > 0);
	assert_true(left.expected > real * 0.75 && left.expected < real * 1.25);
	assert_true(left.low <= left.expected && left.expected <= left.high);
}

/* A walk over 100 MiB in 400 requests, evenly, in `whole` seconds. */
static struct e2pf_progress_facts evenly(double seconds, double whole)
{
	double part = seconds / whole;

	return (struct e2pf_progress_facts) {
		.seconds = seconds, .stalled = seconds, .walks = true,
		.measurable = true, .passed = part, .usual_seconds = 0.001,
		.read = { 100 * MIB * part, 400 * part },
		.left = { 100 * MIB * (1 - part), 400 * (1 - part) },
		.pace = { 1e-8, 1e-3 }, .rest_part = 0.5
	};
}

/* Checks that read at a rate that changes. */
TEST(rates)
{
	static const struct {
		bool has_head;
		double computing;	/* s */
		/* Until `turn` s this part is read in a second; then that. */
		double turn, first, then;
		double all;		/* s that the check takes */
		unsigned from;		/* where the estimate is tested */
	} of[] = {
		/* All is read ahead in the first half: then computing
		 * decides. */
		{ false, 30, 15, 1.0 / 15, 0, 30, 1 },
		/* On a head the checker computes when it has been read. */
		{ true, 4, 30, 1.0 / 30, 0, 34, 1 },
		/* The rate of the last seconds counts. */
		{ false, 0, 10, 0.05, 0.005, 110, 40 },
	};
	struct e2pf_estimate left;
	unsigned i, t;

	for (i = 0; i < COUNT(of); i++) {
		struct e2pf_progress_past past = { .seconds = 0 };

		for (t = 1; t < 50 && t < of[i].all - 4; t++) {
			double part = t < of[i].turn ? t * of[i].first :
				of[i].turn * of[i].first +
				(t - of[i].turn) * of[i].then;
			struct e2pf_progress_facts f = evenly(part, 1);

			f.seconds = t;
			f.has_head = of[i].has_head;
			f.usual_seconds = of[i].computing;
			f.cpu = f.has_head ? 0 : of[i].computing * t /
						 of[i].all;
			f.passed = f.has_head ? 0 : t / of[i].all;
			f.rest_part = 0;
			left = e2pf_progress_estimate(&past, &f);
			if (t >= of[i].from)
				assert_near(left, of[i].all - t);
		}
	}
}

/* What follows the walk, by its stages, or by the time. */
TEST(the_rest)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_estimate left;
	struct e2pf_progress_facts f = evenly(10, 10);

	f.cpu = 8;
	assert_near(e2pf_progress_estimate(&past, &f), 4);
	f.walks = false;
	f.seconds = 11;
	f.rest_done = 0.6;
	assert_near(e2pf_progress_estimate(&past, &f), 1.6);
	f.rest_done = 0;
	f.cpu = 11;
	assert_near(e2pf_progress_estimate(&past, &f), 1);
	/* Never at its end before the check is. */
	f.cpu = 20;
	left = e2pf_progress_estimate(&past, &f);
	assert_true(left.expected > 0.1 && left.expected < 0.3);
}

TEST(unknown)
{
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_progress_facts f = { .walks = true };

	assert_true(e2pf_progress_estimate(&past, &f).high == 0);
	f = evenly(5, 10);
	f.measurable = false;
	assert_true(e2pf_progress_estimate(&past, &f).high == 0);
	/* Nothing was read yet: at the usual pace. */
	memset(&past, 0, sizeof(past));
	f = evenly(0, 10);
	f.seconds = 1;
	f.rest_part = 0;
	assert_near(e2pf_progress_estimate(&past, &f), 1e-8 * 100 * MIB + 0.4);
}

/* The columns of fixtures/progress.txt, in order. */
static void read_facts(char *line, double *real, struct e2pf_progress_facts *f)
{
	double walks = 0, measurable = 0, has_head = 0;
	double *const column[] = {
		real,
		&f->seconds, &f->cpu, &f->stalled, &walks, &measurable,
		&f->passed, &f->rest_done, &f->rest_part, &f->usual_seconds,
		&f->read.bytes, &f->read.requests, &f->left.bytes,
		&f->left.requests, &has_head, &f->pace.request
	};
	unsigned i;

	for (i = 0; i < COUNT(column); i++) {
		char *end;

		*column[i] = strtod(line, &end);
		assert_ptr_not_equal(end, line);
		line = end;
	}
	f->pace.byte = 1;
	f->walks = walks > 0;
	f->measurable = measurable > 0;
	f->has_head = has_head > 0;
}

/* Of real checks, from a third of the way on: within 20 % of the whole on the
 * average of each, and never beyond 45 %: what double indirect blocks lead to is
 * not known before they are read. */
TEST(recorded)
{
	const char *srcdir = getenv("srcdir");
	struct e2pf_progress_past past = { .seconds = 0 };
	struct e2pf_estimate left;
	struct e2pf_progress_facts f;
	double took = 0, real, error, errors = 0;
	unsigned seen = 0, checks = 0;
	char line[512];
	FILE *file;

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
		left = e2pf_progress_estimate(&past, &f);
		if (real > took * 2 / 3)
			continue;
		assert_true(left.high > 0);
		error = (left.expected - real) / took;
		assert_true(error > -0.45 && error < 0.45);
		errors += error < 0 ? -error : error;
		seen++;
		/* Near its end. */
		if (real < took / 10)
			assert_true(errors / seen < 0.2);
	}
	fclose(file);
	assert_int_equal(checks, 5);
}

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

static unsigned shown;

static void show(void *ctx, const struct e2pf_progress *p, const char *text)
{
	const struct e2pf_progress *saved = ctx;

	if ((pid_t)p->pid != getpid())
		return;
	shown++;
	assert_non_null(strstr(text, "a disk"));
	assert_string_equal(p->program, saved->program);
	assert_string_equal(p->device, "/dev/a?b");
	assert_string_equal(p->stage, "");
	assert_true(p->place == saved->place && p->places == saved->places);
	assert_true(p->read_bytes == saved->read_bytes && !p->planned_bytes);
	assert_true(p->left.low == saved->left.low && p->left.high == saved->left.high);
}

/* What is saved is found, until it is removed. */
TEST(saved)
{
	struct e2pf_progress p = {
		.program = "e2fsck", .device = "/dev/a\nb", .place = 3, .places = 5,
		.read_bytes = 1e15, .left = { 1, 2, 3 }, .disk = "a disk"
	};
	char text[E2PF_PROGRESS_BYTES], left[64];
	unsigned expected = !geteuid();

	/* A process of this number has ended while it wrote its own. */
	snprintf(left, sizeof(left), "/run/e2prefetch/%d.progress.new", (int)getpid());
	if (expected) {
		mkdir("/run/e2prefetch", 0755);
		close(creat(left, 0600));
	}
	e2pf_progress_print(&p, text);
	e2pf_progress_save(text);
	assert_int_equal(e2pf_progress_each(show, &p), 0);
	assert_int_equal(shown, expected);
	e2pf_progress_remove(getpid());
	assert_int_equal(e2pf_progress_each(show, &p), 0);
	assert_int_equal(shown, expected);
}

UNIT_MAIN(NULL, NULL)
