/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2prefetch probe: what a device is, what a check of it would read, and how
 * long that is likely to take.  The library finds it out; here are the words.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "filesystem.h"

static struct json_object *get(struct json_object *o, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(o, key, &value);
	return value;
}

static const char *text(struct json_object *o, const char *key)
{
	return json_object_get_string(get(o, key));
}

static int64_t number(struct json_object *o, const char *key)
{
	return json_object_get_int64(get(o, key));
}

static double real(struct json_object *o, const char *key)
{
	return json_object_get_double(get(o, key));
}

static bool is_true(struct json_object *o, const char *key)
{
	return json_object_get_boolean(get(o, key));
}

static void print_stack(struct json_object *report)
{
	struct json_object *list = get(report, "stack"), *o;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		printf("%s%*s%s", i ? "        " : "device  ",
		       (int)number(o, "level") * 2, "", text(o, "name"));
		if (*text(o, "kind"))
			printf(" (%s)", text(o, "kind"));
		printf(", %.1f GiB, says it %s", (double)number(o, "bytes") /
		       (1u << 30), is_true(o, "rotational") ? "rotates" :
		       "does not rotate");
		if (number(o, "queue_depth"))
			printf(", queue of %" PRId64, number(o, "queue_depth"));
		printf("\n");
	}
	if (!json_object_array_length(list))
		printf("device  %s: no block device is known below it\n",
		       text(report, "device"));
	if (is_true(report, "virtual"))
		printf("        virtual: what it says of itself means "
		       "little\n");
}

static void print_measured(struct json_object *report)
{
	struct json_object *m = get(report, "measured");

	if (!is_true(m, "measured"))
		printf("measured  nothing: what was looked at is in memory, or "
		       "too little, or\n          not to be seen by this user; "
		       "the times below are what is computed\n");
	else
		printf("measured  %.3f ms for a small read by itself, %.3f ms "
		       "for each of eight at once,\n"
		       "          %.0f MB/s in a row\n",
		       real(m, "latency_seconds") * 1e3,
		       real(m, "deep_latency_seconds") * 1e3,
		       (double)number(m, "bytes_per_second") / 1e6);
}

static void print_metadata(struct json_object *report)
{
	struct json_object *m = get(report, "metadata");
	uint64_t blocks = 0, runs = 0;
	unsigned i;

	for (i = 0; i < E2PF_CLASSES; i++) {
		struct json_object *o = get(m, e2pf_class_name(i));

		blocks += (uint64_t)number(o, "blocks");
		runs += (uint64_t)number(o, "runs");
	}
	printf("metadata  %.1f MiB in %" PRIu64 " places, %" PRId64
	       " inodes to look at\n", (double)blocks *
	       (double)number(report, "block_size") / (1u << 20), runs,
	       number(m, "inodes_in_use"));
	for (i = 0; i < E2PF_CLASSES; i++) {
		struct json_object *o = get(m, e2pf_class_name(i));

		if (number(o, "blocks"))
			printf("          %-12s %10" PRId64 " blocks in %"
			       PRId64 " places\n", e2pf_class_name(i),
			       number(o, "blocks"), number(o, "runs"));
	}
	if (number(m, "groups_looked_at") < number(m, "groups"))
		printf("          by %" PRId64 " of %" PRId64 " groups\n",
		       number(m, "groups_looked_at"), number(m, "groups"));
}

static void print_decisions(struct json_object *report)
{
	struct json_object *list = get(report, "decisions"), *o;
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		printf("%s%s: %s (%s)\n", i ? "          " : "a check   ",
		       text(o, "about"), text(o, "decision"),
		       text(o, "reason"));
	}
}

/* "14 s", "3.7 s", "25 min": as precise as it can be. */
static const char *in_words(double seconds, char *text, size_t size)
{
	if (seconds < 9.95)
		snprintf(text, size, "%.2g s", seconds);
	else if (seconds < 120)
		snprintf(text, size, "%.0f s", seconds);
	else if (seconds < 7200)
		snprintf(text, size, "%.0f min", seconds / 60);
	else
		snprintf(text, size, "%.1f h", seconds / 3600);
	return text;
}

static void print_time(struct json_object *report, const char *key,
		       const char *label)
{
	struct json_object *o = get(report, key);
	char expected[32], low[32], high[32];

	if (real(o, "high_seconds") < 0.01)
		printf("%s less than 0.01 s\n", label);
	else
		printf("%s about %s (%s to %s)\n", label,
		       in_words(real(o, "expected_seconds"), expected,
				sizeof(expected)),
		       in_words(real(o, "low_seconds"), low, sizeof(low)),
		       in_words(real(o, "high_seconds"), high, sizeof(high)));
}

static void print_report(struct json_object *report)
{
	print_stack(report);
	print_measured(report);
	print_metadata(report);
	print_decisions(report);
	print_time(report, "stock", "stock    ");
	print_time(report, "prefetch", "prefetch ");
}

static int probe(const struct options *o, struct e2pf_session *s)
{
	struct json_object *report;
	char *buffer = NULL;
	size_t size = 0;
	errcode_t err;
	FILE *f;

	f = o->json ? stdout : open_memstream(&buffer, &size);
	if (!f)
		return fail(o, EXT2_ET_NO_MEMORY);
	err = e2pf_write_probe(s, f);
	if (!o->json && fclose(f) && !err)
		err = EXT2_ET_NO_MEMORY;
	if (!o->json && !err) {
		report = json_tokener_parse(buffer);
		if (report)
			print_report(report);
		json_object_put(report);
	}
	free(buffer);
	return err ? fail(o, err) : 0;
}

int probe_command(int argc, char **argv)
{
	struct e2pf_session *session;
	struct options o;
	ext2_filsys fs;
	errcode_t err;
	int status;

	status = parse_options(argc, argv, &o);
	if (status >= 0)
		return status;
	if (o.plan || o.command || o.stats) {
		fprintf(stderr, "e2prefetch: probe takes a device, and no "
			"-n, --stats or command (--help tells more)\n");
		return EXIT_USAGE;
	}
	status = configure_options(&o);
	if (status)
		return status;
	err = open_filesystem(&o, &fs);
	if (err)
		return fail(&o, err);
	err = e2pf_open(fs, o.device, o.offset, &o.settings, &session);
	ext2fs_free(fs);
	if (err)
		return fail(&o, err);
	status = probe(&o, session);
	e2pf_close(session);
	return status;
}
