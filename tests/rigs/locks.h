/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A lock that is released, or waited with, is the caller's, and one that is taken is
 * not: with one that was forgotten, the program ends. */
#ifndef LOCKS_H
#define LOCKS_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __GLIBC__
static inline void lock_is(bool own, const pthread_mutex_t *mutex)
{
	if (mutex->__data.__kind == PTHREAD_MUTEX_TIMED_NP &&
	    (mutex->__data.__owner == gettid()) != own)
		abort();
}

typedef int lock_fn(pthread_mutex_t *mutex);

static inline int next_lock(lock_fn **next, const char *name,
			    pthread_mutex_t *mutex)
{
	if (!*next)
		*next = (lock_fn *)dlsym(RTLD_NEXT, name);
	return (*next)(mutex);
}

__attribute__((weak)) int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static lock_fn *next;

	lock_is(false, mutex);
	return next_lock(&next, "pthread_mutex_lock", mutex);
}

__attribute__((weak)) int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	static lock_fn *next;

	lock_is(true, mutex);
	return next_lock(&next, "pthread_mutex_unlock", mutex);
}
#else
static inline void lock_is(bool own, const pthread_mutex_t *mutex)
{
	(void)own, (void)mutex;
}
#endif

#endif
