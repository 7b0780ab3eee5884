/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Writes how far the check is to a file in /run, in a thread of its own.  A
 * call waits for that thread for at most a second.  After a call has waited in
 * vain, the next calls do not wait until the thread answers.
 */
#ifndef REPORTER_H
#define REPORTER_H

#include "session.h"

/* The process begins; called by the checker's first thread.  `program` is named
 * in the file; each `seconds` a line on standard error says the same, unless 0. */
void reporter_begin(const char *program, unsigned seconds);

/*
 * The check begins to read, with this session.  NULL: the session is about to
 * be started again, or to end.  Called by one thread of the checker at a time.
 * Returns false if the thread still looks at an earlier session, which it will go
 * on to do: then that may be stopped, but not started again, released or closed.
 */
bool reporter_watch(struct e2pf_session *session);

/* The check ends.  Afterwards no session is used and the file is gone, unless the
 * thread does not answer: then it ends with the process. */
void reporter_end(void);

#endif
