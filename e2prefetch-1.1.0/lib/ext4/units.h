/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The units in which inode tables are read ahead, and their order.
 *
 * A unit is a group, or several groups whose tables are small and adjacent:
 * workers divide the work by units, and adjacent tables should be one request.
 * The order is the one in which the checker reads.  That is the order of the
 * groups; or, if several scans read parts of the filesystem at the same time,
 * one stretch of each part in turn.
 *
 * None of these functions is thread-safe.
 */
#ifndef E2PF_UNITS_H
#define E2PF_UNITS_H

#include <stdbool.h>

#include "plan.h"

/* The number of simultaneous scans that are distinguished; a scan beyond it
 * counts as part of another. */
#define E2PF_SCANS_MOST 64u

struct e2pf_unit {
	uint32_t group;			/* the first one */
	uint32_t count;			/* number of groups */
};

struct e2pf_scan {
	uint32_t first;			/* the group where it begins */
	uint32_t at;			/* the group it has reached */
	bool ended;
};

struct e2pf_units {
	struct e2pf_unit *unit;		/* in order; NULL: each group is one */
	uint32_t *of_group;		/* the unit of each group */
	uint32_t count;
	uint32_t groups;
	/* Sorted by first group.  If there are none: one scan, of all
	 * groups. */
	struct e2pf_scan scan[E2PF_SCANS_MOST];
	unsigned scans;
};

/* Lay out units for these groups and the current scans.  If memory runs out,
 * each group is a unit, in the order of the groups. */
void e2pf_units_set(struct e2pf_units *u, const struct e2pf_geometry *geo,
		    const struct e2pf_group *groups);
void e2pf_units_free(struct e2pf_units *u);

struct e2pf_unit e2pf_units_get(const struct e2pf_units *u, uint64_t unit);
/* The unit of a group.  For a group that the filesystem does not have, the
 * number after the last unit. */
uint32_t e2pf_units_of_group(const struct e2pf_units *u, uint32_t group);

/* A scan begins at this group.  Returns false if another scan began there, or
 * if there are too many.  The units do not change before e2pf_units_set(). */
bool e2pf_units_add_scan(struct e2pf_units *u, uint32_t group);
void e2pf_units_forget_scans(struct e2pf_units *u);

/* The scan whose part contains this group has reached it, or has ended.
 * Returns the first unit that some scan has not passed yet. */
uint32_t e2pf_units_scan_at(struct e2pf_units *u, uint32_t group);
uint32_t e2pf_units_scan_ended(struct e2pf_units *u, uint32_t group);

#endif
