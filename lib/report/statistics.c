/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The statistics as JSON, a member on each line.  Decides the keys and their
 * order; doc/statistics.md explains them.  Errors of writing are the stream's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>

#include "device/spindle.h"
#include "report.h"

/* The version of the schema; see doc/statistics.md. */
#define STATS_SCHEMA 2

/*
 * A member of a struct that is written.  Of nanoseconds, whole microseconds are
 * written as seconds.  The first two kinds are sums: those of a later engine are
 * added to those of an earlier one.  Of the third the largest counts.
 */
struct member {
	const char *key;
	enum { SUM, SUM_NS, MOST, NUMBER, NUMBER_NS, NUMBER32, FLAG, TEXT } kind;
	size_t offset;
};

#define REPORT(name) offsetof(struct e2pf_report, name)
#define ENGINE(name) offsetof(struct e2pf_engine_stats, name)
#define STAGE(name) offsetof(struct e2pf_stage_stats, name)

static const struct member of_report[] = {
	{ "device", TEXT, REPORT(device) },
	{ "block_size", NUMBER32, REPORT(block_size) },
	{ "groups", NUMBER32, REPORT(groups) },
	{ "io_manager", TEXT, REPORT(io_manager) },
	{ "newer_than_reviewed", FLAG, REPORT(newer_than_reviewed) },
	{ "maps_bytes", NUMBER, REPORT(maps_bytes) },
	{ "journal_bytes", NUMBER, REPORT(journal_bytes) },
	{ "journal_requests", NUMBER, REPORT(journal_requests) },
	{ "list_bytes", NUMBER, REPORT(list_bytes) },
	{ "memory_budget_bytes", NUMBER, REPORT(budget) },
	{ "sharing", NUMBER32, REPORT(sharing) },
}, of_engine[] = {
	{ "threads", NUMBER32, ENGINE(threads) },
	{ "seeks", FLAG, ENGINE(seeks) },
	{ "latency_seconds", NUMBER_NS, ENGINE(latency_ns) },
	{ "deep_latency_seconds", NUMBER_NS, ENGINE(deep_latency_ns) },
	{ "gap_bytes", NUMBER, ENGINE(gap_bytes) },
	{ "planned_bytes", SUM, ENGINE(planned_bytes) },
	{ "prefetched_bytes", SUM, ENGINE(prefetched_bytes) },
	{ "prefetched_requests", SUM, ENGINE(prefetched_requests) },
	{ "checker_bytes", SUM, ENGINE(checker_bytes) },
	{ "gate_waits", SUM, ENGINE(gate_waits) },
	{ "lost_seconds", SUM_NS, ENGINE(lost_ns) },
	{ "gate_opened", TEXT, ENGINE(gate_opened) },
	{ "wasted_bytes", SUM, ENGINE(wasted_bytes) },
	{ "peak_lookahead_bytes", MOST, ENGINE(peak_lookahead_bytes) },
	{ "references_bytes", MOST, ENGINE(refs_bytes) },
	{ "buffers_bytes", MOST, ENGINE(buffer_bytes) },
	{ "set_bytes", MOST, ENGINE(set_bytes) },
	{ "errors", SUM, ENGINE(errors) },
	{ "slow_or_failed", SUM, ENGINE(slow_or_failed) },
	{ "suspect_at_bytes", NUMBER, ENGINE(suspect_at) },
}, of_stages[] = {
	{ "checker_reads", SUM, STAGE(reads) },
	{ "checker_hits", SUM, STAGE(hits) },
	{ "checker_stall_seconds", SUM_NS, STAGE(stall_ns) },
}, of_stage[] = {
	{ "seconds", SUM_NS, STAGE(ns) },
	{ "reads", SUM, STAGE(reads) },
	{ "hits", SUM, STAGE(hits) },
	{ "stalls", SUM, STAGE(stalls) },
	{ "stall_seconds", SUM_NS, STAGE(stall_ns) },
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* Add up the sums among these members. */
static void add(const struct member *m, size_t n, void *to, const void *from)
{
	for (; n--; m++) {
		uint64_t *sum = (uint64_t *)((char *)to + m->offset);
		const void *more = (const char *)from + m->offset;

		if (m->kind <= SUM_NS)
			*sum += *(const uint64_t *)more;
		else if (m->kind == MOST && *(const uint64_t *)more > *sum)
			*sum = *(const uint64_t *)more;
	}
}

void e2pf_stats_add(struct e2pf_engine_stats *to,
		    const struct e2pf_engine_stats *from)
{
	unsigned i;

	/* The first one counts. */
	if (!to->slow_or_failed)
		to->suspect_at = from->suspect_at;
	add(of_engine, COUNT(of_engine), to, from);
	if (from->latency_ns || from->threads) {
		to->seeks = from->seeks;
		to->latency_ns = from->latency_ns;
		to->deep_latency_ns = from->deep_latency_ns;
		to->unmeasured = from->unmeasured;
		to->gap_bytes = from->gap_bytes;
	}
	if (from->gate_opened)
		to->gate_opened = from->gate_opened;
	if (from->threads > to->threads)
		to->threads = from->threads;
	for (i = 0; i < E2PF_STAGES; i++)
		add(of_stage, COUNT(of_stage), &to->stage[i], &from->stage[i]);
}

struct e2pf_stage_stats e2pf_stats_stages(const struct e2pf_engine_stats *st)
{
	struct e2pf_stage_stats all = { .ns = 0 };
	unsigned i;

	for (i = 0; i < E2PF_STAGES; i++)
		add(of_stage, COUNT(of_stage), &all, &st->stage[i]);
	return all;
}

/* A member begins a line; an element of a list, and a member of such an object,
 * do not. */
struct json {
	FILE *out;
	const char *before;	/* of the next member or element */
	const char *between;	/* of those that follow it */
};

/* Bytes beyond ASCII are passed on: names of devices and disks need not be
 * UTF-8, but nearly always are. */
static void put_quoted(struct json *j, const char *text)
{
	putc('"', j->out);
	for (; text && *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(j->out, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(j->out, "\\u%04x", (unsigned)*text);
		else
			putc(*text, j->out);
	}
	putc('"', j->out);
}

/* Members of an object have a key; elements of a list, NULL. */
static void put_key(struct json *j, const char *key)
{
	fputs(j->before, j->out);
	j->before = j->between;
	if (key)
		fprintf(j->out, "\"%s\":", key);
}

__attribute__((format(printf, 3, 4)))
static void put(struct json *j, const char *key, const char *format, ...)
{
	va_list args;

	put_key(j, key);
	va_start(args, format);
	vfprintf(j->out, format, args);
	va_end(args);
}

static void put_text(struct json *j, const char *key, const char *text)
{
	put_key(j, key);
	put_quoted(j, text);
}

static void put_members(struct json *j, const struct member *m, size_t n,
			const void *from)
{
	for (; n--; m++) {
		const void *at = (const char *)from + m->offset;
		uint64_t us;

		switch (m->kind) {
		case TEXT:
			put_text(j, m->key, *(const char *const *)at);
			break;
		case FLAG:
			put(j, m->key, *(const bool *)at ? "true" : "false");
			break;
		case NUMBER32:
			put(j, m->key, "%" PRIu32, *(const uint32_t *)at);
			break;
		case SUM:
		case MOST:
		case NUMBER:
			put(j, m->key, "%" PRIu64, *(const uint64_t *)at);
			break;
		default:
			/* Integers: a locale may have another decimal
			 * point. */
			us = *(const uint64_t *)at / 1000;
			put(j, m->key, "%" PRIu64 ".%06u", us / 1000000,
			    (unsigned)(us % 1000000));
		}
	}
}

/* Begin a list, or an object in one. */
static struct json open_bracket(struct json *j, const char *key, char bracket,
				const char *between)
{
	put(j, key, "%c", bracket);
	return (struct json) { j->out, "", between };
}

static void put_lists(struct json *j, const struct e2pf_report *r)
{
	const struct e2pf_decision *d = r->decisions.item;
	struct json list, item;
	size_t i;

	list = open_bracket(j, "accelerations", '[', ",");
	for (i = 0; i < r->acceleration_count; i++)
		put_text(&list, NULL, r->accelerations[i]);
	putc(']', j->out);
	list = open_bracket(j, "topology", '[', ",");
	for (i = 0; i < r->topo.disks; i++)
		put_text(&list, NULL, r->topo.disk[i].name);
	putc(']', j->out);
	list = open_bracket(j, "decisions", '[', ",\n    ");
	for (i = 0; i < r->decisions.count; i++) {
		item = open_bracket(&list, NULL, '{', ", ");
		put_text(&item, "about", d[i].about);
		put_text(&item, "decision", d[i].decision);
		put_text(&item, "reason", d[i].reason);
		putc('}', j->out);
	}
	putc(']', j->out);
	list = open_bracket(j, "stages", '[', ",\n    ");
	for (i = 0; i < r->stages; i++) {
		const struct e2pf_stage_stats *stage = &r->engine.stage[i];

		if (!stage->ns && !stage->reads)
			continue;
		item = open_bracket(&list, NULL, '{', ", ");
		put_text(&item, "name", r->stage_names[i]);
		put_members(&item, of_stage, COUNT(of_stage), stage);
		putc('}', j->out);
	}
	putc(']', j->out);
}

int e2pf_report_write(const struct e2pf_report *r, FILE *out)
{
	struct e2pf_stage_stats all = e2pf_stats_stages(&r->engine);
	struct json json = { out, "{\n  ", ",\n  " }, *j = &json;

	put_text(j, "version", PACKAGE_VERSION);
	put(j, "schema", "%u", STATS_SCHEMA);
	put_members(j, of_report, COUNT(of_report), r);
	put(j, "spindles", "%u", r->topo.spindles);
	put(j, "single_spindle", e2pf_single_spindle(&r->topo, r->engine.seeks) ?
	    "true" : "false");
	put_members(j, of_engine, COUNT(of_engine), &r->engine);
	put_members(j, of_stages, COUNT(of_stages), &all);
	put_lists(j, r);
	fputs("\n}\n", out);
	return ferror(out) ? EIO : 0;
}
