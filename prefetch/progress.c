/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * e2prefetch progress: prints how far the checks of this machine are that
 * prefetch.  Each check writes a file about itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "report/progress.h"

/* The exit status if no such check is running. */
#define EXIT_NONE 1

struct request {
	const char *which;		/* PID or device; NULL: all */
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

/* Is the check of this line, "PROGRAM: DEVICE: STAGE, ...", the one that was asked
 * for?  Only the device may have a colon in its name. */
static bool is_wanted(const char *which, pid_t pid, const char *line)
{
	char text[E2PF_PROGRESS_BYTES], *device, *end;

	snprintf(text, sizeof(text), "%d", (int)pid);
	if (!which || !strcmp(which, text))
		return true;
	snprintf(text, sizeof(text), "%s", line);
	device = strstr(text, ": ");
	end = strrchr(text, ':');
	if (!device || device >= end)
		return false;
	*end = '\0';
	return is_device(which, device + 2);
}

static void show(void *ctx, pid_t pid, const char *line)
{
	struct request *r = ctx;

	if (!is_wanted(r->which, pid, line))
		return;
	printf("%d %s\n", (int)pid, line);
	r->shown++;
}

int progress_command(int argc, char **argv)
{
	struct request r = { .which = argv[2] };
	int err;

	if (argc > 3 || (argc == 3 && *argv[2] == '-'))
		return wrong("progress takes a process ID or a device, and no "
			     "option");
	if (geteuid()) {
		fprintf(stderr, "e2prefetch: only root may see how far checks "
			"are\n");
		return EXIT_OPERATIONAL;
	}
	err = e2pf_progress_each(show, &r);
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
