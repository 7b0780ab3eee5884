/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Control over the threads of the program under test: which of them calls, when
 * all of them sleep, and making the n-th thread creation or allocation fail.
 *
 * Needs $(fake_sources) and $(wrap_threads) of Makefile.am.  Every thread is a
 * worker except the test's own, which fake_checker_create() creates.  A test that
 * fails leaves its workers behind, so that later tests of its program may fail,
 * too: the first failure counts.
 */
#ifndef FAKE_THREADS_H
#define FAKE_THREADS_H

#include <pthread.h>
#include <stdbool.h>

/* Hold this mutex until the end of the block. */
#define LOCKED(mutex) \
	__attribute__((cleanup(fake_unlock), unused)) \
	pthread_mutex_t *locked = (pthread_mutex_lock(mutex), (mutex))

static inline void fake_unlock(pthread_mutex_t **mutex)
{
	pthread_mutex_unlock(*mutex);
}

/* Number of the calling worker, in the order of creation; -1 in the test's own
 * threads. */
int fake_worker(void);

/* Count workers from 0 again, and cancel all failures. */
void fake_threads_reset(void);

/* Return when every worker, but for the calling one, is asleep on a condition that
 * nobody has signalled since. */
void fake_threads_settle(void);

/* Number of workers alive. */
unsigned fake_threads_alive(void);

/* How often a sleeping worker was woken. */
unsigned fake_threads_woken(void);

/* Make pthread_create() fail from the n-th call on (0: the next); -1: never. */
void fake_threads_fail_create(int n);

/* Make the n-th allocation fail (0: the next); -1: none. */
void fake_fail_allocation(int n);
/* Whether that allocation has failed. */
int fake_allocation_failed(void);
/* Calls of mmap() without one of munmap(). */
long fake_mappings(void);

/* A thread of the test itself that waits for a time at most has to be woken before, or
 * the test ends. */
void fake_checker_is_patient(bool patient);

/* How often a thread of the test itself has begun to wait for a time at most. */
unsigned fake_checker_waits(void);

int fake_checker_create(pthread_t *thread, void *(*start)(void *),
			void *arg);

#endif
