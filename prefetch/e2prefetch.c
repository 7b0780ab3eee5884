/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * e2prefetch: load a filesystem's metadata into the page cache.
 *
 * lib/ does all of the reading; this file prints the messages.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "device/share.h"
#include "device/thread.h"
#include "lock.h"

/*
 * A thread reads one filesystem after the other: two partitions of a disk share its
 * head.  The sessions stay open until the end, and with them the devices.
 */
struct reading {
	struct options *o;
	struct targets targets;
	pthread_mutex_t lock;		/* protects the members below */
	pthread_cond_t changed;
	unsigned begun;			/* targets whose sessions may be counted */
	uint64_t left;			/* memory for the next one, bytes */
	bool over;			/* no more is wanted */
	bool done;
	int status;			/* the worst of all */
};

static void worst(int *status, int other)
{
	if (other > *status)
		*status = other;
}

/* Leave the next filesystem the memory that this one has not used. */
static void spend(struct reading *r, struct e2pf_session *s)
{
	const uint64_t least = 1u << 20;
	struct pf_engine_stats st;

	e2pf_session_count(s, &st);
	r->left = s->options.budget > st.prefetched_bytes + least ?
		  s->options.budget - st.prefetched_bytes : least;
}

/* A walk comes to inodes in the order of names.  If the tables do not fit into memory,
 * most blocks are evicted before the walk needs them: with a million files in a group of
 * 256 MiB, on the network volume, find took 1.09 to 1.21 of its time alone. */
static bool is_too_large(const struct target *t)
{
	const struct e2pf_ext4 *ext4 = e2pf_ext4_of(t->session)->ext4;

	return t->mounted && !ext4->options.below_count &&
	       ext4->options.classes & 1u << E2PF_INODES &&
	       e2pf_ext4_table_bytes(ext4) > t->session->options.budget;
}

static errcode_t start_target(struct reading *r, struct target *t)
{
	e2pf_session_limit(t->session, r->left);
	if (is_too_large(t))
		e2pf_session_turn_off(t->session, "the inode tables are larger "
				      "than the memory for them");
	return e2pf_session_start(t->session);
}

/* Tell how many are begun.  Returns whether no more is wanted. */
static bool is_over(struct reading *r, unsigned begun)
{
	bool over;

	pthread_mutex_lock(&r->lock);
	r->begun = begun;
	over = r->over;
	pthread_mutex_unlock(&r->lock);
	return over;
}

/* Returns false if no other one is wanted. */
static bool read_target(struct reading *r, unsigned i)
{
	struct target *t = &r->targets.item[i];
	double began = e2pf_clock_seconds(CLOCK_MONOTONIC);
	errcode_t err = open_session(r->o, t, &t->session);
	bool over, opened = !err;

	if (opened && is_over(r, i))
		e2pf_session_turn_off(t->session, "the command has ended");
	else if (opened)
		err = start_target(r, t);
	if (err)
		worst(&r->status, fail(t->device, err));
	over = is_over(r, i + 1);
	if (opened && !over && pf_engine_wait(t->session->engine, -1)) {
		spend(r, t->session);
		t->seconds = e2pf_clock_seconds(CLOCK_MONOTONIC) - began;
	}
	return !over;
}

static void *read_all(void *arg)
{
	struct reading *r = arg;
	unsigned i = 0;

	r->status = find_targets(r->o, &r->targets);
	while (i < r->targets.count && read_target(r, i))
		i++;
	pthread_mutex_lock(&r->lock);
	r->done = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

#define TICK_NS 250000000
#define CLEAR_LINE "\r\033[K"

/* Wait for a moment; returns true when all is read. */
static bool has_ended(struct reading *r, struct pf_engine_stats *sum)
{
	struct pf_engine_stats one;
	struct timespec until = e2pf_deadline(TICK_NS);
	unsigned i, begun;
	bool done;

	pthread_mutex_lock(&r->lock);
	while (!r->done &&
	       !pthread_cond_timedwait(&r->changed, &r->lock, &until))
		;
	done = r->done;
	begun = r->begun;
	pthread_mutex_unlock(&r->lock);
	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < begun && !done; i++)
		if (r->targets.item[i].session) {
			e2pf_session_count(r->targets.item[i].session, &one);
			e2pf_stats_add(sum, &one);
		}
	return done;
}

/* Print how much has been read, and how fast, on one line of the terminal. */
static void print_progress(const struct pf_engine_stats *st, double passed)
{
	double mib = (double)st->prefetched_bytes / (1u << 20);

	fprintf(stderr, CLEAR_LINE "e2prefetch: %.0f MiB read, %.1f MiB/s", mib,
		mib / passed);
}

/* The command begins when the device has not answered for this long. */
#define STALL_S 1.0

/* Of a job in the background nothing is shown, whether or not the terminal would stop
 * it. */
static bool is_seen(void)
{
	pid_t foreground = tcgetpgrp(STDERR_FILENO);

	return foreground < 0 || foreground == getpgrp();
}

/* Wait until everything is read.  Print progress four times a second if standard
 * error is a terminal, but not for a read that is over sooner.  A command begins
 * after a limited time, whatever is left, because it may need little of the rest. */
static void wait_with_progress(struct reading *r)
{
	bool show = isatty(STDERR_FILENO), shown = false;
	double began = e2pf_clock_seconds(CLOCK_MONOTONIC), now = began, moved = began;
	struct pf_engine_stats st;
	uint64_t before = 0;
	sigset_t stop, mask;

	/* It may go to the background before a line is written. */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &stop, &mask);
	while (!(r->o->command && (now - began >= (double)r->o->wait ||
				   now - moved >= STALL_S)) &&
	       !has_ended(r, &st)) {
		now = e2pf_clock_seconds(CLOCK_MONOTONIC);
		if (st.planned_bytes + st.prefetched_requests != before)
			moved = now;
		before = st.planned_bytes + st.prefetched_requests;
		if (!show || !is_seen())
			continue;
		shown = true;
		print_progress(&st, now - began);
	}
	if (shown && is_seen())
		fputs(CLEAR_LINE, stderr);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* Returns 0; or EXIT_OPERATIONAL, after a message that says why there are no
 * statistics. */
static int stats_status(const struct options *o, const char *why)
{
	if (!why)
		return 0;
	fprintf(stderr, "e2prefetch: cannot write statistics to \"%s\": %s\n",
		o->settings.stats, why);
	return EXIT_OPERATIONAL;
}

/* Write the same line as a check, but none if everything was cached, as is usual
 * in a timer. */
static void write_log(const struct target *t, const struct pf_engine_stats *st)
{
	char sentence[128];

	if (!st->prefetched_requests)
		return;
	snprintf(sentence, sizeof(sentence), "read %.1f MiB ahead in %" PRIu64
		 " requests; %.1f s%s", (double)st->prefetched_bytes / (1u << 20),
		 st->prefetched_requests, t->seconds,
		 t->seconds > 0 ? "" : ", not to its end");
	e2pf_system_log(t->device, sentence);
}

/* How long to wait, after the command has ended, for a device that does not
 * answer. */
#define PATIENCE_MS 1000

/* Say how much was read; *why: why there are no statistics.  Returns the status
 * without a command. */
static int finish_target(const struct reading *all, const struct target *t,
			 const char **why)
{
	const struct options *o = all->o;
	struct e2pf_report r = { .device = NULL };
	const struct pf_engine_stats *st = &r.engine;
	bool complete;

	e2pf_session_stop(t->session, all->over ? PATIENCE_MS : -1);
	e2pf_session_report(t->session, &r);
	complete = !st->errors && !st->gave_up && !t->session->why_off;
	if (t->session->why_off && !o->command)
		fprintf(stderr, "e2prefetch: %s: nothing is read ahead: %s\n",
			t->device, t->session->why_off);
	else if (o->verbose && complete && !st->planned_bytes)
		fprintf(stderr, "e2prefetch: %s: already in memory\n",
			t->device);
	else if (o->verbose || (!complete && !o->command))
		fprintf(stderr, "e2prefetch: %s: %.1f MiB of metadata, "
			"%.1f MiB read in %" PRIu64 " requests, %"
			PRIu64 " errors%s\n", t->device,
			(double)st->planned_bytes / (1u << 20),
			(double)st->prefetched_bytes / (1u << 20),
			st->prefetched_requests, st->errors,
			complete ? "" : ", incomplete");
	if (o->verbose > 1)
		e2pf_report_print(&r, "e2prefetch", stderr);
	if (complete && !o->command && !t->mounted && t->number)
		fprintf(stderr, "e2prefetch: %s: the kernel drops its cache when the "
			"last program closes it (-- COMMAND keeps it open)\n",
			t->device);
	if (o->settings.log)
		write_log(t, st);
	*why = e2pf_stats_save(o->settings.stats, &r);
	return complete ? 0 : EXIT_INCOMPLETE;
}

/* The thread has ended.  Returns the status without a command.  With several
 * filesystems, the statistics are the last one's. */
static int finish(struct reading *r)
{
	static const char none[] = "nothing was prefetched";
	const char *why = none;
	unsigned i;

	for (i = 0; i < r->begun; i++) {
		why = none;
		if (r->targets.item[i].session)
			worst(&r->status, finish_target(r, &r->targets.item[i],
							&why));
	}
	if (r->o->settings.stats)
		worst(&r->status, stats_status(r->o, why));
	for (i = 0; i < r->begun; i++)
		e2pf_session_free(r->targets.item[i].session);
	return r->status;
}

/* The command has ended.  A thread that still waits for the device ends with the
 * process. */
static int end_reading(struct reading *r, pthread_t thread)
{
	struct e2pf_session *s = NULL;

	pthread_mutex_lock(&r->lock);
	r->over = true;
	if (r->begun && !r->done)
		s = r->targets.item[r->begun - 1].session;
	pthread_mutex_unlock(&r->lock);
	if (s)
		pf_engine_stop(s->engine, PATIENCE_MS);
	if (e2pf_thread_join(thread, PATIENCE_MS)) {
		r->status = 0;
		finish(r);
		return r->status & EXIT_OPERATIONAL;
	}
	return stats_status(r->o, r->o->settings.stats ? "the device does not respond" :
						NULL);
}

/*
 * Run the command, which may begin before all is read, whatever happens to the
 * reading; exit as it does.
 */
static void run_command(struct reading *r, bool ahead, pthread_t thread)
{
	int status, result = 0, waited = 0;
	pid_t pid = start_command(r->o->command, &status);

	if (pid >= 0)
		waited = wait_command(pid);
	if (ahead)
		result = end_reading(r, thread);
	fflush(stdout);
	if (pid >= 0)
		status = exit_as_command(waited);
	/* exit() would run handlers that free memory which a thread may still
	 * use. */
	_exit(status ? status : result);
}

/* The one that opens the filesystems, and a worker. */
#define LEAST_THREADS 2u

static int run(struct options *o)
{
	struct reading r = {
		.o = o, .lock = PTHREAD_MUTEX_INITIALIZER, .left = UINT64_MAX
	};
	pthread_t thread = pthread_self();
	int err;

	if (o->command)
		ignore_output_signals();
	err = configure_options(o);
	if (err && !o->command)
		return err;
	/* A command may write statistics of its own. */
	unsetenv("PREFETCH_STATS");
	if (o->command && e2pf_threads_left("", LEAST_THREADS) < LEAST_THREADS)
		return become_command(o->command);
	/* A descriptor of a high number takes 7 ms once there are threads. */
	e2pf_share_join();
	e2pf_cond_init(&r.changed);
	if (!err)
		err = e2pf_thread_start(&thread, read_all, &r);
	if (!err)
		wait_with_progress(&r);
	if (o->command)
		run_command(&r, !err, thread);
	if (err)
		return fail(o->path[0], err);
	pthread_join(thread, NULL);
	return finish(&r);
}

int main(int argc, char **argv)
{
	struct options o;
	int status;

	initialize_ext2_error_table();
	status = run_named(argc, argv);
	if (status < 0)
		status = parse_options(argc, argv, &o);
	if (status < 0)
		status = run(&o);
	/* An error in writing the statistics has been reported already. */
	if ((fflush(stdout) || ferror(stdout)) && status != EXIT_OPERATIONAL) {
		fprintf(stderr, "e2prefetch: cannot write to standard output: "
			"%s\n", strerror(errno));
		status = status ? status : EXIT_OPERATIONAL;
	}
	return status;
}
