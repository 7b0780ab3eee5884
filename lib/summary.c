/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words of the summary, and what a check would have waited.  Counts
 * nothing itself.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "summary.h"

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double mib(uint64_t bytes)
{
	return (double)bytes / (1u << 20);
}

/*
 * Far requests cost between half of one of several and one by itself with that
 * on top; near ones nothing, or a sixteenth.  On flash all are alike, and
 * what the kernel has in flight at the same time makes them up to twice as
 * fast.  On the modelled disks of bench/ the real wait is within that, but for
 * extents on flash, where it is up to a third more.
 */
bool e2pf_estimate_alone(const struct e2pf_engine_stats *st,
			 struct e2pf_estimate *est)
{
	const struct e2pf_stage_stats *first = &st->stage[0];
	double near = (double)st->alone_near;
	double far = (double)st->alone_requests - near;
	double own = seconds(st->own_stall_ns), several;

	est->probed = st->latency_ns;
	if (est->probed)
		est->latency = seconds(st->latency_ns);
	else if (first->stalls)
		est->latency = seconds(first->stall_ns) /
			       (double)first->stalls;
	else
		return false;
	several = est->probed ? seconds(st->deep_latency_ns) :
				est->latency / 2;
	if (st->has_head) {
		est->low = far * several / 2;
		est->high = far * (est->latency + several) +
			    near * several / 16;
	} else {
		est->high = (far + near) * est->latency;
		est->low = est->high / 2;
	}
	est->low += own;
	est->high += own;
	return true;
}

static void summarize_ahead(struct e2pf_decisions *list,
			    const struct e2pf_engine_stats *st)
{
	char text[64];

	snprintf(text, sizeof(text), "%.1f MiB in %llu requests",
		 mib(st->prefetched_bytes),
		 (unsigned long long)st->prefetched_requests);
	e2pf_decide(list, "ahead", text, "%.1f MiB looked at; %.1f MiB not "
		    "used, %llu errors", mib(st->planned_bytes),
		    mib(st->wasted_bytes), (unsigned long long)st->errors);
}

/* The stages that were waited in, as "pass1 0.31 s, pass2 0.11 s". */
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
	char text[64], where[160];
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

void e2pf_summarize_alone(struct e2pf_decisions *list,
			    const struct e2pf_engine_stats *st)
{
	struct e2pf_estimate est;
	char text[64];

	if (!e2pf_estimate_alone(st, &est)) {
		e2pf_decide(list, "without", "not known",
			    "no request was measured by itself");
		return;
	}
	snprintf(text, sizeof(text), "a wait of %.2g to %.2g s",
		 est.low, est.high);
	e2pf_decide(list, "without", text, "estimated: %llu requests, %llu "
		    "of them near the one before, of %.3f ms %s",
		    (unsigned long long)st->alone_requests,
		    (unsigned long long)st->alone_near, est.latency * 1e3,
		    est.probed ? "for one by itself" :
		    "as the first took");
}

static void summarize_disks(struct e2pf_decisions *list,
			    const struct e2pf_topology *topo)
{
	const char *doubt = topo->virtual_disk ?
			    "; what is virtual says little" : "";
	char text[64] = "";
	size_t used = 0;
	unsigned i;

	for (i = 0; i < topo->leaves && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%s", used ? "," : "",
					 topo->leaf[i].name);
	if (topo->leaves == 1)
		e2pf_decide(list, "device", text, "one disk, which says that "
			    "it %s%s", topo->spindles ? "rotates" :
						"does not rotate", doubt);
	else
		e2pf_decide(list, "device", *text ? text : "not known",
			    "%u disks, %u of which say that they rotate%s",
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
