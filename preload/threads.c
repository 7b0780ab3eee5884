/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Interposes pthread_create(): when the program cannot start a thread, which may be
 * because of ours, it gets ours back.  e2fsck ends if it cannot start those that read
 * bitmaps.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "interpose.h"
#include "preload.h"

/* The kernel counts a thread that was joined for a moment longer. */
#define PATIENCE_MS 1000

/* How many threads the kernel counts in this process: links of the directory. */
static nlink_t count_threads(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) ? 0 : st.st_nlink;
}

/* End ours.  Returns false if there were none.  Only the program's first thread can. */
static bool end_ours(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	nlink_t before = count_threads(), ours = 0;
	unsigned i;

	if (preload.give_back && syscall(SYS_gettid) == preload.pid)
		ours = preload.give_back();
	for (i = 0; ours && i < PATIENCE_MS &&
		    count_threads() + ours > before; i++)
		nanosleep(&pause, NULL);
	return ours;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*body)(void *), void *arg)
{
	int err;
	REAL(pthread_create);

	err = real(thread, attr, body, arg);
	return err == EAGAIN && end_ours() ? real(thread, attr, body, arg) :
					     err;
}
