/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The commands of e2prefetch(8), by name.  Decides whether an argument is a
 * command or a path.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"

/* enable, disable and status are a shell script. */
static int enable_command(int argc, char **argv)
{
	static char script[] = SCRIPTS "/enable";
	char **list = calloc((size_t)argc + 2, sizeof(*list));

	if (list) {
		list[0] = script;
		memcpy(list + 1, argv, (size_t)argc * sizeof(*list));
		execv(script, list);
	}
	fprintf(stderr, "e2prefetch: cannot run %s: %s\n", script,
		strerror(errno));
	free(list);
	return EXIT_OPERATIONAL;
}

const struct command commands[] = {
	{ "probe", " [OPTION]... PATH", probe_command },
	{ "progress", " [PID|DEVICE]", progress_command },
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
