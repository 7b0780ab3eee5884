/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The common part of all preload libraries: read the settings and the program's
 * arguments, and report at the end.
 *
 * A preload library is loaded into a stock program.  If it is loaded into any other
 * program by mistake, it does nothing.
 */
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "prefetch/report.h"
#include "prefetch/session.h"
#include "prefetch/settings.h"

/* Enough for a check; the rest is left out, and counts as what nothing follows. */
#define PRELOAD_ARGUMENTS 64

/* How long the end of a check or a send waits for a worker that waits for the
 * device.  A disk that retries a bad sector may block a worker for minutes. */
#define END_PATIENCE_MS 1000

extern struct preload {
	const char *name;	/* "e2fsck-prefetch": before each message */
	bool on;
	struct pf_settings settings;
	int argc;		/* 0: not known, without /proc */
	char *argv[PRELOAD_ARGUMENTS];
	bool more_arguments;		/* some were left out */
	pid_t pid;
	bool sends;			/* it opens files by their handles */
	/* End the threads that read ahead, for good: the program needs what they take.
	 * Called by the program's first thread.  Returns how many there were.  NULL:
	 * never any. */
	unsigned (*give_back)(void);
	double began;			/* seconds, CLOCK_MONOTONIC */
	struct pf_report report;	/* of this run */
} preload;

/* Read the program's arguments.  Allocates nothing. */
void preload_read_arguments(void);

/*
 * Read the settings.  The preload library is on unless they are wrong or say off.
 * Restores the environment that the program's children would have without us.
 * Called by the constructor.
 */
void preload_begin(const char *name);

/* If the program was started to ask for this (status.h), end it with the answer.
 * `follows': the program calls what the preload library replaces. */
void preload_answer(bool follows);

/* The report at the end of the program. */
struct preload_result {
	struct pf_session *session;	/* NULL: none was opened */
	const char *done;		/* "checked" */
	bool finished;			/* it did what there is prefetching
					   for; then there is a session */
	bool logged;			/* in the system log */
	bool counted;			/* statistics are written */
};

/*
 * Complete preload.report; write the statistics, if they are wanted; tell what
 * PREFETCH_VERBOSE asks for, and the system log about a finished check.
 */
void preload_report_result(const struct preload_result *r);

/*
 * reporter.c: writes how far the check is to a file in /run, in a thread of its own.  A
 * call waits for that thread for at most a second.  After a call has waited in
 * vain, the next calls do not wait until the thread answers.
 */

/* The process begins; called by the checker's first thread.  `program` is named
 * in the file; each `seconds` a line on standard error says the same, unless 0. */
void preload_reporter_begin(const char *program, unsigned seconds);

/*
 * The check begins to read, with this session.  NULL: the session is about to
 * be started again, or to end.  Called by one thread of the checker at a time.
 * Returns false if the thread still looks at an earlier session, which it will go
 * on to do: then that may be stopped, but not started again, released or closed.
 */
bool preload_reporter_watch(struct pf_session *session);

/* The check ends.  Afterwards no session is used and the file is gone, unless the
 * thread does not answer: then it ends with the process.  Returns how many threads have
 * ended. */
unsigned preload_reporter_end(void);

/*
 * selftest.c: tries in a child process what might end this one.
 */

enum selftest {
	SELFTEST_NONE,		/* there was no child: no memory or process */
	SELFTEST_DENIED,	/* it died of a system call that we make */
	SELFTEST_FAILED,	/* it made them all; then it crashed or hung */
	SELFTEST_DONE
};

/*
 * In a child process: make every system call that only we make, then call
 * run(result), if that is not NULL.  `result`, of `size` bytes, is filled in if
 * the child comes to its end.  Takes at most some five seconds.  The process may
 * not have threads yet.
 */
enum selftest preload_selftest_run(void (*run)(void *result), void *result,
				   size_t size);

/* Whether reading ahead is free of system calls that would end this process.
 * If no self-test was run, and there is a filter of system calls, this runs the
 * part of the self-test that tells. */
bool preload_selftest_may_read(enum selftest *outcome);

#endif
