/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The statistics of a session, as JSON (doc/statistics.md).
 */
#ifndef E2PF_STATISTICS_H
#define E2PF_STATISTICS_H

#include <stdio.h>

#include "decisions.h"
#include "device/topology.h"
#include "e2prefetch.h"
#include "engine/engine.h"

/* All that is written; what is pointed to is only read. */
struct e2pf_statistics {
	const char *device;		/* as it was named */
	uint32_t block_size;		/* bytes */
	uint32_t groups;
	const char *io_manager;
	const char *const *accelerations;
	size_t acceleration_count;
	const struct e2pf_decisions *decisions;
	const struct e2pf_topology *topo;
	const struct e2pf_engine_stats *engine;
	const char *const *stage_names;	/* of the engine's first stages */
	unsigned stages;
	uint64_t journal_bytes;
	uint64_t journal_requests;
	uint64_t budget;		/* bytes */
	unsigned sharing;		/* checks */
};

/* Write one JSON object and a newline.  Returns 0, EIO when `out` has an
 * error, or EXT2_ET_NO_MEMORY. */
errcode_t e2pf_statistics_write(const struct e2pf_statistics *statistics,
				FILE *out);

/* Add to `list` how much memory may be used: `budget` bytes, set by the user or
 * shared with other checks. */
void e2pf_statistics_memory(struct e2pf_decisions *list, uint64_t budget,
			    bool by_user, unsigned sharing);

/* Add the limits that are set, if any. */
void e2pf_statistics_limits(struct e2pf_decisions *list,
			    const struct e2pf_settings *settings,
			    unsigned sharing);

/* Add how many threads read.  `by_user`: that was set. */
void e2pf_statistics_threads(struct e2pf_decisions *list,
			     const struct e2pf_engine_stats *st, bool by_user);

/* Add what made the order so that these words say. */
/* How many requests, and which gaps: of a check that has not begun. */
void e2pf_statistics_requests(struct e2pf_decisions *list,
			      const struct e2pf_measured *measured);
void e2pf_statistics_order(struct e2pf_decisions *list, const char *order,
			   const struct e2pf_engine_stats *st,
			   unsigned spindles);

/* Add what a later engine counted to what an earlier one did. */
void e2pf_statistics_add(struct e2pf_engine_stats *to,
			 const struct e2pf_engine_stats *from);

#endif
