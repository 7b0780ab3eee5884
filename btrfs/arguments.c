/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Parses btrfs's command line as far as needed to tell whether this is a send,
 * or a check that reads all metadata starting from the superblock.  A wrong
 * guess costs readahead, or the lack of it, and nothing else.  getopt(3) is not
 * used: its state is the program's.
 */
#include <string.h>

#include "preload.h"

static bool is_btrfsck(const char *name)
{
	const char *slash = strrchr(name, '/');

	return !strcmp(slash ? slash + 1 : name, "btrfsck");
}

/* The command, and what follows it. */
static char *const *find_command(char *const *argv)
{
	for (argv++; *argv && **argv == '-'; argv++)
		;
	return argv;
}

/* btrfs knows abbreviations of its commands; they run as the stock program does. */
enum task bt_arguments_task(char *const *argv)
{
	const char *command;

	if (!*argv)
		return TASK_OTHER;
	if (is_btrfsck(*argv))
		return TASK_CHECK;
	command = *find_command(argv);
	return !command ? TASK_OTHER :
	       !strcmp(command, "check") ? TASK_CHECK :
	       !strcmp(command, "send") ? TASK_SEND : TASK_OTHER;
}

/* The options of a check that reads all metadata from the superblock on. */
static bool is_followed(const char *option)
{
	static const char *const followed[] = {
		"-p", "--progress", "--readonly", "--repair",
		"--check-data-csum", "--mode=original", "--mode=lowmem",
		"--mode", "--skip-qgroup-accounting", "--"
	};
	size_t i;

	for (i = 0; i < sizeof(followed) / sizeof(*followed); i++)
		if (!strcmp(option, followed[i]))
			return true;
	return false;
}

const char *bt_arguments_aside(char *const *argv)
{
	for (argv = is_btrfsck(*argv) ? argv + 1 : find_command(argv);
	     *argv; argv++)
		if (**argv == '-' && !is_followed(*argv))
			return "an option that prefetching does not support";
	return NULL;
}
