/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2prefetch probe: prints, as text or JSON, what a device is, what a check of
 * it would read, and how long that would take.  The library finds it out.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "filesystem.h"
#include "report/json.h"
#include "report/words.h"

/* Version of the JSON, doc/statistics.md. */
#define PROBE_SCHEMA 3

/* Below so many seconds there is nothing to gain. */
#define SHORT 0.1

/*
 * Output as text.
 */

static void print_disks(const struct e2pf_probe *p, const char *device)
{
	unsigned i;

	for (i = 0; i < p->disk_count; i++)
		printf("%s%s, declared %s%s\n", i ? "          " :
		       "disk      ", p->disks[i].name,
		       p->disks[i].rotational ? "rotational" : "not rotational",
		       p->disks[i].one_request ? ", one request at a time" :
		       "");
	if (!p->disk_count)
		printf("disk      %s: none found below it\n", device);
	if (p->virtual_disk)
		printf("          virtual: what it declares may be wrong\n");
}

static void print_measured(const struct e2pf_probe *p)
{
	char alone[32], deep[32];

	if (!p->measured)
		printf("measured  nothing: %s\n", p->unmeasured);
	else
		printf("measured  %s for a small read, %s each with eight in "
		       "flight,\n"
		       "          %.0f MB/s sequential (at 11 places, %u of "
		       "them of metadata)\n",
		       in_milliseconds(p->latency, alone, sizeof(alone)),
		       in_milliseconds(p->deep_latency, deep, sizeof(deep)),
		       (double)p->bytes_per_second / 1e6, p->metadata_places);
}

static const char *runs_in_words(uint64_t runs)
{
	return runs == 1 ? "run" : "runs";
}

static void print_metadata(const struct e2pf_probe *p)
{
	uint64_t blocks = 0, runs = 0;
	unsigned i;

	for (i = 0; i < p->plan_count; i++) {
		blocks += p->plan[i].blocks;
		runs += p->plan[i].runs;
	}
	printf("metadata  %.1f MiB in %" PRIu64 " %s, %" PRIu64
	       " inodes to check\n", (double)blocks *
	       (double)p->block_size / (1u << 20), runs, runs_in_words(runs),
	       p->inodes);
	for (i = 0; i < p->plan_count; i++)
		if (p->plan[i].blocks)
			printf("          %-12s %10" PRIu64 " blocks in %"
			       PRIu64 " %s\n", e2pf_class_name(i),
			       p->plan[i].blocks, p->plan[i].runs,
			       runs_in_words(p->plan[i].runs));
	if (p->groups_sampled < p->groups)
		printf("          estimated from %u of %u groups\n",
		       p->groups_sampled, p->groups);
}

static void print_decisions(const struct e2pf_probe *p)
{
	unsigned i;

	for (i = 0; i < p->decision_count; i++)
		printf("%s%s: %s (%s)\n", i ? "          " : "a check   ",
		       p->decisions[i].about, p->decisions[i].decision,
		       p->decisions[i].reason);
}

/* The one line for those who want no details. */
static void print_time(const struct e2pf_probe *p, const char *device)
{
	char stock[32], prefetch[32], low[32], high[32];

	if (!p->measured) {
		printf("How long a check of %s takes is not known: %s.\n",
		       device, p->unmeasured);
	} else if (p->stock.expected < SHORT) {
		printf("A check of %s takes less than 0.1 s, with prefetching "
		       "or without.\n", device);
	} else {
		printf("A check of %s takes about %s; with prefetching about "
		       "%s.\n", device,
		       in_words(p->stock.expected, stock, sizeof(stock)),
		       in_words(p->prefetch.expected, prefetch,
				sizeof(prefetch)));
		printf("range     %s to %s",
		       in_words(p->stock.low, low, sizeof(low)),
		       in_words(p->stock.high, high, sizeof(high)));
		printf("; with prefetching %s to %s\n",
		       in_words(p->prefetch.low, low, sizeof(low)),
		       in_words(p->prefetch.high, high, sizeof(high)));
	}
}

static void print_probe(const struct e2pf_probe *p, const char *device)
{
	print_time(p, device);
	print_disks(p, device);
	print_measured(p);
	print_metadata(p);
	print_decisions(p);
}

/*
 * Output as JSON.
 */

static struct json_object *disks_json(const struct e2pf_probe *p)
{
	struct json_object *list = json_object_new_array(), *o;
	unsigned i;

	for (i = 0; i < p->disk_count; i++) {
		o = json_object_new_object();
		put_text(o, "name", p->disks[i].name);
		put_bool(o, "rotational", p->disks[i].rotational);
		put_bool(o, "one_request", p->disks[i].one_request);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *measured_json(const struct e2pf_probe *p)
{
	struct json_object *o = json_object_new_object();

	put_bool(o, "measured", p->measured);
	if (p->unmeasured)
		put_text(o, "reason", p->unmeasured);
	put_int(o, "metadata_places", p->metadata_places);
	put_seconds(o, "latency_seconds", p->latency);
	put_seconds(o, "deep_latency_seconds", p->deep_latency);
	put_int(o, "bytes_per_second", p->bytes_per_second);
	return o;
}

static struct json_object *metadata_json(const struct e2pf_probe *p)
{
	struct json_object *all = json_object_new_object(), *o;
	unsigned i;

	put_int(all, "inodes_in_use", p->inodes);
	put_int(all, "groups", p->groups);
	put_int(all, "groups_looked_at", p->groups_sampled);
	for (i = 0; i < p->plan_count; i++) {
		o = json_object_new_object();
		put_int(o, "blocks", p->plan[i].blocks);
		put_int(o, "runs", p->plan[i].runs);
		put(all, e2pf_class_name(i), o);
	}
	return all;
}

static struct json_object *check_json(const struct e2pf_probe *p)
{
	struct json_object *o = json_object_new_object();

	put_int(o, "threads", p->threads);
	put_bool(o, "block_order", p->block_order);
	put_int(o, "memory_budget_bytes", p->memory_budget);
	return o;
}

static struct json_object *decisions_json(const struct e2pf_probe *p)
{
	struct json_object *list = json_object_new_array(), *o;
	unsigned i;

	for (i = 0; i < p->decision_count; i++) {
		o = json_object_new_object();
		put_text(o, "about", p->decisions[i].about);
		put_text(o, "decision", p->decisions[i].decision);
		put_text(o, "reason", p->decisions[i].reason);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *estimate_json(const struct e2pf_estimate *e)
{
	struct json_object *o = json_object_new_object();

	put_seconds(o, "expected_seconds", e->expected);
	put_seconds(o, "low_seconds", e->low);
	put_seconds(o, "high_seconds", e->high);
	return o;
}

static void print_json(const struct e2pf_probe *p, const char *device)
{
	struct json_object *o = json_object_new_object();

	put_text(o, "version", PACKAGE_VERSION);
	put_int(o, "probe_schema", PROBE_SCHEMA);
	put_text(o, "device", device);
	put_int(o, "block_size", p->block_size);
	put(o, "disks", disks_json(p));
	put_bool(o, "virtual", p->virtual_disk);
	put(o, "measured", measured_json(p));
	put(o, "metadata", metadata_json(p));
	put(o, "check", check_json(p));
	put(o, "decisions", decisions_json(p));
	if (p->measured) {
		put(o, "stock", estimate_json(&p->stock));
		put(o, "prefetch", estimate_json(&p->prefetch));
	}
	put_out(o, stdout);
}

static int probe(const struct options *o, struct e2pf_session *s)
{
	struct e2pf_probe p = { .size = sizeof(p) };
	errcode_t err = e2pf_probe(s, &p);

	if (err)
		return fail(o, err);
	if (o->json)
		print_json(&p, o->device);
	else
		print_probe(&p, o->device);
	return 0;
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
		fprintf(stderr, "e2prefetch: probe takes no -n, --stats or "
			"command (see --help)\n");
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
