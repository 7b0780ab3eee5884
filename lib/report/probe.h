/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A device, the metadata that a check would read from it, and the time that is
 * likely to take. */
#ifndef E2PF_PROBE_H
#define E2PF_PROBE_H

#include "device/probe.h"
#include "e2prefetch.h"
#include "estimate.h"
#include "report.h"

struct e2pf_probe {
	struct e2pf_class_plan plan[E2PF_CLASSES];
	struct e2pf_report report;	/* of a check: its disks, decisions,
					   block size and groups */
	uint32_t groups_sampled;	/* if fewer than `groups`, scaled up */
	uint64_t inodes;	/* in use */
	struct e2pf_speed speed;	/* has_head: a check would read in block
					   order, measured or not */
	struct e2pf_estimate stock, prefetch;	/* of a check */
	bool measured;		/* false: the other figures of `speed`, and the
				   estimates, are 0 */
	const char *unmeasured;	/* why nothing could be measured; NULL if it
				   was */
};

#endif
