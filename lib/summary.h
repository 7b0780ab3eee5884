/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a run has come to, for people: lines for PREFETCH_VERBOSE.
 */
#ifndef E2PF_SUMMARY_H
#define E2PF_SUMMARY_H

#include "decisions.h"
#include "device/topology.h"
#include "engine/engine.h"

/* What a checker would have waited without reading ahead, seconds. */
struct e2pf_estimate {
	double low, high;
	double latency;		/* of one request, which it is made from */
	bool probed;		/* that was measured for the purpose; else it
				   is the mean of the checker's first reads */
};

/* False when nothing is known of how long a request takes. */
bool e2pf_estimate_alone(const struct e2pf_engine_stats *st,
			 struct e2pf_estimate *estimate);

/* Add to `list` which disks there are, what was read ahead, how many reads met
 * it, and how long the checker waited.  `names` are those of the first
 * `stages` stages. */
void e2pf_summarize(struct e2pf_decisions *list,
		    const struct e2pf_engine_stats *st,
		    const struct e2pf_topology *topo,
		    const char *const *names, unsigned stages);

/* Add what the checker would have waited. */
void e2pf_summarize_alone(struct e2pf_decisions *list,
			  const struct e2pf_engine_stats *st);

#endif
