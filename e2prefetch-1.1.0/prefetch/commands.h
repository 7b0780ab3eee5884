/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands of e2prefetch(8): a first argument that is not a device. */
#ifndef COMMANDS_H
#define COMMANDS_H

/* A command.  run() gets the command's name as argv[0], and returns the exit
 * status. */
struct command {
	const char *name;
	const char *usage;	/* what follows the name */
	int (*run)(int argc, char **argv);
};

/* They end with an element without a name. */
extern const struct command commands[];

/* The command of this name; NULL if there is none, and the argument is a
 * device. */
const struct command *find_command(const char *name);

int probe_command(int argc, char **argv);
int progress_command(int argc, char **argv);

#endif
