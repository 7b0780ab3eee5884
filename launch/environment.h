/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The environment variables of e2fsck-prefetch(8), as both launcher and module
 * read them.
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
	const char *trace;		/* PREFETCH_TRACE: a file or NULL */
	bool observe;			/* PREFETCH_OBSERVE */
	unsigned verbose;		/* PREFETCH_VERBOSE: 0, a sentence, or
					   details too */
	const char *history;		/* PREFETCH_HISTORY: see outcome.h */
	bool progress;			/* PREFETCH_PROGRESS */
	unsigned accel;			/* PREFETCH_ACCEL: a set, findings.h */
};

/*
 * The value of one of our variables.  An empty variable counts as unset.  Each
 * variable whose name begins with PREFETCH may also be written E2PREFETCH..., and
 * if both are set that one counts.  Returns NULL if neither is set.
 */
const char *environment_get(const char *name);

/* The name by which this variable is set, for a message.  Valid until the next
 * call of one of these functions.  Not thread-safe. */
const char *environment_name(const char *name);

/* Remove the variable, under both names. */
void environment_unset(const char *name);

/* Called with one line of text, without a newline. */
typedef void environment_say(void *ctx, const char *line);

/*
 * Read the environment.  A variable with an invalid value counts as unset.  If
 * that is one of the limits (PREFETCH_BANDWIDTH, _IOPS, _IOPRIO, _NICE),
 * prefetching is off.  `say` is told what is wrong and what is used instead;
 * NULL: it has been told.
 */
void read_environment(struct environment *env, environment_say *say,
		      void *ctx);

/*
 * Read the variables of the prefetch engine (threads, memory and limits),
 * whatever PREFETCH is set to.  Members of *settings whose variable is unset
 * keep their values.  Returns 0; or -1 with a line in `error`.
 */
int read_environment_settings(struct e2pf_settings *settings, char *error,
			      size_t size_of_error);

/* Set one variable of the prefetch engine in *settings, a struct
 * e2pf_settings.  Another variable or an invalid value changes nothing. */
void environment_set(void *settings, const char *name, const char *value);

/* The variable that a setting of e2prefetch.conf(5) stands for; NULL if there
 * is no such setting.  *value becomes the variable's value, and *expected is
 * NULL if it is valid, otherwise a description of the valid values. */
const char *environment_translate(const char *name, const char **value,
				  const char **expected);

/* A setting of e2prefetch.conf(5), to be shown. */
struct environment_setting {
	const char *name, *variable;
	const char *fallback;	/* what applies if it is not set, in words */
	const char *value;	/* of the variable; NULL: not set */
	bool is_valid, is_flag;
};

/* The n-th setting of the file; false if there are not as many. */
bool environment_setting(unsigned n, struct environment_setting *setting);

/* A value of the setting's variable, as the file writes it. */
const char *environment_words(const struct environment_setting *setting,
			      const char *value);

/* Whether this program has more privileges than its caller. */
bool environment_is_privileged(void);

/* The path of the file that a variable names.  NULL, with a line in `error`, if
 * it is not an absolute path or this program has more privileges than its
 * caller. */
const char *environment_path(const char *name, char *error,
			     size_t size_of_error);

/* Copy a value for printing: truncated, with each control character replaced by
 * '?' because it would reach the terminal. */
void environment_print(char *text, size_t size_of_text, const char *value);

#endif
