/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows how far the check is: in a file in /run and, if the user asked for it,
 * on standard error.  All of it happens in a thread of its own; no call waits
 * for the file or the terminal longer than a second.
 */
#ifndef REPORTER_H
#define REPORTER_H

#include "environment.h"
#include "session.h"

/* The process begins; called by the checker's first thread.  `program` stands
 * before each line. */
void reporter_begin(const char *program, const struct environment *env);

/* The check begins to read, with this session.  NULL: the session is about to
 * be started again, or to end. */
void reporter_watch(struct e2pf_session *session);

/* The checker is about to print: a line on the terminal is cleared.  Called by the
 * checker's threads; writes to the terminal only if there is a line, and does not wait
 * for it. */
void reporter_clear(void);

/* The check ends.  Afterwards no session is used.  The file is gone, unless the
 * thread still waits for the terminal; then it is stale. */
void reporter_end(void);

#endif
