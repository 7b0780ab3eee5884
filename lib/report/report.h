/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What is reported of a run: the facts, and the decisions with their reasons.
 * Written as JSON (doc/statistics.md), and for PREFETCH_VERBOSE as lines.
 */
#ifndef E2PF_REPORT_H
#define E2PF_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "device/topology.h"
#include "engine/engine.h"
#include "settings.h"

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
void e2pf_decide_off(struct e2pf_decisions *list, const char *decision,
		     const char *reason);

/* Zeroed: of a run that was left alone.  Whoever knows a fact fills it in. */
struct e2pf_report {
	struct e2pf_decisions decisions;
	const char *device;		/* as the caller named it */
	uint32_t block_size;		/* bytes */
	uint32_t groups;
	const char *io_manager;
	bool newer_than_reviewed;	/* libext2fs */
	const char *const *accelerations;
	size_t acceleration_count;
	uint64_t maps_bytes;		/* what the checker's maps took, at
					   most */
	uint64_t journal_bytes, journal_requests;
	uint64_t list_bytes;		/* memory of the list that the checker
					   gives */
	struct e2pf_topology topo;	/* of all devices together */
	uint64_t budget;		/* bytes; 0: reading did not begin */
	unsigned sharing;		/* processes that share memory */
	const struct e2pf_settings *settings;
	const char *const *stage_names;	/* of the engine's first stages */
	unsigned stages;
	const char *threads;	/* why this number of them; NULL: because of the
				   disks */
	const char *order;	/* of reads, if the device does not seek; NULL
				   without an engine */
	struct e2pf_engine_stats engine;
};

/* Decide nothing, but add what was decided about reading: the memory budget; the
 * number of threads and the order of reads, and what determined them. */
void e2pf_report_memory(struct e2pf_report *r);
void e2pf_report_order(struct e2pf_report *r);

/* Print one line per decision, "PROGRAM: ABOUT: DECISION (REASON)". */
void e2pf_report_print(const struct e2pf_report *r, const char *program,
		       FILE *out);

/* Print in the same way the results: the disks, what was read ahead, how many
 * reads hit it, and how long the checker waited in each stage.  Nothing if
 * nothing was read ahead by an engine. */
void e2pf_report_print_results(const struct e2pf_report *r,
			       const char *program, FILE *out);

/* Write one JSON object and a newline.  Returns 0, or EIO if `out` has an
 * error. */
int e2pf_report_write(const struct e2pf_report *r, FILE *out);

/* Add the counts of a later engine to those of an earlier one. */
void e2pf_stats_add(struct e2pf_engine_stats *to,
		    const struct e2pf_engine_stats *from);

/* The sum over all stages. */
struct e2pf_stage_stats e2pf_stats_stages(const struct e2pf_engine_stats *st);

#endif
