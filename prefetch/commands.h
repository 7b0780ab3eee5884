/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The commands of e2prefetch(8), a first argument that is not a path; and what
 * they share. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>
#include <sys/types.h>

#include "ext4/ext4_session.h"
#include "settings.h"

/*
 * The command line (options.c).
 */

/* Exit statuses: those of e2fsck(8) if it defines one. */
#define EXIT_INCOMPLETE 4	/* part was not read: errors or memory */
#define EXIT_OPERATIONAL 8
#define EXIT_USAGE 16

struct options {
	struct e2pf_settings settings;
	char **path;
	unsigned paths;			/* devices, images, directories */
	bool one_filesystem;		/* skip what is mounted below a path */
	unsigned classes;		/* mask of 1u << enum e2pf_class; 0: by
					   the filesystem */
	uint64_t wait;			/* seconds that the command waits */
	uint64_t longer_than;		/* seconds, for probe; 0: not asked */
	unsigned verbose;		/* how often -v was given */
	char **command;			/* NULL, or what follows "--" */
};

/* Print an error of usage on standard error; returns EXIT_USAGE. */
__attribute__((format(printf, 1, 2)))
int wrong(const char *format, ...);

/* Parse the command line.  Returns -1 to go on, or the exit status: 0 after
 * --help and --version, EXIT_USAGE after an error message. */
int parse_options(int argc, char **argv, struct options *o);

/* Fill in o->settings.  Returns 0; or EXIT_USAGE after an error message. */
int configure_options(struct options *o);

/* Run the command that the first argument names.  Returns its exit status, or -1 if
 * that is no command. */
int run_named(int argc, char **argv);

/* These get the arguments of main(), and return the exit status. */
int probe_command(int argc, char **argv);
int progress_command(int argc, char **argv);

/*
 * Which filesystems are read for the paths (paths.c).
 */

struct target {
	char *device;			/* its name, or an image's */
	dev_t number;			/* of a mounted filesystem */
	bool mounted;
	bool whole;			/* false: only these directories */
	uint32_t *directory;		/* inodes of the directories */
	unsigned directories;		/* number of the directories */
	struct e2pf_session *session;	/* NULL until it is read */
	double seconds;			/* of the reading; 0: not all was read */
};

struct targets {
	struct target *item;
	unsigned count;
	size_t room;
};

/* Find the filesystems of all paths, each once, in the order of the paths.  Prints
 * a line about each path whose filesystem cannot be read ahead.  Returns 0, or
 * EXIT_OPERATIONAL if there was one. */
int find_targets(const struct options *o, struct targets *targets);

/*
 * How they are opened (filesystem.c).
 */

/* Print the error of the device on standard error; returns EXIT_OPERATIONAL. */
int fail(const char *device, errcode_t err);

/* Open a session on this filesystem. */
errcode_t open_session(const struct options *o, const struct target *target,
		       struct e2pf_session **session);

/*
 * The user's command (run.c).
 */

/* Messages cannot end this program any more: a command follows. */
void ignore_output_signals(void);

/* Execute the command in place of this program.  Returns only after an error message, with
 * the exit status. */
int become_command(char **command);

/*
 * Start the command.  All signals must be blocked in the other threads.
 * From then on signals that would end this program are passed on to the
 * command.  If no process can be created, this program executes the command
 * itself.  Returns the child's process ID; or -1 after an error message, with
 * the exit status in *status: 127 not found, 126 not executable.
 */
pid_t start_command(char **command, int *status);

/* Wait until the command has ended; signals act on this program again from then
 * on.  Returns the status of waitpid(2). */
int wait_command(pid_t pid);

/* The exit status for a command that ended with this waitpid(2) status.  If a
 * signal killed the command, this program kills itself with the same signal. */
int exit_as_command(int waited);

#endif
