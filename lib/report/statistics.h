/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A session's statistics, as JSON (doc/statistics.md). */
#ifndef E2PF_STATISTICS_H
#define E2PF_STATISTICS_H

#include "decisions.h"

/* All input of the statistics.  The pointers' targets are only read. */
struct e2pf_statistics {
	const char *device;		/* as the caller named it */
	uint32_t block_size;		/* bytes */
	uint32_t groups;
	const char *io_manager;
	bool newer_than_reviewed;	/* libext2fs */
	const char *const *accelerations;
	size_t acceleration_count;
	uint64_t maps_bytes;
	const struct e2pf_decisions *decisions;
	const struct e2pf_topology *topo;
	const struct e2pf_engine_stats *engine;
	const char *const *stage_names;	/* of the engine's first stages */
	unsigned stages;
	uint64_t journal_bytes;
	uint64_t journal_requests;
	uint64_t budget;		/* bytes */
	unsigned sharing;		/* number of processes */
};

/* Write one JSON object and a newline.  Returns 0, EIO if `out` has an error,
 * or EXT2_ET_NO_MEMORY. */
errcode_t e2pf_statistics_write(const struct e2pf_statistics *statistics,
				FILE *out);

/* Add the counts of a later engine to those of an earlier one. */
void e2pf_statistics_add(struct e2pf_engine_stats *to,
			 const struct e2pf_engine_stats *from);

/* The sum over all stages. */
struct e2pf_stage_stats
e2pf_statistics_stages(const struct e2pf_engine_stats *stats);

#endif
