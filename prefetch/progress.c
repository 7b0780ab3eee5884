/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2prefetch progress: prints how far the checks of this machine are that
 * prefetch.  Each check writes a file about itself.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"
#include "report/progress_file.h"
#include "report/status_line.h"

/* No such check is running. */
#define EXIT_NONE 1

#define VALUE_SIZE (PATH_MAX + 64)

struct request {
	const char *which;		/* PID or device; NULL: all */
	void (*print)(const char *text);
	unsigned found;
};

/* The value of a key; valid until this has been called four times more. */
static const char *text_of(const char *text, const char *key)
{
	static char value[4][VALUE_SIZE];
	static unsigned n;

	n = (n + 1) % 4;
	return e2pf_progress_value(text, key, value[n], sizeof(value[n]));
}

/* Negative if it is not known. */
static double number_of(const char *text, const char *key)
{
	const char *value = text_of(text, key);

	return *value ? strtod(value, NULL) : -1;
}

static bool is_device(const char *name, const char *other)
{
	struct stat a, b;

	if (!strcmp(name, other))
		return true;
	if (stat(name, &a) || stat(other, &b))
		return false;
	return S_ISBLK(a.st_mode) && S_ISBLK(b.st_mode) ?
	       a.st_rdev == b.st_rdev :
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void show(void *ctx, const char *text)
{
	struct request *r = ctx;

	if (r->which && strcmp(r->which, text_of(text, "pid")) &&
	    !is_device(r->which, text_of(text, "device")))
		return;
	r->print(text);
	r->found++;
}

/* A time in seconds, as "47 s", "1:05:59" */
static void print_time(char *text, size_t size, double seconds)
{
	unsigned long s = (unsigned long)(seconds + 0.5);

	if (s < 60)
		snprintf(text, size, "%lu s", s);
	else if (s < 3600)
		snprintf(text, size, "%lu:%02lu", s / 60, s % 60);
	else
		snprintf(text, size, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60,
			 s % 60);
}

static void print_left(const char *text, char *line, size_t size)
{
	double seconds = number_of(text, "left_seconds");
	char left[32], low[32], high[32];

	if (seconds < 0) {
		snprintf(line, size, "unknown");
		return;
	}
	print_time(left, sizeof(left), seconds);
	print_time(low, sizeof(low), number_of(text, "left_low_seconds"));
	print_time(high, sizeof(high), number_of(text, "left_high_seconds"));
	snprintf(line, size, "%s (%s to %s)", left, low, high);
}

static void print_wait(const char *text, char *line, size_t size)
{
	const char *disk = text_of(text, "disk");
	double seconds = number_of(text, "wait_seconds");

	if (seconds >= 0)
		snprintf(line, size, "a read of %s at byte %s, for %.0f s",
			 *disk ? disk : "the disk",
			 text_of(text, "wait_offset"), seconds);
	else
		snprintf(line, size, "%s%s%s", text_of(text, "waits_for"),
			 *disk ? " " : "", disk);
}

static void print_place(const char *text, char *line, size_t size)
{
	if (number_of(text, "places") > 0)
		snprintf(line, size, "%s, %s of %s %s", text_of(text, "stage"),
			 text_of(text, "place"), text_of(text, "places"),
			 text_of(text, "unit"));
	else
		snprintf(line, size, "%s", text_of(text, "stage"));
}

static void print_rows(const char *text)
{
	char left[112], wait[VALUE_SIZE + 96], place[4 * VALUE_SIZE];
	const double mib = 1 << 20;

	print_left(text, left, sizeof(left));
	print_wait(text, wait, sizeof(wait));
	print_place(text, place, sizeof(place));
	printf("%s  (%s, process %s)\n", text_of(text, "device"),
	       text_of(text, "program"), text_of(text, "pid"));
	printf("    place  %s\n", place);
	printf("    read   %.0f of %.0f MiB ahead, %.0f MiB/s\n",
	       number_of(text, "read_bytes") / mib,
	       number_of(text, "planned_bytes") / mib,
	       number_of(text, "bytes_per_second") / mib);
	printf("    left   %s\n", left);
	printf("    waits  for %s\n", wait);
}

static void print_fields(const char *text)
{
	printf("%s\n\n", text);
}

static void draw_line(const char *text)
{
	char left[112], place[4 * VALUE_SIZE], line[4 * VALUE_SIZE + 256];
	char out[4 * VALUE_SIZE + 320];

	print_left(text, left, sizeof(left));
	print_place(text, place, sizeof(place));
	snprintf(line, sizeof(line), "%s: %s, left %s, waits for %s",
		 text_of(text, "device"), place, left,
		 text_of(text, "waits_for"));
	status_line_draw(STDERR_FILENO, line, out, sizeof(out));
	fputs(out, stderr);
}

/* Draw a line once a second until the process has ended; of a device, until no
 * check of it is left. */
static int follow(struct request *r)
{
	char *end;
	long pid = strtol(r->which, &end, 10);
	bool by_pid = !*end && pid > 0 && pid <= INT32_MAX, goes_on;
	unsigned before = 0;
	int err;

	r->print = draw_line;
	do {
		r->found = 0;
		err = e2pf_progress_each(show, r);
		goes_on = by_pid ? !kill((pid_t)pid, 0) : r->found;
		before += r->found;
		if (!r->found && before)
			fputs(STATUS_LINE_CLEAR, stderr);
	} while (!err && goes_on && !sleep(1));
	if (before)
		fputs(STATUS_LINE_CLEAR, stderr);
	r->found = before;
	return err;
}

static int usage(const char *program, FILE *out, int status)
{
	fprintf(out, "usage: e2prefetch %s%s\n", program,
		find_command("progress")->usage);
	return status;
}

int progress_command(int argc, char **argv)
{
	static const struct option options[] = {
		{ "fields", no_argument, NULL, 'f' },
		{ "follow", no_argument, NULL, 'F' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	struct request r = { .print = print_rows };
	bool follows = false;
	int c, err;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'f')
			r.print = print_fields;
		else if (c == 'F')
			follows = true;
		else
			return c == 'h' ? usage(argv[0], stdout, 0) :
					  usage(argv[0], stderr, EXIT_USAGE);
	}
	r.which = argv[optind];
	if (argc - optind > 1 || (follows && !r.which))
		return usage(argv[0], stderr, EXIT_USAGE);
	if (geteuid()) {
		fprintf(stderr, "e2prefetch: only root may see how far checks "
			"are\n");
		return EXIT_OPERATIONAL;
	}
	err = follows ? follow(&r) : e2pf_progress_each(show, &r);
	if (err) {
		fprintf(stderr, "e2prefetch: cannot read the status of checks: "
			"%s\n", strerror(err));
		return EXIT_OPERATIONAL;
	}
	if (!r.found)
		fprintf(stderr, "e2prefetch: no check that prefetches has been "
			"running for a second%s%s\n", r.which ? ": " : "",
			r.which ? r.which : "");
	return r.found ? 0 : EXIT_NONE;
}
