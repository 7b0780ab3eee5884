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

/* Read the environment.  A variable with a value it cannot have counts as not
 * set; with PREFETCH_BANDWIDTH, _IOPS, _IOPRIO or _NICE, which bound what
 * reading ahead takes from others, there is no prefetching then. */
void read_environment(struct environment *env);

/* Takes one line, without its end. */
typedef void environment_say(void *ctx, const char *line);

/*
 * Say of each variable but PREFETCH that has a value it cannot have what is
 * used instead, and unset it.  False when there is to be no prefetching: one
 * of the limits is not known.
 */
bool environment_mend(environment_say *say, void *ctx);

/* What is wrong with the value of a variable, in `line`; NULL when nothing is
 * or it is not set. */
const char *environment_wrong(const char *name, char *line,
			      size_t size_of_line);

/*
 * Of the environment what reading ahead heeds, whoever it is for: threads,
 * memory and limits, whatever PREFETCH is.  What it does not name stays as it
 * is in *settings.  0; or -1 with a line in `error`.
 */
int read_environment_settings(struct e2pf_settings *settings, char *error,
			      size_t size_of_error);

/* The same of one variable by its name.  Another variable, or a value that it
 * cannot have, changes nothing. */
void environment_set(struct e2pf_settings *settings, const char *name,
		     const char *value);

/* Has this program more rights than its caller? */
bool environment_is_privileged(void);

/* The file that a variable names.  NULL, with a line in `error`, where that is
 * not an absolute path or this program has more rights than its caller. */
const char *environment_path(const char *name, char *error,
			     size_t size_of_error);

/* NULL when the variable of this name may have this value; or what it takes,
 * for a message. */
const char *environment_expects(const char *name, const char *value);

/* A value as it may be printed, on one line and cut off: its control
 * characters would reach the terminal. */
void environment_print(char *text, size_t size_of_text, const char *value);

#endif
