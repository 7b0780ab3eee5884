/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Tries in a child process what might end this one. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdbool.h>
#include <stddef.h>

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
enum selftest selftest_run(void (*run)(void *result), void *result,
			   size_t size);

/* Whether reading ahead is free of system calls that would end this process.
 * If no self-test was run, and there is a filter of system calls, this runs the
 * part of the self-test that tells. */
bool selftest_may_read(enum selftest *outcome);

#endif
