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
#include "device/thread.h"
#include "report/stats_file.h"
#include "report/words.h"

static void print_class(const char *name, const struct e2pf_class_count *c,
			uint64_t block_size)
{
	printf("%-12s %12" PRIu64 " %12" PRIu64 " %14" PRIu64 "\n", name,
	       c->bytes / block_size, c->runs, c->bytes / 1024);
}

static int show_plan(const struct options *o, struct e2pf_session *s,
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
	return err ? fail(o, err) : 0;
}

/* How much has been read, and how fast. */
static void print_progress(struct e2pf_session *s, double began)
{
	double passed = clock_seconds(CLOCK_MONOTONIC) - began, mib;
	struct e2pf_engine_stats st;
	char line[128];

	e2pf_session_count(s, &st);
	mib = (double)st.prefetched_bytes / (1u << 20);
	snprintf(line, sizeof(line), "e2prefetch: %.0f MiB read, %.1f MiB/s",
		 mib, passed > 0 ? mib / passed : 0);
	status_line_draw(line);
}

/* Wait until everything is read.  Print progress four times a second if standard
 * error is a terminal.  A read that is over sooner prints nothing. */
static void wait_with_progress(const struct options *o, struct e2pf_session *s)
{
	bool show = isatty(STDERR_FILENO) && !o->quiet, shown = false;
	double began = clock_seconds(CLOCK_MONOTONIC);

	while (!e2pf_engine_wait(s->engine, show ? 250 : -1)) {
		print_progress(s, began);
		shown = true;
	}
	if (shown)
		fputs(STATUS_LINE_CLEAR, stderr);
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

/* The kernel drops a block device's pages when its last opener closes it. */
static bool drops_at_close(const struct options *o)
{
	int mounted = 0;
	struct stat st;

	return !stat(o->device, &st) && S_ISBLK(st.st_mode) &&
	       !ext2fs_check_if_mounted(o->device, &mounted) && !mounted;
}

/* A server in user space may have a file's pages dropped whenever it is opened: is the
 * superblock's then still there? */
static bool drops_at_open(const struct options *o, struct e2pf_device *dev)
{
	enum e2pf_residency before, after;
	int fd;

	dev->ops->span(dev, 0, 1, &before);
	fd = before == E2PF_CACHED ?
	     open(o->device, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	dev->ops->span(dev, 0, 1, &after);
	close(fd);
	return after != E2PF_CACHED;
}

static void warn_if_dropped(const struct options *o, struct e2pf_device *dev)
{
	if (drops_at_open(o, dev))
		fprintf(stderr, "e2prefetch: %s: what was read does not stay: "
			"its filesystem drops the cache of a file that is opened "
			"(-- COMMAND reads beside it)\n", o->device);
	else if (!o->hold && drops_at_close(o))
		fprintf(stderr, "e2prefetch: %s: not in use: the kernel drops its "
			"cache when the last program closes it (--hold and "
			"-- COMMAND keep it open)\n", o->device);
}

static int report(const struct options *o, struct e2pf_session *s)
{
	struct e2pf_report r = { .device = NULL };
	bool complete = e2pf_session_is_complete(s) && !s->why_off;
	struct e2pf_engine_stats st;

	e2pf_session_count(s, &st);
	if (s->why_off)
		fprintf(stderr, "e2prefetch: %s: nothing is read ahead: %s\n",
			o->device, s->why_off);
	else if (o->verbose || !complete)
		fprintf(stderr, "e2prefetch: %s: %.1f MiB of metadata, "
			"%.1f MiB read in %" PRIu64 " requests, %"
			PRIu64 " errors%s\n", o->device,
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

static const char *save_stats(const struct options *o, struct e2pf_session *s)
{
	struct e2pf_report r = { .device = NULL };

	e2pf_session_report(s, &r);
	return e2pf_stats_save(o->stats, &r);
}

/* Prefetch everything and wait until it is done. */
static int prefetch(const struct options *o, struct e2pf_session *s)
{
	errcode_t err = e2pf_session_start(s);
	bool hold = o->hold && !s->why_off;
	int status, result;

	if (err)
		return fail(o, err);
	wait_with_progress(o, s);
	status = report(o, s);
	if (!status)
		warn_if_dropped(o, s->dev[0]);
	e2pf_engine_stop(s->engine, -1);
	result = stats_status(o, save_stats(o, s));
	if (hold && !o->quiet)
		fprintf(stderr, "e2prefetch: %s: held open until this ends\n",
			o->device);
	/* By the session, until a signal ends this program. */
	if (hold)
		for (;;)
			pause();
	return status ? status : result;
}

/* Prefetching while a command runs, in a thread of its own. */
struct beside {
	struct options *o;
	pthread_mutex_t running;	/* held until the command has ended */
	int status;
};

static void *read_beside(void *arg)
{
	struct beside *b = arg;
	struct e2pf_session *session = NULL;
	const char *why = "nothing was prefetched";
	errcode_t err = open_session(b->o, &session, NULL);

	if (!err)
		err = e2pf_session_start(session);
	if (err)
		fail(b->o, err);
	pthread_mutex_lock(&b->running);
	if (session) {
		if (!err && b->o->verbose)
			report(b->o, session);
		e2pf_engine_stop(session->engine, -1);
		why = save_stats(b->o, session);
		e2pf_close(session);
	}
	b->status = stats_status(b->o, b->o->stats ? why : NULL);
	return NULL;
}

/* How long to wait, after the command has ended, for a device that does not
 * answer. */
#define PATIENCE_MS 1000

/* A thread that still waits for the device ends with the process. */
static int end_beside(struct beside *b, pthread_t thread)
{
	pthread_mutex_unlock(&b->running);
	if (e2pf_thread_join(thread, PATIENCE_MS))
		return b->status;
	return stats_status(b->o, b->o->stats ? "the device does not respond" :
						NULL);
}

/*
 * Run the command and prefetch meanwhile.  The command is started first, so
 * that it runs whatever happens to the prefetch: the device may not answer.
 */
static int run_beside(struct options *o, bool ahead)
{
	struct beside b = { .o = o, .running = PTHREAD_MUTEX_INITIALIZER };
	pthread_t thread;
	int status, result = 0, waited;
	pid_t pid = start_command(o->command, &status);

	if (pid < 0)
		return status;
	pthread_mutex_lock(&b.running);
	ahead = ahead && !pthread_create(&thread, NULL, read_beside, &b);
	waited = wait_command(pid);
	if (ahead)
		result = end_beside(&b, thread);
	fflush(stdout);
	status = exit_as_command(waited);
	/* Not exit(): a thread may still use what exit handlers would free. */
	_exit(status ? status : result);
}

static int run(struct options *o)
{
	struct e2pf_session *session;
	unsigned block_size;
	bool configured;
	errcode_t err;
	int status;

	/* -n makes the plan in this thread and loads nothing, so no setting
	 * applies. */
	configured = o->plan || !configure_options(o);
	if (!configured && !o->command)
		return EXIT_USAGE;
	/* Check the file before the device is read or a command is run, which
	 * may write statistics of its own. */
	status = stats_status(o, e2pf_stats_check(o->stats));
	if (status)
		return status;
	unsetenv("PREFETCH_STATS");
	if (o->command)
		return run_beside(o, configured);
	err = open_session(o, &session, &block_size);
	if (err)
		return fail(o, err);
	status = o->plan ? show_plan(o, session, block_size) :
			   prefetch(o, session);
	e2pf_close(session);
	return status;
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
