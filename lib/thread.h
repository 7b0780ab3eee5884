/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Our threads: their start and end. */
#ifndef LIB_THREAD_H
#define LIB_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What creates our threads.  A preload library that interposes pthread_create() sets the
 * real one: its own treats a failure as the program's. */
extern int (*e2pf_thread_create)(pthread_t *thread, const pthread_attr_t *attr,
				 void *(*body)(void *), void *arg);

/* Start a thread with a small stack.  All signals are blocked in it, because
 * they are the program's.  Returns 0 or an errno. */
int e2pf_thread_start(pthread_t *thread, void *(*body)(void *), void *arg);

/* Wait for the end of a thread, at most so long by no clock that can be set.  Returns
 * false if it still runs. */
bool e2pf_thread_join(pthread_t thread, int milliseconds);

#endif
