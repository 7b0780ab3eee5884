/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of e2prefetch(8), by name.  Decides whether an argument is a
 * command or a device.  Each command is a file of its own, or a script.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"
#include "run.h"

/* The folder in which libtool leaves a program in the build tree. */
#define BUILD_FOLDER "/.libs/"

/* Path of the script in the build tree, if this program lies in libtool's
 * folder there. */
static bool built_here(const char *script, char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *folder;
	size_t used;

	if (n <= 0)
		return false;
	path[n] = '\0';
	folder = strrchr(path, '/');
	if (!folder || folder - path < (long)strlen(BUILD_FOLDER))
		return false;
	folder -= strlen(BUILD_FOLDER) - 1;
	if (strncmp(folder, BUILD_FOLDER, strlen(BUILD_FOLDER)))
		return false;
	used = (size_t)(folder + 1 - path);
	if (strlen(script) >= size - used)
		return false;
	strcpy(path + used, script);
	return !access(path, X_OK);
}

const char *launcher_folder(void)
{
	static char path[PATH_MAX];
	char *slash;

	if (!built_here("../e2fsck/e2fsck", path, sizeof(path)))
		return SCRIPTS;
	slash = strrchr(path, '/');
	*slash = '\0';
	return path;
}

/* The arguments of a script: its path, which is stored in path[PATH_MAX], and
 * ours.  NULL without memory. */
static char **script_command(const char *script, int argc, char **argv,
			     char *path)
{
	char **list = calloc((size_t)argc + 2, sizeof(*list));

	if (!list) {
		fprintf(stderr, "e2prefetch: %s\n", strerror(errno));
		return NULL;
	}
	list[0] = path;
	memcpy(list + 1, argv, (size_t)argc * sizeof(*list));
	if (!built_here(script, path, PATH_MAX))
		snprintf(path, PATH_MAX, "%s/%s", SCRIPTS, script);
	return list;
}

int run_script(const char *script, int argc, char **argv)
{
	char path[PATH_MAX];
	char **list = script_command(script, argc, argv, path);
	int status = EXIT_OPERATIONAL;
	pid_t pid = list ? start_command(list, &status) : -1;

	free(list);
	return pid < 0 ? EXIT_OPERATIONAL : exit_as_command(wait_command(pid));
}

/* Turns prefetching on or off for checks that the machine starts itself. */
static int enable(int argc, char **argv)
{
	return run_script("enable", argc, argv);
}

/* Commands by name.  A device whose name is one of them is written ./NAME. */
static const struct command commands[] = {
	{ "plot", plot_command },
	{ "probe", probe_command },
	{ "progress", progress_command },
	{ "trace", trace_command },
	{ "disable", enable },
	{ "enable", enable },
	{ "status", status_command },
	{ 0 }
};

const struct command *find_command(const char *name)
{
	const struct command *c;

	for (c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}
