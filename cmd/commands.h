/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The commands of e2prefetch(8), a first argument that is not a path; and what
 * they share. */
#ifndef CMD_COMMANDS_H
#define CMD_COMMANDS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "ext4/session.h"
#include "prefetch/settings.h"

/*
 * The command line (options.c).
 */

/* Exit statuses: those of e2fsck(8) if it defines one. */
#define EXIT_INCOMPLETE 4	/* part was not read: errors or memory */
#define EXIT_OPERATIONAL 8
#define EXIT_USAGE 16

struct options {
	struct pf_settings settings;
	char **path;
	unsigned paths;			/* devices, images, directories */
	bool one_filesystem;		/* skip what is mounted below a path */
	unsigned classes;		/* mask of 1u << enum ext4_class; 0: by
					   the filesystem */
	uint64_t wait;			/* seconds that the command waits */
	bool waits;			/* on any device: -w was given */
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
	char *path;			/* the first one, if it is mounted */
	dev_t number;			/* of a mounted filesystem */
	bool mounted;
	bool btrfs;			/* `device' is the directory */
	bool whole;			/* false: only these directories */
	bool too_large;			/* the tables exceed the memory */
	bool follow;			/* keep ahead of the command */
	const char *why_left;		/* why not any longer; or NULL */
	unsigned elsewhere;		/* opens of late that were not in `directory' */
	uint32_t *directory;		/* inodes of the directories */
	unsigned directories;		/* number of the directories */
	struct pf_session *session;	/* NULL until it is read */
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

/* Open a session on this filesystem.  Returns 0; or EXIT_OPERATIONAL after a report. */
int open_session(const struct options *o, const struct target *target,
		 struct pf_session **session);

/* Free a session on ext4, and close the filesystem that was opened for it. */
void close_ext4(struct pf_session *session);

/*
 * What is said of them (report.c).
 */

/* Print on standard error, and write to the system log, why less is read ahead of this
 * path or device than there is. */
void report(const struct options *o, const char *name, const char *text);

/* Report the error of the device; returns EXIT_OPERATIONAL. */
int fail(const struct options *o, const char *device, errcode_t err);

/* Say how much was read of a filesystem whose session has been stopped, as the options
 * ask for it; *no_stats: why there are no statistics, or NULL.  Returns the status
 * without a command. */
int report_target(const struct options *o, const struct target *t, const char **no_stats);

/* The reason for which a session is turned off that is not wanted any more: of no
 * interest at a terminal. */
extern const char command_ended[];

/*
 * Which directories the command opens (opens.c).  opens_read() and opens_at_once() are
 * for one thread only.
 */

/* Returns a descriptor, or -1 if the kernel or the user's rights do not allow it. */
int opens_init(void);

/* Observe the filesystem with this path, or none (NULL), and no other any more.  Returns
 * false if that is not possible. */
bool opens_watch(int opens, const char *path);

/* Pass on the inode of each directory that the command, or what it has started, has
 * opened since the last call.  Returns false if nothing more can be observed. */
bool opens_read(int opens, pid_t command,
		void (*found)(void *ctx, uint32_t directory), void *ctx);

/* Returns how many of the command's threads walked at the same time lately, in the mean;
 * 0: too few opens to tell. */
double opens_at_once(void);

/*
 * The user's command, and the reader beside it (run.c).
 */

struct beside {
	int opens;			/* of opens_init(); -1: none */
	/* Gets what is observed. */
	void (*opened)(void *ctx, uint32_t directory);
	void *ctx;
	pid_t command;			/* its process; 0: there is no command */
	int pidfd;			/* of that; -1: not known */
	int begin;			/* closed: the command may begin */
};

/* Make a process that reads.  Returns true in the reader, which is never to return from
 * main(), and false in the process that was started, as soon as the command may begin: if
 * the reader says so or has ended, or after a message that says why there is none. */
bool start_reader(struct beside *b);

/* The reader allows the command to begin. */
void begin_command(struct beside *b);

/* Wait until the command has ended or the descriptor `other` can be read, at most
 * `milliseconds` (-1: no limit), and pass on what the command opens.  Returns whether the
 * command has ended. */
bool wait_beside(struct beside *b, int other, int milliseconds);

/* Returns without a wait whether the command has ended. */
bool command_has_ended(const struct beside *b);

/* What is written to this descriptor is lost from now on. */
void drop_output(int fd);

/* Become the command.  Returns an exit status after an error message: 127 not found, 126
 * not executable. */
int exec_command(char **command);

/*
 * Keeping ahead of the command (follow.c).
 */

/* The command has opened this directory of the filesystem whose session is read: pass it
 * on to the source, with those in which it is.  Ends the following, with t->why_left, if
 * the command's threads keep the device busy.  For one thread only. */
void follow_open(struct target *t, const struct beside *beside, uint32_t directory);

#endif
