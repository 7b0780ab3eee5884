/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was decided about a run, and why: for the statistics and for
 * PREFETCH_VERBOSE.
 */
#ifndef E2PF_DECISIONS_H
#define E2PF_DECISIONS_H

#include <stddef.h>
#include <stdio.h>

#define E2PF_DECISIONS_MOST 16u

struct e2pf_decision {
	char about[16];
	char decision[64];
	char reason[160];
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

#endif
