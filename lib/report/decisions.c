/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Puts into words what was decided and what a run achieved.  Decides nothing
 * and counts nothing itself.
 */
#include <stdarg.h>
#include <string.h>

#include "decisions.h"
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

void e2pf_decide_memory(struct e2pf_decisions *list, uint64_t budget,
			    bool by_user, unsigned sharing)
{
	char text[64];

	snprintf(text, sizeof(text), "at most %llu MiB ahead",
		 (unsigned long long)(budget >> 20));
	if (by_user)
		e2pf_decide(list, "memory", text, "as configured");
	else if (sharing > 1)
		e2pf_decide(list, "memory", text, "a share of the available "
			    "memory, divided by %u processes", sharing);
	else
		e2pf_decide(list, "memory", text,
			    "a share of the available memory");
}

void e2pf_decide_limits(struct e2pf_decisions *list,
			    const struct e2pf_settings *settings,
			    unsigned sharing)
{
	char text[96];
	int used = 0;

	if (settings->bandwidth)
		used = snprintf(text, sizeof(text), "%llu KiB ",
				(unsigned long long)(settings->bandwidth >> 10));
	if (settings->requests)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 "%s%u requests ", used ? "and " : "",
				 settings->requests);
	if (!used)
		return;
	snprintf(text + used, sizeof(text) - (size_t)used, "per second");
	e2pf_decide(list, "limits", text, "shared by %u process%s", sharing,
		    sharing == 1 ? "" : "es");
}

void e2pf_decide_threads(struct e2pf_decisions *list,
			 const struct e2pf_engine_stats *st, bool by_user,
			 const char *reason)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", st->threads);
	e2pf_decide(list, "threads", text, "%s", by_user ? "as configured" :
		    reason ? reason : st->has_head ? "one per spindle, two at most" :
		    "two keep a device busy");
}

void e2pf_decide_order(struct e2pf_decisions *list, const char *order,
			   const struct e2pf_engine_stats *st,
			   unsigned spindles)
{
	char alone[32], deep[32];

	if (st->latency_ns)
		e2pf_decide(list, "order", order, "a small read takes %s, with "
			    "eight in flight %s each",
			    in_milliseconds((double)st->latency_ns / 1e9, alone,
					    sizeof(alone)),
			    in_milliseconds((double)st->deep_latency_ns / 1e9,
					    deep, sizeof(deep)));
	else if (spindles && !st->has_head)
		e2pf_decide(list, "order", order, "this user cannot see what "
			    "is cached, which block order needs");
	else if (!spindles && st->has_head)
		e2pf_decide(list, "order", order, "the disk is unknown, or "
			    "takes one request at a time");
	else if (spindles == 1)
		e2pf_decide(list, "order", order,
			    "the kernel reports a rotational disk");
	else if (spindles)
		e2pf_decide(list, "order", order,
			    "the kernel reports %u rotational disks",
			    spindles);
	else
		e2pf_decide(list, "order", order,
			    "the kernel reports no rotational disk");
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double mib(uint64_t bytes)
{
	return (double)bytes / (1u << 20);
}

static void summarize_ahead(struct e2pf_decisions *list,
			    const struct e2pf_engine_stats *st)
{
	char text[64];

	snprintf(text, sizeof(text), "%.1f MiB in %llu requests",
		 mib(st->prefetched_bytes),
		 (unsigned long long)st->prefetched_requests);
	e2pf_decide(list, "ahead", text, "%.1f MiB planned; %.1f MiB unused, "
		    "%llu errors", mib(st->planned_bytes),
		    mib(st->wasted_bytes), (unsigned long long)st->errors);
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

static void summarize_reads(struct e2pf_decisions *list,
			    const struct e2pf_engine_stats *st,
			    const char *const *names, unsigned stages)
{
	struct e2pf_stage_stats all = { .reads = 0 };
	char text[64], where[320];
	unsigned i;

	for (i = 0; i < E2PF_STAGES; i++) {
		all.ns += st->stage[i].ns;
		all.reads += st->stage[i].reads;
		all.hits += st->stage[i].hits;
		all.stall_ns += st->stage[i].stall_ns;
	}
	snprintf(text, sizeof(text), "%llu of %llu reads",
		 (unsigned long long)all.hits, (unsigned long long)all.reads);
	e2pf_decide(list, "hits", text, "%.1f MiB read by the check",
		    mib(st->checker_bytes));
	snprintf(text, sizeof(text), "%.3f of %.3f s", seconds(all.stall_ns),
		 seconds(all.ns));
	name_stages(where, sizeof(where), st, names, stages);
	e2pf_decide(list, "waited", text, "%s", where);
}

static void summarize_disks(struct e2pf_decisions *list,
			    const struct e2pf_topology *topo)
{
	const char *doubt = topo->virtual_disk ?
			    "; virtual, so this may be wrong" : "";
	char text[64] = "";
	size_t used = 0;
	unsigned i;

	for (i = 0; i < topo->leaves && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s", used ? "," : "",
					 topo->leaf[i].name);
	if (topo->leaves == 1)
		e2pf_decide(list, "device", text, "one disk, declared %s%s",
			    topo->spindles ? "rotational" : "not rotational",
			    doubt);
	else
		e2pf_decide(list, "device", *text ? text : "not known",
			    "%u disks, %u of them declared rotational%s",
			    topo->leaves, topo->spindles, doubt);
}

void e2pf_summarize(struct e2pf_decisions *list,
		    const struct e2pf_engine_stats *st,
		    const struct e2pf_topology *topo,
		    const char *const *names, unsigned stages)
{
	summarize_disks(list, topo);
	summarize_ahead(list, st);
	summarize_reads(list, st, names, stages);
}
