/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Locks that are held until the end of a block, or waited for only so long; waits by a
 * clock that cannot be set; and what a clock says.
 */
#ifndef LIB_LOCK_H
#define LIB_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

static inline void e2pf_unlock_at_end(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

/* Hold the lock until the end of the block, where it is released. */
#define E2PF_LOCKED(e) \
	__attribute__((cleanup(e2pf_unlock_at_end), unused)) \
	pthread_mutex_t *locked = (pthread_mutex_lock(&(e)->lock), &(e)->lock)

/* Take the lock, but wait at most `milliseconds`: a checker that ends in a
 * signal handler may have been holding it.  Returns true if it was taken. */
static inline bool e2pf_lock_within(pthread_mutex_t *lock, int milliseconds)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (pthread_mutex_trylock(lock)) {
		if (!milliseconds--)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* The time on this clock, in seconds. */
static inline double e2pf_clock_seconds(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The time `ns` nanoseconds from now, for pthread_cond_timedwait(). */
static inline struct timespec e2pf_deadline(uint64_t ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ns += (uint64_t)ts.tv_nsec;
	ts.tv_sec += (time_t)(ns / 1000000000u);
	ts.tv_nsec = (long)(ns % 1000000000u);
	return ts;
}

/* A condition whose deadlines are of e2pf_deadline()'s clock. */
static inline void e2pf_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

#endif
