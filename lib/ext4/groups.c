/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Groups are kept in parts of PART, as many as mke2fs puts into a flex group.  Each
 * number of a descriptor is a column of the part: a line (the first value, and
 * what is added from group to group), or PART values in a pool, as differences to
 * the least of them in as few halfwords as they need.  A zero means that there is
 * none, and is no part of what is usual: it is kept as a difference of 0, others
 * are one more.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "plan.h"

#define PART 16u
#define COLUMNS 5u

struct column {
	uint64_t first;		/* value; or the least that is not 0 */
	uint32_t step;		/* of a line; or halfwords for each value */
	uint32_t at;		/* in the pool, plus 1; 0: a line */
};

struct e2pf_groups {
	uint64_t parts;
	uint16_t *pool;
	size_t used, room;		/* halfwords */
	struct column column[];		/* COLUMNS for each part */
};

static void spread(const struct e2pf_group *g, uint64_t value[COLUMNS])
{
	value[0] = g->inode_table;
	value[1] = g->block_bitmap;
	value[2] = g->inode_bitmap;
	value[3] = g->inodes_in_use;
	value[4] = g->inodes_allocated;
}

/* Lines may go down: a step is added modulo 2^32 below, and is sign-extended. */
static uint64_t on_line(const struct column *c, unsigned i)
{
	return c->first + (uint64_t)((int64_t)(int32_t)c->step * (int64_t)i);
}

static bool is_line(struct column *c, const uint64_t value[PART])
{
	unsigned i;

	*c = (struct column){ value[0], (uint32_t)(value[1] - value[0]), 0 };
	for (i = 1; i < PART; i++)
		if (on_line(c, i) != value[i])
			return false;
	return true;
}

static bool have_room(struct e2pf_groups *g, size_t more)
{
	size_t room = g->room + g->room / 8 + 4096;
	void *grown;

	if (g->used + more <= g->room)
		return true;
	grown = g->used + more < UINT32_MAX ?
		realloc(g->pool, room * sizeof(*g->pool)) : NULL;
	if (!grown)
		return false;
	g->pool = grown;
	g->room = room;
	return true;
}

/* Keep the values in the pool. */
static bool keep(struct e2pf_groups *g, struct column *c,
		 const uint64_t value[PART])
{
	uint64_t least = UINT64_MAX, most = 0, kept;
	unsigned i, j;

	for (i = 0; i < PART; i++)
		if (value[i]) {
			least = value[i] < least ? value[i] : least;
			most = value[i] > most ? value[i] : most;
		}
	c->first = least;
	c->step = 1;
	while (c->step < 4 && (most - least + 1) >> (16 * c->step))
		c->step++;
	if (!have_room(g, (size_t)PART * c->step))
		return false;
	c->at = (uint32_t)g->used + 1;
	for (i = 0; i < PART; i++) {
		kept = value[i] ? value[i] - least + 1 : 0;
		for (j = 0; j < c->step; j++)
			g->pool[g->used++] = (uint16_t)(kept >> (16 * j));
	}
	return true;
}

static uint64_t get(const struct e2pf_groups *g, const struct column *c,
		    unsigned i)
{
	const uint16_t *half;
	uint64_t kept = 0;
	unsigned j;

	if (!c->at)
		return on_line(c, i);
	half = g->pool + c->at - 1 + (size_t)i * c->step;
	for (j = 0; j < c->step; j++)
		kept |= (uint64_t)half[j] << (16 * j);
	return kept ? c->first + kept - 1 : 0;
}

void e2pf_groups_get(const struct e2pf_groups *groups, uint32_t number,
		     struct e2pf_group *group)
{
	const struct column *c = groups->column +
				 (size_t)(number / PART) * COLUMNS;
	unsigned i = number % PART;

	group->inode_table = get(groups, c, i);
	group->block_bitmap = get(groups, c + 1, i);
	group->inode_bitmap = get(groups, c + 2, i);
	group->inodes_in_use = (uint32_t)get(groups, c + 3, i);
	group->inodes_allocated = (uint32_t)get(groups, c + 4, i);
}

uint64_t e2pf_groups_bytes(const struct e2pf_groups *groups)
{
	return sizeof(*groups) +
	       groups->parts * COLUMNS * sizeof(struct column) +
	       groups->room * sizeof(*groups->pool);
}

/* The values of a part.  Groups after the last one continue what the last two
 * begin, so that they do not end a line. */
static void take_part(uint64_t value[COLUMNS][PART], uint32_t first,
		      uint32_t count,
		      void (*tell)(void *ctx, uint32_t number,
				   struct e2pf_group *group), void *ctx)
{
	uint64_t one[COLUMNS];
	struct e2pf_group group;
	unsigned i, j;

	for (i = 0; i < PART; i++) {
		memset(&group, 0, sizeof(group));
		if (first + i < count)
			tell(ctx, first + i, &group);
		spread(&group, one);
		for (j = 0; j < COLUMNS; j++)
			value[j][i] = first + i < count ? one[j] :
				      i < 2 ? value[j][0] :
				      2 * value[j][i - 1] - value[j][i - 2];
	}
}

void e2pf_groups_free(struct e2pf_groups *groups)
{
	if (groups)
		free(groups->pool);
	free(groups);
}

struct e2pf_groups *e2pf_groups_new(uint32_t count,
				    void (*tell)(void *ctx, uint32_t number,
						 struct e2pf_group *group),
				    void *ctx)
{
	uint64_t parts = ((uint64_t)count + PART - 1) / PART, p;
	struct e2pf_groups *g = calloc(1, sizeof(*g) + parts * COLUMNS *
					  sizeof(struct column));
	uint64_t value[COLUMNS][PART] = { { 0 } };
	struct column *c;
	unsigned j;

	if (!g)
		return NULL;
	g->parts = parts;
	for (p = 0; p < parts; p++) {
		take_part(value, (uint32_t)(p * PART), count, tell, ctx);
		for (j = 0; j < COLUMNS; j++) {
			c = &g->column[p * COLUMNS + j];
			if (!is_line(c, value[j]) && !keep(g, c, value[j])) {
				e2pf_groups_free(g);
				return NULL;
			}
		}
	}
	return g;
}
