/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* How threads are started, and how their end is waited for. */
#include <signal.h>
#include <time.h>

#include "thread.h"

/* Large buffers are on the heap. */
#define STACK_BYTES (256u << 10)

int (*e2pf_thread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
			  void *) = pthread_create;

int e2pf_thread_start(pthread_t *thread, void *(*body)(void *), void *arg)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	err = pthread_attr_init(&attr);
	if (err)
		return err;
	sigfillset(&all);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	err = pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!err) {
		err = e2pf_thread_create(thread, &attr, body, arg);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	pthread_attr_destroy(&attr);
	return err;
}

bool e2pf_thread_join(pthread_t thread, int milliseconds)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	while (pthread_tryjoin_np(thread, NULL)) {
		if (!milliseconds--)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}
