/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The time left of a check that computes and reads at known rates, and of recorded ones;
 * how long one is likely to take; and the file that says so.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "unit.h"
#include "ext4/ext4_probe.h"
#include "report/progress.h"

#define MS 1000000u

static struct e2pf_progress_past past;

/* `passed` of the walk after `seconds`, half of which it computed. */
static double left_at(double seconds, double passed, double rest_done)
{
	struct e2pf_progress_facts f = {
		.seconds = seconds, .cpu = seconds / 2, .passed = passed,
		.rest_part = 0.5, .rest_done = rest_done
	};

	return e2pf_progress_left(&past, &f);
}

/* The pace of the last seconds counts: a walk that stands still for 20 s and then takes
 * 20, and what follows it. */
TEST(pace)
{
	double left = 0;
	unsigned t;

	memset(&past, 0, sizeof(past));
	for (t = 1; t <= 20; t++)
		assert_true(left_at(t, 0, 0) <= 0);
	for (; t < 40; t++) {
		left = left_at(t, (t - 20) / 20.0, 0);
		/* Nothing is said of the first part. */
		assert_int_equal(left > 0, t >= 24);
		if (t < 30)
			continue;
		/* And 10 s of computing that follow. */
		assert_true(left > (40 - t + 10) * 0.6);
		assert_true(left < (40 - t + 10) * 1.6);
	}
	/* What follows, by its stages. */
	assert_float_equal(left_at(40, 1, 0), 10, 1);
	assert_float_equal(left_at(45, 1, 0.6), 4, 0.4);
	assert_true(left_at(46, 0, 0) <= 0);
}

/* A walk that no longer goes on takes longer and longer. */
TEST(stands_still)
{
	double before, left;
	unsigned t;

	memset(&past, 0, sizeof(past));
	left_at(1, 0.25, 0);
	before = left_at(2, 0.5, 0);
	for (t = 3; t < 10; t++) {
		left = left_at(t, 0.5, 0);
		assert_true(left > before);
		before = left;
	}
}

static void read_facts(char *line, double *real, struct e2pf_progress_facts *f)
{
	double *const column[] = {
		real, &f->seconds, &f->cpu, &f->passed, &f->rest_done,
		&f->rest_part
	};
	unsigned i;

	for (i = 0; i < COUNT(column); i++) {
		char *end;

		*column[i] = strtod(line, &end);
		assert_ptr_not_equal(end, line);
		line = end;
	}
}

/* Of real checks: within a factor of 3, or a tenth of the check, or it says nothing. */
TEST(recorded)
{
	const char *srcdir = getenv("srcdir");
	struct e2pf_progress_facts f;
	double took = 0, real, left;
	unsigned said = 0, checks = 0;
	char line[512];
	FILE *file;

	snprintf(line, sizeof(line), "%s/fixtures/progress.txt",
		 srcdir ? srcdir : ".");
	file = fopen(line, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "check %*s %lf", &took) == 1) {
			memset(&past, 0, sizeof(past));
			checks++;
		}
		if (*line < '0' || *line > '9')
			continue;
		memset(&f, 0, sizeof(f));
		read_facts(line, &real, &f);
		left = e2pf_progress_left(&past, &f);
		if (left <= 0)
			continue;
		said++;
		assert_true(left < real * 3 || left - real < took / 10);
		assert_true(left > real / 3 || real - left < took / 10);
	}
	fclose(file);
	assert_int_equal(checks, 5);
	assert_true(said > 30);
}

/* A million inodes, or 1000 blocks here and there: what a check takes. */
TEST(forecasts)
{
	static const struct {
		uint64_t latency_ns, least_ns, deep_latency_ns;
		unsigned spindles;
		bool seeks, virtual_disk;
		unsigned class;
		uint64_t runs, inodes;
		double seconds;
	} of[] = {
		{ 1, 1, 1, 0, false, false, E2PF_EXTENTS, 0, 1000000, 0.6 },
		/* Flash, a network volume: also the four lone reads. */
		{ MS, MS, MS / 10, 0, false, false, E2PF_EXTENTS, 1000, 0,
		  0.004 + 0.05 },
		/* Two of three reads waited for the processor, too; but not for
		 * much longer. */
		{ 4 * MS, MS, MS / 10, 0, false, false, E2PF_EXTENTS, 1000, 0,
		  0.004 + 0.05 },
		{ 5 * MS, MS, MS / 10, 0, false, false, E2PF_EXTENTS, 1000, 0, 0 },
		/* Disks, which the kernel knows. */
		{ 10 * MS, 8 * MS, 4 * MS, 1, true, false, E2PF_EXTENTS, 1000, 0,
		  0.032 + 0.6 },
		{ 10 * MS, 8 * MS, 4 * MS, 3, true, false, E2PF_EXTENTS, 1000, 0,
		  0.032 + 0.2 },
		/* It may be one, or serve one request at a time: from 0.6 to 4 s. */
		{ 10 * MS, 8 * MS, 4 * MS, 1, true, true, E2PF_EXTENTS, 1000, 0,
		  0.032 + 1.6 },
		{ 20 * MS, 20 * MS, 20 * MS, 0, true, false, E2PF_EXTENTS, 1000, 0,
		  0.08 + 8 },
		/* Many at a time do not seek, however late they answer. */
		{ 40 * MS, 40 * MS, 5 * MS, 0, true, false, E2PF_EXTENTS, 1000, 0,
		  0.16 + 1 },
		/* Those of the eight waited for the processor, too. */
		{ MS, MS, 5 * MS, 0, false, false, E2PF_EXTENTS, 1000, 0,
		  0.004 + 0.5 },
		/* A journal is not read, however large. */
		{ MS, MS, MS / 10, 0, false, false, E2PF_FILES, 1000, 0, 0.004 },
	};
	size_t i;

	for (i = 0; i < COUNT(of); i++) {
		struct e2pf_probe p = {
			.topo.spindles = of[i].spindles,
			.topo.unsure = of[i].virtual_disk,
			.inodes = of[i].inodes,
			.speed = {
				.seeks = of[i].seeks, .byte_ps = 1,
				.latency_ns = of[i].latency_ns,
				.least_ns = of[i].least_ns,
				.deep_latency_ns = of[i].deep_latency_ns
			}
		};

		p.plan[of[i].class].bytes = of[i].runs * 4096;
		p.plan[of[i].class].runs = of[i].runs;
		/* Without a measurement nothing is said. */
		assert_true(e2pf_probe_seconds(&p) <= 0);
		p.measured = true;
		assert_float_equal(e2pf_probe_seconds(&p), of[i].seconds, 1e-4);
	}
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
	assert_true(p->seconds == saved->seconds && p->left == saved->left);
}

/* What is saved is found, until it is removed. */
TEST(saved)
{
	struct e2pf_progress p = {
		.program = "e2fsck", .device = "/dev/a\nb", .place = 3, .places = 5,
		.seconds = 1e9, .left = 2, .disk = "a disk"
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
