/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides what a preload library prints at the end, at which level, what goes to the
 * system log, and what the program's children inherit.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/sysfile.h"
#include "lib/thread.h"
#include "prefetch/statistics.h"
#include "interpose.h"
#include "preload.h"
#include "status.h"
#include "lib/lock.h"

struct preload preload;

/*
 * The beginning.
 */

void preload_read_arguments(void)
{
	static char text[8192];
	int n = e2pf_read_bytes("/proc/self", "cmdline", text, sizeof(text));
	int at;

	/* An argument that was cut off is left out. */
	preload.more_arguments = n == sizeof(text) - 1;
	for (at = 0; at < n && preload.argc < PRELOAD_ARGUMENTS - 1; ) {
		if (!memchr(text + at, '\0', (size_t)(n - at)))
			break;
		preload.argv[preload.argc++] = text + at;
		at += (int)strlen(text + at) + 1;
	}
	preload.more_arguments |= at < n;
}

/* The wrapper has put files of this directory in front of the user's LD_PRELOAD. */
static void restore_preload(void)
{
	const char *list = getenv("LD_PRELOAD"), *slash = NULL, *at = list;
	Dl_info info;

	unsetenv("PREFETCH_LAUNCHED");
	if (list && dladdr(&preload, &info) && info.dli_fname)
		slash = strrchr(info.dli_fname, '/');
	while (slash && at && !strncmp(at, info.dli_fname,
				       (size_t)(slash - info.dli_fname) + 1)) {
		at = strchr(at, ':');
		at += at ? 1 : 0;
	}
	if (slash && !at)
		unsetenv("LD_PRELOAD");
	else if (at != list)
		setenv("LD_PRELOAD", at, 1);
}

/* A closed pipe or a limit on file sizes must neither end a program nor change its
 * exit status, and a terminal must not stop it (stty tostop). */
static const int signals[] = { SIGPIPE, SIGXFSZ, SIGTTOU };
#define SIGNALS (sizeof(signals) / sizeof(*signals))

static void ignore_signals(struct sigaction before[SIGNALS])
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	size_t i;

	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &ignore, &before[i]);
}

static void restore_signals(const struct sigaction before[SIGNALS])
{
	size_t i;

	for (i = 0; i < SIGNALS; i++)
		sigaction(signals[i], &before[i], NULL);
}

void preload_begin(const char *name)
{
	struct sigaction before[SIGNALS];
	char error[1024];

	preload.name = name;
	preload.pid = getpid();
	e2pf_thread_create = (__typeof__(e2pf_thread_create))
			     preload_real_function("pthread_create");
	preload.began = e2pf_clock_seconds(CLOCK_MONOTONIC);
	restore_preload();
	pf_settings_read(&preload.settings, error, sizeof(error));
	ignore_signals(before);
	if (*error)
		fprintf(stderr, "%s: %s\n", name, error);
	restore_signals(before);
	preload.on = preload.settings.prefetch;
}

void preload_answer(bool follows)
{
	enum selftest outcome = SELFTEST_NONE;
	const char *why = NULL;

	if (!preload_status_is_asked(preload.argc, preload.argv))
		return;
	if (!preload.on)
		_exit(STATUS_OFF);
	if (!follows)
		why = "the preload library does not support this program";
	else if (!preload_selftest_may_read(&outcome))
		why = "a required system call is blocked";
	if (why)
		fprintf(stderr, "%s: %s\n", preload.name, why);
	_exit(why ? STATUS_CANNOT : STATUS_PREFETCHES);
}

/*
 * The end.
 */

/* "checked in 2.7 s, waited 0.3 s for the disk; 12 MiB read ahead in 40 requests" */
static void describe(const struct preload_result *r, double seconds, char *text,
		     size_t size)
{
	const struct pf_notes *notes = &preload.report.notes;
	const struct pf_engine_stats *st = &preload.report.engine;
	char took[32], wait[32], disk[64] = "";

	pf_report_format_seconds(seconds, took, sizeof(took));
	/* The waits of a program that no engine follows are not known. */
	if (r->session->options.has_checker && preload.report.order)
		snprintf(disk, sizeof(disk), ", waited %s for the disk",
			 pf_report_format_seconds((double)st->stall_ns / 1e9,
						  wait, sizeof(wait)));
	if (notes->off)
		snprintf(text, size, "%s in %s, nothing read ahead: %s",
			 r->done, took, notes->why_off);
	else
		snprintf(text, size, "%s in %s%s; %.1f MiB read ahead in %llu "
			 "requests", r->done, took, disk,
			 (double)st->prefetched_bytes / (1 << 20),
			 (unsigned long long)st->prefetched_requests);
	size -= strlen(text);
	if (st->slow_or_failed)
		snprintf(text + strlen(text), size,
			 "; device slow or failing at byte %llu",
			 (unsigned long long)st->degraded_at);
}

/* A user who waited LONG_S seconds for a check at a terminal is told whether it
 * prefetched, unless PREFETCH_VERBOSE is set. */
#define LONG_S 5

static void report_end(const struct preload_result *r)
{
	double seconds = e2pf_clock_seconds(CLOCK_MONOTONIC) - preload.began;
	bool told = preload.settings.verbose >= 0 || seconds < LONG_S ||
		    !isatty(STDERR_FILENO);
	int verbose = told ? preload.settings.verbose : 1;
	char sentence[512], path[257];
	const char *why = NULL;

	if (r->session)
		pf_session_report(r->session, &preload.report);
	if (r->counted)
		why = pf_statistics_save(preload.settings.stats,
					 &preload.report);
	if (why) {
		pf_settings_copy_printable(path, sizeof(path),
					   preload.settings.stats);
		fprintf(stderr, "%s: cannot write statistics to \"%s\": %s\n",
			preload.name, path, why);
	}
	if (r->finished && r->session) {
		describe(r, seconds, sentence, sizeof(sentence));
		if (r->logged && preload.settings.log)
			pf_report_to_syslog(preload.report.device, sentence);
		if (verbose > 0)
			fprintf(stderr, "%s: %s\n", preload.name, sentence);
	}
	if (preload.settings.verbose <= (r->finished ? 1 : 0))
		return;
	pf_report_print(&preload.report, preload.name, stderr);
}

void preload_report_result(const struct preload_result *r)
{
	struct sigaction before[SIGNALS];

	ignore_signals(before);
	report_end(r);
	fflush(stderr);
	restore_signals(before);
}
