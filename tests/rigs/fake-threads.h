/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads of the program under test, seen from its test: which of them
 * calls, when all of them sleep, and the n-th creation or allocation failing.
 *
 * Link with FAKE_THREADS_LDFLAGS of Makefile.am (-Wl,--wrap).  Every thread
 * is a worker but the test's own, which fake_checker_create() makes.
 */
#ifndef FAKE_THREADS_H
#define FAKE_THREADS_H

#include <pthread.h>

/* Number of the calling worker in the order of creation, -1 for the test. */
int fake_worker(void);

/* Count workers from 0 again, and let nothing fail. */
void fake_threads_reset(void);

/* Return when every worker there is sleeps on a condition nobody has
 * signalled since. */
void fake_threads_settle(void);

/* The time is up for all workers that wait with a deadline; until then none is,
 * whatever the time.  Call it when they have settled. */
void fake_threads_expire(void);

/* Workers there are. */
unsigned fake_threads_alive(void);

/* Times a worker that slept was woken. */
unsigned fake_threads_woken(void);

/* Let pthread_create() fail from the n-th call on (0: the next); -1: never. */
void fake_threads_fail_create(int n);

/* Let the n-th allocation fail (0: the next); -1: none. */
void fake_fail_allocation(int n);
/* Has it failed? */
int fake_allocation_failed(void);

int fake_checker_create(pthread_t *thread, void *(*start)(void *),
			void *arg);

#endif
