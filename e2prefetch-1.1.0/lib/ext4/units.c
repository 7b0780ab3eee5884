/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which groups are read ahead together, and in which order.  Knows
 * where inode tables lie, but not what they contain.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "units.h"

/* A unit of several groups covers at most this many bytes of the device, which
 * a network volume counts as one request.  Larger tables are units of their
 * own, so that each worker can read a different one. */
#define UNIT_BYTES (256u << 10)

/* How many groups of one part of the filesystem are laid out before the next
 * part's turn.  It is the size of mke2fs's flex groups, so that their tables
 * stay together. */
#define STRETCH 16u

static uint64_t table_blocks(const struct e2pf_geometry *geo)
{
	uint64_t bytes = (uint64_t)geo->inodes_per_group * geo->inode_size;

	return (bytes + geo->block_size - 1) / geo->block_size;
}

/* True if the table of `group` directly follows the table of the group before,
 * and ends within the bytes that a unit from `first` on may cover. */
static bool goes_on(const struct e2pf_geometry *geo,
		    const struct e2pf_group *groups, uint32_t first,
		    uint32_t group)
{
	uint64_t start = groups[first].inode_table, blocks = table_blocks(geo);
	uint64_t end = groups[group].inode_table + blocks;

	return start && groups[group].inode_table ==
			groups[group - 1].inode_table + blocks &&
	       (end - start) * geo->block_size <= UNIT_BYTES;
}

static bool is_first_of_scan(const struct e2pf_units *u, uint32_t group)
{
	unsigned i;

	for (i = 0; i < u->scans; i++)
		if (u->scan[i].first == group)
			return true;
	return false;
}

/* The unit that begins with `group` and ends before `end`. */
static struct e2pf_unit unit_from(const struct e2pf_units *u,
				  const struct e2pf_geometry *geo,
				  const struct e2pf_group *groups,
				  uint32_t group, uint32_t end)
{
	struct e2pf_unit unit = { .group = group, .count = 1 };

	while (group + unit.count < end &&
	       !is_first_of_scan(u, group + unit.count) &&
	       goes_on(geo, groups, group, group + unit.count))
		unit.count++;
	return unit;
}

static void put(struct e2pf_units *u, struct e2pf_unit unit)
{
	uint32_t i;

	for (i = 0; i < unit.count; i++)
		u->of_group[unit.group + i] = u->count;
	u->unit[u->count++] = unit;
}

/* Lay out one stretch of each part in turn. */
static void lay_out(struct e2pf_units *u, const struct e2pf_geometry *geo,
		    const struct e2pf_group *groups)
{
	uint32_t next[E2PF_SCANS_MOST + 1] = { 0 }, end[E2PF_SCANS_MOST + 1];
	unsigned parts = 1, i;
	bool more = true;

	/* The groups before the first scan's first group are a part, too. */
	for (i = 0; i < u->scans; i++) {
		if (!u->scan[i].first)
			continue;
		end[parts - 1] = u->scan[i].first;
		next[parts++] = u->scan[i].first;
	}
	end[parts - 1] = geo->groups;
	while (more) {
		more = false;
		for (i = 0; i < parts; i++) {
			uint32_t from = next[i];

			while (next[i] < end[i] &&
			       (parts == 1 || next[i] - from < STRETCH)) {
				put(u, unit_from(u, geo, groups, next[i],
						 end[i]));
				next[i] += u->unit[u->count - 1].count;
			}
			more |= next[i] < end[i];
		}
	}
}

void e2pf_units_set(struct e2pf_units *u, const struct e2pf_geometry *geo,
		    const struct e2pf_group *groups)
{
	e2pf_units_free(u);
	u->count = u->groups = geo->groups;
	u->unit = calloc(geo->groups, sizeof(*u->unit));
	u->of_group = calloc(geo->groups, sizeof(*u->of_group));
	if (!u->unit || !u->of_group) {
		e2pf_units_free(u);
		return;
	}
	u->count = 0;
	lay_out(u, geo, groups);
}

void e2pf_units_free(struct e2pf_units *u)
{
	free(u->unit);
	free(u->of_group);
	u->unit = NULL;
	u->of_group = NULL;
}

struct e2pf_unit e2pf_units_get(const struct e2pf_units *u, uint64_t unit)
{
	if (u->unit)
		return u->unit[unit];
	return (struct e2pf_unit) { .group = (uint32_t)unit, .count = 1 };
}

uint32_t e2pf_units_of_group(const struct e2pf_units *u, uint32_t group)
{
	if (group >= u->groups)
		return u->count;
	return u->of_group ? u->of_group[group] : group;
}

bool e2pf_units_add_scan(struct e2pf_units *u, uint32_t group)
{
	unsigned i = u->scans;

	if (is_first_of_scan(u, group) || u->scans == E2PF_SCANS_MOST)
		return false;
	for (; i && u->scan[i - 1].first > group; i--)
		u->scan[i] = u->scan[i - 1];
	u->scan[i] = (struct e2pf_scan) { .first = group, .at = group };
	u->scans++;
	return true;
}

void e2pf_units_forget_scans(struct e2pf_units *u)
{
	u->scans = 0;
}

static struct e2pf_scan *scan_of(struct e2pf_units *u, uint32_t group)
{
	unsigned i = u->scans;

	while (i && u->scan[i - 1].first > group)
		i--;
	return i ? &u->scan[i - 1] : NULL;
}

static uint32_t passed_by_all(const struct e2pf_units *u)
{
	uint32_t least = u->count;
	unsigned i;

	for (i = 0; i < u->scans; i++)
		if (!u->scan[i].ended &&
		    e2pf_units_of_group(u, u->scan[i].at) < least)
			least = e2pf_units_of_group(u, u->scan[i].at);
	return least;
}

uint32_t e2pf_units_scan_at(struct e2pf_units *u, uint32_t group)
{
	struct e2pf_scan *scan = scan_of(u, group);

	if (scan)
		scan->at = group;
	return passed_by_all(u);
}

uint32_t e2pf_units_scan_ended(struct e2pf_units *u, uint32_t group)
{
	struct e2pf_scan *scan = scan_of(u, group);

	if (scan)
		scan->ended = true;
	return passed_by_all(u);
}
