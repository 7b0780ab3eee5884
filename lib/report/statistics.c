/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statistics as JSON.  Decides the keys and their order; doc/statistics.md
 * explains them.
 */
#include <errno.h>

#include "json.h"
#include "statistics.h"

/* The version of the schema; see doc/statistics.md. */
#define STATS_SCHEMA 2

void e2pf_statistics_add(struct e2pf_engine_stats *to,
			 const struct e2pf_engine_stats *from)
{
	unsigned i;

	to->planned_bytes += from->planned_bytes;
	to->prefetched_bytes += from->prefetched_bytes;
	to->prefetched_requests += from->prefetched_requests;
	to->checker_bytes += from->checker_bytes;
	to->wasted_bytes += from->wasted_bytes;
	to->errors += from->errors;
	to->gate_waits += from->gate_waits;
	to->own_stall_ns += from->own_stall_ns;
	if (from->latency_ns || from->threads) {
		to->has_head = from->has_head;
		to->latency_ns = from->latency_ns;
		to->deep_latency_ns = from->deep_latency_ns;
		to->gap_bytes = from->gap_bytes;
	}
	if (from->peak_lookahead_bytes > to->peak_lookahead_bytes)
		to->peak_lookahead_bytes = from->peak_lookahead_bytes;
	if (from->threads > to->threads)
		to->threads = from->threads;
	for (i = 0; i < E2PF_CLASS_BITS; i++) {
		to->asked[i].bytes += from->asked[i].bytes;
		to->asked[i].runs += from->asked[i].runs;
	}
	for (i = 0; i < E2PF_STAGES; i++) {
		to->stage[i].ns += from->stage[i].ns;
		to->stage[i].reads += from->stage[i].reads;
		to->stage[i].hits += from->stage[i].hits;
		to->stage[i].stalls += from->stage[i].stalls;
		to->stage[i].stall_ns += from->stage[i].stall_ns;
	}
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static void put_stages(struct e2pf_json *j, const struct e2pf_statistics *s)
{
	unsigned i;

	e2pf_json_begin(j, "stages", '[');
	for (i = 0; i < s->stages; i++) {
		const struct e2pf_stage_stats *p = &s->engine->stage[i];

		if (!p->ns && !p->reads)
			continue;
		e2pf_json_begin(j, NULL, '{');
		e2pf_json_text(j, "name", s->stage_names[i]);
		e2pf_json_seconds(j, "seconds", seconds(p->ns));
		e2pf_json_int(j, "reads", p->reads);
		e2pf_json_int(j, "hits", p->hits);
		e2pf_json_int(j, "stalls", p->stalls);
		e2pf_json_seconds(j, "stall_seconds", seconds(p->stall_ns));
		e2pf_json_end(j, '}');
	}
	e2pf_json_end(j, ']');
}

static void put_topology(struct e2pf_json *j, const struct e2pf_topology *topo)
{
	unsigned i;

	e2pf_json_begin(j, "topology", '[');
	for (i = 0; i < topo->leaves; i++)
		e2pf_json_text(j, NULL, topo->leaf[i].name);
	e2pf_json_end(j, ']');
}

static void put_accelerations(struct e2pf_json *j,
			      const struct e2pf_statistics *s)
{
	size_t i;

	e2pf_json_begin(j, "accelerations", '[');
	for (i = 0; i < s->acceleration_count; i++)
		e2pf_json_text(j, NULL, s->accelerations[i]);
	e2pf_json_end(j, ']');
}

static void put_decisions(struct e2pf_json *j, const struct e2pf_decisions *all)
{
	size_t i;

	e2pf_json_begin(j, "decisions", '[');
	for (i = 0; i < all->count; i++) {
		e2pf_json_begin(j, NULL, '{');
		e2pf_json_text(j, "about", all->item[i].about);
		e2pf_json_text(j, "decision", all->item[i].decision);
		e2pf_json_text(j, "reason", all->item[i].reason);
		e2pf_json_end(j, '}');
	}
	e2pf_json_end(j, ']');
}

static void put_checker(struct e2pf_json *j,
			const struct e2pf_engine_stats *st)
{
	uint64_t reads = 0, hits = 0, stall = 0;
	unsigned i;

	for (i = 0; i < E2PF_STAGES; i++) {
		reads += st->stage[i].reads;
		hits += st->stage[i].hits;
		stall += st->stage[i].stall_ns;
	}
	e2pf_json_int(j, "checker_reads", reads);
	e2pf_json_int(j, "checker_bytes", st->checker_bytes);
	e2pf_json_int(j, "checker_hits", hits);
	e2pf_json_seconds(j, "checker_stall_seconds", seconds(stall));
}

errcode_t e2pf_statistics_write(const struct e2pf_statistics *s, FILE *out)
{
	const struct e2pf_engine_stats *st = s->engine;
	struct e2pf_json json = { .out = out }, *j = &json;

	e2pf_json_begin(j, NULL, '{');
	e2pf_json_text(j, "version", PACKAGE_VERSION);
	e2pf_json_int(j, "schema", STATS_SCHEMA);
	e2pf_json_text(j, "device", s->device);
	e2pf_json_int(j, "block_size", s->block_size);
	e2pf_json_int(j, "groups", s->groups);
	e2pf_json_text(j, "io_manager", s->io_manager);
	put_accelerations(j, s);
	e2pf_json_int(j, "maps_bytes", s->maps_bytes);
	e2pf_json_int(j, "maps_stock_bytes", s->maps_stock_bytes);
	put_decisions(j, s->decisions);
	e2pf_json_int(j, "threads", st->threads);
	e2pf_json_int(j, "spindles", s->topo->spindles);
	e2pf_json_bool(j, "rotational", s->topo->spindles > 0);
	put_topology(j, s->topo);
	e2pf_json_bool(j, "block_order", st->has_head);
	e2pf_json_seconds(j, "latency_seconds", seconds(st->latency_ns));
	e2pf_json_seconds(j, "deep_latency_seconds", seconds(st->deep_latency_ns));
	e2pf_json_int(j, "gap_bytes", st->gap_bytes);
	e2pf_json_int(j, "planned_bytes", st->planned_bytes);
	e2pf_json_int(j, "prefetched_bytes", st->prefetched_bytes);
	e2pf_json_int(j, "prefetched_requests", st->prefetched_requests);
	e2pf_json_int(j, "journal_bytes", s->journal_bytes);
	e2pf_json_int(j, "journal_requests", s->journal_requests);
	put_checker(j, st);
	e2pf_json_int(j, "gate_waits", st->gate_waits);
	e2pf_json_seconds(j, "own_stall_seconds", seconds(st->own_stall_ns));
	e2pf_json_int(j, "wasted_bytes", st->wasted_bytes);
	e2pf_json_int(j, "peak_lookahead_bytes", st->peak_lookahead_bytes);
	e2pf_json_int(j, "memory_budget_bytes", s->budget);
	e2pf_json_int(j, "sharing", s->sharing);
	e2pf_json_int(j, "errors", st->errors);
	put_stages(j, s);
	e2pf_json_end(j, '}');
	return ferror(out) ? EIO : 0;
}
