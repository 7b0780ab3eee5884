/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A lock that knows the thread that holds it: the engine's, and those of what reads
 * beside it.
 *
 * A function that needs the lock says so in its first line:
 * e2pf_assert_held().  Tests define e2pf_lock_not_held(), and so end at a call
 * without it, as programs built with a sanitizer do.  A check goes on: it must
 * never end because of us.
 */
#ifndef E2PF_LOCK_H
#define E2PF_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

struct e2pf_lock {
	pthread_mutex_t mutex;
	atomic_uintptr_t owner;		/* the thread; 0: none */
};

/* Called with the name of a function that was called without the lock. */
void e2pf_lock_not_held(const char *function) __attribute__((weak));

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define E2PF_LOCK_ABORTS true
#else
#define E2PF_LOCK_ABORTS false
#endif

static inline bool e2pf_is_held(const struct e2pf_lock *lock)
{
	return atomic_load_explicit(&lock->owner, memory_order_relaxed) ==
	       (uintptr_t)pthread_self();
}

static inline void e2pf_check_held(const struct e2pf_lock *lock,
				   const char *function)
{
	if (e2pf_is_held(lock))
		return;
	if (e2pf_lock_not_held)
		e2pf_lock_not_held(function);
	else if (E2PF_LOCK_ABORTS)
		abort();
}

#define e2pf_assert_held(e) e2pf_check_held(&(e)->lock, __func__)

static inline void e2pf_lock_own(struct e2pf_lock *lock, bool owned)
{
	atomic_store_explicit(&lock->owner,
			      owned ? (uintptr_t)pthread_self() : 0,
			      memory_order_relaxed);
}

static inline void e2pf_lock_init(struct e2pf_lock *lock)
{
	pthread_mutex_init(&lock->mutex, NULL);
	atomic_init(&lock->owner, 0);
}

static inline void e2pf_lock_destroy(struct e2pf_lock *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

static inline void e2pf_lock(struct e2pf_lock *lock)
{
	pthread_mutex_lock(&lock->mutex);
	e2pf_lock_own(lock, true);
}

static inline void e2pf_unlock(struct e2pf_lock *lock)
{
	e2pf_lock_own(lock, false);
	pthread_mutex_unlock(&lock->mutex);
}

static inline void e2pf_unlock_at_end(struct e2pf_lock **lock)
{
	e2pf_unlock(*lock);
}

/* Hold the lock until the end of the block, where it is released. */
#define E2PF_LOCKED(e) \
	__attribute__((cleanup(e2pf_unlock_at_end), unused)) \
	struct e2pf_lock *locked = (e2pf_lock(&(e)->lock), &(e)->lock)

/* Take the lock, but wait at most `milliseconds`: a checker that ends in a
 * signal handler may have been holding it.  Returns true if it was taken. */
static inline bool e2pf_lock_within(struct e2pf_lock *lock, int milliseconds)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (pthread_mutex_trylock(&lock->mutex)) {
		if (!milliseconds--)
			return false;
		nanosleep(&pause, NULL);
	}
	e2pf_lock_own(lock, true);
	return true;
}

static inline void e2pf_wait(pthread_cond_t *cond, struct e2pf_lock *lock)
{
	e2pf_lock_own(lock, false);
	pthread_cond_wait(cond, &lock->mutex);
	e2pf_lock_own(lock, true);
}

/* The time `ns` nanoseconds from now, for e2pf_wait_until(). */
static inline struct timespec e2pf_deadline(uint64_t ns)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ns += (uint64_t)ts.tv_nsec;
	ts.tv_sec += (time_t)(ns / 1000000000u);
	ts.tv_nsec = (long)(ns % 1000000000u);
	return ts;
}

/* Returns false if the deadline has passed. */
static inline bool e2pf_wait_until(pthread_cond_t *cond,
				   struct e2pf_lock *lock,
				   const struct timespec *deadline)
{
	int err;

	e2pf_lock_own(lock, false);
	err = pthread_cond_timedwait(cond, &lock->mutex, deadline);
	e2pf_lock_own(lock, true);
	return !err;
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
