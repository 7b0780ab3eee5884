/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statistics file.  Its name comes from the environment or the command
 * line of a program that runs as root: it is written only when it is a new
 * file, or a regular file of the effective user's own with no other name that
 * is empty or begins with a brace, and never through a symbolic link.  It is
 * the owner's to read, and nobody else's.
 *
 * Not a part of the library's interface: the programs link it.
 */
#ifndef E2PF_STATS_FILE_H
#define E2PF_STATS_FILE_H

#include <stdio.h>

#include "e2prefetch.h"

/* Open `path` for writing, and empty it once it is known to be as above.
 * NULL and, in *why, the reason in words; what is there is then unchanged. */
FILE *e2pf_stats_open(const char *path, const char **why);

/* Find out before the work whether e2pf_stats_save() can write there: makes
 * the file, or empties it.  NULL when it can, else why not.  A `path` of NULL
 * (no statistics are wanted) and "-" are well. */
const char *e2pf_stats_check(const char *path);

/* Writes statistics; NULL, or why it could not. */
typedef const char *(*e2pf_stats_writer)(void *ctx, FILE *out);

/* Have statistics written to `path`, or to `standard` when that is "-".  NULL
 * when they are written or `path` is NULL, else why not. */
const char *e2pf_stats_put(const char *path, FILE *standard,
			   e2pf_stats_writer write, void *ctx);

/* Write the statistics of a session to `path`, or to `standard` when it is "-".
 * NULL when they are written or `path` is NULL, else why not.  Not in the .c
 * file, which launchers link with nothing but libc. */
static inline const char *e2pf_stats_write(void *session, FILE *out)
{
	errcode_t err = e2pf_write_stats(session, out);

	return err ? error_message(err) : NULL;
}

static inline const char *e2pf_stats_save(struct e2pf_session *session,
					  const char *path, FILE *standard)
{
	return e2pf_stats_put(path, standard, e2pf_stats_write, session);
}

#endif
