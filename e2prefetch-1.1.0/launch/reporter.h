/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes how far the check is to a file in /run, in a thread of its own.  No
 * call waits for the file longer than a second.
 */
#ifndef REPORTER_H
#define REPORTER_H

#include "session.h"

/* The process begins; called by the checker's first thread.  `program` is named
 * in the file. */
void reporter_begin(const char *program);

/* The check begins to read, with this session.  NULL: the session is about to
 * be started again, or to end. */
void reporter_watch(struct e2pf_session *session);

/* The check ends.  Afterwards no session is used and the file is gone. */
void reporter_end(void);

#endif
