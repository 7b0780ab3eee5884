/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2prefetch trace: runs a check and records what it does.  This file sets the
 * variables and checks that a record was written; the module writes it.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "options.h"
#include "report/stats_file.h"
#include "run.h"

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

/* The launchers' folder comes first in PATH, so that e2fsck is the launcher,
 * which loads the module. */
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

/* Whether the last line is the one that ends a trace. */
static bool is_whole(const char *file)
{
	char last[64] = "", *line;
	FILE *f = fopen(file, "re");
	size_t n = 0;

	if (f && (!fseek(f, -(long)sizeof(last) + 1, SEEK_END) ||
		  !fseek(f, 0, SEEK_SET)))
		n = fread(last, 1, sizeof(last) - 1, f);
	if (f)
		fclose(f);
	line = strstr(last, "\n[\"end\",");
	return line && last[n - 1] == '\n';
}

/* Run the command; the file exists and is empty. */
static int run_traced(const char *file, char **command)
{
	int status, waited;
	struct stat st;
	pid_t pid = start_command(command, &status);

	if (pid < 0)
		return status;
	waited = wait_command(pid);
	if (stat(file, &st) || is_whole(file))
		return exit_as_command(waited);
	if (st.st_size)
		fprintf(stderr, "e2prefetch: trace: %s is incomplete: the disk "
			"is full, or the check was killed\n", file);
	else
		fprintf(stderr, "e2prefetch: trace: nothing was recorded: %s "
			"did not check a filesystem, or did not call e2fsck "
			"through PATH\n", command[0]);
	status = exit_as_command(waited);
	return status ? status : EXIT_OPERATIONAL;
}

int trace_command(int argc, char **argv)
{
	const char *file = NULL, *why;
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
			return wrong("unknown option, or missing value");
	}
	if (!file)
		return wrong("no file given");
	if (optind >= argc)
		return wrong("no command given");
	why = strcmp(file, "-") ? e2pf_stats_check(file) : "not a file";
	if (why) {
		fprintf(stderr, "e2prefetch: trace: cannot write \"%s\": %s\n",
			file, why);
		return EXIT_OPERATIONAL;
	}
	if (!set_variables(file, stock)) {
		fprintf(stderr, "e2prefetch: trace: no memory\n");
		return EXIT_OPERATIONAL;
	}
	return run_traced(file, argv + optind);
}
