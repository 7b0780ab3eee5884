/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One sweep over a batch of metadata, level by level.
 *
 * Decides the order within a batch and what is merged.  Does not know of
 * budgets, of the checker or of other sweeps: its owner is asked before each
 * run and can end it.
 *
 * Memory is bounded: a level that is full is swept, with all below it,
 * before the one above goes on.  Time is bounded, on hostile trees too: what
 * was referred to twice within a level is read once, the depth of what is
 * parsed falls with each level, and the number of tree blocks parsed has an
 * upper limit no sound filesystem comes near.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdlib.h>
#include <string.h>

#include "elevator.h"

/* Inode tables are parsed in pieces of this size: two requests of a disk's
 * usual read-ahead, small enough for the L2 cache. */
#define TABLE_PIECE (256u << 10)

/* What is found by parsing; without any of it wanted, nothing is parsed. */
#define TREE_CLASSES (E2PF_ALL_CLASSES & ~(1u << E2PF_DESCRIPTORS | \
		      1u << E2PF_BITMAPS | 1u << E2PF_INODES))

static void sweep_level(struct e2pf_sweep *s, unsigned number);

void e2pf_sweep_init(struct e2pf_sweep *s)
{
	memset(s->level, 0, sizeof(s->level));
	s->filling = 0;
	s->group = NULL;
	s->groups_used = 0;
	s->groups_room = 0;
	s->next_table = 0;
	s->ended = false;
}

void e2pf_sweep_fini(struct e2pf_sweep *s)
{
	unsigned i;

	for (i = 0; i < E2PF_SWEEP_LEVELS; i++) {
		free(s->level[i].ref);
		free(s->level[i].buf);
	}
	free(s->group);
	e2pf_sweep_init(s);
}

static bool grow(const struct e2pf_sweep *s, struct e2pf_level *l)
{
	size_t room = l->room ? l->room * 2 : 256;
	struct e2pf_ref *ref;

	if (l != s->level && room > s->level_cap)
		room = s->level_cap;
	if (room <= l->used)
		return false;
	ref = realloc(l->ref, room * sizeof(*ref));
	if (!ref)
		return false;
	l->ref = ref;
	l->room = room;
	return true;
}

void e2pf_sweep_add(void *ctx, const struct e2pf_ref *ref)
{
	struct e2pf_sweep *s = ctx;
	unsigned filling = s->filling, number = filling;
	struct e2pf_level *l;

	if (s->ended || number >= E2PF_SWEEP_LEVELS ||
	    (ref->parse == E2PF_LEAF && !(s->classes & 1u << ref->cls)))
		return;
	if (ref->parse == E2PF_LEAF && (s->put_off & 1u << ref->cls)) {
		s->ops->put_off(s->ctx, ref);
		return;
	}
	if (s->leaves_last && filling && ref->parse == E2PF_LEAF)
		number = E2PF_SWEEP_LEAVES;
	l = &s->level[number];
	if (l->used == l->room && !grow(s, l)) {
		if (!number)
			return;
		sweep_level(s, number);
		s->filling = filling;
		if (l->used == l->room)
			return;
	}
	l->ref[l->used++] = *ref;
}

bool e2pf_sweep_add_group(struct e2pf_sweep *s, uint32_t group)
{
	if (s->groups_used == s->groups_room) {
		size_t room = s->groups_room ? s->groups_room * 2 : 64;
		uint32_t *more = realloc(s->group, room * sizeof(*more));

		if (!more)
			return false;
		s->group = more;
		s->groups_room = room;
	}
	s->group[s->groups_used++] = group;
	e2pf_plan_group(s->geo, &s->groups[group], e2pf_sweep_add, s);
	return true;
}

static int by_block(const void *a, const void *b)
{
	const struct e2pf_ref *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return memcmp(&x->count, &y->count,
		      sizeof(*x) - offsetof(struct e2pf_ref, count));
}

/* Sort, and drop what is there twice. */
static void sort_level(struct e2pf_level *l)
{
	size_t i, n = 0;

	if (l->used < 2)
		return;
	qsort(l->ref, l->used, sizeof(*l->ref), by_block);
	for (i = 1; i < l->used; i++)
		if (memcmp(&l->ref[n], &l->ref[i], sizeof(*l->ref)))
			l->ref[++n] = l->ref[i];
	l->used = n + 1;
}

/* The run that begins with ref `i`: all that follow with no more than the
 * gap between them.  Returns the index behind it. */
static size_t run_end(const struct e2pf_sweep *s, const struct e2pf_level *l,
		      size_t i)
{
	uint64_t end = l->ref[i].block + l->ref[i].count;

	for (i++; i < l->used && l->ref[i].block <= end + s->gap; i++)
		if (l->ref[i].block + l->ref[i].count > end)
			end = l->ref[i].block + l->ref[i].count;
	return i;
}

static int read_timed(struct e2pf_sweep *s, void *buf, uint64_t offset,
		      uint32_t len, uint64_t *waited)
{
	uint64_t began = s->dev->ops->now(s->dev);
	int err = s->dev->ops->read(s->dev, buf, offset, len);

	*waited = s->dev->ops->now(s->dev) - began;
	return err;
}

static void parse_table(struct e2pf_sweep *s, struct e2pf_level *l,
			uint32_t group)
{
	const struct e2pf_group *g = &s->groups[group];
	uint64_t off = g->inode_table * s->geo->block_size;
	uint32_t size = s->geo->inode_size, left = g->inodes_in_use;
	uint32_t ino = group * s->geo->inodes_per_group + 1;

	while (left && !s->ended) {
		uint32_t n = TABLE_PIECE / size;
		uint64_t waited;
		int err;

		if (n > left)
			n = left;
		err = read_timed(s, l->buf, off, n * size, &waited);
		if (!s->ops->arrived(s->ctx, err, waited))
			s->ended = true;
		else if (!err)
			e2pf_plan_inodes(s->geo, s->groups, ino, l->buf,
					 (size_t)n * size, e2pf_sweep_add, s);
		ino += n;
		off += (uint64_t)n * size;
		left -= n;
	}
}

/* All groups of the batch whose table begins at this block. */
static void parse_tables_at(struct e2pf_sweep *s, struct e2pf_level *l,
			    uint64_t block)
{
	size_t i;

	for (i = s->next_table; i < s->groups_used; i++) {
		uint64_t table = s->groups[s->group[i]].inode_table;

		if (table > block)
			break;
		if (table == block)
			parse_table(s, l, s->group[i]);
	}
	s->next_table = i;
}

static void parse_tree_blocks(struct e2pf_sweep *s, struct e2pf_level *l,
			      const struct e2pf_ref *run)
{
	uint32_t size = s->geo->block_size, i;
	struct e2pf_ref ref = *run;
	uint64_t waited;
	int err;

	ref.count = 1;
	for (i = 0; i < run->count && s->parse_left && !s->ended; i++) {
		s->parse_left--;
		err = read_timed(s, l->buf, ref.block * size, size, &waited);
		if (!s->ops->arrived(s->ctx, err, waited))
			s->ended = true;
		else if (!err)
			e2pf_plan_block(s->geo, s->groups, &ref, l->buf,
					e2pf_sweep_add, s);
		ref.block++;
	}
}

static bool have_buffer(struct e2pf_sweep *s, unsigned number)
{
	struct e2pf_level *l = &s->level[number];
	size_t size = s->geo->block_size;

	if (!number && size < TABLE_PIECE)
		size = TABLE_PIECE;
	if (!l->buf)
		l->buf = malloc(size);
	return l->buf;
}

static uint64_t bytes_of(const struct e2pf_sweep *s, const struct e2pf_level *l,
			 size_t from, size_t to)
{
	uint64_t blocks = 0;

	for (; from < to; from++)
		blocks += l->ref[from].count;
	return blocks * s->geo->block_size;
}

/* Issue runs while less than the limit is issued and not yet passed. */
static size_t issue_more(struct e2pf_sweep *s, const struct e2pf_level *l,
			 size_t issued, uint64_t *ahead)
{
	while (issued < l->used && *ahead < s->issue_ahead && !s->ended) {
		size_t end = run_end(s, l, issued);

		if (!s->ops->issue(s->ctx, &l->ref[issued], end - issued))
			s->ended = true;
		*ahead += bytes_of(s, l, issued, end);
		issued = end;
	}
	return issued;
}

/* Sweep one level and, from what it refers to, all below it. */
static void sweep_level(struct e2pf_sweep *s, unsigned number)
{
	struct e2pf_level *l = &s->level[number];
	size_t issued = 0, i;
	uint64_t ahead = 0;

	sort_level(l);
	s->filling = number + 1;
	for (i = 0; i < l->used && !s->ended; i++) {
		const struct e2pf_ref *ref = &l->ref[i];

		issued = issue_more(s, l, issued, &ahead);
		ahead -= bytes_of(s, l, i, i + 1);
		if (ref->parse == E2PF_LEAF || !(s->classes & TREE_CLASSES) ||
		    !have_buffer(s, number))
			continue;
		if (ref->parse == E2PF_INODE_TABLE)
			parse_tables_at(s, l, ref->block);
		else
			parse_tree_blocks(s, l, ref);
	}
	l->used = 0;
	s->filling = number + 1;
	if (!s->ended && number + 1 < E2PF_SWEEP_LEVELS &&
	    s->level[number + 1].used)
		sweep_level(s, number + 1);
}

static int by_table(const void *a, const void *b, void *ctx)
{
	const struct e2pf_group *groups = ctx;
	uint64_t x = groups[*(const uint32_t *)a].inode_table;
	uint64_t y = groups[*(const uint32_t *)b].inode_table;

	return x < y ? -1 : x > y;
}

void e2pf_sweep_run(struct e2pf_sweep *s)
{
	unsigned i;

	if (s->groups_used)
		qsort_r(s->group, s->groups_used, sizeof(*s->group),
			by_table, (void *)s->groups);
	s->next_table = 0;
	sweep_level(s, 0);
	if (!s->ended)
		sweep_level(s, E2PF_SWEEP_LEAVES);
	for (i = 0; i < E2PF_SWEEP_LEVELS; i++)
		s->level[i].used = 0;
	s->groups_used = 0;
	s->filling = 0;
	s->ended = false;
}
