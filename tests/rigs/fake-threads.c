/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Interposers of the calls in which threads sleep.  A worker counts as asleep
 * from the time it begins to wait, with the mutex held, until it is signalled.
 * So "all asleep" is a definite state, and no test has to sleep to reach it.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "fake-threads.h"
#include "locks.h"

#define MAX_WORKERS 512

#define WRAPPED(name) extern __typeof__(name) __real_##name, __wrap_##name

WRAPPED(pthread_create);
WRAPPED(pthread_cond_wait);
WRAPPED(pthread_cond_timedwait);
WRAPPED(pthread_cond_broadcast);
WRAPPED(malloc);
WRAPPED(calloc);
WRAPPED(realloc);
/* With 32 bits, that of large offsets has another name. */
#if __WORDSIZE == 32
#define __real_mmap __real_mmap64
#define __wrap_mmap __wrap_mmap64
#endif
WRAPPED(mmap);
WRAPPED(munmap);

struct worker {
	void *(*start)(void *);
	void *arg;
	int number;
	bool used;
	pthread_cond_t *sleeps_on;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t settled = PTHREAD_COND_INITIALIZER;
static struct worker worker[MAX_WORKERS];
static unsigned alive, asleep, woken;
static int created, fail_create = -1;
static atomic_int fail_allocation = -1;
static atomic_bool failed;
static atomic_uint checker_waits, checker_patience;
static __thread struct worker *self;

int fake_worker(void)
{
	return self ? self->number : -1;
}

void fake_threads_reset(void)
{
	pthread_mutex_lock(&lock);
	created = 0;
	woken = 0;
	fail_create = -1;
	pthread_mutex_unlock(&lock);
	fake_fail_allocation(-1);
}

void fake_threads_settle(void)
{
	LOCKED(&lock);

	while (asleep + (self != NULL) < alive)
		__real_pthread_cond_wait(&settled, &lock);
}

unsigned fake_threads_alive(void)
{
	LOCKED(&lock);

	return alive;
}

unsigned fake_threads_woken(void)
{
	LOCKED(&lock);

	return woken;
}

void fake_checker_is_patient(bool patient)
{
	checker_patience = patient ? 10 : 0;
}

unsigned fake_checker_waits(void)
{
	return atomic_load(&checker_waits);
}

void fake_threads_fail_create(int n)
{
	LOCKED(&lock);

	fail_create = n < 0 ? -1 : created + n;
}

static void leave(void *arg)
{
	struct worker *l = arg;

	pthread_mutex_lock(&lock);
	l->used = false;
	alive--;
	__real_pthread_cond_broadcast(&settled);
	pthread_mutex_unlock(&lock);
}

static void *run(void *arg)
{
	sigset_t mask;
	void *result;

	/* Signals are the checker's. */
	if (pthread_sigmask(SIG_BLOCK, NULL, &mask) ||
	    sigismember(&mask, SIGTERM) != 1)
		abort();
	self = arg;
	result = self->start(self->arg);
	leave(self);
	return result;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*start)(void *), void *arg)
{
	struct worker *l = worker;
	int err;

	pthread_mutex_lock(&lock);
	if (fail_create >= 0 && created >= fail_create) {
		pthread_mutex_unlock(&lock);
		return EAGAIN;
	}
	while (l->used)
		l++;
	*l = (struct worker) {
		.start = start, .arg = arg, .number = created++, .used = true
	};
	alive++;
	pthread_mutex_unlock(&lock);
	err = __real_pthread_create(thread, attr, run, l);
	if (err)
		leave(l);
	return err;
}

int fake_checker_create(pthread_t *thread, void *(*start)(void *), void *arg)
{
	return __real_pthread_create(thread, NULL, start, arg);
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	int err;

	lock_is(true, mutex);
	if (!self)
		return __real_pthread_cond_wait(cond, mutex);
	pthread_mutex_lock(&lock);
	self->sleeps_on = cond;
	asleep++;
	__real_pthread_cond_broadcast(&settled);
	pthread_mutex_unlock(&lock);
	err = __real_pthread_cond_wait(cond, mutex);
	pthread_mutex_lock(&lock);
	if (self->sleeps_on)	/* spurious wakeup */
		asleep--;
	self->sleeps_on = NULL;
	pthread_mutex_unlock(&lock);
	return err;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
				  const struct timespec *deadline)
{
	int err;

	lock_is(true, mutex);
	if (!self) {
		struct timespec patient = *deadline;

		atomic_fetch_add(&checker_waits, 1);
		patient.tv_sec += checker_patience;
		err = __real_pthread_cond_timedwait(cond, mutex, &patient);
		if (err && checker_patience)
			abort();
		return err;
	}
	__wrap_pthread_cond_wait(cond, mutex);
	return ETIMEDOUT;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
	unsigned i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < MAX_WORKERS; i++) {
		if (!worker[i].used || worker[i].sleeps_on != cond)
			continue;
		worker[i].sleeps_on = NULL;
		asleep--;
		woken++;
	}
	pthread_mutex_unlock(&lock);
	return __real_pthread_cond_broadcast(cond);
}

void fake_fail_allocation(int n)
{
	atomic_store(&failed, false);
	atomic_store(&fail_allocation, n);
}

int fake_allocation_failed(void)
{
	return atomic_load(&failed);
}

static bool must_fail(void)
{
	if (atomic_load(&fail_allocation) < 0 ||
	    atomic_fetch_sub(&fail_allocation, 1) != 0)
		return false;
	atomic_store(&failed, true);
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return must_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return must_fail() ? NULL : __real_realloc(p, size);
}

static _Atomic(long) mappings;

long fake_mappings(void)
{
	return mappings;
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (must_fail())
		return MAP_FAILED;
	mappings++;
	return __real_mmap(at, size, prot, flags, fd, offset);
}

int __wrap_munmap(void *at, size_t size)
{
	mappings--;
	return __real_munmap(at, size);
}
