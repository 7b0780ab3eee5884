/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment variables of e2fsck-prefetch(8), read by launcher and
 * module alike.
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "e2prefetch.h"

enum io_choice { IO_DEFAULT, IO_UNIX, IO_MMAP };

struct environment {
	bool prefetch;			/* PREFETCH */
	enum io_choice io;		/* TEST_MMAP_IO */
	/* PREFETCH_THREADS, _MEM, _BANDWIDTH, _IOPS, _IOPRIO, _NICE */
	struct e2pf_settings settings;
	const char *stats;		/* PREFETCH_STATS: a file, "-", NULL */
	const char *trace;		/* PREFETCH_TRACE: a file, NULL */
	bool observe;			/* PREFETCH_OBSERVE */
	bool verbose;			/* PREFETCH_VERBOSE */
	unsigned accel;			/* PREFETCH_ACCEL: of accel.h */
};

/*
 * Read the environment.  0; or -1 with one line in `error` that says which
 * variable is wrong, and *env holding the defaults in its place.
 */
int read_environment(struct environment *env, char *error,
		     size_t size_of_error);

/*
 * Of the environment what reading ahead heeds, whoever it is for: threads,
 * memory and limits, whatever PREFETCH is.  What it does not name stays as it
 * is in *settings.  0; or -1 with a line in `error`.
 */
int read_environment_settings(struct e2pf_settings *settings, char *error,
			      size_t size_of_error);

/* The same of one variable by its name; another one, and a value that is none
 * for it, changes nothing. */
void environment_set(struct e2pf_settings *settings, const char *name,
		     const char *value);

/* The file that a variable names.  NULL, with a line in `error`, where that is
 * no absolute path or this program has more rights than its caller. */
const char *environment_path(const char *name, char *error,
			     size_t size_of_error);

/* NULL when the variable of this name may have this value; or what it takes,
 * for a message. */
const char *environment_expects(const char *name, const char *value);

/* A value as it may be printed, on one line and cut off: its control
 * characters would reach the terminal. */
void environment_print(char *text, size_t size_of_text, const char *value);

#endif
