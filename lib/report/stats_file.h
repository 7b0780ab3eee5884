/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statistics file.  Its name comes from the environment or the command line
 * of a program that runs as root.  So it is written only if it is a new file,
 * or a regular file that the effective user owns, that has no other name, and
 * that is empty or begins with a brace.  It is never opened through a symbolic
 * link.  Only its owner can read it.
 *
 * This is not part of the library's interface: the programs link it.
 */
#ifndef E2PF_STATS_FILE_H
#define E2PF_STATS_FILE_H

#include <stdio.h>

#include "e2prefetch.h"

/* Open `path` for writing, and truncate it after checking that it is as
 * described above.  On failure returns NULL, sets *why to the reason in words,
 * and leaves an existing file unchanged. */
FILE *e2pf_stats_open(const char *path, const char **why);

/* Check before the work that e2pf_stats_save() will be able to write to this
 * file: creates or truncates it.  Returns NULL if it can be written, otherwise
 * the reason.  `path` may be NULL (no statistics are wanted) or "-". */
const char *e2pf_stats_check(const char *path);

/* Writes statistics.  Returns NULL, or the reason why that failed. */
typedef const char *(*e2pf_stats_writer)(void *ctx, FILE *out);

/* Write statistics to `path`, or to standard error if that is "-": standard output
 * belongs to the checker or to a command.  Returns NULL if
 * they were written or `path` is NULL, otherwise the reason. */
const char *e2pf_stats_put(const char *path, e2pf_stats_writer write,
			   void *ctx);

/* The same with the statistics of a session.  These functions are not in the .c
 * file, which is linked with nothing but libc. */
static inline const char *e2pf_stats_write(void *session, FILE *out)
{
	errcode_t err = e2pf_write_stats(session, out);

	return err ? error_message(err) : NULL;
}

static inline const char *e2pf_stats_save(struct e2pf_session *session,
					  const char *path)
{
	return e2pf_stats_put(path, e2pf_stats_write, session);
}

#endif
