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

/* The arguments that are read: enough for a check.  If there are more, more_arguments is
 * set. */
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
	bool more_arguments;		/* some arguments were left out */
	pid_t pid;
	bool sends;			/* this library opens files by their handles */
	/* End the threads that read ahead, for good, because the program needs the
	 * tasks.  Returns how many there were.  Called by the program's first thread.
	 * NULL: there are never any. */
	unsigned (*give_back)(void);
	double began;			/* seconds, CLOCK_MONOTONIC */
	struct pf_report report;	/* of this run */
} preload;

/* Read the program's arguments.  Allocates nothing. */
void preload_read_arguments(void);

/*
 * Read the settings.  Turns the preload library on unless they are wrong or say "off".
 * Restores the environment that the program's children would have without the library.
 * Called by the constructor.
 */
void preload_begin(const char *name);

/* If the program was started only to ask for the status (status.h), end it with the
 * answer.  `follows`: the program calls the functions that the preload library
 * interposes. */
void preload_answer(bool follows);

/* The report at the end of the program. */
struct preload_result {
	struct pf_session *session;	/* NULL: none was opened */
	const char *done;		/* "checked" */
	bool finished;			/* the program has done its work, as far as
					   prefetching goes; implies a session */
	bool logged;			/* write a line to the system log */
	bool counted;			/* write the statistics */
};

/*
 * Complete preload.report.  Write the statistics if there is a file for them, print what
 * PREFETCH_VERBOSE asks for, and write to the system log about a finished check.
 */
void preload_report_result(const struct preload_result *r);

/*
 * reporter.c: a thread that writes the check's progress to a file in /run.  A call
 * waits for that thread for at most a second.  After a call has waited in vain, later
 * calls do not wait until the thread answers again.
 */

/* The process begins.  `program` is the name in the file.  If `seconds` is not 0, also
 * print the progress to standard error at this interval.  Called by the checker's first
 * thread. */
void preload_reporter_begin(const char *program, unsigned seconds);

/*
 * The check begins to read, with this session.  NULL: the session is about to be
 * started again, or to end.  Only one thread of the checker at a time may call this.
 * Returns false if the thread still uses an earlier session: then the caller may stop
 * that session, but must not start it again, free it, or close its devices.
 */
bool preload_reporter_watch(struct pf_session *session);

/* The check ends.  Afterwards the thread uses no session, and the file is removed.  A
 * thread that does not answer ends with the process.  Returns how many threads have
 * ended. */
unsigned preload_reporter_end(void);

/*
 * selftest.c: tries what might end this process in a child process.
 */

enum selftest {
	SELFTEST_NONE,		/* there was no child: no memory or process */
	SELFTEST_DENIED,	/* the child died of a system call that we make */
	SELFTEST_FAILED,	/* the child made them all; then it crashed or hung */
	SELFTEST_DONE
};

/*
 * In a child process, make every system call that only this library makes, and then
 * call run(result), unless `run` is NULL.  Copies `size` bytes of the child's result to
 * `result` if the child ends normally.  Takes at most about five seconds.  The process
 * must not have threads yet.
 */
enum selftest preload_selftest_run(void (*run)(void *result), void *result,
				   size_t size);

/* Returns true if reading ahead makes no system call that would end this process.  If no
 * self-test was run, and the process has a filter of system calls, runs the part of the
 * self-test that shows this. */
bool preload_selftest_may_read(enum selftest *outcome);

#endif
