/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * How threads are started; the I/O priority and nice value of one thread: Linux
 * keeps both per thread, though for POSIX the nice value belongs to the process.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "thread.h"

/* libc has no header for ioprio_set(2). */
#define WHO_PROCESS 1
#define CLASS_SHIFT 13
#define CLASS_BEST_EFFORT 2u
#define NORMAL_LEVEL 4u

/* Large buffers are on the heap. */
#define STACK_BYTES (256u << 10)

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
		err = pthread_create(thread, &attr, body, arg);
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

void e2pf_priority_set(unsigned io_priority, unsigned nice)
{
	int is;

	if (io_priority)
		syscall(SYS_ioprio_set, WHO_PROCESS, 0, (int)io_priority);
	if (!nice)
		return;
	errno = 0;
	is = getpriority(PRIO_PROCESS, 0);
	if (!errno && is < (int)nice)
		setpriority(PRIO_PROCESS, 0, (int)nice);
}

bool e2pf_priority_is_low(unsigned io_priority)
{
	return io_priority >
	       (CLASS_BEST_EFFORT << CLASS_SHIFT | NORMAL_LEVEL);
}
