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
#include "configuration.h"
#include "options.h"

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

int become_script(const char *script, int argc, char **argv)
{
	char **list = calloc((size_t)argc + 2, sizeof(*list));
	char path[PATH_MAX];

	if (!list) {
		fprintf(stderr, "e2prefetch: %s\n", strerror(errno));
		return EXIT_OPERATIONAL;
	}
	list[0] = path;
	memcpy(list + 1, argv, (size_t)argc * sizeof(*list));
	if (!built_here(script, path, sizeof(path)))
		snprintf(path, sizeof(path), "%s/%s", SCRIPTS, script);
	execv(path, list);
	fprintf(stderr, "e2prefetch: cannot run %s: %s\n", path,
		strerror(errno));
	free(list);
	return EXIT_OPERATIONAL;
}

/* Turns prefetching on or off for checks that the machine starts itself. */
static int enable(int argc, char **argv)
{
	return become_script("enable", argc, argv);
}

static void note_prefetch(void *ctx, const char *variable, const char *value)
{
	if (!strcmp(variable, "PREFETCH"))
		*(bool *)ctx = !strcmp(value, "0");
}

/* Reads the settings of the machine, or of the one below --root.  A variable
 * tells the script whether they turn prefetching off, or what is wrong with
 * them. */
static int status(int argc, char **argv)
{
	static const char option[] = "--root=";
	char path[PATH_MAX], error[PATH_MAX + 256] = "";
	const char *root = "";
	bool off = false;
	int i, used;

	for (i = 1; i < argc; i++)
		if (!strncmp(argv[i], option, strlen(option)))
			root = argv[i] + strlen(option);
	used = snprintf(path, sizeof(path), "%s%s", root, CONFIGURATION);
	if (used > 0 && (size_t)used < sizeof(path) &&
	    configuration_read(path, note_prefetch, &off, error,
			       sizeof(error)) < 0)
		setenv("E2PREFETCH_SETTINGS",
		       *error ? error : strerror(errno), 1);
	else if (off)
		setenv("E2PREFETCH_SETTINGS", "off", 1);
	else
		unsetenv("E2PREFETCH_SETTINGS");
	return become_script("enable", argc, argv);
}

/* Commands by name.  A device whose name is one of them is written ./NAME. */
static const struct command commands[] = {
	{ "history", history_command },
	{ "plot", plot_command },
	{ "probe", probe_command },
	{ "trace", trace_command },
	{ "disable", enable },
	{ "enable", enable },
	{ "status", status },
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
