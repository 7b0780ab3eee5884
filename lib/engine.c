/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine's state machine: what each lane does next, how far ahead of the
 * checker, and when the checker waits.
 *
 * All state is under one lock but for a few counters.  Knows a device only
 * as struct e2pf_device and a checker only by its reports.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blockset.h"
#include "engine.h"
#include "measure.h"
#include "sweep.h"

/* Table bytes a lane on flash takes at once: it begins with one group, so as
 * to be ahead of the checker at once, and doubles up to this.  16 MiB are
 * eight full tables of the default layout, a flex group for two lanes. */
#define FLASH_BATCH (16u << 20)

/* Groups of one batch, however empty. */
#define BATCH_GROUPS 8192u

/* Blocks a lane takes at once of what was put off. */
#define LATER_BATCH 2048u

/* Directory list entries: those handed over, and those of one flash batch. */
#define LIST_ROOM 65536u
#define LIST_BATCH 512u

/* Bytes issued and not yet waited for.  A disk with a head sorts what it has,
 * and flash needs no more than its queue holds. */
#define SWEEP_ISSUE_AHEAD (32u << 20)
#define FLASH_ISSUE_AHEAD (8u << 20)

/* Refs a lane may hold per level, for all lanes: 4 MiB of 16 bytes each. */
#define LEVEL_REFS (256u << 10)

/* Runs of the sets of blocks read ahead: with the levels of the lanes the
 * helper stays below 32 MiB. */
#define SET_MEMORY (4u << 20)

/* Gaps are read through up to these sizes at most: they take memory. */
#define SWEEP_MOST_GAP (256u << 10)
#define FLASH_MOST_GAP (64u << 10)

#define LANE_STACK (256u << 10)
#define BATCH_RING 64u

/* A checker behind the gate goes on when the sweep has not moved for this
 * long, or after that long in all. */
#define GATE_PATIENCE_NS 1000000000ull
#define GATE_LIMIT_NS 60000000000ull

/* A read of the checker that took longer waited for the device: from memory
 * 4 KiB take 1 us and 128 KiB 20, the fastest devices need 60 for a request
 * through the block layer. */
#define STALL_NS 30000u
#define STALL_NS_PER_KIB 500u

/* Reads of ours that may fail before the engine gives up: on a failing disk
 * each costs seconds, and the checker has to see the error for itself. */
#define ERRORS_TOLERATED 16u

/* Groups looked at to find out whether all is in memory already, and reads
 * of the checker that have to be misses to think again. */
#define WARM_SAMPLES 128u
#define WARM_BYTES 16384u	/* of each table, parsed */
#define WARM_MISSES 16u

/* How often the machine is asked for the memory it has left. */
#define BUDGET_INTERVAL_NS 100000000ull
#define BUDGET_LEAST (1ull << 20)

#define STATS_PATIENCE_MS 1000

enum work {
	WORK_NONE,
	WORK_TABLES,	/* inode tables and what they refer to; by group */
	WORK_LATER,	/* what they refer to and pass 2 needs, as the first
			   pass goes on; in block order */
	WORK_LIST,	/* directory blocks; by place in the list */
	WORK_BITMAPS	/* by group */
};

enum lane_state {
	LANE_IDLE,	/* has nothing to do in this work */
	LANE_SWEEPING,
	LANE_WAITING	/* for the checker to use what was read ahead */
};

/* A batch the checker has not passed yet. */
struct batch {
	uint64_t last;
	uint64_t bytes;
};

struct lane {
	struct e2pf_engine *e;
	unsigned number;
	pthread_t thread;
	struct e2pf_sweep sweep;
	enum lane_state state;
	unsigned generation;	/* of the work its batch belongs to */
	uint64_t next;		/* first unit not taken yet */
	uint64_t first, last;	/* units of the batch at hand */
	uint64_t bytes;		/* read ahead in it, this phase's */
	uint64_t table_bytes;	/* of it, tables */
	uint64_t target;	/* table bytes of the next batch */
	struct batch ring[BATCH_RING];
	unsigned ring_first, ring_used;
	/* For e2pf_engine_plan(). */
	struct e2pf_class_plan *plan;
};

struct e2pf_engine {
	struct e2pf_engine_config cfg;
	pthread_mutex_t lock;
	pthread_cond_t work_cond;	/* lanes: work, or room in the budget */
	pthread_cond_t gate_cond;	/* checkers behind the gate */
	pthread_cond_t end_cond;	/* whoever waits for the end */
	struct lane *lane;
	unsigned lanes;			/* threads there are */
	unsigned running;		/* of them, not yet returned */
	bool stop;
	bool gave_up;			/* too many errors, or a total budget
					   is used up */
	atomic_bool asleep;		/* all was resident at the start */
	unsigned sleep_misses;
	uint64_t sleep_since;		/* reads there were at the first */

	bool block_order;		/* as configured, or as measured */
	atomic_bool gated;		/* a sweep is on that is waited for */
	struct e2pf_cost cost;

	enum work work;
	unsigned generation;		/* counts changes of work */
	bool bitmaps_inline;		/* with the tables, they are few */
	bool bitmaps_done;
	atomic_uint_fast64_t at;	/* the checker's unit */
	atomic_bool at_valid;		/* it has reported one */

	uint64_t *list;			/* ring of LIST_ROOM blocks */
	uint64_t list_total;
	uint64_t list_end;		/* entries handed over */

	uint64_t limit;			/* the budget now, bytes */
	uint64_t limit_asked;		/* when, ns */
	struct e2pf_blockset *ahead;	/* read ahead for this pass */
	struct e2pf_blockset *later;	/* for a later pass */
	struct e2pf_blockset *wanted;	/* put off, not read yet */
	uint64_t wanted_next;		/* the first of them not taken */
	atomic_bool tracking;		/* one of the sets holds something */
	unsigned gate_waiters;
	uint64_t gaps;			/* bytes read through */
	uint64_t moved;			/* when a sweep last moved, ns */
	uint64_t groups_done;

	struct e2pf_engine_stats stats;
	enum e2pf_phase phase;
	uint64_t phase_began;
	atomic_uint_fast64_t reads[E2PF_PHASES], hits[E2PF_PHASES];
	atomic_uint_fast64_t checker_bytes;
};

static uint64_t now(struct e2pf_engine *e)
{
	return e->cfg.dev->ops->now(e->cfg.dev);
}

static bool is_resident(struct e2pf_engine *e, uint64_t offset, uint64_t len)
{
	struct e2pf_device *dev = e->cfg.dev;

	while (len) {
		bool resident;
		uint64_t n = dev->ops->span(dev, offset, len, &resident);

		if (!resident)
			return false;
		offset += n;
		len -= n;
	}
	return true;
}

static uint64_t set_bytes(const struct e2pf_engine *e,
			  const struct e2pf_blockset *set)
{
	return e2pf_blockset_size(set) * e->cfg.geo->block_size;
}

/* Blocks of these classes are used in a later pass than the first. */
static bool is_later(const struct e2pf_engine *e, unsigned cls)
{
	return (e->work == WORK_TABLES || e->work == WORK_LATER) &&
	       (cls == E2PF_DIRS || cls == E2PF_BITMAPS);
}

/*
 * Pacing.
 */

/* Has the checker done with this unit? */
static bool passed(struct e2pf_engine *e, uint64_t unit)
{
	return e->cfg.paced && e->at_valid && e->work != WORK_LATER &&
	       unit < atomic_load(&e->at);
}

/* Forget the batches the checker has done with. */
static void drop_passed(struct lane *l)
{
	while (l->ring_used && passed(l->e, l->ring[l->ring_first].last)) {
		l->ring_first = (l->ring_first + 1) % BATCH_RING;
		l->ring_used--;
	}
}

/* Bytes of this pass that are ahead of the checker. */
static uint64_t outstanding(struct e2pf_engine *e)
{
	uint64_t bytes = 0;
	unsigned i, j;

	for (i = 0; i < e->lanes; i++) {
		struct lane *l = &e->lane[i];

		drop_passed(l);
		for (j = 0; j < l->ring_used; j++)
			bytes += l->ring[(l->ring_first + j) %
					 BATCH_RING].bytes;
		bytes += l->bytes;
	}
	return bytes;
}

static uint64_t ahead_bytes(struct e2pf_engine *e)
{
	return set_bytes(e, e->ahead) + set_bytes(e, e->later);
}

/* What the machine has left moves the budget, never above the configured. */
static void ask_memory(struct e2pf_engine *e)
{
	uint64_t t, left;

	if (!e->cfg.available)
		return;
	t = now(e);
	if (e->limit_asked && t - e->limit_asked < BUDGET_INTERVAL_NS)
		return;
	e->limit_asked = t;
	left = e->cfg.available(e->cfg.available_ctx) / 2;
	if (left < UINT64_MAX / 4)
		left += ahead_bytes(e);
	e->limit = left < e->cfg.budget ? left : e->cfg.budget;
	if (e->limit < BUDGET_LEAST)
		e->limit = BUDGET_LEAST;
}

static bool over_budget(struct e2pf_engine *e)
{
	ask_memory(e);
	if (!e->cfg.paced)
		return e->stats.prefetched_bytes >= e->limit;
	if (e->work == WORK_BITMAPS)
		return ahead_bytes(e) >= e->limit;
	/* What a later pass needs may have half; its own work does the
	 * rest. */
	if (e->work == WORK_LATER)
		return set_bytes(e, e->later) >= e->limit / 2;
	return outstanding(e) >= e->limit;
}

static bool ended(const struct lane *l)
{
	return l->e->stop || l->generation != l->e->generation ||
	       l->e->gave_up;
}

static void set_state(struct lane *l, enum lane_state state)
{
	struct e2pf_engine *e = l->e;

	l->state = state;
	if (e->gate_waiters && state != LANE_SWEEPING)
		pthread_cond_broadcast(&e->gate_cond);
	if (state == LANE_IDLE)
		pthread_cond_broadcast(&e->end_cond);
}

static void sleep_on_work(struct lane *l, enum lane_state state)
{
	set_state(l, state);
	pthread_cond_wait(&l->e->work_cond, &l->e->lock);
}

/*
 * What a lane reads ahead, run by run.
 */

/* Record that blocks first to last of a run were asked for. */
static void record(struct lane *l, const struct e2pf_ref *refs, size_t n,
		   uint64_t first, uint64_t last)
{
	struct e2pf_engine *e = l->e;
	uint64_t bs = e->cfg.geo->block_size;
	uint64_t added, covered = 0, blocks = 0, gap;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t a = refs[i].block, b = a + refs[i].count - 1;
		bool later = is_later(e, refs[i].cls);

		if (a < first)
			a = first;
		if (b > last)
			b = last;
		if (a > b)
			continue;
		if (!later)
			e2pf_blockset_remove(e->later, a, b - a + 1);
		added = e2pf_blockset_add(later ? e->later : e->ahead, a,
					  b - a + 1);
		blocks += added;
		covered += b - a + 1;
		if (!later)
			l->bytes += added * bs;
	}
	if (!blocks)
		return;		/* all of it is on its way already */
	gap = last - first + 1 > covered ? last - first + 1 - covered : 0;
	e->gaps += gap * bs;
	l->bytes += gap * bs;
	e->stats.prefetched_bytes += (blocks + gap) * bs;
	atomic_store(&e->tracking, true);
	if (ahead_bytes(e) > e->stats.peak_lookahead_bytes)
		e->stats.peak_lookahead_bytes = ahead_bytes(e);
}

static void read_ahead(struct lane *l, const struct e2pf_ref *refs, size_t n)
{
	struct e2pf_engine *e = l->e;
	struct e2pf_device *dev = e->cfg.dev;
	uint64_t bs = e->cfg.geo->block_size;
	uint64_t pos = refs[0].block * bs, end = pos;
	size_t i;

	for (i = 0; i < n; i++)
		if ((refs[i].block + refs[i].count) * bs > end)
			end = (refs[i].block + refs[i].count) * bs;
	while (pos < end) {
		bool resident;
		uint64_t len = dev->ops->span(dev, pos, end - pos, &resident);
		uint64_t began = now(e);
		unsigned requests = 0;

		if (!resident)
			requests = dev->ops->willneed(dev, pos, len);
		pthread_mutex_lock(&e->lock);
		e->moved = now(e);
		e->stats.planned_bytes += len;
		if (!resident) {
			record(l, refs, n, pos / bs, (pos + len - 1) / bs);
			e->stats.prefetched_requests += requests;
			e2pf_cost_add(&e->cost, e->moved - began, e->lanes,
				      requests, len);
		}
		pthread_mutex_unlock(&e->lock);
		pos += len;
	}
}

/* Gaps that are read through, by what a request costs here. */
static uint32_t gap_blocks(struct e2pf_engine *e)
{
	uint64_t gap = e2pf_cost_gap(&e->cost);
	uint64_t most = e->block_order ? SWEEP_MOST_GAP : FLASH_MOST_GAP;

	if (gap > most)
		gap = most;
	e->stats.gap_bytes = gap;
	return (uint32_t)(gap / e->cfg.geo->block_size);
}

/* Wait for room in the budget; false when the batch is no longer wanted. */
static bool may_issue(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	bool go;

	pthread_mutex_lock(&e->lock);
	while (!ended(l) && !passed(e, l->last) && over_budget(e)) {
		if (!e->cfg.paced) {
			e->gave_up = true;
			break;
		}
		sleep_on_work(l, LANE_WAITING);
	}
	l->state = LANE_SWEEPING;
	l->sweep.gap = gap_blocks(e);
	go = !ended(l) && !passed(e, l->last);
	pthread_mutex_unlock(&e->lock);
	return go;
}

/* Is any of it wanted still?  What was found before a class had its share
 * of the budget is left to the pass that uses it. */
static bool wanted(const struct lane *l, const struct e2pf_ref *refs, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (refs[i].parse != E2PF_LEAF ||
		    l->sweep.classes & 1u << refs[i].cls)
			return true;
	return false;
}

static bool lane_issue(void *ctx, const struct e2pf_ref *refs, size_t n)
{
	struct lane *l = ctx;

	if (!may_issue(l))
		return false;
	if (wanted(l, refs, n))
		read_ahead(l, refs, n);
	return true;
}

static bool lane_arrived(void *ctx, int error, uint64_t waited_ns)
{
	struct lane *l = ctx;
	struct e2pf_engine *e = l->e;
	bool go;

	pthread_mutex_lock(&e->lock);
	e->moved = now(e);
	e2pf_cost_add(&e->cost, waited_ns, e->lanes, 0, 0);
	if (error && ++e->stats.errors >= ERRORS_TOLERATED)
		e->gave_up = true;
	if (e->gate_waiters)
		pthread_cond_broadcast(&e->gate_cond);
	go = !ended(l) && !passed(e, l->last);
	pthread_mutex_unlock(&e->lock);
	return go;
}

/* Directory blocks wait until the tables are through: the first pass needs
 * none, and all of them together make one sweep. */
static void lane_put_off(void *ctx, const struct e2pf_ref *ref)
{
	struct lane *l = ctx;
	struct e2pf_engine *e = l->e;

	pthread_mutex_lock(&e->lock);
	if (l->generation == e->generation)
		e2pf_blockset_add(e->wanted, ref->block, ref->count);
	pthread_mutex_unlock(&e->lock);
}

static const struct e2pf_sweep_ops lane_ops = {
	.issue = lane_issue,
	.put_off = lane_put_off,
	.arrived = lane_arrived,
};

/*
 * Batches: what a lane takes next.  Called with the lock held; true when
 * l->first to l->last are the lane's, false when it has to wait.
 */

/* Units are striped over the lanes: lane T of N has T + N * i. */
static uint64_t own_unit_from(const struct lane *l, uint64_t unit)
{
	uint64_t n = l->e->lanes, r = unit % n;

	return unit + (l->number + n - r) % n;
}

static uint64_t table_bytes(const struct e2pf_engine *e, uint64_t group)
{
	return (uint64_t)e->cfg.groups[group].inodes_in_use *
	       e->cfg.geo->inode_size;
}

/* A lane the checker has overtaken goes on in front of it. */
static void catch_up(struct lane *l)
{
	struct e2pf_engine *e = l->e;

	if (e->cfg.paced && e->at_valid && l->next <= atomic_load(&e->at))
		l->next = own_unit_from(l, atomic_load(&e->at) + 1);
}

static bool take_groups(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	uint64_t g, bytes = 0;
	unsigned n = 0;

	if (e->work == WORK_TABLES)
		catch_up(l);
	if (l->next >= e->cfg.geo->groups)
		return false;
	l->first = l->next;
	for (g = l->next; g < e->cfg.geo->groups && n < BATCH_GROUPS;
	     g += e->lanes, n++) {
		if (n && bytes + table_bytes(e, g) > l->target)
			break;
		bytes += table_bytes(e, g);
		l->last = g;
	}
	l->table_bytes = bytes;
	l->next = g;
	return true;
}

static bool take_list(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	uint64_t part = e->block_order ? 1 : LIST_BATCH, first, end;

	/* On flash a unit of the stripe is a part of the list. */
	catch_up(l);
	first = l->next;
	if (!e->block_order && first % part == 0 &&
	    first / part % e->lanes != l->number)
		first = own_unit_from(l, first / part) * part;
	end = e->block_order ? e->list_end : (first / part + 1) * part;
	if (end > e->list_end)
		end = e->list_end;
	if (first >= end)
		return false;
	l->first = first;
	l->last = end - 1;
	l->next = end;
	return true;
}

/* Of what was put off, the next blocks in order. */
static bool take_wanted(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	struct e2pf_ref ref = { .cls = E2PF_DIRS, .data = E2PF_CLASSES };
	uint64_t block = e->wanted_next, n, taken = 0;

	l->first = 0;
	l->last = UINT64_MAX;
	l->table_bytes = 0;
	while (taken < LATER_BATCH &&
	       (n = e2pf_blockset_next(e->wanted, &block))) {
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

static bool take_batch(struct lane *l)
{
	struct e2pf_engine *e = l->e;

	l->generation = e->generation;
	drop_passed(l);
	if (e->stop || e->gave_up || l->ring_used == BATCH_RING)
		return false;
	switch (e->work) {
	case WORK_TABLES:
	case WORK_BITMAPS:
		return take_groups(l);
	case WORK_LATER:
		return take_wanted(l);
	case WORK_LIST:
		return take_list(l);
	default:
		return false;
	}
}

/* Is anything wanted that is in the inode tables or found through them? */
static bool wants_tables(const struct e2pf_engine *e)
{
	return e->cfg.classes & ~(1u << E2PF_DESCRIPTORS | 1u << E2PF_BITMAPS);
}

static void bitmap_sink(void *ctx, const struct e2pf_ref *ref)
{
	if (ref->cls == E2PF_BITMAPS)
		e2pf_sweep_add(ctx, ref);
}

/* Put what the batch begins with into the sweep. */
static void fill(struct lane *l, enum work work)
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
	}
	for (u = l->first; u <= l->last; u += e->lanes)
		if (work == WORK_BITMAPS || !wants_tables(e))
			e2pf_plan_group(e->cfg.geo, &e->cfg.groups[u],
					bitmap_sink, s);
		else if (!e2pf_sweep_add_group(s, (uint32_t)u))
			break;
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
	if (!e->block_order) {
		l->target = l->target * 2 + 1;
		if (most > FLASH_BATCH)
			most = FLASH_BATCH;
		if (l->target > most)
			l->target = most;
	} else {
		l->target = most;
	}
}

static void finish_batch(struct lane *l)
{
	struct e2pf_engine *e = l->e;

	if (l->generation == e->generation) {
		struct batch *b = &l->ring[(l->ring_first + l->ring_used) %
					   BATCH_RING];

		b->last = l->last;
		b->bytes = l->bytes;
		if (b->bytes && e->cfg.paced && e->work != WORK_BITMAPS)
			l->ring_used++;
		if (e->work == WORK_TABLES) {
			choose_target(l);
			e->groups_done += (l->last - l->first) / e->lanes + 1;
		}
	}
	l->bytes = 0;
}

static void set_work(struct e2pf_engine *e, enum work work)
{
	unsigned i;

	e->work = work;
	e->gated = e->cfg.paced && e->block_order &&
		   (work == WORK_TABLES || work == WORK_LIST);
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

static bool all_idle(struct e2pf_engine *e)
{
	unsigned i;

	for (i = 0; i < e->lanes; i++)
		if (e->lane[i].state != LANE_IDLE ||
		    e->lane[i].generation != e->generation)
			return false;
	return true;
}

/* Nothing left of this work for any lane: go on to what follows it. */
static void next_work(struct e2pf_engine *e)
{
	bool bitmaps = !e->bitmaps_done &&
		       (e->cfg.classes & 1u << E2PF_BITMAPS);

	if (!all_idle(e))
		return;
	if (e->work == WORK_TABLES) {
		set_work(e, WORK_LATER);
	} else if (bitmaps &&
		   ((e->work == WORK_LATER && !e->cfg.paced) ||
		    (e->work == WORK_LIST && e->list_end >= e->list_total))) {
		e->bitmaps_done = true;
		e->at_valid = false;	/* a place in the list is no group */
		set_work(e, WORK_BITMAPS);
	}
}

static void *lane_main(void *arg)
{
	struct lane *l = arg;
	struct e2pf_engine *e = l->e;

	pthread_mutex_lock(&e->lock);
	while (!e->stop) {
		enum work work = e->work;

		if (!take_batch(l)) {
			set_state(l, LANE_IDLE);
			next_work(e);
			if (l->generation == e->generation && !e->stop)
				sleep_on_work(l, LANE_IDLE);
			continue;
		}
		set_state(l, LANE_SWEEPING);
		pthread_mutex_unlock(&e->lock);
		fill(l, work);
		e2pf_sweep_run(&l->sweep);
		pthread_mutex_lock(&e->lock);
		finish_batch(l);
	}
	set_state(l, LANE_IDLE);
	e->running--;
	pthread_cond_broadcast(&e->end_cond);
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

/*
 * Life.
 */

static void cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

struct e2pf_engine *e2pf_engine_new(const struct e2pf_engine_config *config)
{
	struct e2pf_engine *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->cfg = *config;
	e->limit = config->budget;
	e->ahead = e2pf_blockset_new(config->geo->blocks, SET_MEMORY);
	e->later = e2pf_blockset_new(config->geo->blocks, SET_MEMORY);
	e->wanted = e2pf_blockset_new(config->geo->blocks, SET_MEMORY);
	if (!e->ahead || !e->later || !e->wanted) {
		e2pf_blockset_free(e->ahead);
		e2pf_blockset_free(e->later);
		e2pf_blockset_free(e->wanted);
		free(e);
		return NULL;
	}
	pthread_mutex_init(&e->lock, NULL);
	cond_init(&e->work_cond);
	cond_init(&e->gate_cond);
	cond_init(&e->end_cond);
	e->phase_began = now(e);
	return e;
}

void e2pf_engine_configure(struct e2pf_engine *e,
			   const struct e2pf_engine_config *config)
{
	pthread_mutex_lock(&e->lock);
	e->cfg = *config;
	e->limit = config->budget;
	pthread_mutex_unlock(&e->lock);
}

static unsigned wanted_lanes(const struct e2pf_engine *e)
{
	unsigned n = e->block_order ? e->cfg.sweeps : e->cfg.lanes;

	return n ? n : 1;
}

static void init_sweep(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	struct e2pf_sweep *s = &l->sweep;
	unsigned lanes = wanted_lanes(e);

	s->geo = e->cfg.geo;
	s->groups = e->cfg.groups;
	s->dev = e->cfg.dev;
	s->ops = &lane_ops;
	s->ctx = l;
	s->classes = e->cfg.classes;
	s->gap = 0;
	s->issue_ahead = e->block_order ? SWEEP_ISSUE_AHEAD :
					      FLASH_ISSUE_AHEAD;
	s->level_cap = LEVEL_REFS / lanes > 4096 ? LEVEL_REFS / lanes : 4096;
	/* One tree block in 64 is far beyond what any sound filesystem has:
	 * an extent node describes 84 extents or more. */
	s->parse_left = e->cfg.geo->blocks / 64 / lanes + 4096;
	e2pf_sweep_init(s);
}

/* Threads of ours take no signal: they are all the checker's. */
static int start_thread(struct lane *l)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, LANE_STACK);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&l->thread, &attr, lane_main, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

/* Called with the lock held, which keeps the threads from looking at a
 * number of lanes that is not final. */
static int start_lanes(struct e2pf_engine *e)
{
	unsigned i;
	int err = 0;

	e->lane = calloc(wanted_lanes(e), sizeof(*e->lane));
	if (!e->lane)
		return ENOMEM;
	for (i = 0; i < wanted_lanes(e); i++) {
		struct lane *l = &e->lane[i];

		l->e = e;
		l->number = i;
		l->next = i;
		l->target = e->block_order ? e->limit / 4 : 0;
		init_sweep(l);
		err = start_thread(l);
		if (err)
			break;
		e->running++;
	}
	e->lanes = i;
	if (i > e->stats.lanes)
		e->stats.lanes = i;
	if (i)
		return 0;
	free(e->lane);
	e->lane = NULL;
	return err;
}

/* Bitmaps are 1/4096 of the device at most: an eighth of the budget holds
 * them on any filesystem it is not small for. */
static bool bitmaps_are_few(const struct e2pf_engine *e)
{
	return 2ull * e->cfg.geo->groups * e->cfg.geo->block_size <=
	       e->limit / 8;
}

/* A sink: is what is referred to in memory? */
struct look {
	struct e2pf_engine *e;
	bool missing;
};

static void look_at(void *ctx, const struct e2pf_ref *ref)
{
	struct look *look = ctx;
	uint64_t bs = look->e->cfg.geo->block_size;

	if (!look->missing)
		look->missing = !is_resident(look->e, ref->block * bs,
					     ref->count * bs);
}

/* Is the table of a group in memory, and what the first of its inodes refer
 * to?  The tables alone may have come with the kernel's own read-ahead. */
static bool group_is_warm(struct e2pf_engine *e, uint64_t group)
{
	const struct e2pf_geometry *geo = e->cfg.geo;
	uint64_t off = e->cfg.groups[group].inode_table * geo->block_size;
	uint32_t ino = (uint32_t)group * geo->inodes_per_group + 1;
	unsigned char inodes[WARM_BYTES];
	struct look look = { .e = e };
	uint64_t n = table_bytes(e, group);

	if (!is_resident(e, off, n))
		return false;
	if (n > sizeof(inodes))
		n = sizeof(inodes);
	if (e->cfg.dev->ops->read(e->cfg.dev, inodes, off, (uint32_t)n))
		return false;
	e2pf_plan_inodes(geo, e->cfg.groups, ino, inodes, n, look_at, &look);
	return !look.missing;
}

/* Is all in memory already?  A look at groups all over the device tells. */
static bool looks_warm(struct e2pf_engine *e)
{
	uint64_t groups = e->cfg.geo->groups, i;
	unsigned seen = 0;

	for (i = 0; i < groups; i += groups / WARM_SAMPLES + 1) {
		if (!e->cfg.groups[i].inode_table || !table_bytes(e, i))
			continue;
		if (!group_is_warm(e, i))
			return false;
		seen++;
	}
	return seen;
}

/* Places far from each other that are not in memory: the middle of tables
 * that will be read anyway, in an order that is none.  False when there are
 * not enough of them. */
static bool probe_offsets(struct e2pf_engine *e, uint64_t *offset)
{
	/* Eleven elevenths of the groups, shuffled. */
	static const unsigned place[E2PF_PROBES] = {
		5, 0, 8, 2, 10, 4, 7, 1, 9, 3, 6
	};
	uint64_t groups = e->cfg.geo->groups, g, end, n;
	unsigned i;

	for (i = 0; i < E2PF_PROBES; i++) {
		g = groups * place[i] / E2PF_PROBES;
		end = groups * (place[i] + 1) / E2PF_PROBES;
		for (; g < end; g++) {
			n = table_bytes(e, g);
			offset[i] = e->cfg.groups[g].inode_table *
				    e->cfg.geo->block_size + n / 2 / 4096 * 4096;
			if (e->cfg.groups[g].inode_table && n >= 8192 &&
			    !is_resident(e, offset[i], 4096))
				break;
		}
		if (g == end)
			return false;
	}
	return true;
}

static void probe(struct e2pf_engine *e)
{
	uint64_t offset[E2PF_PROBES];
	struct e2pf_probe p;

	if (!e->cfg.probe || e->stats.latency_ns ||
	    !probe_offsets(e, offset) ||
	    !e2pf_probe_device(e->cfg.dev, offset, &p))
		return;
	e->block_order = e2pf_probe_has_head(&p);
	e->stats.latency_ns = p.latency_ns;
	e->stats.depth_gain = p.gain;
}

static int wake(struct e2pf_engine *e)
{
	int err;

	e->asleep = false;
	probe(e);
	e->stats.block_order = e->block_order;
	e->bitmaps_inline = bitmaps_are_few(e);
	e->bitmaps_done = e->bitmaps_inline;
	e->moved = now(e);
	err = start_lanes(e);
	/* The lanes wait for the lock, and find their work. */
	set_work(e, e->work);
	if (err)
		e->gated = false;
	return err;
}

int e2pf_engine_start(struct e2pf_engine *e)
{
	int err = 0;

	pthread_mutex_lock(&e->lock);
	if (!e->lane) {
		e->stop = false;
		e->gave_up = false;
		e->work = WORK_TABLES;
		e->at_valid = false;
		e->groups_done = 0;
		e->sleep_misses = 0;
		if (!e->stats.latency_ns)
			e->block_order = e->cfg.block_order;
		ask_memory(e);
		e->asleep = e->cfg.paced && looks_warm(e);
		if (!e->asleep)
			err = wake(e);
	}
	pthread_mutex_unlock(&e->lock);
	return err;
}

static void deadline(struct timespec *ts, int milliseconds)
{
	clock_gettime(CLOCK_MONOTONIC, ts);
	ts->tv_sec += milliseconds / 1000;
	ts->tv_nsec += milliseconds % 1000 * 1000000l;
	if (ts->tv_nsec >= 1000000000l) {
		ts->tv_sec++;
		ts->tv_nsec -= 1000000000l;
	}
}

/* Wait on end_cond; false when the time is up.  The lock is held. */
static bool wait_end(struct e2pf_engine *e, int milliseconds,
		     const struct timespec *ts)
{
	if (milliseconds < 0)
		return pthread_cond_wait(&e->end_cond, &e->lock) == 0;
	return pthread_cond_timedwait(&e->end_cond, &e->lock, ts) == 0;
}

/* Take the lock, waiting for it at most so long: a checker that ends in a
 * signal handler may have been holding it. */
static bool lock_within(struct e2pf_engine *e, int milliseconds)
{
	struct timespec ts;

	if (milliseconds < 0)
		return pthread_mutex_lock(&e->lock) == 0;
	deadline(&ts, milliseconds);
	return pthread_mutex_clocklock(&e->lock, CLOCK_MONOTONIC, &ts) == 0;
}

bool e2pf_engine_stop(struct e2pf_engine *e, int milliseconds)
{
	struct timespec ts;
	bool gone;
	unsigned i;

	deadline(&ts, milliseconds < 0 ? 0 : milliseconds);
	if (!lock_within(e, milliseconds))
		return false;
	e->stop = true;
	e->asleep = false;
	e->gated = false;
	pthread_cond_broadcast(&e->work_cond);
	pthread_cond_broadcast(&e->gate_cond);
	while (e->running && wait_end(e, milliseconds, &ts))
		;
	gone = !e->running;
	pthread_mutex_unlock(&e->lock);
	if (!gone)
		return false;
	for (i = 0; i < e->lanes; i++) {
		pthread_join(e->lane[i].thread, NULL);
		e2pf_sweep_fini(&e->lane[i].sweep);
	}
	free(e->lane);
	e->lane = NULL;
	e->lanes = 0;
	e->work = WORK_NONE;
	return true;
}

bool e2pf_engine_wait(struct e2pf_engine *e, int milliseconds)
{
	struct timespec ts;
	bool idle;

	deadline(&ts, milliseconds < 0 ? 0 : milliseconds);
	pthread_mutex_lock(&e->lock);
	while (!all_idle(e) && wait_end(e, milliseconds, &ts))
		;
	idle = all_idle(e);
	pthread_mutex_unlock(&e->lock);
	return idle;
}

bool e2pf_engine_reads_ahead(struct e2pf_engine *e)
{
	bool at_work;

	pthread_mutex_lock(&e->lock);
	at_work = e->lanes && !e->stop && !e->gave_up;
	pthread_mutex_unlock(&e->lock);
	return at_work;
}

bool e2pf_engine_gave_up(struct e2pf_engine *e)
{
	bool gave_up;

	pthread_mutex_lock(&e->lock);
	gave_up = e->gave_up;
	pthread_mutex_unlock(&e->lock);
	return gave_up;
}

uint64_t e2pf_engine_progress(struct e2pf_engine *e)
{
	uint64_t done;

	pthread_mutex_lock(&e->lock);
	done = e->groups_done;
	pthread_mutex_unlock(&e->lock);
	return done;
}

void e2pf_engine_free(struct e2pf_engine *e)
{
	if (!e)
		return;
	e2pf_engine_stop(e, -1);
	e2pf_blockset_free(e->ahead);
	e2pf_blockset_free(e->later);
	e2pf_blockset_free(e->wanted);
	free(e->list);
	pthread_cond_destroy(&e->work_cond);
	pthread_cond_destroy(&e->gate_cond);
	pthread_cond_destroy(&e->end_cond);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

/*
 * The checker's side.
 */

static void end_phase(struct e2pf_engine *e)
{
	uint64_t t = now(e);

	e->stats.phase[e->phase].ns += t - e->phase_began;
	e->phase_began = t;
}

void e2pf_engine_phase(struct e2pf_engine *e, enum e2pf_phase phase)
{
	pthread_mutex_lock(&e->lock);
	end_phase(e);
	e->phase = phase;
	pthread_mutex_unlock(&e->lock);
}

static void move_to(struct e2pf_engine *e, enum work work, uint64_t unit)
{
	if (e->at_valid && atomic_load(&e->at) == unit)
		return;
	pthread_mutex_lock(&e->lock);
	if (e->work == work) {
		atomic_store(&e->at, unit);
		e->at_valid = true;
		pthread_cond_broadcast(&e->work_cond);
	}
	pthread_mutex_unlock(&e->lock);
}

void e2pf_engine_at_group(struct e2pf_engine *e, uint32_t group)
{
	move_to(e, WORK_TABLES, group);
}

void e2pf_engine_list_begin(struct e2pf_engine *e, uint64_t total)
{
	pthread_mutex_lock(&e->lock);
	if (!e->list)
		e->list = calloc(LIST_ROOM, sizeof(*e->list));
	if (e->list && !e->stop) {
		e->at_valid = false;
		e->list_total = total;
		e->list_end = 0;
		e2pf_blockset_clear(e->wanted);
		set_work(e, WORK_LIST);
	}
	pthread_mutex_unlock(&e->lock);
}

uint64_t e2pf_engine_list_wants(struct e2pf_engine *e, uint64_t *first)
{
	uint64_t room, at, n = 0;

	pthread_mutex_lock(&e->lock);
	if (e->work == WORK_LIST && e->lanes && !e->stop) {
		at = e->at_valid ? atomic_load(&e->at) : 0;
		if (e->list_end < at)
			e->list_end = at;
		room = LIST_ROOM - (e->list_end - at);
		n = e->list_total - e->list_end;
		if (n > room)
			n = room < LIST_ROOM / 2 ? 0 : room;
		*first = e->list_end;
	}
	pthread_mutex_unlock(&e->lock);
	return n;
}

void e2pf_engine_list_put(struct e2pf_engine *e, const uint64_t *blocks,
			  size_t count)
{
	size_t i;

	pthread_mutex_lock(&e->lock);
	if (e->work == WORK_LIST) {
		for (i = 0; i < count; i++)
			e->list[(e->list_end + i) % LIST_ROOM] = blocks[i];
		e->list_end += count;
		pthread_cond_broadcast(&e->work_cond);
	}
	pthread_mutex_unlock(&e->lock);
}

void e2pf_engine_list_at(struct e2pf_engine *e, uint64_t index)
{
	move_to(e, WORK_LIST, index);
}

/* Is a sweep under way that will come by what the checker is at? */
static bool sweep_covers_checker(struct e2pf_engine *e)
{
	uint64_t at = e->at_valid ? atomic_load(&e->at) : 0;
	unsigned i;

	if (!e->gated)
		return false;
	for (i = 0; i < e->lanes; i++) {
		struct lane *l = &e->lane[i];

		if (l->generation != e->generation)
			return true;	/* has yet to take up its work */
		if (l->state == LANE_SWEEPING && l->first <= at &&
		    at <= l->last)
			return true;
	}
	return false;
}

/*
 * On a disk with a head a read of the checker's own sends the head elsewhere
 * and back.  It waits until the sweep has brought the block, has ended, or
 * does not move.
 */
static void wait_at_gate(struct e2pf_engine *e, const struct e2pf_read *r)
{
	uint64_t began, t;

	pthread_mutex_lock(&e->lock);
	began = now(e);
	e->gate_waiters++;
	if (sweep_covers_checker(e))
		e->stats.gate_waits++;
	for (t = began; !e->stop && !e->gave_up && sweep_covers_checker(e) &&
	     t - began < GATE_LIMIT_NS &&
	     t - (e->moved > began ? e->moved : began) < GATE_PATIENCE_NS;
	     t = now(e)) {
		struct timespec ts;
		bool there;

		deadline(&ts, 20);
		pthread_cond_timedwait(&e->gate_cond, &e->lock, &ts);
		pthread_mutex_unlock(&e->lock);
		there = is_resident(e, r->offset, r->length);
		pthread_mutex_lock(&e->lock);
		if (there)
			break;
	}
	e->gate_waiters--;
	pthread_mutex_unlock(&e->lock);
}

void e2pf_engine_before_read(struct e2pf_engine *e, struct e2pf_read *r)
{
	r->began = now(e);
	r->waited = false;
	if (!atomic_load(&e->gated) || is_resident(e, r->offset, r->length))
		return;
	r->waited = true;
	wait_at_gate(e, r);
}

/* Did this read wait for the device?  Asking the kernel before each read
 * costs more than the read (mincore() 0.9 us, a block from memory 0.6). */
static bool was_stall(const struct e2pf_read *r, uint64_t ns)
{
	return r->waited || ns > STALL_NS + r->length / 1024 * STALL_NS_PER_KIB;
}

/* All seemed to be in memory, and is not: when one read in sixteen waits.
 * Single ones only met another process on this processor. */
static void count_sleep_miss(struct e2pf_engine *e)
{
	uint64_t reads = 0;
	unsigned i;

	for (i = 0; i < E2PF_PHASES; i++)
		reads += atomic_load(&e->reads[i]);
	if (!e->sleep_misses ||
	    reads - e->sleep_since > WARM_MISSES * WARM_MISSES) {
		e->sleep_since = reads;
		e->sleep_misses = 0;
	}
	if (++e->sleep_misses >= WARM_MISSES)
		wake(e);
}

static void count_stall(struct e2pf_engine *e, uint64_t ns)
{
	pthread_mutex_lock(&e->lock);
	e->stats.phase[e->phase].stalls++;
	e->stats.phase[e->phase].stall_ns += ns;
	if (e->asleep)
		count_sleep_miss(e);
	pthread_mutex_unlock(&e->lock);
}

/* What was read is ahead of the checker no more. */
static void forget(struct e2pf_engine *e, const struct e2pf_read *r)
{
	uint64_t bs = e->cfg.geo->block_size;
	uint64_t first = r->offset / bs, n;

	n = (r->offset + r->length - 1) / bs - first + 1;
	pthread_mutex_lock(&e->lock);
	n = e2pf_blockset_remove(e->ahead, first, n) +
	    e2pf_blockset_remove(e->later, first, n);
	/* Bitmaps have no place in an order: what is read makes room. */
	if (n && e->work == WORK_BITMAPS)
		pthread_cond_broadcast(&e->work_cond);
	pthread_mutex_unlock(&e->lock);
}

void e2pf_engine_after_read(struct e2pf_engine *e, const struct e2pf_read *r)
{
	uint64_t ns = now(e) - r->began;

	atomic_fetch_add(&e->checker_bytes, r->length);
	atomic_fetch_add(&e->reads[e->phase], 1);
	if (was_stall(r, ns))
		count_stall(e, ns);
	else
		atomic_fetch_add(&e->hits[e->phase], 1);
	if (atomic_load(&e->tracking) && r->length)
		forget(e, r);
}

void e2pf_engine_get_stats(struct e2pf_engine *e,
			   struct e2pf_engine_stats *stats)
{
	unsigned i;

	memset(stats, 0, sizeof(*stats));
	if (!lock_within(e, STATS_PATIENCE_MS))
		return;
	end_phase(e);
	e->stats.wasted_bytes = ahead_bytes(e) + e->gaps;
	*stats = e->stats;
	pthread_mutex_unlock(&e->lock);
	stats->checker_bytes = atomic_load(&e->checker_bytes);
	for (i = 0; i < E2PF_PHASES; i++) {
		stats->phase[i].reads = atomic_load(&e->reads[i]);
		stats->phase[i].hits = atomic_load(&e->hits[i]);
	}
}

/*
 * The plan, counted.
 */

static bool count_issue(void *ctx, const struct e2pf_ref *refs, size_t n)
{
	struct lane *l = ctx;
	unsigned last = E2PF_CLASSES;
	size_t i;

	for (i = 0; i < n; i++) {
		l->plan[refs[i].cls].blocks += refs[i].count;
		l->plan[refs[i].cls].runs += refs[i].cls != last;
		last = refs[i].cls;
	}
	return true;
}

static bool count_arrived(void *ctx, int error, uint64_t waited_ns)
{
	struct lane *l = ctx;

	(void)waited_ns;
	if (error)
		l->e->stats.errors++;
	return l->e->stats.errors < ERRORS_TOLERATED;
}

static const struct e2pf_sweep_ops count_ops = {
	.issue = count_issue,
	.arrived = count_arrived,
};

int e2pf_engine_plan(struct e2pf_engine *e,
		     struct e2pf_class_plan plan[E2PF_CLASSES])
{
	struct lane l = { .e = e, .plan = plan, .target = UINT64_MAX };
	uint64_t g;
	int err = 0;

	memset(plan, 0, E2PF_CLASSES * sizeof(*plan));
	init_sweep(&l);
	l.sweep.ops = &count_ops;
	for (g = 0; g < e->cfg.geo->groups && !err; g++) {
		if (!wants_tables(e))
			e2pf_plan_group(e->cfg.geo, &e->cfg.groups[g],
					bitmap_sink, &l.sweep);
		else if (!e2pf_sweep_add_group(&l.sweep, (uint32_t)g))
			err = ENOMEM;
		if (g % BATCH_GROUPS == BATCH_GROUPS - 1)
			e2pf_sweep_run(&l.sweep);
	}
	e2pf_sweep_run(&l.sweep);
	e2pf_sweep_fini(&l.sweep);
	if (!err && e->stats.errors >= ERRORS_TOLERATED)
		err = EIO;
	return err;
}
