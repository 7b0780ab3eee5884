/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Puts into words what was decided and what a run achieved.  Decides nothing
 * and counts nothing itself.
 */
#include <stdarg.h>
#include <string.h>

#include "decisions.h"
#include "statistics.h"
#include "words.h"

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
		     const char *reason, ...)
{
	char text[sizeof(list->why_off)];
	va_list args;

	va_start(args, reason);
	vsnprintf(text, sizeof(text), reason, args);
	va_end(args);
	e2pf_decide(list, "prefetch", decision, "%s", text);
	if (!list->off)
		memcpy(list->why_off, text, sizeof(text));
	list->off = true;
}

void e2pf_decisions_print(const struct e2pf_decisions *list,
			  const char *program, FILE *out)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		fprintf(out, "%s: %s: %s (%s)\n", program, list->item[i].about,
			list->item[i].decision, list->item[i].reason);
}

/* The same of a text "DECISION, tab, REASON". */
__attribute__((format(printf, 3, 4)))
static void decide(struct e2pf_decisions *list, const char *about,
		   const char *format, ...)
{
	char text[384], *reason;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	reason = strchr(text, '\t');
	if (reason)
		*reason++ = '\0';
	e2pf_decide(list, about, text, "%s", reason ? reason : "");
}

void e2pf_decide_limits(struct e2pf_decisions *list,
			const struct e2pf_reading *r)
{
	const struct e2pf_settings *set = r->settings;
	char bytes[32] = "", requests[32] = "", sharing[48] = "";

	if (r->sharing > 1)
		snprintf(sharing, sizeof(sharing), ", divided by %u processes",
			 r->sharing);
	decide(list, "memory", "at most %llu MiB ahead\t%s%s",
	       (unsigned long long)(r->budget >> 20), set->memory ?
	       "as configured" : "a share of the available memory",
	       set->memory ? "" : sharing);
	if (set->bandwidth)
		snprintf(bytes, sizeof(bytes), "%llu KiB ",
			 (unsigned long long)(set->bandwidth >> 10));
	if (set->requests)
		snprintf(requests, sizeof(requests), "%u requests ",
			 set->requests);
	if (*bytes || *requests)
		decide(list, "limits", "%s%s%sper second\tshared by %u "
		       "process%s", bytes, *bytes && *requests ? "and " : "",
		       requests, r->sharing, r->sharing == 1 ? "" : "es");
}

void e2pf_decide_order(struct e2pf_decisions *list,
		       const struct e2pf_reading *r)
{
	const struct e2pf_engine_stats *st = r->stats;
	const char *order = st->has_head ? "in block order" : r->order;
	char alone[32], deep[32];

	decide(list, "threads", "%u\t%s", st->threads,
	       r->settings->threads ? "as configured" :
	       r->threads ? r->threads :
	       st->has_head ? "one per spindle, two at most" :
			      "two keep a device busy");
	if (!r->order)
		return;
	if (st->latency_ns)
		decide(list, "order", "%s\ta small read takes %s, with eight "
		       "in flight %s each", order,
		       in_milliseconds((double)st->latency_ns / 1e9, alone,
				       sizeof(alone)),
		       in_milliseconds((double)st->deep_latency_ns / 1e9, deep,
				       sizeof(deep)));
	else if (r->spindles && !st->has_head)
		decide(list, "order", "%s\tthis user cannot see what is "
		       "cached, which block order needs", order);
	else if (!r->spindles && st->has_head)
		decide(list, "order", "%s\tthe disk is unknown, or takes one "
		       "request at a time", order);
	else if (r->spindles > 1)
		decide(list, "order", "%s\tthe kernel reports %u rotational "
		       "disks", order, r->spindles);
	else
		decide(list, "order", "%s\tthe kernel reports %s rotational "
		       "disk", order, r->spindles ? "a" : "no");
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double mib(uint64_t bytes)
{
	return (double)bytes / (1u << 20);
}

/* "sda,sdb" */
static void summarize_disks(struct e2pf_decisions *list,
			    const struct e2pf_topology *topo)
{
	const char *doubt = topo->virtual_disk ?
			    "; virtual, so this may be wrong" : "";
	char names[64] = "";
	size_t used = 0;
	unsigned i;

	for (i = 0; i < topo->leaves && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
					 "%s%s", used ? "," : "",
					 topo->leaf[i].name);
	if (topo->leaves == 1)
		decide(list, "device", "%s\tone disk, declared %s%s", names,
		       topo->spindles ? "rotational" : "not rotational",
		       doubt);
	else
		decide(list, "device", "%s\t%u disks, %u of them declared "
		       "rotational%s", *names ? names : "not known",
		       topo->leaves, topo->spindles, doubt);
}

/* The time waited in each stage: "pass1 0.310 of 0.512 s, pass2 0.110 of 0.200
 * s". */
static void name_stages(char *text, size_t size,
			const struct e2pf_engine_stats *st,
			const char *const *names, unsigned stages)
{
	size_t used = 0;
	unsigned i;

	text[0] = '\0';
	for (i = 0; i < stages && used < size; i++)
		if (st->stage[i].ns || st->stage[i].reads)
			used += (size_t)snprintf(text + used, size - used,
				"%s%s %.3f of %.3f s", used ? ", " : "",
				names[i], seconds(st->stage[i].stall_ns),
				seconds(st->stage[i].ns));
}

void e2pf_summarize(struct e2pf_decisions *list,
		    const struct e2pf_engine_stats *st,
		    const struct e2pf_topology *topo,
		    const char *const *names, unsigned stages)
{
	struct e2pf_stage_stats all = e2pf_statistics_stages(st);
	char where[320];

	summarize_disks(list, topo);
	decide(list, "ahead", "%.1f MiB in %llu requests\t%.1f MiB planned; "
	       "%.1f MiB unused, %llu errors", mib(st->prefetched_bytes),
	       (unsigned long long)st->prefetched_requests,
	       mib(st->planned_bytes), mib(st->wasted_bytes),
	       (unsigned long long)st->errors);
	decide(list, "hits", "%llu of %llu reads\t%.1f MiB read by the check",
	       (unsigned long long)all.hits, (unsigned long long)all.reads,
	       mib(st->checker_bytes));
	name_stages(where, sizeof(where), st, names, stages);
	decide(list, "waited", "%.3f of %.3f s\t%s", seconds(all.stall_ns),
	       seconds(all.ns), where);
}
