/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2prefetch status: a script tells what is enabled and whether it works; this
 * file tells the script what is wrong with the settings.
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
#include "settings.h"

/* Tell the script whether the file turns prefetching off, or what is wrong with
 * it. */
static void read_file(const char *path)
{
	char error[PATH_MAX + 256] = "";
	struct e2pf_setup setup;

	unsetenv("E2PREFETCH_SETTINGS");
	unsetenv("PREFETCH");
	if (!access(path, F_OK))
		setenv("PREFETCH_CONFIG", path, 1);
	if (!e2pf_setup_read(&setup, error, sizeof(error)))
		setenv("E2PREFETCH_SETTINGS", error, 1);
	else if (!setup.prefetch)
		setenv("E2PREFETCH_SETTINGS", "off", 1);
	unsetenv("PREFETCH_CONFIG");
}

int status_command(int argc, char **argv)
{
	static const char option[] = "--root=";
	const char *root = "";
	char path[PATH_MAX];
	int i;

	for (i = 1; i < argc; i++)
		if (!strncmp(argv[i], option, strlen(option)))
			root = argv[i] + strlen(option);
	snprintf(path, sizeof(path), "%s%s", root, CONFIGURATION);
	read_file(path);
	return run_script("enable", argc, argv);
}
