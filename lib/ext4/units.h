/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The units in which inode tables are read ahead, and their order.
 *
 * A unit is a group, or several whose tables lie side by side and are small:
 * workers share out units, and what lies side by side is to be one request.
 * The order is that of the checker: that of the groups; or, where several scans
 * go through parts of the filesystem at the same time, a stretch of each part
 * in turn.
 *
 * Nothing here is safe in several threads.
 */
#ifndef E2PF_UNITS_H
#define E2PF_UNITS_H

#include <stdbool.h>

#include "plan.h"

/* Scans at the same time that are told apart; more are as if one. */
#define E2PF_SCANS_MOST 64u

struct e2pf_unit {
	uint32_t group;			/* the first */
	uint32_t count;			/* of groups */
};

struct e2pf_scan {
	uint32_t first;			/* group that it begins with */
	uint32_t at;			/* that it has come to */
	bool ended;
};

struct e2pf_units {
	struct e2pf_unit *unit;		/* in order; NULL: each group is one */
	uint32_t *of_group;		/* the unit that a group is in */
	uint32_t count;
	uint32_t groups;
	/* By their first groups, ascending.  None: one scan, of all groups. */
	struct e2pf_scan scan[E2PF_SCANS_MOST];
	unsigned scans;
};

/* Lay out units for these groups and the scans there are.  Without memory each
 * group is one, in their order. */
void e2pf_units_set(struct e2pf_units *u, const struct e2pf_geometry *geo,
		    const struct e2pf_group *groups);
void e2pf_units_free(struct e2pf_units *u);

struct e2pf_unit e2pf_units_get(const struct e2pf_units *u, uint64_t unit);
/* Of a group that is not in the filesystem: behind the last unit. */
uint32_t e2pf_units_of_group(const struct e2pf_units *u, uint32_t group);

/* A scan begins at this group.  False where there is one that began there, or
 * too many; the units are as they were until e2pf_units_set(). */
bool e2pf_units_add_scan(struct e2pf_units *u, uint32_t group);
void e2pf_units_forget_scans(struct e2pf_units *u);

/* The scan that this group is in the part of has come to it, or has ended.
 * Returns the first unit that not all of them have passed. */
uint32_t e2pf_units_scan_at(struct e2pf_units *u, uint32_t group);
uint32_t e2pf_units_scan_ended(struct e2pf_units *u, uint32_t group);

#endif
