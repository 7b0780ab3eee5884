/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * e2prefetch progress: prints the progress of every prefetched check on this
 * machine.  Each check writes a file about itself.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "prefetch/progress.h"

/* The exit status if no such check is running. */
#define EXIT_NONE 1

static void show(void *shown, pid_t pid, const char *line)
{
	printf("%d %s\n", (int)pid, line);
	++*(unsigned *)shown;
}

int progress_command(int argc, char **argv)
{
	unsigned shown = 0;
	int err;

	(void)argv;
	if (argc > 2)
		return wrong("progress takes no argument");
	if (geteuid()) {
		fprintf(stderr, "e2prefetch: progress must be run as root\n");
		return EXIT_OPERATIONAL;
	}
	err = pf_progress_each(show, &shown);
	if (err) {
		fprintf(stderr, "e2prefetch: cannot read the progress of checks: "
			"%s\n", strerror(err));
		return EXIT_OPERATIONAL;
	}
	if (!shown)
		fprintf(stderr, "e2prefetch: no prefetched check has been running "
			"for a second\n");
	return shown ? 0 : EXIT_NONE;
}
