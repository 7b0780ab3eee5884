/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2prefetch trace: run a check with a record of what it does.  Only sets
 * variables; the record is the module's.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"

#define USAGE "e2prefetch trace [--stock] -o FILE -- COMMAND [ARGUMENT]..."

static const struct option long_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "stock", no_argument, NULL, 's' },
	{ NULL, 0, NULL, 0 }
};

static int wrong(const char *what)
{
	fprintf(stderr, "e2prefetch: trace: %s (usage: " USAGE ")\n", what);
	return EXIT_USAGE;
}

/* The launchers' folder comes first: there e2fsck is the one that loads the
 * module. */
static bool set_variables(const char *file, bool stock)
{
	const char *path = getenv("PATH");
	const char *folder = launcher_folder();
	char *list;
	bool done;

	if (asprintf(&list, "%s%s%s", folder, path ? ":" : "",
		     path ? path : "") < 0)
		return false;
	done = !setenv("PATH", list, 1) && !setenv("PREFETCH", "1", 1) &&
	       !setenv("PREFETCH_OBSERVE", stock ? "1" : "0", 1) &&
	       !setenv("PREFETCH_TRACE", file, 1);
	free(list);
	return done;
}

int trace_command(int argc, char **argv)
{
	const char *file = NULL;
	bool stock = false;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+o:h", long_options, NULL)) != -1) {
		if (c == 'o')
			file = optarg;
		else if (c == 's')
			stock = true;
		else if (c == 'h')
			return puts("Usage: " USAGE) < 0;
		else
			return wrong("unknown option, or one without its "
				     "value");
	}
	if (!file)
		return wrong("no file given");
	if (optind >= argc)
		return wrong("no command given");
	if (!set_variables(file, stock)) {
		fprintf(stderr, "e2prefetch: trace: no memory\n");
		return EXIT_OPERATIONAL;
	}
	execvp(argv[optind], argv + optind);
	fprintf(stderr, "e2prefetch: cannot run %s: %s\n", argv[optind],
		strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
