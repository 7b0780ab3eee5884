/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides when the status of a check is looked at and written, and what the
 * checker waits for.  Short checks are not worth a file: the first is written
 * after a second.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device/thread.h"
#include "lock.h"
#include "report/progress.h"
#include "report/words.h"
#include "reporter.h"
#include "settings.h"

/* How often the check is looked at, and how long the checker waits for the
 * thread, once. */
#define INTERVAL_NS 1000000000u
#define PATIENCE_MS 1000

/* The checker computes or waits if it does so for this part of the time. */
#define MOSTLY 0.5

static struct {
	const char *program;		/* NULL: nothing is reported */
	unsigned every;			/* seconds, for standard error; 0: never */
	clockid_t cpu;			/* of the checker's first thread */
	pthread_mutex_t lock;
	pthread_cond_t cond;		/* the end, or the thread's */
	struct e2pf_session *session;	/* NULL: nothing to look at */
	bool ended;
	bool running;			/* the thread */
	bool late;			/* it did not answer in time */
	double first;			/* when the first walk began, s */
	double began, cpu_began;	/* and this one */
	struct e2pf_progress_past past;	/* of this one */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* A file opened under the number of a closed standard stream would get what the
 * checker prints. */
static bool streams_are_open(void)
{
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return false;
	return true;
}

void reporter_begin(const char *program, unsigned seconds)
{
	if ((geteuid() && !seconds) || !streams_are_open() ||
	    pthread_getcpuclockid(pthread_self(), &self.cpu))
		return;
	e2pf_cond_init(&self.cond);
	self.program = program;
	self.every = seconds;
}

/* What the checker did since the last report. */
static void find_wait(struct e2pf_progress *p,
		      const struct e2pf_progress_facts *f,
		      const struct e2pf_progress_past *past)
{
	double passed = f->seconds - past->seconds;

	if (p->wait == E2PF_WAITS_NOT && f->stalled - past->stalled >
	    passed * MOSTLY)
		p->wait = E2PF_WAITS_DISK;
	if (p->wait == E2PF_WAITS_NOT && f->cpu - past->cpu > passed * MOSTLY)
		p->wait = E2PF_WAITS_PROCESSOR;
	if (p->wait < E2PF_WAITS_DISK)
		p->disk = NULL;
}

/* The session's texts, which are printed when it may be gone. */
static struct {
	char device[PATH_MAX];
	char disk[NAME_MAX + 1];
} texts;

static const char *keep(char *room, size_t size, const char *text)
{
	if (!text)
		return NULL;
	snprintf(room, size, "%s", text);
	return room;
}

/* The lock is held. */
static void get_progress(struct e2pf_progress *p)
{
	struct e2pf_progress_facts facts = { .seconds = 0 };

	*p = (struct e2pf_progress) { .program = self.program };
	facts.cpu = clock_seconds(self.cpu) - self.cpu_began;
	e2pf_session_get_progress(self.session, p, &facts);
	facts.seconds = clock_seconds(CLOCK_MONOTONIC) - self.began;
	p->seconds = facts.seconds + self.began - self.first;
	find_wait(p, &facts, &self.past);
	p->device = keep(texts.device, sizeof(texts.device), p->device);
	p->disk = keep(texts.disk, sizeof(texts.disk), p->disk);
	p->left = e2pf_progress_left(&self.past, &facts);
}

/* Wait; false if the check has ended.  The lock is held. */
static bool wait_a_moment(void)
{
	const struct timespec until = e2pf_deadline(INTERVAL_NS);

	while (!self.ended &&
	       !pthread_cond_timedwait(&self.cond, &self.lock, &until))
		;
	return !self.ended;
}

/* Whoever reads the line may have gone: the thread has all signals blocked.  A number
 * of lines is due at each moment. */
static void print_line(const struct e2pf_progress *p, unsigned *lines)
{
	char text[PATH_MAX + 1024], printable[sizeof(text)];
	struct progress_words words = progress_in_words(p);

	if (!self.every || p->seconds < (double)self.every * (*lines + 1))
		return;
	*lines = (unsigned)p->seconds / self.every;
	snprintf(text, sizeof(text), "%s: %s: %s, left %s, waits for %s", p->program,
		 p->device, words.place, words.left, words.wait);
	e2pf_printable(printable, sizeof(printable), text);
	dprintf(STDERR_FILENO, "%s\n", printable);
}

/* With the lock held, memory is read and nothing else: the checker may wait for
 * the lock. */
static void *report_thread(void *unused)
{
	char text[E2PF_PROGRESS_BYTES];
	struct e2pf_progress progress;
	bool written = false;
	unsigned lines = 0;

	e2pf_progress_each(NULL, NULL);		/* removes stale ones */
	pthread_mutex_lock(&self.lock);
	while (wait_a_moment()) {
		if (!self.session)
			continue;
		get_progress(&progress);
		pthread_mutex_unlock(&self.lock);
		e2pf_progress_print(&progress, text);
		e2pf_progress_save(text);
		print_line(&progress, &lines);
		written = true;
		pthread_mutex_lock(&self.lock);
	}
	pthread_mutex_unlock(&self.lock);
	if (written)
		e2pf_progress_remove(getpid());
	pthread_mutex_lock(&self.lock);
	self.running = false;
	pthread_cond_broadcast(&self.cond);
	pthread_mutex_unlock(&self.lock);
	return unused;
}

/* The thread that holds the lock may be the checker's own, ended by a signal; or
 * ours, for as long as the kernel does not let it run.  Who was waited for in
 * vain is not waited for again. */
static bool lock_in_time(void)
{
	self.late = !e2pf_lock_within(&self.lock, self.late ? 0 : PATIENCE_MS);
	return !self.late;
}

static void start_thread(void)
{
	pthread_t thread;

	self.first = self.began;
	self.running = !e2pf_thread_start(&thread, report_thread, NULL);
	if (self.running)
		pthread_detach(thread);
}

bool reporter_watch(struct e2pf_session *session)
{
	if (!self.program)
		return true;
	if (!lock_in_time())
		return false;
	self.session = session;
	self.began = clock_seconds(CLOCK_MONOTONIC);
	self.cpu_began = clock_seconds(self.cpu);
	memset(&self.past, 0, sizeof(self.past));
	if (session && !self.running && !self.ended)
		start_thread();
	pthread_mutex_unlock(&self.lock);
	return true;
}

void reporter_end(void)
{
	const struct timespec until = e2pf_deadline(PATIENCE_MS * UINT64_C(1000000));

	if (!self.program || !lock_in_time())
		return;
	self.session = NULL;
	self.ended = true;
	pthread_cond_broadcast(&self.cond);
	while (self.running &&
	       !pthread_cond_timedwait(&self.cond, &self.lock, &until))
		;
	pthread_mutex_unlock(&self.lock);
}
