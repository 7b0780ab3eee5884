/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was decided about a run, and why, for the statistics and for
 * PREFETCH_VERBOSE; and what the run came to, for PREFETCH_VERBOSE.
 */
#ifndef E2PF_DECISIONS_H
#define E2PF_DECISIONS_H

#include <stddef.h>
#include <stdio.h>

#include "device/topology.h"
#include "e2prefetch.h"
#include "engine/engine.h"

#define E2PF_DECISIONS_MOST 16u

struct e2pf_decision {
	char about[16];
	char decision[64];
	char reason[320];
};

/* In the order they were taken.  Zeroed: none. */
struct e2pf_decisions {
	struct e2pf_decision item[E2PF_DECISIONS_MOST];
	size_t count;
};

/* Add one; what is longer than its place is cut off, and what is more than
 * there is room for is left out.  `reason` is a format for what follows. */
__attribute__((format(printf, 4, 5)))
void e2pf_decide(struct e2pf_decisions *list, const char *about,
		 const char *decision, const char *reason, ...);

/* A line each, "PROGRAM: ABOUT: DECISION (REASON)". */
void e2pf_decisions_print(const struct e2pf_decisions *list,
			  const char *program, FILE *out);

/* Memory that may be used: `budget` bytes, set by the user or shared by so
 * many processes. */
void e2pf_decide_memory(struct e2pf_decisions *list, uint64_t budget,
			bool by_user, unsigned sharing);

/* The limits of a second, if any are set. */
void e2pf_decide_limits(struct e2pf_decisions *list,
			const struct e2pf_settings *settings,
			unsigned sharing);

/* How many threads read.  `by_user`: that was set.  `reason`: what it follows
 * from otherwise, NULL: disks and processors. */
void e2pf_decide_threads(struct e2pf_decisions *list,
			 const struct e2pf_engine_stats *st, bool by_user,
			 const char *reason);

/* The order of reads, in these words, and what made it so. */
void e2pf_decide_order(struct e2pf_decisions *list, const char *order,
		       const struct e2pf_engine_stats *st, unsigned spindles);

/* Requests in flight and gaps read through, of a check that has not begun. */
void e2pf_decide_requests(struct e2pf_decisions *list,
			  const struct e2pf_measured *measured);

/* Which disks there are, what was read ahead, how many reads met it, and how
 * long the checker waited in each of these stages. */
void e2pf_summarize(struct e2pf_decisions *list,
		    const struct e2pf_engine_stats *st,
		    const struct e2pf_topology *topo,
		    const char *const *names, unsigned stages);

#endif
