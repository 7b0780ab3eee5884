/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The commands of e2prefetch(8), by name.  Decides whether an argument is a
 * command or a device.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

/*
 * Store in path[PATH_MAX] where the script is: beside this program, if that is in the
 * folder "prefetch" as in the build tree, or installed.  Who can write to that folder
 * can replace the program, too; anything else near an installed one is not ours, and
 * root would execute it.
 */
static void find_script(char *path)
{
	static const char folder[] = "/prefetch/", script[] = "enable";
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof(script));
	size_t length;
	char *name;

	path[n > 0 ? n : 0] = '\0';
	name = strrchr(path, '/');
	length = name ? (size_t)(name + 1 - path) : 0;
	if (length >= strlen(folder) &&
	    !memcmp(path + length - strlen(folder), folder, strlen(folder))) {
		strcpy(path + length, script);
		if (!access(path, X_OK))
			return;
	}
	strcpy(path, SCRIPTS "/enable");
}

/* enable, disable and status are a shell script. */
static int enable_command(int argc, char **argv)
{
	char **list = calloc((size_t)argc + 2, sizeof(*list));
	char path[PATH_MAX];

	if (list) {
		find_script(path);
		list[0] = path;
		memcpy(list + 1, argv, (size_t)argc * sizeof(*list));
		execv(path, list);
	}
	fprintf(stderr, "e2prefetch: cannot run %s: %s\n",
		list ? path : argv[0], strerror(errno));
	free(list);
	return EXIT_OPERATIONAL;
}

const struct command commands[] = {
	{ "probe", " [OPTION]... DEVICE", probe_command },
	{ "progress", " [--fields|--follow] [PID|DEVICE]", progress_command },
	{ "enable", " [--root=FOLDER]", enable_command },
	{ "disable", " [--root=FOLDER]", enable_command },
	{ "status", " [--root=FOLDER]", enable_command },
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
