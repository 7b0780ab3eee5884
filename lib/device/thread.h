/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Our threads: how they are started, their priority, and how much they may ask
 * for in a second. */
#ifndef E2PF_THREAD_H
#define E2PF_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Start a thread with a small stack.  All signals are blocked in it, because
 * they are the program's.  Returns 0 or an errno. */
int e2pf_thread_start(pthread_t *thread, void *(*body)(void *), void *arg);

/*
 * Give the calling thread this I/O priority, as ioprio_set(2) takes it, and
 * this nice value; 0 leaves either unchanged.  A nice value that would raise
 * the priority, and any value that the kernel refuses, changes nothing.
 */
void e2pf_priority_set(unsigned io_priority, unsigned nice);

/* Is a request of this I/O priority served after those with the default one? */
bool e2pf_priority_is_low(unsigned io_priority);

/* Limits per second.  Zeroed but for the first two: no request was made yet. */
struct e2pf_rate {
	uint64_t bandwidth;		/* bytes; 0: any */
	unsigned requests;		/* 0: any */
	/* No request is made before, ns. */
	uint64_t by_bytes, by_requests;
};

/* Nanoseconds from `now` until a request of so many bytes may be made; or 0, and
 * it is counted as made.  The limits are shared by so many processes.  The caller
 * serializes. */
uint64_t e2pf_rate_take(struct e2pf_rate *rate, uint64_t now, uint64_t bytes,
			unsigned sharers);

#endif
