/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * e2prefetch: load a filesystem's metadata into the page cache.
 *
 * lib/ does all of the reading; this file prints the messages.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "device/share.h"
#include "device/thread.h"
#include "lock.h"
#include "report/words.h"

static void print_class(const char *name, const struct e2pf_class_count *c,
			uint64_t block_size)
{
	printf("%-12s %12" PRIu64 " %12" PRIu64 " %14" PRIu64 "\n", name,
	       c->bytes / block_size, c->runs, c->bytes / 1024);
}

static int show_plan(const char *device, struct e2pf_session *s,
		     unsigned block_size)
{
	struct e2pf_class_count plan[E2PF_CLASSES], all = { .bytes = 0 };
	errcode_t err = e2pf_plan(s, plan);
	unsigned i;

	printf("%-12s %12s %12s %14s\n", "class", "blocks", "runs", "KiB");
	for (i = 0; i < E2PF_CLASSES; i++) {
		print_class(e2pf_class_names[i], &plan[i], block_size);
		all.bytes += plan[i].bytes;
		all.runs += plan[i].runs;
	}
	print_class("all", &all, block_size);
	return err ? fail(device, err) : 0;
}

/* In this thread, and without any setting: nothing is loaded. */
static int show_plans(const struct options *o)
{
	struct targets targets = { .count = 0 };
	int status = find_targets(o, &targets), one;
	struct e2pf_session *session;
	unsigned block_size, i;
	const char *device;
	errcode_t err;

	for (i = 0; i < targets.count; i++) {
		device = targets.item[i].device;
		if (targets.count > 1)
			printf("%s:\n", device);
		err = open_session(o, &targets.item[i], &session, &block_size);
		one = err ? fail(device, err) :
			    show_plan(device, session, block_size);
		status = one ? one : status;
		if (!err)
			e2pf_session_free(session);
	}
	return status;
}

/*
 * A thread reads one filesystem after the other: two partitions of a disk share its
 * head.  The sessions stay open until the end, and with them the devices.
 */
struct reading {
	struct options *o;
	struct targets targets;
	pthread_mutex_t lock;		/* of what follows */
	pthread_cond_t changed;
	unsigned begun;			/* targets whose sessions may be counted */
	bool over;			/* no more is wanted */
	bool done;
	int status;			/* the worst of all */
};

static void worst(int *status, int other)
{
	if (other > *status)
		*status = other;
}

/* The next one may not use what this one has used. */
static void spend(struct options *o, struct e2pf_session *s)
{
	const uint64_t least = 1u << 20;
	struct e2pf_engine_stats st;
	uint64_t left;

	e2pf_session_count(s, &st);
	left = s->cfg.budget > st.prefetched_bytes ?
	       s->cfg.budget - st.prefetched_bytes : 0;
	o->settings.memory = left > least ? left : least;
}

/* Returns false if no other one is wanted. */
static bool read_target(struct reading *r, unsigned i)
{
	struct target *t = &r->targets.item[i];
	double began = clock_seconds(CLOCK_MONOTONIC);
	errcode_t err = open_session(r->o, t, &t->session, NULL);
	bool over, opened = !err;

	if (opened)
		err = e2pf_session_start(t->session);
	if (err)
		worst(&r->status, fail(t->device, err));
	pthread_mutex_lock(&r->lock);
	r->begun = i + 1;
	over = r->over;
	pthread_mutex_unlock(&r->lock);
	if (opened && !over && e2pf_engine_wait(t->session->engine, -1)) {
		spend(r->o, t->session);
		t->seconds = clock_seconds(CLOCK_MONOTONIC) - began;
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
static bool has_ended(struct reading *r, struct e2pf_engine_stats *sum)
{
	struct e2pf_engine_stats one;
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

/* How much has been read, and how fast: on one line of the terminal. */
static void print_progress(const struct e2pf_engine_stats *st, double passed)
{
	double mib = (double)st->prefetched_bytes / (1u << 20);

	fprintf(stderr, CLEAR_LINE "e2prefetch: %.0f MiB read, %.1f MiB/s", mib,
		mib / passed);
}

/* A device that does not answer for so long does not hold up the command. */
#define STALL_S 1.0

/* Wait until everything is read.  Print progress four times a second if standard
 * error is a terminal.  A read that is over sooner prints nothing.  A command begins
 * after a time, whatever is left: it may look at little of it. */
static void wait_with_progress(struct reading *r)
{
	bool show = isatty(STDERR_FILENO) && !r->o->quiet, shown = false;
	double began = clock_seconds(CLOCK_MONOTONIC), now = began, moved = began;
	struct e2pf_engine_stats st;
	uint64_t before = 0;

	while (!(r->o->command && (now - began >= (double)r->o->wait ||
				   now - moved >= STALL_S)) &&
	       !has_ended(r, &st)) {
		now = clock_seconds(CLOCK_MONOTONIC);
		if (st.planned_bytes + st.prefetched_requests != before)
			moved = now;
		before = st.planned_bytes + st.prefetched_requests;
		shown |= show;
		if (show)
			print_progress(&st, now - began);
	}
	if (shown)
		fputs(CLEAR_LINE, stderr);
}

/* Returns 0; or EXIT_OPERATIONAL, after a message that says why there are no
 * statistics. */
static int stats_status(const struct options *o, const char *why)
{
	if (!why)
		return 0;
	fprintf(stderr, "e2prefetch: cannot write statistics to \"%s\": %s\n",
		o->stats, why);
	return EXIT_OPERATIONAL;
}

/* A server in user space may have a file's pages dropped whenever it is opened: is the
 * superblock's then still there? */
static bool drops_at_open(const struct target *t)
{
	struct e2pf_device *dev = t->session->dev[0];
	enum e2pf_residency before, after;
	int fd;

	dev->ops->span(dev, 0, 1, &before);
	fd = before == E2PF_CACHED ?
	     open(t->device, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	dev->ops->span(dev, 0, 1, &after);
	close(fd);
	return after != E2PF_CACHED;
}

/* The kernel drops a block device's pages when its last opener closes it. */
static void warn_if_dropped(const struct options *o, const struct target *t)
{
	if (drops_at_open(t))
		fprintf(stderr, "e2prefetch: %s: what was read does not stay: "
			"its filesystem drops the cache of a file that is opened "
			"(-- COMMAND reads beside it)\n", t->device);
	else if (!o->hold && !t->mounted && t->number)
		fprintf(stderr, "e2prefetch: %s: not in use: the kernel drops its "
			"cache when the last program closes it (--hold and "
			"-- COMMAND keep it open)\n", t->device);
}

static int report(const struct options *o, const struct target *t)
{
	struct e2pf_session *s = t->session;
	struct e2pf_report r = { .device = NULL };
	bool complete = e2pf_session_is_complete(s) && !s->why_off;
	struct e2pf_engine_stats st;

	e2pf_session_count(s, &st);
	if (s->why_off && !o->command)
		fprintf(stderr, "e2prefetch: %s: nothing is read ahead: %s\n",
			t->device, s->why_off);
	else if (o->verbose && complete && !st.planned_bytes)
		fprintf(stderr, "e2prefetch: %s: is in memory already\n",
			t->device);
	else if (o->verbose || (!complete && !o->command))
		fprintf(stderr, "e2prefetch: %s: %.1f MiB of metadata, "
			"%.1f MiB read in %" PRIu64 " requests, %"
			PRIu64 " errors%s\n", t->device,
			(double)st.planned_bytes / (1u << 20),
			(double)st.prefetched_bytes / (1u << 20),
			st.prefetched_requests, st.errors,
			complete ? "" : ", incomplete");
	if (o->verbose > 1) {
		e2pf_session_report(s, &r);
		e2pf_report_print(&r, "e2prefetch", stderr);
	}
	return complete ? 0 : EXIT_INCOMPLETE;
}

/* As a check does; nothing where all was cached, as in a timer it mostly is. */
static void write_log(const struct options *o, const struct target *t)
{
	struct e2pf_engine_stats st;
	char sentence[128];

	e2pf_session_count(t->session, &st);
	if (!o->log || !st.prefetched_requests)
		return;
	snprintf(sentence, sizeof(sentence), "read %.1f MiB ahead in %" PRIu64
		 " requests; %.1f s%s", (double)st.prefetched_bytes / (1u << 20),
		 st.prefetched_requests, t->seconds,
		 t->seconds > 0 ? "" : ", not to its end");
	e2pf_system_log(t->device, sentence);
}

/* With several filesystems, the statistics are the last one's. */
static const char *save_stats(const struct options *o, const struct target *t)
{
	struct e2pf_report r = { .device = NULL };

	if (!t->session)
		return "nothing was prefetched";
	e2pf_session_report(t->session, &r);
	return e2pf_stats_save(o->stats, &r);
}

/* When the thread has ended: returns the status without a command. */
static int finish(struct reading *r)
{
	const char *why = "nothing was prefetched";
	struct options *o = r->o;
	bool held = false;
	unsigned i;

	for (i = 0; i < r->begun; i++) {
		struct target *t = &r->targets.item[i];

		if (t->session) {
			worst(&r->status, report(o, t));
			if (!r->status && !o->command)
				warn_if_dropped(o, t);
			e2pf_engine_stop(t->session->engine, -1);
			write_log(o, t);
		}
		why = save_stats(o, t);
	}
	if (o->stats)
		worst(&r->status, stats_status(o, why));
	for (i = 0; i < r->begun && o->hold; i++) {
		struct target *t = &r->targets.item[i];

		if (!t->session || t->session->why_off)
			continue;
		held = true;
		if (!o->quiet)
			fprintf(stderr, "e2prefetch: %s: held open until this "
				"ends\n", t->device);
	}
	/* Until a signal ends this program. */
	if (held)
		for (;;)
			pause();
	for (i = 0; i < r->begun; i++)
		e2pf_session_free(r->targets.item[i].session);
	return r->status;
}

static int prefetch(struct options *o)
{
	struct reading r = {
		.o = o, .lock = PTHREAD_MUTEX_INITIALIZER
	};
	pthread_t thread;
	int err;

	e2pf_cond_init(&r.changed);
	err = e2pf_thread_start(&thread, read_all, &r);
	if (err)
		return fail(o->path[0], err);
	wait_with_progress(&r);
	pthread_join(thread, NULL);
	return finish(&r);
}

/* How long to wait, after the command has ended, for a device that does not
 * answer. */
#define PATIENCE_MS 1000

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
		e2pf_engine_stop(s->engine, PATIENCE_MS);
	if (e2pf_thread_join(thread, PATIENCE_MS)) {
		r->status = 0;
		finish(r);
		return r->status & EXIT_OPERATIONAL;
	}
	return stats_status(r->o, r->o->stats ? "the device does not respond" :
						NULL);
}

/*
 * Prefetch, then run the command, which may begin before all is read.  It runs whatever
 * happens to the prefetch.
 */
static int run_after(struct options *o, bool ahead)
{
	struct reading r = {
		.o = o, .lock = PTHREAD_MUTEX_INITIALIZER
	};
	int status, result = 0, waited = 0;
	pthread_t thread;
	pid_t pid;

	e2pf_cond_init(&r.changed);
	ahead = ahead && !e2pf_thread_start(&thread, read_all, &r);
	if (ahead)
		wait_with_progress(&r);
	pid = start_command(o->command, &status);
	if (pid >= 0)
		waited = wait_command(pid);
	if (ahead)
		result = end_reading(&r, thread);
	fflush(stdout);
	if (pid >= 0)
		status = exit_as_command(waited);
	/* exit() would run handlers that free memory which a thread may still
	 * use. */
	_exit(status ? status : result);
}

static int run(struct options *o)
{
	bool configured;

	configured = o->plan || !configure_options(o);
	if (!configured && !o->command)
		return EXIT_USAGE;
	/* A command may write statistics of its own. */
	unsetenv("PREFETCH_STATS");
	if (o->plan)
		return show_plans(o);
	/* A descriptor of a high number takes 7 ms once there are threads. */
	e2pf_share_join();
	return o->command ? run_after(o, configured) : prefetch(o);
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct options o;
	int status;

	initialize_ext2_error_table();
	command = argc > 1 ? find_command(argv[1]) : NULL;
	if (command) {
		status = command->run(argc - 1, argv + 1);
	} else {
		status = parse_options(argc, argv, &o);
		if (status < 0)
			status = run(&o);
	}
	/* An error in writing the statistics has been reported already. */
	if ((fflush(stdout) || ferror(stdout)) && status != EXIT_OPERATIONAL) {
		fprintf(stderr, "e2prefetch: cannot write to standard output: "
			"%s\n", strerror(errno));
		status = status ? status : EXIT_OPERATIONAL;
	}
	return status;
}
