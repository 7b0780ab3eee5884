/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2prefetch progress: prints, as a table or as JSON, how far the checks of this
 * machine are that prefetch.  Each check writes a file about itself.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "settings.h"
#include "options.h"
#include "json.h"
#include "report/progress_file.h"

/* No such check is running. */
#define EXIT_NONE 1

struct wanted {
	const char *which;		/* PID or device; NULL: all */
	struct json_object *found;	/* array */
};

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *value;
	const char *text = json_object_object_get_ex(o, key, &value) ?
			   json_object_get_string(value) : NULL;

	return text ? text : "";
}

static double number_of(struct json_object *o, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(o, key, &value) ?
	       json_object_get_double(value) : -1;
}

static bool is_device(const char *name, const char *other)
{
	struct stat a, b;

	if (!strcmp(name, other))
		return true;
	if (stat(name, &a) || stat(other, &b))
		return false;
	return S_ISBLK(a.st_mode) && S_ISBLK(b.st_mode) ?
	       a.st_rdev == b.st_rdev :
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void keep(void *ctx, const char *json)
{
	struct json_object *status = json_tokener_parse(json);
	struct wanted *w = ctx;

	if (status && (!w->which || !strcmp(w->which, text_of(status, "pid")) ||
	    is_device(w->which, text_of(status, "device"))))
		json_object_array_add(w->found, json_object_get(status));
	json_object_put(status);
}

/* A time in seconds, as "47 s", "1:05:59" */
static void print_time(char *text, size_t size, double seconds)
{
	unsigned long s = seconds > 0 ? (unsigned long)(seconds + 0.5) : 0;

	if (seconds < 0)
		snprintf(text, size, "?");
	else if (s < 60)
		snprintf(text, size, "%lu s", s);
	else if (s < 3600)
		snprintf(text, size, "%lu:%02lu", s / 60, s % 60);
	else
		snprintf(text, size, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60,
			 s % 60);
}

static void print_left(struct json_object *o, char *text, size_t size)
{
	char left[32], low[32], high[32];

	print_time(left, sizeof(left), number_of(o, "left_seconds"));
	print_time(low, sizeof(low), number_of(o, "left_low_seconds"));
	print_time(high, sizeof(high), number_of(o, "left_high_seconds"));
	if (number_of(o, "left_seconds") < 0)
		snprintf(text, size, "unknown");
	else
		snprintf(text, size, "%s (%s to %s)", left, low, high);
}

static void print_wait(struct json_object *o, char *text, size_t size)
{
	const char *wait = text_of(o, "waits_for"), *disk = text_of(o, "disk");

	if (number_of(o, "wait_seconds") >= 0)
		snprintf(text, size, "a read of %s at byte %s, for %.0f s",
			 *disk ? disk : "the disk", text_of(o, "wait_offset"),
			 number_of(o, "wait_seconds"));
	else
		snprintf(text, size, "%s%s%s", wait, *disk ? " " : "", disk);
}

static void print_row(struct json_object *o)
{
	char left[112], wait[192], place[64] = "", device[PATH_MAX];
	const double mib = 1 << 20;

	print_left(o, left, sizeof(left));
	print_wait(o, wait, sizeof(wait));
	if (number_of(o, "places") > 0)
		snprintf(place, sizeof(place), ", %s of %s %s",
			 text_of(o, "place"), text_of(o, "places"),
			 text_of(o, "unit"));
	e2pf_printable(device, sizeof(device), text_of(o, "device"));
	printf("%s  (%s, process %s)\n", device,
	       text_of(o, "program"), text_of(o, "pid"));
	printf("    place  %s%s\n", text_of(o, "stage"), place);
	printf("    read   %.0f of %.0f MiB ahead, %.0f MiB/s\n",
	       number_of(o, "read_bytes") / mib,
	       number_of(o, "planned_bytes") / mib,
	       number_of(o, "bytes_per_second") / mib);
	printf("    left   %s\n", left);
	printf("    waits  for %s\n", wait);
}

static int show(const struct wanted *w, bool json)
{
	size_t count = json_object_array_length(w->found), i;

	for (i = 0; i < count && !json; i++)
		print_row(json_object_array_get_idx(w->found, i));
	if (json)
		put_out(json_object_get(w->found), stdout);
	if (!count)
		fprintf(stderr, "e2prefetch: no check that prefetches has been "
			"running for a second%s%s\n", w->which ? ": " : "",
			w->which ? w->which : "");
	return count ? 0 : EXIT_NONE;
}

static int usage(FILE *out, int status)
{
	fprintf(out, "usage: e2prefetch progress [--json] [PID|DEVICE]\n");
	return status;
}

int progress_command(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	struct wanted w = { .which = NULL };
	bool json = false;
	int c, err;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'j')
			json = true;
		else
			return c == 'h' ? usage(stdout, 0) :
					  usage(stderr, EXIT_USAGE);
	}
	if (argc - optind > 1)
		return usage(stderr, EXIT_USAGE);
	w.which = argv[optind];
	if (geteuid()) {
		fprintf(stderr, "e2prefetch: only root may see how far checks "
			"are\n");
		return EXIT_OPERATIONAL;
	}
	w.found = json_object_new_array();
	err = e2pf_progress_each(keep, &w);
	if (err) {
		fprintf(stderr, "e2prefetch: cannot read the status of checks: "
			"%s\n", strerror(err));
		json_object_put(w.found);
		return EXIT_OPERATIONAL;
	}
	c = show(&w, json);
	json_object_put(w.found);
	return c;
}
