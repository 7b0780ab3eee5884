/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * e2prefetch progress: prints how far the checks of this machine are that
 * prefetch.  Each check writes a file about itself.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "report/progress.h"
#include "report/words.h"

/* No such check is running. */
#define EXIT_NONE 1

struct request {
	const char *which;		/* PID or device; NULL: all */
	void (*print)(const struct e2pf_progress *p, const char *text);
	unsigned shown;
};

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

static void show(void *ctx, const struct e2pf_progress *p, const char *text)
{
	struct request *r = ctx;
	char pid[16];

	snprintf(pid, sizeof(pid), "%.0f", p->pid);
	if (r->which && strcmp(r->which, pid) &&
	    !is_device(r->which, p->device))
		return;
	r->print(p, text);
	r->shown++;
}

static const char *left_in_words(const struct e2pf_progress *p, char *text,
				 size_t size)
{
	return p->left.high > 0 ? in_range(&p->left, text, size) : "unknown";
}

static void print_wait(FILE *f, const struct e2pf_progress *p)
{
	if (p->wait_seconds > 0)
		fprintf(f, "a read of %s at byte %.0f, for %.0f s",
			*p->disk ? p->disk : "the disk", p->wait_at,
			p->wait_seconds);
	else
		fprintf(f, "%s%s%s", p->waits_for, *p->disk ? " " : "",
			p->disk);
}

static void print_place(FILE *f, const struct e2pf_progress *p)
{
	fputs(p->stage, f);
	if (p->places > 0)
		fprintf(f, ", %.0f of %.0f %s", p->place, p->places, p->unit);
}

static void print_rows(const struct e2pf_progress *p, const char *text)
{
	const double mib = 1 << 20;
	char left[128];

	(void)text;
	printf("%s  (%s, process %.0f)\n    place  ", p->device, p->program,
	       p->pid);
	print_place(stdout, p);
	printf("\n    read   %.0f of %.0f MiB ahead, %.0f MiB/s\n    left   %s\n"
	       "    waits  for ", p->read_bytes / mib, p->planned_bytes / mib,
	       p->bytes_per_second / mib, left_in_words(p, left, sizeof(left)));
	print_wait(stdout, p);
	putchar('\n');
}

static void print_fields(const struct e2pf_progress *p, const char *text)
{
	(void)p;
	printf("%s\n\n", text);
}

static void draw_line(const struct e2pf_progress *p, const char *text)
{
	char line[2 * E2PF_PROGRESS_BYTES] = "", left[128];
	FILE *f = fmemopen(line, sizeof(line), "w");

	(void)text;
	if (!f)
		return;
	fprintf(f, "%s: ", p->device);
	print_place(f, p);
	fprintf(f, ", left %s, waits for %s",
		left_in_words(p, left, sizeof(left)), p->waits_for);
	fclose(f);
	status_line_draw(line);
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
		r->shown = 0;
		err = e2pf_progress_each(show, r);
		goes_on = by_pid ? !kill((pid_t)pid, 0) : r->shown;
		before += r->shown;
		if (!r->shown && before)
			fputs(STATUS_LINE_CLEAR, stderr);
	} while (!err && goes_on && !sleep(1));
	if (before)
		fputs(STATUS_LINE_CLEAR, stderr);
	r->shown = before;
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
	if (!r.shown)
		fprintf(stderr, "e2prefetch: no check that prefetches has been "
			"running for a second%s%s\n", r.which ? ": " : "",
			r.which ? r.which : "");
	return r.shown ? 0 : EXIT_NONE;
}
