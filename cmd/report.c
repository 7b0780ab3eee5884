/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* What is said of a filesystem: why it is not read, or how much was, and why not more. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "prefetch/statistics.h"

const char command_ended[] = "the command ended first";

void report(const struct options *o, const char *name, const char *text)
{
	fprintf(stderr, "e2prefetch: %s: %s\n", name, text);
	if (o->settings.log)
		pf_report_to_syslog(name, text);
}

/* The group of the device's node is of no help: who may not write to the device may not
 * see what of it is cached. */
static const char *hint(const char *device, errcode_t err)
{
	struct stat st;

	if (stat(device, &st) || !S_ISBLK(st.st_mode))
		return "";
	return err == EACCES ? ": run e2prefetch PATH as root first; then your command "
			       "finds it cached" :
	       err == EPERM ? ": the container or the unit's DevicePolicy= must allow "
			      "this device" : "";
}

int fail(const struct options *o, const char *device, errcode_t err)
{
	bool none = err == EXT2_ET_BAD_MAGIC || err == EXT2_ET_SHORT_READ;
	char text[256];

	snprintf(text, sizeof(text), "%s%s%s%s", none ?
		 "not an ext2/3/4 filesystem (" : "",
		 error_message(err), none ? ")" : "", hint(device, err));
	report(o, device, text);
	return EXIT_OPERATIONAL;
}

/* Why not everything was read that was not cached; or NULL. */
static const char *why_incomplete(const struct target *t,
				  const struct pf_engine_stats *st)
{
	return t->session->why_off ? t->session->why_off :
	       st->errors ? "reads failed" :
	       t->why_left ? t->why_left :
	       t->follow &&
	       ext4_directories_gave_up(ext4_session_of(t->session)->ext4) ?
	       "the command follows no known order of directories" :
	       st->gave_up ? "memory limit reached" :
	       t->seconds > 0 ? NULL : command_ended;
}

/* Write the same line as a check, but none if everything was cached, as is usual
 * in a timer. */
static void write_log(const struct target *t, const struct pf_engine_stats *st,
		      const char *why)
{
	char text[512];

	if (!st->prefetched_requests && !why)
		return;
	snprintf(text, sizeof(text), "read %.1f MiB ahead in %" PRIu64
		 " requests; %.1f s%s%s", (double)st->prefetched_bytes / (1u << 20),
		 st->prefetched_requests, t->seconds,
		 why ? "; incomplete: " : "", why ? why : "");
	pf_report_to_syslog(t->device, text);
}

/* Print how much was read, if that was asked for, or if somebody at a terminal may wonder
 * why it was less than there is. */
static void print_summary(const struct options *o, const struct target *t,
			  const struct pf_engine_stats *st, const char *why)
{
	bool wonders = why && why != command_ended &&
		       (!o->command || isatty(STDERR_FILENO));

	if (!o->verbose && !wonders)
		return;
	if (why && !st->prefetched_requests)
		fprintf(stderr, "e2prefetch: %s: nothing read ahead: %s\n",
			t->device, why);
	else if (!why && !st->planned_bytes)
		fprintf(stderr, "e2prefetch: %s: already cached\n",
			t->device);
	else
		fprintf(stderr, "e2prefetch: %s: %.1f MiB of metadata, "
			"%.1f MiB read in %" PRIu64 " requests, %"
			PRIu64 " errors%s%s\n", t->device,
			(double)st->planned_bytes / (1u << 20),
			(double)st->prefetched_bytes / (1u << 20),
			st->prefetched_requests, st->errors,
			why ? "; incomplete: " : "", why ? why : "");
}

int report_target(const struct options *o, const struct target *t, const char **no_stats)
{
	struct pf_report r = { .device = NULL };
	const char *why;

	pf_session_report(t->session, &r);
	why = why_incomplete(t, &r.engine);
	print_summary(o, t, &r.engine, why);
	if (o->verbose > 1)
		pf_report_print(&r, "e2prefetch", stderr);
	if (!why && !o->command && !t->mounted && t->number)
		fprintf(stderr, "e2prefetch: %s: the kernel drops cached blocks when the "
			"last program closes the device (-- COMMAND keeps it "
			"open)\n",
			t->device);
	if (o->settings.log)
		write_log(t, &r.engine, why);
	/* There is no check that could use them. */
	r.engine.wasted_bytes = 0;
	*no_stats = pf_statistics_save(o->settings.stats, &r);
	return why ? EXIT_INCOMPLETE : 0;
}
