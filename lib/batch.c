/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches: what a lane takes next, and what follows when no lane finds more.
 * Called with the engine's lock held, but for e2pf_fill_batch().
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

/* Table bytes a lane on flash takes at once: it begins with one group, so as
 * to be ahead of the checker at once, and doubles up to this.  16 MiB are
 * eight full tables of the default layout, a flex group for two lanes. */
#define FLASH_BATCH (16u << 20)
#define LEAST_BATCH (256u << 10)

/* And in block order: some seconds of a disk's time, after which a checker
 * that waited for the sweep has work again. */
#define SWEEP_BATCH (512u << 20)

/* Blocks a lane takes at once of what was put off. */
#define LATER_BATCH 2048u

/* Groups whose bitmaps a lane takes at once: those of a flex group lie side by
 * side, and lanes that share them out one by one make a request of each. */
#define BITMAP_GROUPS 512u

/* Directory list entries of one flash batch. */
#define LIST_BATCH 512u

/* Units are striped over the lanes: lane T of N has T + N * i. */
static uint64_t own_unit_from(const struct lane *l, uint64_t unit)
{
	uint64_t n = l->e->lanes, r = unit % n;

	return unit + (l->number + n - r) % n;
}

uint64_t e2pf_table_bytes(const struct e2pf_engine *e, uint64_t group)
{
	return (uint64_t)e->cfg.groups[group].inodes_in_use *
	       e->cfg.geo->inode_size;
}

/* A lane the checker has overtaken goes on in front of it. */
static void catch_up(struct lane *l)
{
	struct e2pf_engine *e = l->e;

	if (e->cfg.paced && e->at_valid && l->next < atomic_load(&e->at))
		l->next = own_unit_from(l, atomic_load(&e->at) + 1);
}

static bool take_bitmaps(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	uint64_t left = e->cfg.geo->groups - e->bitmaps_next;

	if (!left)
		return false;
	l->first = e->bitmaps_next;
	l->last = l->first + (left < BITMAP_GROUPS ? left : BITMAP_GROUPS) - 1;
	l->table_bytes = 0;
	e->bitmaps_next = l->last + 1;
	return true;
}

static bool take_groups(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	uint64_t g, bytes = 0;
	unsigned n = 0;

	catch_up(l);
	if (l->next >= e->cfg.geo->groups)
		return false;
	l->first = l->next;
	for (g = l->next; g < e->cfg.geo->groups && n < BATCH_GROUPS;
	     g += e->lanes, n++) {
		if (n && bytes + e2pf_table_bytes(e, g) > l->target)
			break;
		bytes += e2pf_table_bytes(e, g);
		l->last = g;
	}
	l->table_bytes = bytes;
	l->next = g;
	return true;
}

static bool take_list(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	uint64_t first = l->next, part, end;

	if (e->at_valid && first < atomic_load(&e->at))
		first = atomic_load(&e->at) + 1;
	/* A unit of the stripe is a part of the list; one sweep alone takes
	 * all there is, to have it in one order. */
	part = !e->block_order ? LIST_BATCH :
	       e->lanes > 1 ? LIST_ROOM / 2 : UINT64_MAX;
	if (first / part % e->lanes != l->number)
		first = own_unit_from(l, first / part) * part;
	end = part == UINT64_MAX ? e->list_end : (first / part + 1) * part;
	if (end > e->list_end)
		end = e->list_end;
	if (first >= end)
		return false;
	l->first = first;
	l->last = end - 1;
	l->next = end;
	return true;
}

/* Blocks of what was put off that may still be read, one at least: a lane
 * asks for room between runs, and a run may be longer than the budget. */
static uint64_t later_room(const struct e2pf_engine *e)
{
	uint64_t held = e2pf_later_bytes(e), room = LATER_BATCH;

	if (e->cfg.paced && held + room * e->cfg.geo->block_size > e->limit / 2)
		room = held < e->limit / 2 ?
			(e->limit / 2 - held) / e->cfg.geo->block_size : 0;
	return room ? room : 1;
}

/* Of what was put off, the next blocks in order. */
static bool take_wanted(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	struct e2pf_ref ref = { .cls = E2PF_DIRS, .data = E2PF_CLASSES };
	uint64_t block = e->wanted_next, most = later_room(e), n, taken = 0;

	l->first = 0;
	l->last = UINT64_MAX;
	l->table_bytes = 0;
	while (taken < most && (n = e2pf_blockset_next(e->wanted, &block))) {
		if (n > most - taken)
			n = most - taken;
		ref.block = block;
		ref.count = (uint32_t)n;
		l->sweep.put_off = 0;
		l->sweep.classes = e->cfg.classes;
		e2pf_sweep_add(&l->sweep, &ref);
		taken += n;
		block += n;
	}
	e->wanted_next = block;
	return taken;
}

bool e2pf_is_in_order(enum work work)
{
	return work == WORK_TABLES || work == WORK_LIST;
}

static bool ring_is_full(const struct lane *l)
{
	return e2pf_is_in_order(l->e->work) && l->ring_used == BATCH_RING;
}

bool e2pf_take_batch(struct lane *l)
{
	struct e2pf_engine *e = l->e;

	l->generation = e->generation;
	l->seen = e->news;
	e2pf_drop_passed(l);
	if (e->stop || e->gave_up || ring_is_full(l))
		return false;
	switch (e->work) {
	case WORK_TABLES:
		return take_groups(l);
	case WORK_BITMAPS:
		return take_bitmaps(l);
	case WORK_LATER:
		return take_wanted(l);
	case WORK_LIST:
		return take_list(l);
	default:
		return false;
	}
}

/* Is anything wanted that is in the inode tables or found through them? */
bool e2pf_wants_tables(const struct e2pf_engine *e)
{
	return e->cfg.classes & ~(1u << E2PF_DESCRIPTORS | 1u << E2PF_BITMAPS);
}

void e2pf_bitmap_sink(void *ctx, const struct e2pf_ref *ref)
{
	if (ref->cls == E2PF_BITMAPS)
		e2pf_sweep_add(ctx, ref);
}

/* Put what the batch begins with into the sweep. */
void e2pf_fill_batch(struct lane *l, enum work work)
{
	struct e2pf_engine *e = l->e;
	struct e2pf_sweep *s = &l->sweep;
	struct e2pf_ref ref = {
		.count = 1, .cls = E2PF_DIRS, .data = E2PF_CLASSES
	};
	uint64_t u;

	s->classes = e->cfg.classes;
	s->put_off = 0;
	if (work == WORK_LATER)
		return;
	if (work == WORK_LIST) {
		pthread_mutex_lock(&e->lock);
		for (u = l->first; u <= l->last; u++) {
			ref.block = e->list[u % LIST_ROOM];
			if (ref.block && ref.block < e->cfg.geo->blocks)
				e2pf_sweep_add(s, &ref);
		}
		pthread_mutex_unlock(&e->lock);
		return;
	}
	if (work == WORK_TABLES) {
		s->put_off = 1u << E2PF_DIRS;
		if (!e->bitmaps_inline)
			s->classes &= ~(1u << E2PF_BITMAPS);
		else if (!e->block_order)
			s->put_off |= 1u << E2PF_BITMAPS;
	}
	for (u = l->first; u <= l->last;
	     u += work == WORK_BITMAPS ? 1 : e->lanes)
		if (work == WORK_BITMAPS || !e2pf_wants_tables(e))
			e2pf_plan_group(e->cfg.geo, &e->cfg.groups[u],
					e2pf_bitmap_sink, s);
		else if (!e2pf_sweep_add_group(s, (uint32_t)u))
			break;
}

uint64_t e2pf_first_target(const struct e2pf_engine *e)
{
	if (!e->block_order)
		return 0;
	return e->limit / 4 < SWEEP_BATCH ? e->limit / 4 : SWEEP_BATCH;
}

/* The next batch of tables: as much as brings in half the budget, going by
 * what this one's tables brought in with them. */
static void choose_target(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	uint64_t share = e->limit / 2 / e->lanes, most;

	most = share;
	if (l->bytes > l->table_bytes && l->table_bytes)
		most = (uint64_t)((double)share * (double)l->table_bytes /
				  (double)l->bytes);
	if (e->block_order) {
		if (most > SWEEP_BATCH)
			most = SWEEP_BATCH;
	} else {
		if (most > FLASH_BATCH)
			most = FLASH_BATCH;
		if (most > l->table_bytes * 2 + LEAST_BATCH)
			most = l->table_bytes * 2 + LEAST_BATCH;
	}
	l->target = most;
}

void e2pf_finish_batch(struct lane *l)
{
	struct e2pf_engine *e = l->e;

	if (l->generation == e->generation) {
		struct batch *b = &l->ring[(l->ring_first + l->ring_used) %
					   BATCH_RING];

		b->last = l->last;
		b->bytes = l->bytes;
		b->unrecorded = l->unrecorded;
		if (b->bytes && e->cfg.paced && e2pf_is_in_order(e->work))
			l->ring_used++;
		if (e->work == WORK_TABLES) {
			choose_target(l);
			e->groups_done += (l->last - l->first) / e->lanes + 1;
		}
	}
	l->bytes = 0;
	l->unrecorded = 0;
}

void e2pf_set_work(struct e2pf_engine *e, enum work work)
{
	unsigned i;

	e->work = work;
	e->moved = e2pf_now(e);
	/* The list asks anew for what is not there. */
	if (work != WORK_LATER)
		e->unrecorded = 0;
	e->gated = e->lanes && e->cfg.paced && e->block_order &&
		   work != WORK_LATER;
	e->generation++;
	for (i = 0; i < e->lanes; i++) {
		struct lane *l = &e->lane[i];

		l->next = work == WORK_LIST ? 0 : l->number;
		/* The first pass goes on, and uses what is ahead of it. */
		if (work != WORK_LATER)
			l->ring_used = 0;
	}
	pthread_cond_broadcast(&e->work_cond);
}

/* Did each lane find nothing more?  One that was not asked since there is
 * more may still be asleep, and one whose ring is full has not looked. */
bool e2pf_all_idle(struct e2pf_engine *e)
{
	unsigned i;

	for (i = 0; i < e->lanes; i++) {
		const struct lane *l = &e->lane[i];

		if (l->state != LANE_IDLE || l->generation != e->generation ||
		    l->seen != e->news || ring_is_full(l))
			return false;
	}
	return true;
}

/* Nothing left of this work for any lane: go on to what follows it. */
void e2pf_next_work(struct e2pf_engine *e)
{
	bool bitmaps;

	if (!e2pf_all_idle(e))
		return;
	/* All tables are through, or what was put off is.  A checker that has
	 * few inodes begins its list before that. */
	if (e->bitmaps_inline &&
	    e->work == (e->block_order ? WORK_TABLES : WORK_LATER))
		e->bitmaps_done = true;
	bitmaps = !e->bitmaps_done && (e->cfg.classes & 1u << E2PF_BITMAPS);
	if (e->work == WORK_TABLES) {
		e2pf_set_work(e, WORK_LATER);
	} else if (bitmaps &&
		   ((e->work == WORK_LATER && !e->cfg.paced) ||
		    (e->work == WORK_LIST && e->list_end >= e->list_total))) {
		e->bitmaps_done = true;
		e->bitmaps_next = 0;
		e->at_valid = false;	/* a place in the list is no group */
		e2pf_set_work(e, WORK_BITMAPS);
	}
}
