/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of e2prefetch(8): a first argument that is no device. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>

/* A command.  run() gets its own name as argv[0], and returns the status to
 * exit with. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
};

int plot_command(int argc, char **argv);
int probe_command(int argc, char **argv);
int trace_command(int argc, char **argv);

/* Where the launchers lie: in the build tree, when this program runs there, or
 * installed.  Until the next call. */
const char *launcher_folder(void);

/* The command of this name; NULL when it is none, and so a device. */
const struct command *find_command(const char *name);

/*
 * Become a script of ours: that of the build tree, when this program runs
 * there, or the installed one.  All arguments are passed on, the command's name
 * as the first.
 * Returns only when it cannot be run, after a line that says why, with the
 * status to exit with.
 */
int become_script(const char *script, int argc, char **argv);

#endif
