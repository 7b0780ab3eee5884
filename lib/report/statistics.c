/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statistics as JSON.  Decides the keys and their order; doc/statistics.md
 * explains them.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

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
	to->failed_ahead += from->failed_ahead;
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

static struct json_object *stages_json(const struct e2pf_statistics *s)
{
	struct json_object *list = json_object_new_array();
	unsigned i;

	for (i = 0; i < s->stages; i++) {
		const struct e2pf_stage_stats *p = &s->engine->stage[i];
		struct json_object *o;

		if (!p->ns && !p->reads)
			continue;
		o = json_object_new_object();
		put_text(o, "name", s->stage_names[i]);
		put_seconds(o, "seconds", seconds(p->ns));
		put_int(o, "reads", p->reads);
		put_int(o, "hits", p->hits);
		put_int(o, "stalls", p->stalls);
		put_seconds(o, "stall_seconds", seconds(p->stall_ns));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *topology_json(const struct e2pf_topology *topo)
{
	struct json_object *list = json_object_new_array();
	unsigned i;

	for (i = 0; i < topo->leaves; i++)
		json_object_array_add(list,
			json_object_new_string(topo->leaf[i].name));
	return list;
}

static struct json_object *accelerations_json(
		const struct e2pf_statistics *s)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < s->acceleration_count; i++)
		json_object_array_add(list,
			json_object_new_string(s->accelerations[i]));
	return list;
}

static struct json_object *decisions_json(const struct e2pf_decisions *all)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct json_object *o = json_object_new_object();

		put_text(o, "about", all->item[i].about);
		put_text(o, "decision", all->item[i].decision);
		put_text(o, "reason", all->item[i].reason);
		json_object_array_add(list, o);
	}
	return list;
}

static void put_checker(struct json_object *o,
			const struct e2pf_engine_stats *st)
{
	uint64_t reads = 0, hits = 0, stall = 0;
	unsigned i;

	for (i = 0; i < E2PF_STAGES; i++) {
		reads += st->stage[i].reads;
		hits += st->stage[i].hits;
		stall += st->stage[i].stall_ns;
	}
	put_int(o, "checker_reads", reads);
	put_int(o, "checker_bytes", st->checker_bytes);
	put_int(o, "checker_hits", hits);
	put_seconds(o, "checker_stall_seconds", seconds(stall));
}

errcode_t e2pf_statistics_write(const struct e2pf_statistics *s, FILE *out)
{
	struct json_object *o = json_object_new_object();
	const struct e2pf_engine_stats *st = s->engine;

	if (!o)
		return EXT2_ET_NO_MEMORY;
	put_text(o, "version", PACKAGE_VERSION);
	put_int(o, "schema", STATS_SCHEMA);
	put_text(o, "device", s->device);
	put_int(o, "block_size", s->block_size);
	put_int(o, "groups", s->groups);
	put_text(o, "io_manager", s->io_manager);
	put(o, "accelerations", accelerations_json(s));
	put(o, "decisions", decisions_json(s->decisions));
	put_int(o, "threads", st->threads);
	put_int(o, "spindles", s->topo->spindles);
	put_bool(o, "rotational", s->topo->spindles > 0);
	put(o, "topology", topology_json(s->topo));
	put_bool(o, "block_order", st->has_head);
	put_seconds(o, "latency_seconds", seconds(st->latency_ns));
	put_seconds(o, "deep_latency_seconds", seconds(st->deep_latency_ns));
	put_int(o, "gap_bytes", st->gap_bytes);
	put_int(o, "planned_bytes", st->planned_bytes);
	put_int(o, "prefetched_bytes", st->prefetched_bytes);
	put_int(o, "prefetched_requests", st->prefetched_requests);
	put_int(o, "journal_bytes", s->journal_bytes);
	put_int(o, "journal_requests", s->journal_requests);
	put_checker(o, st);
	put_int(o, "gate_waits", st->gate_waits);
	put_seconds(o, "own_stall_seconds", seconds(st->own_stall_ns));
	put_int(o, "wasted_bytes", st->wasted_bytes);
	put_int(o, "peak_lookahead_bytes", st->peak_lookahead_bytes);
	put_int(o, "memory_budget_bytes", s->budget);
	put_int(o, "sharing", s->sharing);
	put_int(o, "errors", st->errors);
	put_int(o, "failed_ahead", st->failed_ahead);
	put(o, "stages", stages_json(s));
	put_out(o, out);
	return ferror(out) ? EIO : 0;
}
