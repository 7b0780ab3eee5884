/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The time left of a stage that goes on at a known pace, and of recorded ones; the line
 * and the file that say so; and how long a check is likely to take.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "unit.h"
#include "ext4/session.h"
#include "prefetch/progress.h"
#include "prefetch/report.h"

#define MS 1000000u

static struct pf_progress_past past;

/* `part` of the stage after `seconds`. */
static struct pf_progress moment(double seconds, double part)
{
	return (struct pf_progress) {
		.device = "dev", .stage = "pass1", .position = part * 1000,
		.positions = 1000, .unit = "inodes", .seconds = seconds
	};
}

static double left_at(double seconds, double part)
{
	struct pf_progress now = moment(seconds, part);

	return pf_progress_left(&past, &now);
}

/* The pace of the last seconds counts: a stage that stands still for 20 s and then takes
 * 20. */
TEST(pace)
{
	double left = 0, before;
	unsigned t;

	memset(&past, 0, sizeof(past));
	for (t = 1; t <= 20; t++)
		assert_true(left_at(t, 0) <= 0);
	for (; t < 40; t++) {
		left = left_at(t, (t - 20) / 20.0);
		/* Nothing is said of the first part. */
		assert_int_equal(left > 0, t >= 24);
		if (t < 30)
			continue;
		assert_true(left > (40 - t) * 0.6);
		assert_true(left < (40 - t) * 2.0);
	}
	/* It no longer goes on, and takes longer and longer. */
	for (; t < 45; t++) {
		before = left;
		left = left_at(t, 19 / 20.0);
		assert_true(left > before);
	}
	/* Twice at one moment. */
	assert_float_equal(left_at(t - 1, 19 / 20.0), left, 0.01);
}

/* The next stage has a pace of its own, and so has the same one of a check that starts
 * over. */
TEST(next_stage)
{
	struct pf_progress now;

	memset(&past, 0, sizeof(past));
	left_at(100, 0.5);
	now = moment(101, 0.25);
	now.stage = "pass2";
	assert_float_equal(pf_progress_left(&past, &now), 3, 0.01);
	past.stage = NULL;
	now = moment(103, 0.5);
	assert_float_equal(pf_progress_left(&past, &now), 2, 0.01);
	/* How long a stage is need not be known. */
	now.positions = 0;
	assert_true(pf_progress_left(&past, &now) <= 0);
}

/* Of real checks: within a factor of 3, or a tenth of the walk, or it says nothing. */
TEST(recorded)
{
	const char *srcdir = getenv("srcdir");
	double took = 0, real = 0, seconds = 0, part = 0, left;
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
		assert_int_equal(sscanf(line, "%lf %lf %lf", &real, &seconds,
					&part), 3);
		left = left_at(seconds, part);
		if (left <= 0)
			continue;
		said++;
		assert_true(left < real * 3 || left - real < took / 10);
		assert_true(left > real / 3 || real - left < took / 10);
	}
	fclose(file);
	assert_int_equal(checks, 5);
	assert_true(said > 20);
}

static void says(const struct pf_progress *now, const char *expected)
{
	char line[PF_PROGRESS_BYTES];

	pf_progress_say(&past, "e2fsck", now, line);
	assert_string_equal(line, expected);
}

/* What it did for more than half of the last second. */
TEST(line)
{
	struct pf_progress now = moment(1, 0);

	memset(&past, 0, sizeof(past));
	says(&now, "e2fsck: dev: pass1, 0 of 1000 inodes, 1.0 s, ETA unknown, idle");
	now = moment(2, 0.5);
	now.cpu = 0.6;
	says(&now, "e2fsck: dev: pass1, 500 of 1000 inodes, 2.0 s, ETA 1.2 s, "
	     "CPU-bound");
	now = moment(3, 0.5);
	now.device = "a\nb";
	now.disk = "sda";
	now.stalled = 0.6;
	now.positions = 0;
	says(&now, "e2fsck: a?b: pass1, 3.0 s, ETA unknown, waiting for sda");
	now.seconds = 4;
	now.reading = 1.2;
	now.reading_at = 1e12;
	says(&now, "e2fsck: a?b: pass1, 4.0 s, ETA unknown, waiting 1 s for "
	     "sda at byte 1000000000000");
	/* While a device is measured that does not answer. */
	now.busy = true;
	says(&now, "e2fsck: a?b: pass1, 4.0 s, ETA unknown, waiting for sda");
}

TEST(in_words)
{
	static const struct {
		double seconds;
		const char *words;
	} of[] = {
		{ 9.9, "9.9 s" }, { 10, "10 s" }, { 119, "119 s" }, { 120, "2 min" },
		{ 7199, "120 min" }, { 7200, "2.0 h" }
	};
	char text[16];
	size_t i;

	for (i = 0; i < COUNT(of); i++)
		assert_string_equal(pf_report_format_seconds(of[i].seconds, text,
							     sizeof(text)),
				    of[i].words);
}

/* A million inodes, or so many blocks here and there: what a check takes.  A journal is
 * not read, however large. */
TEST(forecasts)
{
	static const struct {
		uint64_t latency_ns, min_latency_ns, latency_qd8_ns;
		unsigned spindles;
		bool seek_bound, virtual_disk;
		unsigned blocks;
		double seconds;
	} of[] = {
		{ MS, MS, MS / 10, 0, false, false, 0, 0.6 },
		/* Flash, a network volume. */
		{ MS, MS, MS / 10, 0, false, false, 1000, 0.05 },
		/* Two of three reads waited for the processor, too; but not for
		 * much longer. */
		{ 4 * MS, MS, MS / 10, 0, false, false, 1000, 0.05 },
		{ 5 * MS, MS, MS / 10, 0, false, false, 1000, 0 },
		/* Disks, which the kernel knows. */
		{ 10 * MS, 8 * MS, 4 * MS, 1, true, false, 1000, 0.6 },
		{ 10 * MS, 8 * MS, 4 * MS, 3, true, false, 1000, 0.2 },
		/* It may be one, or serve one request at a time: from 0.6 to 4 s. */
		{ 10 * MS, 8 * MS, 4 * MS, 1, true, true, 1000, 1.6 },
		{ 20 * MS, 20 * MS, 20 * MS, 0, true, false, 1000, 8 },
		/* Many at a time are not seek-bound, however late they answer. */
		{ 40 * MS, 40 * MS, 5 * MS, 0, true, false, 1000, 1 },
		/* Those of the eight waited for the processor, too. */
		{ MS, MS, 5 * MS, 0, false, false, 1000, 0.5 },
	};
	size_t i;

	for (i = 0; i < COUNT(of); i++) {
		struct ext4_probe p = {
			.topo.spindles = of[i].spindles,
			.topo.unsure = of[i].virtual_disk,
			.inodes = of[i].blocks ? 0 : 1000000,
			.unmeasured = "it is a test",
			.plan[EXT4_EXTENTS] = {
				of[i].blocks * 4096, of[i].blocks
			},
			.speed = {
				.seek_bound = of[i].seek_bound, .byte_ps = 1,
				.latency_ns = of[i].latency_ns,
				.min_latency_ns = of[i].min_latency_ns,
				.latency_qd8_ns = of[i].latency_qd8_ns
			}
		};

		/* Without a measurement nothing is said. */
		assert_true(ext4_probe_seconds(&p) <= 0);
		p.unmeasured = NULL;
		assert_float_equal(ext4_probe_seconds(&p), of[i].seconds, 1e-4);
	}
}

static unsigned shown;

static void show(void *ctx, pid_t pid, const char *line)
{
	if (pid != getpid())
		return;
	shown++;
	assert_string_equal(line, ctx);
}

/* What is saved is found, until it is removed; of what was longer nothing is left, and a
 * reader who is faster than that takes the first line. */
TEST(saved)
{
	char line[] = "e2fsck: /dev/a: pass1", name[64];
	unsigned expected = !geteuid();
	FILE *f;

	/* A process of this number has ended without removing its own. */
	snprintf(name, sizeof(name), "/run/e2prefetch/%d.progress", (int)getpid());
	if (expected) {
		mkdir("/run/e2prefetch", 0755);
		close(creat(name, 0600));
	}
	pf_progress_save("e2fsck: /dev/a: pass1, what is longer");
	pf_progress_save(line);
	assert_int_equal(pf_progress_each(show, line), 0);
	assert_int_equal(shown, expected);
	if (expected) {
		f = fopen(name, "a");
		assert_non_null(f);
		fputs("ger\n", f);
		fclose(f);
		assert_int_equal(pf_progress_each(show, line), 0);
		assert_int_equal(shown, 2);
	}
	shown = 0;
	pf_progress_remove();
	assert_int_equal(pf_progress_each(show, line), 0);
	assert_int_equal(shown, 0);
}

UNIT_MAIN(NULL, NULL)
