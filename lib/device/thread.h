/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Our threads: how they are started, and their priority. */
#ifndef E2PF_THREAD_H
#define E2PF_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Start a thread with a small stack.  All signals are blocked in it, because
 * they are the program's.  Returns 0 or an errno. */
int e2pf_thread_start(pthread_t *thread, void *(*body)(void *), void *arg);

/* Wait for the end of a thread, at most so long by no clock that can be set.  Returns
 * false if it still runs. */
bool e2pf_thread_join(pthread_t thread, int milliseconds);

/*
 * Give the calling thread this I/O priority, as ioprio_set(2) takes it, and
 * this nice value; 0 leaves either unchanged.  A nice value that would raise
 * the priority, and any value that the kernel refuses, changes nothing.
 */
void e2pf_priority_set(unsigned io_priority, unsigned nice);

/* Is a request of this I/O priority served after those with the default one? */
bool e2pf_priority_is_low(unsigned io_priority);

#endif
