/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The engine's counters: the number and time of the checker's reads, stage by stage,
 * and the sums of the other parts.  statistics.h writes them.
 */
#ifndef PREFETCH_STATS_H
#define PREFETCH_STATS_H

#include <stdatomic.h>

#include "engine.h"

/* A small read that took longer than this waited for the device.  From memory
 * 4 KiB take 1 us; the fastest devices need 60 us for a request through the block
 * layer. */
#define PF_STALL_NS 30000u

struct pf_stats {
	/* Any thread reads and writes these without the lock. */
	atomic_uint_fast64_t requests;	/* of the workers */
	/* The checker's read that has not returned: the one that began last, if several
	 * threads read. */
	atomic_uint_fast64_t reading_since;	/* ns; 0: none */
	atomic_uint_fast64_t reading_at;	/* bytes */

	/* These need pf_engine.lock. */
	unsigned stage;
	uint64_t stage_began;
	uint64_t counted_until;		/* the checker's waits up to this time are
					   counted */
	uint64_t bytes, stall_ns;
	struct pf_stage_stats stages[PF_MAX_STAGES];
	/* While the engine is asleep: the reads that stalled, and the number of all
	 * reads at the first of them. */
	unsigned sleep_misses;
	uint64_t sleep_since;
};

/* These need no lock. */

/* A worker makes a request. */
void pf_stats_count_request(struct pf_stats *s);

/* A read begins. */
void pf_stats_begin_read(struct pf_stats *s, struct pf_read *r, uint64_t now);

/* A read has returned after `ns` in all.  Returns true if it stalled, at the gate or
 * for the device. */
bool pf_stats_end_read(struct pf_stats *s, const struct pf_read *r,
		       uint64_t ns);

/* The others need pf_engine.lock. */

/* Reading ahead begins. */
void pf_stats_start(struct pf_stats *s);

/* The checker enters a stage. */
void pf_stats_begin_stage(struct pf_stats *s, unsigned stage, uint64_t now);

/* Count a read that has returned. */
unsigned pf_stats_count_read(struct pf_stats *s, const struct pf_read *r,
			     bool stalled, uint64_t now);

/* Collect the sums of all parts. */
void pf_stats_collect(const struct pf_engine *e, struct pf_engine_stats *stats);

#endif
