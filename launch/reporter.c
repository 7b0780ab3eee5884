/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows how far the check is.
 *
 * SIGUSR1 prints a line only if PREFETCH_PROGRESS is set.  e2fsck has a handler
 * for it (it turns the completion bar on), which is called as well; btrfs has
 * none, and without the setting the signal ends it as ever.
 *
 * Short checks are not worth a file: the first is written after a second.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device/thread.h"
#include "report/progress_file.h"
#include "report/status_line.h"
#include "reporter.h"

/* How often the status is written, and how often the check is looked at and a
 * request for a line looked for. */
#define STATUS_SECONDS 1.0
#define LOOK_MS 250

/* How long the end of the check waits for the thread. */
#define PATIENCE_S 1

/* The checker computes or waits if it does so for this part of the time. */
#define MOSTLY 0.5

static struct {
	bool begun;
	const char *program;
	bool lines;			/* print lines */
	bool files;			/* write files */
	clockid_t cpu;			/* of the checker's first thread */
	pthread_mutex_t lock;
	pthread_cond_t cond;		/* the end, or the thread's */
	struct e2pf_session *session;	/* NULL: nothing to look at */
	bool ended;
	bool running;			/* the thread */
	double first;			/* when the first walk began, s */
	double began, cpu_began;	/* and this one */
	struct e2pf_progress_past past;	/* of this one */
	double read_bytes, read_when;	/* when last looked at */
	/* The thread's own. */
	struct e2pf_progress now;
	double written;			/* the file; 0: never */
	atomic_bool shown;		/* a line is on the terminal */
} self = { .lock = PTHREAD_MUTEX_INITIALIZER };

static volatile sig_atomic_t asked;	/* for a line */
static struct sigaction before;		/* the checker's */

static void ask(int sig, siginfo_t *info, void *context)
{
	asked = 1;
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(sig, info, context);
	else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(sig);
}

/* The checker may have set a handler of its own since. */
static void take_signal(void)
{
	struct sigaction now, ours = { .sa_flags = SA_SIGINFO | SA_RESTART };

	if (sigaction(SIGUSR1, NULL, &now) || now.sa_sigaction == ask)
		return;
	before = now;
	ours.sa_sigaction = ask;
	ours.sa_mask = now.sa_mask;
	sigaction(SIGUSR1, &ours, NULL);
}

static double seconds_of(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

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

void reporter_begin(const char *program, const struct environment *env)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&self.cond, &attr);
	pthread_condattr_destroy(&attr);
	self.program = program;
	self.lines = env->progress;
	self.files = !geteuid() && streams_are_open();
	self.begun = !pthread_getcpuclockid(pthread_self(), &self.cpu);
	if (self.lines)
		take_signal();
}

/* What the checker did since the last look. */
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
		p->disk[0] = '\0';
}

/* The lock is held. */
static void look(void)
{
	struct e2pf_progress_facts facts = { .seconds = 0 };
	struct e2pf_progress *p = &self.now;

	*p = (struct e2pf_progress) { .program = self.program };
	facts.cpu = seconds_of(self.cpu) - self.cpu_began;
	e2pf_session_look(self.session, p, &facts);
	facts.seconds = seconds_of(CLOCK_MONOTONIC) - self.began;
	p->seconds = facts.seconds + self.began - self.first;
	find_wait(p, &facts, &self.past);
	p->bytes_per_second = ((double)p->read_bytes - self.read_bytes) /
			      (p->seconds - self.read_when);
	self.read_bytes = (double)p->read_bytes;
	self.read_when = p->seconds;
	e2pf_progress_estimate(&self.past, &facts, &p->left);
}

static void print_line(bool terminal)
{
	char text[512], shown[512], line[560], out[600];
	int size;

	e2pf_progress_line(&self.now, text, sizeof(text));
	environment_print(shown, sizeof(shown), text);
	snprintf(line, sizeof(line), "%s: %s", self.program, shown);
	size = terminal ?
	       status_line_draw(STDERR_FILENO, line, out, sizeof(out)) :
	       snprintf(out, sizeof(out), "%s\n", line);
	atomic_store(&self.shown, terminal);
	if (write(STDERR_FILENO, out, (size_t)size) < 0)
		return;
}

/* A terminal that is stopped, or on which our thread waits, is left as it is. */
static bool takes_output(void)
{
	struct pollfd terminal = { .fd = STDERR_FILENO, .events = POLLOUT };

	return poll(&terminal, 1, 0) > 0 && (terminal.revents & POLLOUT);
}

static void clear_line(void)
{
	static const char clear[] = STATUS_LINE_CLEAR;

	if (write(STDERR_FILENO, clear, sizeof(clear) - 1) < 0)
		return;
}

void reporter_clear(void)
{
	int err = errno;

	if (atomic_exchange(&self.shown, false) && takes_output())
		clear_line();
	errno = err;
}

/* Wait; false if the check has ended.  The lock is held. */
static bool wait_a_moment(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LOOK_MS * 1000000l;
	until.tv_sec += until.tv_nsec / 1000000000l;
	until.tv_nsec %= 1000000000l;
	while (!self.ended &&
	       pthread_cond_timedwait(&self.cond, &self.lock, &until) == 0)
		;
	return !self.ended;
}

/* Neither the file nor the terminal is written with the lock held. */
static void report(bool terminal)
{
	bool wanted = asked;

	asked = 0;
	look();
	pthread_mutex_unlock(&self.lock);
	if (wanted)
		print_line(false);
	if (self.now.seconds - self.written >= STATUS_SECONDS) {
		self.written = self.now.seconds;
		if (self.files)
			e2pf_progress_save(&self.now);
	}
	/* Often, for the checker may have printed on it. */
	if (terminal && self.written > 0)
		print_line(true);
	pthread_mutex_lock(&self.lock);
}

static void *report_thread(void *unused)
{
	bool terminal = self.lines && isatty(STDERR_FILENO), first = true;

	pthread_mutex_lock(&self.lock);
	while (wait_a_moment()) {
		if (first && self.files)
			e2pf_progress_each(NULL, NULL);
		first = false;
		if (self.session)
			report(terminal);
	}
	if (self.written > 0) {
		pthread_mutex_unlock(&self.lock);
		e2pf_progress_remove(getpid());
		pthread_mutex_lock(&self.lock);
	}
	self.running = false;
	pthread_cond_broadcast(&self.cond);
	pthread_mutex_unlock(&self.lock);
	return unused;
}

/* The thread that holds the lock may be the checker's own, ended by a
 * signal. */
static bool lock_within(int seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	return !pthread_mutex_timedlock(&self.lock, &until);
}

static void begin_walk(void)
{
	self.began = seconds_of(CLOCK_MONOTONIC);
	self.cpu_began = seconds_of(self.cpu);
	self.read_bytes = 0;
	memset(&self.past, 0, sizeof(self.past));
}

static void start_thread(void)
{
	pthread_t thread;

	self.first = self.began;
	self.running = !e2pf_thread_start(&thread, report_thread, NULL);
	if (self.running)
		pthread_detach(thread);
}

void reporter_watch(struct e2pf_session *session)
{
	if (!self.begun || (!self.files && !self.lines) ||
	    !lock_within(PATIENCE_S))
		return;
	self.session = session;
	if (session) {
		begin_walk();
		if (self.lines)
			take_signal();
	}
	if (session && !self.running && !self.ended)
		start_thread();
	pthread_mutex_unlock(&self.lock);
}

void reporter_end(void)
{
	struct timespec until;

	if (!self.begun || !lock_within(PATIENCE_S))
		return;
	self.session = NULL;
	self.ended = true;
	pthread_cond_broadcast(&self.cond);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	while (self.running &&
	       !pthread_cond_timedwait(&self.cond, &self.lock, &until))
		;
	pthread_mutex_unlock(&self.lock);
	reporter_clear();
}
