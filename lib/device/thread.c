/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How threads are started; the I/O priority and nice value of one thread: Linux
 * keeps both per thread, though for POSIX the nice value belongs to the process;
 * and when the next request may be made.
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "thread.h"

/* libc has no header for ioprio_set(2). */
#define WHO_PROCESS 1
#define CLASS_SHIFT 13
#define CLASS_BEST_EFFORT 2u
#define NORMAL_LEVEL 4u

/* Large buffers are on the heap. */
#define STACK_BYTES (256u << 10)

#define SECOND_NS UINT64_C(1000000000)

/* A thread that comes late, because a sleep is never as short as asked for, may
 * catch up on so much, and no more. */
#define CATCH_UP_NS UINT64_C(10000000)

/* More than share a machine anywhere. */
#define MOST_SHARERS 1000u

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

/* A limit is a time before which no request is made; each moves it on by what
 * `amount` takes at the rate, times the sharers.  One request is less than 16 GB,
 * which keeps the product in 64 bits. */
static void move_on(uint64_t *not_before, uint64_t now, uint64_t amount,
		    uint64_t rate, unsigned sharers)
{
	uint64_t from = now > CATCH_UP_NS ? now - CATCH_UP_NS : 0;

	if (*not_before < from)
		*not_before = from;
	if (rate)
		*not_before += amount * SECOND_NS / rate * sharers;
}

uint64_t e2pf_rate_take(struct e2pf_rate *rate, uint64_t now, uint64_t bytes,
			unsigned sharers)
{
	uint64_t until = rate->by_bytes > rate->by_requests ?
			 rate->by_bytes : rate->by_requests;

	if (now < until)
		return until - now;
	sharers = sharers < 1 ? 1 :
		  sharers > MOST_SHARERS ? MOST_SHARERS : sharers;
	move_on(&rate->by_bytes, now, bytes, rate->bandwidth, sharers);
	move_on(&rate->by_requests, now, 1, rate->requests, sharers);
	return 0;
}
