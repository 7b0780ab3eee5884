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

static void print_rows(const struct e2pf_progress *p, const char *text)
{
	struct progress_words words = progress_in_words(p);
	char time[32];

	(void)text;
	printf("%s  (%s, process %.0f)\n    place  %s\n    time   %s, left %s\n"
	       "    waits  for %s\n", p->device, p->program, p->pid, words.place,
	       in_words(p->seconds, time, sizeof(time)), words.left, words.wait);
}

static void print_fields(const struct e2pf_progress *p, const char *text)
{
	(void)p;
	printf("%s\n\n", text);
}

/* Whoever follows a check knows its device: the line has room for the rest. */
static void draw_line(const struct e2pf_progress *p, const char *text)
{
	struct progress_words words = progress_in_words(p);
	char line[sizeof(words) + 32];

	(void)text;
	snprintf(line, sizeof(line), "%s, left %s, waits for %s", words.place,
		 words.left, words.wait);
	status_line_draw(line);
}

static void draw_waiting(const struct request *r)
{
	char line[128];

	snprintf(line, sizeof(line), "waiting for a check of %.90s", r->which);
	status_line_draw(line);
}

/* Draw a line once a second until the process has ended; of a device, until a check
 * of it was there and none is left. */
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
		before += r->shown;
		goes_on = by_pid ? !kill((pid_t)pid, 0) : r->shown ||
			  (!before && !access(r->which, F_OK));
		if (!r->shown && goes_on && !err)
			draw_waiting(r);
	} while (!err && goes_on && !sleep(1));
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
