/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides when the progress of a check is looked at and written.  Short checks are
 * not worth a file: the first is written after a second.
 */
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "lib/thread.h"
#include "prefetch/tasks.h"
#include "lib/lock.h"
#include "preload.h"
#include "prefetch/progress.h"

/* How often the thread looks at the check, and how long the checker waits for
 * the thread the first time. */
#define INTERVAL_NS 1000000000u
#define PATIENCE_MS 1000

static struct {
	const char *program;		/* NULL: nothing is reported */
	unsigned every;			/* seconds, for standard error; 0: never */
	clockid_t cpu;			/* of the checker's first thread */
	pthread_mutex_t lock;
	pthread_cond_t cond;		/* the check ends, or the thread does */
	struct pf_session *session;	/* NULL: nothing to look at */
	bool ended;
	bool running;			/* the thread */
	bool late;			/* the thread did not answer in time */
	double began;			/* time of the first walk, s */
	struct pf_progress_past past;
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* If the checker was started with a standard stream closed, a file that gets
 * its number would receive the checker's output. */
static bool streams_are_open(void)
{
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			return false;
	return true;
}

void preload_reporter_begin(const char *program, unsigned seconds)
{
	if ((geteuid() && !seconds) || !streams_are_open() ||
	    pthread_getcpuclockid(pthread_self(), &self.cpu))
		return;
	e2pf_cond_init(&self.cond);
	self.program = program;
	self.every = seconds;
}

/* The lock is held: the texts are the session's. */
static void describe_progress(char line[PF_PROGRESS_BYTES])
{
	struct pf_progress now = { .cpu = e2pf_clock_seconds(self.cpu) };

	pf_session_get_progress(self.session, &now);
	now.seconds = e2pf_clock_seconds(CLOCK_MONOTONIC) - self.began;
	pf_progress_say(&self.past, self.program, &now, line);
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

/* The reader of the line may have gone, but the thread has all signals blocked.
 * Several lines may be due at one moment. */
static void print_line(const char *line, unsigned *lines)
{
	double seconds = e2pf_clock_seconds(CLOCK_MONOTONIC) - self.began;

	if (!self.every || seconds < (double)self.every * (*lines + 1))
		return;
	*lines = (unsigned)seconds / self.every;
	dprintf(STDERR_FILENO, "%s\n", line);
}

/* With the lock held the thread only reads memory, because the checker may wait
 * for the lock. */
static void *report_thread(void *unused)
{
	char line[PF_PROGRESS_BYTES];
	bool written = false;
	unsigned lines = 0;

	pthread_mutex_lock(&self.lock);
	while (wait_a_moment()) {
		if (!self.session)
			continue;
		describe_progress(line);
		pthread_mutex_unlock(&self.lock);
		pf_progress_save(line);
		print_line(line, &lines);
		written = true;
		pthread_mutex_lock(&self.lock);
	}
	pthread_mutex_unlock(&self.lock);
	if (written)
		pf_progress_remove();
	pthread_mutex_lock(&self.lock);
	self.running = false;
	pthread_cond_broadcast(&self.cond);
	pthread_mutex_unlock(&self.lock);
	return unused;
}

/* The lock's holder may be the checker's own thread, interrupted by a signal for
 * good, or our thread, for as long as the kernel does not let it run.  After one
 * wait in vain the checker does not wait again. */
static bool lock_in_time(void)
{
	self.late = !e2pf_lock_within(&self.lock, self.late ? 0 : PATIENCE_MS);
	return !self.late;
}

static void start_thread(void)
{
	pthread_t thread;

	if (!pf_tasks_left("", 1))
		return;
	self.began = e2pf_clock_seconds(CLOCK_MONOTONIC);
	self.running = !e2pf_thread_start(&thread, report_thread, NULL);
	if (self.running)
		pthread_detach(thread);
}

bool preload_reporter_watch(struct pf_session *session)
{
	if (!self.program)
		return true;
	if (!lock_in_time())
		return false;
	self.session = session;
	self.past.stage = NULL;
	if (session && !session->why_off && !self.running && !self.ended)
		start_thread();
	pthread_mutex_unlock(&self.lock);
	return true;
}

unsigned preload_reporter_end(void)
{
	unsigned ended;
	const struct timespec until = e2pf_deadline(PATIENCE_MS * UINT64_C(1000000));

	if (!self.program || !lock_in_time())
		return 0;
	ended = self.running;
	self.session = NULL;
	self.ended = true;
	pthread_cond_broadcast(&self.cond);
	while (self.running &&
	       !pthread_cond_timedwait(&self.cond, &self.lock, &until))
		;
	ended -= self.running;
	pthread_mutex_unlock(&self.lock);
	return ended;
}
