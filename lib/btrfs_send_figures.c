/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What reading ahead of sends has decided and done, in words and as JSON. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "btrfs_send.h"
#include "statistics.h"

enum send_stage { STAGE_SEND, STAGES };

static const char *const stage_names[STAGES] = { "send" };

typedef unsigned long long big;

void e2pf_send_describe(const struct e2pf_send_figures *f,
			bool threads_by_user, bool memory_by_user,
			struct e2pf_decisions *list)
{
	char text[64];

	if (!f->sends)
		return;
	snprintf(text, sizeof(text), "%llu changed leaves", (big)f->changed);
	e2pf_decide(list, "filter", text, "the parent's tree %llu has "
		    "generation %llu", (big)f->parent, (big)f->generation);
	snprintf(text, sizeof(text), "%llu leaves, %llu pieces of data",
		 (big)f->leaves, (big)f->pieces);
	e2pf_decide(list, "reads", text, "with what the changed leaves are "
		    "compared with and lead to");
	if (f->resident) {
		snprintf(text, sizeof(text), "%llu left out", (big)f->resident);
		e2pf_decide(list, "reads", text, "samples of them were in "
			    "memory");
	}
	e2pf_statistics_memory(list, f->budget, memory_by_user, f->sharing);
	snprintf(text, sizeof(text), "%u", f->threads);
	e2pf_decide(list, "threads", text, "%s", threads_by_user ?
		    "PREFETCH_THREADS" :
		    "a request each, for the device to choose among");
	if (f->early)
		e2pf_decide(list, "prefetch", "ended early",
			    "the send ended before all was read");
	if (f->errors || f->unread)
		e2pf_decide(list, "errors", "counted", "%llu reads failed, "
			    "%llu nodes were others", (big)f->errors,
			    (big)f->unread);
}

int e2pf_send_write_stats(const struct e2pf_send_figures *f, const char *name,
			  const struct e2pf_decisions *decisions, FILE *out)
{
	struct e2pf_engine_stats st = {
		.threads = f->threads,
		.planned_bytes = f->planned,
		.prefetched_bytes = f->bytes,
		.prefetched_requests = f->requests,
		.peak_lookahead_bytes = f->peak,
		.errors = f->errors
	};
	struct e2pf_statistics statistics = {
		.device = name,
		.block_size = f->nodesize,
		.io_manager = "btrfs",
		.decisions = decisions,
		.topo = &f->topo,
		.engine = &st,
		.stage_names = stage_names,
		.stages = STAGES,
		.budget = f->budget,
		.sharing = f->sharing
	};

	st.stage[STAGE_SEND].ns = f->ns;
	return (int)e2pf_statistics_write(&statistics, out);
}
