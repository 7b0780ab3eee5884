/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long a check is likely to take, stock and with reading ahead, from what
 * there is to read and what the device was measured to do.
 */
#ifndef E2PF_ESTIMATE_H
#define E2PF_ESTIMATE_H

#include <stdbool.h>

#include "e2prefetch.h"

/* What it is made from. */
struct e2pf_facts {
	struct e2pf_class_plan plan[E2PF_CLASSES];
	uint32_t block_size;		/* bytes */
	uint64_t inodes;		/* in use */
	bool has_head;
	unsigned heads;			/* that move on their own, 1 at least */
	bool measured;			/* the following three */
	double latency;			/* of a request by itself, s */
	double several;			/* of each of eight at once, s */
	double bytes_per_second;	/* in a row */
};

/* Seconds: from the least to the most, and what is expected. */
struct e2pf_range {
	double low, high, expected;
};

/* What a check by itself, and one with reading ahead, would take; where the
 * device was not measured, because it was in memory, what they compute.
 * Pure. */
void e2pf_estimate_check(const struct e2pf_facts *facts,
			 struct e2pf_range *stock,
			 struct e2pf_range *prefetch);

#endif
