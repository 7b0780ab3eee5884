/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The thread sanitizer of gcc 12 does not intercept pthread_mutex_clocklock(),
 * and reports the unlock after it as one of an unlocked mutex.  This
 * replacement locks without a time limit.  Link with
 * -Wl,--wrap=pthread_mutex_clocklock.
 */
#include <pthread.h>
#include <time.h>

#ifdef HAVE_PTHREAD_MUTEX_CLOCKLOCK
int __real_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				   const struct timespec *until);
int __wrap_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				   const struct timespec *until);

int __wrap_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
				   const struct timespec *until)
{
#ifdef __SANITIZE_THREAD__
	(void)clock;
	(void)until;
	(void)__real_pthread_mutex_clocklock;
	return pthread_mutex_lock(mutex);
#else
	return __real_pthread_mutex_clocklock(mutex, clock, until);
#endif
}
#endif
