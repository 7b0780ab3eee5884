/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The threads are real ones.  The one whose turn it is holds `turn_lock`,
 * except while it passes the turn on.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim-threads.h"

#define MOST_THREADS 64
#define NSEC 1000000000u

#define WRAPPED(name) extern __typeof__(name) __real_##name, __wrap_##name

WRAPPED(pthread_create);
WRAPPED(pthread_join);
WRAPPED(pthread_mutex_lock);
WRAPPED(pthread_mutex_unlock);
WRAPPED(pthread_cond_wait);
WRAPPED(pthread_cond_timedwait);
WRAPPED(pthread_cond_signal);
WRAPPED(pthread_cond_broadcast);
WRAPPED(clock_gettime);
WRAPPED(nanosleep);

struct thread {
	bool used, ended;
	pthread_t id;
	pthread_cond_t turn;
	void *(*start)(void *);
	void *arg;
	uint64_t wake;		/* ns; SIM_NEVER: when its key is woken */
	uint64_t order;		/* among those that wake at the same time */
	const char *key;	/* what it waits for; NULL: for the time */
};

static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread thread[MOST_THREADS], *running;
static const struct sim_events *events;
static uint64_t now, orders;
static __thread struct thread *self;	/* NULL: not of the simulation */

static struct thread *first_to_wake(void)
{
	struct thread *t, *first = NULL;

	for (t = thread; t < thread + MOST_THREADS; t++) {
		if (!t->used || t->ended || t->wake == SIM_NEVER)
			continue;
		if (!first || t->wake < first->wake ||
		    (t->wake == first->wake && t->order < first->order))
			first = t;
	}
	return first;
}

/* The thread that is next; the clock moves to when it wakes. */
static void choose(void)
{
	struct thread *next;
	uint64_t when;

	for (;;) {
		next = first_to_wake();
		when = events->next(events->ctx);
		if (next && next->wake <= when)
			break;
		if (when == SIM_NEVER) {
			fputs("sim-threads: all threads wait\n", stderr);
			abort();
		}
		now = when > now ? when : now;
		events->run(events->ctx, now);
	}
	now = next->wake > now ? next->wake : now;
	running = next;
	if (next != self)
		__real_pthread_cond_signal(&next->turn);
}

static void wait_for_turn(void)
{
	while (running != self)
		__real_pthread_cond_wait(&self->turn, &turn_lock);
}

/* Go on at this time, or before if the key is woken; true if it was. */
static bool wait_until(uint64_t wake, const void *key)
{
	self->wake = wake;
	self->order = ++orders;
	self->key = key;
	choose();
	wait_for_turn();
	return !self->key;
}

uint64_t sim_now(void)
{
	return now;
}

void sim_compute(uint64_t ns)
{
	wait_until(now + ns, NULL);
}

void sim_wait(const void *key)
{
	wait_until(SIM_NEVER, key);
}

void sim_wake(const void *first, const void *end)
{
	struct thread *t;

	for (t = thread; t < thread + MOST_THREADS; t++) {
		if (!t->used || !t->key || t->key < (const char *)first ||
		    t->key >= (const char *)end)
			continue;
		t->key = NULL;
		t->wake = now;
		t->order = ++orders;
	}
}

static void wake_one_key(const void *key)
{
	sim_wake(key, (const char *)key + 1);
}

static struct thread *add_thread(void *(*start)(void *), void *arg)
{
	struct thread *t = thread;

	while (t < thread + MOST_THREADS && t->used)
		t++;
	if (t == thread + MOST_THREADS)
		abort();
	*t = (struct thread) {
		.used = true, .turn = PTHREAD_COND_INITIALIZER,
		.start = start, .arg = arg, .wake = now, .order = ++orders
	};
	return t;
}

void sim_run(const struct sim_events *happening, void (*body)(void *arg),
	     void *arg)
{
	__real_pthread_mutex_lock(&turn_lock);
	events = happening;
	now = orders = 0;
	self = running = add_thread(NULL, NULL);
	body(arg);
	self->used = false;
	self = NULL;
	__real_pthread_mutex_unlock(&turn_lock);
}

/*
 * The replacements.
 */

static void *run_thread(void *arg)
{
	void *result;

	__real_pthread_mutex_lock(&turn_lock);
	self = arg;
	wait_for_turn();
	result = self->start(self->arg);
	self->ended = true;
	wake_one_key(self);
	choose();
	__real_pthread_mutex_unlock(&turn_lock);
	return result;
}

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr,
			  void *(*start)(void *), void *arg)
{
	struct thread *t;
	int err;

	if (!self)
		return __real_pthread_create(id, attr, start, arg);
	t = add_thread(start, arg);
	err = __real_pthread_create(id, attr, run_thread, t);
	t->used = !err;
	t->id = *id;
	return err;
}

int __wrap_pthread_join(pthread_t id, void **result)
{
	struct thread *t = thread;

	if (!self)
		return __real_pthread_join(id, result);
	while (!t->used || t == self || !pthread_equal(t->id, id))
		if (++t == thread + MOST_THREADS)
			abort();
	while (!t->ended)
		sim_wait(t);
	t->used = false;
	return __real_pthread_join(id, result);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!self)
		return __real_pthread_mutex_lock(mutex);
	while (pthread_mutex_trylock(mutex))
		sim_wait(mutex);
	return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int err = __real_pthread_mutex_unlock(mutex);

	if (self)
		wake_one_key(mutex);
	return err;
}

static bool wait_on(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t wake)
{
	bool woken;

	__wrap_pthread_mutex_unlock(mutex);
	woken = wait_until(wake, cond);
	__wrap_pthread_mutex_lock(mutex);
	return woken;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (!self)
		return __real_pthread_cond_wait(cond, mutex);
	wait_on(cond, mutex, SIM_NEVER);
	return 0;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *deadline)
{
	return wait_on(cond, mutex, (uint64_t)deadline->tv_sec * NSEC +
		       (uint64_t)deadline->tv_nsec) ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
	wake_one_key(cond);
	return 0;
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	return __wrap_pthread_cond_broadcast(cond);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (!self)
		return __real_clock_gettime(clock, ts);
	ts->tv_sec = (time_t)(now / NSEC);
	ts->tv_nsec = (long)(now % NSEC);
	return 0;
}

int __wrap_nanosleep(const struct timespec *ts, struct timespec *left)
{
	(void)left;
	sim_compute((uint64_t)ts->tv_sec * NSEC + (uint64_t)ts->tv_nsec);
	return 0;
}
