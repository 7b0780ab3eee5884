/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decisions about a run and the reasons for them, for the statistics and
 * PREFETCH_VERBOSE; and the results of the run, for PREFETCH_VERBOSE.
 */
#ifndef E2PF_DECISIONS_H
#define E2PF_DECISIONS_H

#include <stdbool.h>
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

/* In the order in which they were made.  Zeroed, the list is empty. */
struct e2pf_decisions {
	struct e2pf_decision item[E2PF_DECISIONS_MOST];
	size_t count;
	/* For whoever decides by them; the items are for people. */
	bool off;		/* nothing was read ahead, */
	char why_off[320];	/* for this reason */
};

/* Add a decision.  Text that is too long is cut off, and a decision for which
 * the list has no room is left out.  `reason` is a printf format for the
 * arguments that follow. */
__attribute__((format(printf, 4, 5)))
void e2pf_decide(struct e2pf_decisions *list, const char *about,
		 const char *decision, const char *reason, ...);

/* Add that nothing is read ahead ("off", "asleep"), and why: the first reason
 * counts. */
__attribute__((format(printf, 3, 4)))
void e2pf_decide_off(struct e2pf_decisions *list, const char *decision,
		     const char *reason, ...);

/* Print one line per decision, "PROGRAM: ABOUT: DECISION (REASON)". */
void e2pf_decisions_print(const struct e2pf_decisions *list,
			  const char *program, FILE *out);

/* What was decided about reading. */
struct e2pf_reading {
	const struct e2pf_settings *settings;
	const struct e2pf_engine_stats *stats;
	uint64_t budget;	/* bytes */
	unsigned sharing;	/* processes that share memory and limits */
	unsigned spindles;
	const char *threads;	/* why there are so many; NULL: because of the
				   disks */
	const char *order;	/* if it is not block order; NULL: neither */
};

/* Add the memory budget, and the limits per second, if any are set. */
void e2pf_decide_limits(struct e2pf_decisions *list,
			const struct e2pf_reading *r);

/* Add the number of threads and the order of reads, and what determined
 * them. */
void e2pf_decide_order(struct e2pf_decisions *list,
		       const struct e2pf_reading *r);

/* Add the disks, what was read ahead, how many reads hit it, and how long the
 * checker waited in each of these stages. */
void e2pf_summarize(struct e2pf_decisions *list,
		    const struct e2pf_engine_stats *st,
		    const struct e2pf_topology *topo,
		    const char *const *names, unsigned stages);

#endif
