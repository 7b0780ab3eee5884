/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of e2prefetch(8): a first argument that is not a device. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>

/* A command.  run() gets the command's name as argv[0], and returns the exit
 * status. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
};

int plot_command(int argc, char **argv);
int probe_command(int argc, char **argv);
int status_command(int argc, char **argv);
int progress_command(int argc, char **argv);
int trace_command(int argc, char **argv);

/* Folder of the launchers: in the build tree if this program runs there, or the
 * installed one.  The result is valid until the next call. */
const char *launcher_folder(void);

/* The command of this name; NULL if there is none, and the argument is a
 * device. */
const struct command *find_command(const char *name);

/*
 * Run one of our scripts: from the build tree if this program runs there, or the
 * installed one.  All arguments are passed on, the command's name first.
 * Returns the script's exit status; or EXIT_OPERATIONAL, after an error message,
 * if it cannot be run.
 */
int run_script(const char *script, int argc, char **argv);

#endif
