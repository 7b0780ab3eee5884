/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Threads on a simulated clock: one runs at a time, until it waits or computes,
 * and the clock stands still meanwhile.  Then that one goes on which wakes
 * first.  So the same program makes the same calls in the same order at the
 * same times, on any machine.
 *
 * Needs $(sim_threads) of Makefile.am, which replaces all calls by which the
 * tested code creates threads, waits, or asks for the time.  A call that is not
 * replaced and waits for another thread would wait for ever.
 */
#ifndef SIM_THREADS_H
#define SIM_THREADS_H

#include <stdint.h>

#define SIM_NEVER UINT64_MAX

/* What happens by itself. */
struct sim_events {
	/* When the next event is, ns; SIM_NEVER: nothing is going on. */
	uint64_t (*next)(void *ctx);
	/* Let happen what does until `now`; may wake threads. */
	void (*run)(void *ctx, uint64_t now);
	void *ctx;
};

/* Call `body` at time 0 as the first thread.  It has to join all that it
 * creates.  Aborts if all threads wait and nothing is going on. */
void sim_run(const struct sim_events *events, void (*body)(void *arg),
	     void *arg);

/* The rest is for threads of the simulation. */

uint64_t sim_now(void);
/* The calling thread is busy for `ns` nanoseconds. */
void sim_compute(uint64_t ns);
/* Wait until somebody wakes this key. */
void sim_wait(const void *key);
/* Wake all threads that wait for a key from `first` to before `end`. */
void sim_wake(const void *first, const void *end);

#endif
