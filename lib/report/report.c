/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Puts into words what was decided and what a run achieved.  Decides nothing
 * and counts nothing itself.
 */
#include <stdarg.h>

#include "report.h"
#include "words.h"

typedef unsigned long long big;

void e2pf_decide(struct e2pf_decisions *list, const char *about,
		 const char *decision, const char *reason, ...)
{
	struct e2pf_decision *d;
	va_list args;

	if (list->count >= E2PF_DECISIONS_MOST)
		return;
	d = &list->item[list->count++];
	snprintf(d->about, sizeof(d->about), "%s", about);
	snprintf(d->decision, sizeof(d->decision), "%s", decision);
	va_start(args, reason);
	vsnprintf(d->reason, sizeof(d->reason), reason, args);
	va_end(args);
}

void e2pf_decide_off(struct e2pf_decisions *list, const char *decision,
		     const char *reason)
{
	e2pf_decide(list, "prefetch", decision, "%s", reason);
	if (!list->off)
		snprintf(list->why_off, sizeof(list->why_off), "%s", reason);
	list->off = true;
}

void e2pf_report_memory(struct e2pf_report *r)
{
	const struct e2pf_settings *set = r->settings;
	char text[80], sharing[48] = "";

	if (r->sharing > 1 && !set->memory)
		snprintf(sharing, sizeof(sharing), ", divided by %u processes",
			 r->sharing);
	snprintf(text, sizeof(text), "at most %llu MiB ahead",
		 (big)r->budget >> 20);
	e2pf_decide(&r->decisions, "memory", text, "%s%s", set->memory ?
		    "as configured" : "a share of the available memory",
		    sharing);
}

/* Why reads are in this order, if the device was not measured. */
static const char *reason_of_order(const struct e2pf_report *r)
{
	unsigned spindles = r->topo.spindles;

	if (spindles && !r->engine.seeks)
		return "this user cannot see what is cached, which sweeps need";
	if (spindles)
		return "it seeks: the kernel reports a single spindle";
	return r->engine.seeks ?
	       "taken to seek: the disk is unknown, or takes one request at a "
	       "time" :
	       "it does not seek: the kernel reports no spindle";
}

void e2pf_report_order(struct e2pf_report *r)
{
	const struct e2pf_engine_stats *st = &r->engine;
	const char *order = st->seeks ? "in device order" : r->order;
	const char *why = st->unmeasured ? st->unmeasured : "";
	const char *but = *why ? "; it was not measured: " : "";
	char text[32], deep[32];

	snprintf(text, sizeof(text), "%u", st->threads);
	e2pf_decide(&r->decisions, "threads", text, "%s",
		    r->settings->threads ? "as configured" :
		    r->threads ? r->threads :
		    st->seeks ? "one per spindle, two at most" :
				   "two keep a device busy");
	if (!r->order)
		return;
	if (st->latency_ns)
		e2pf_decide(&r->decisions, "order", order, "it %s: a small "
			    "read takes %s, with eight in flight %s each",
			    st->seeks ? "seeks" : "does not seek",
			    in_milliseconds((double)st->latency_ns / 1e9,
					    text, sizeof(text)),
			    in_milliseconds((double)st->deep_latency_ns / 1e9,
					    deep, sizeof(deep)));
	else if (r->topo.spindles > 1 && st->seeks)
		e2pf_decide(&r->decisions, "order", order, "it seeks: the kernel "
			    "reports %u spindles%s%s", r->topo.spindles, but, why);
	else
		e2pf_decide(&r->decisions, "order", order, "%s%s%s",
			    reason_of_order(r), but, why);
}

void e2pf_report_print(const struct e2pf_report *r, const char *program,
		       FILE *out)
{
	const struct e2pf_decision *d = r->decisions.item;
	size_t i;

	for (i = 0; i < r->decisions.count; i++)
		fprintf(out, "%s: %s: %s (%s)\n", program, d[i].about,
			d[i].decision, d[i].reason);
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double mib(uint64_t bytes)
{
	return (double)bytes / (1u << 20);
}

static void print_disks(const struct e2pf_topology *topo, const char *program,
			FILE *out)
{
	unsigned i;

	fprintf(out, "%s: device: %s", program,
		topo->disks ? topo->disk[0].name : "not known");
	for (i = 1; i < topo->disks; i++)
		fprintf(out, ",%s", topo->disk[i].name);
	if (topo->disks == 1)
		fprintf(out, " (one disk, declared %s spindle",
			topo->spindles ? "a single" : "no");
	else
		fprintf(out, " (%u disks, %u of them declared spindles",
			topo->disks, topo->spindles);
	fprintf(out, "%s)\n", topo->unsure ? ", which may be wrong" : "");
}

void e2pf_report_print_results(const struct e2pf_report *r,
			       const char *program, FILE *out)
{
	const struct e2pf_engine_stats *st = &r->engine;
	struct e2pf_stage_stats all = e2pf_stats_stages(st);
	const char *comma = "";
	unsigned i;

	if (!st->threads || !r->order)
		return;
	print_disks(&r->topo, program, out);
	fprintf(out, "%s: ahead: %.1f MiB in %llu requests (%.1f MiB planned; "
		"%.1f MiB unused, %llu errors)\n", program,
		mib(st->prefetched_bytes), (big)st->prefetched_requests,
		mib(st->planned_bytes), mib(st->wasted_bytes),
		(big)st->errors);
	fprintf(out, "%s: hits: %llu of %llu reads (%.1f MiB read by the "
		"check)\n", program, (big)all.hits, (big)all.reads,
		mib(st->checker_bytes));
	fprintf(out, "%s: waited: %.3f of %.3f s (", program,
		seconds(all.stall_ns), seconds(all.ns));
	for (i = 0; i < r->stages; i++) {
		if (!st->stage[i].ns && !st->stage[i].reads)
			continue;
		fprintf(out, "%s%s %.3f of %.3f s", comma, r->stage_names[i],
			seconds(st->stage[i].stall_ns),
			seconds(st->stage[i].ns));
		comma = ", ";
	}
	fputs(")\n", out);
}
