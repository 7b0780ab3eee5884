/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lane: a thread that takes batches and reads them ahead.  Decides what to
 * ask the device for, run by run; what comes next is the batches', and how
 * far it may go the pacing's.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine_state.h"

/* Bytes issued and not yet waited for.  A disk with a head sorts what it has,
 * and flash needs no more than its queue holds. */
#define SWEEP_ISSUE_AHEAD (32u << 20)
#define FLASH_ISSUE_AHEAD (8u << 20)

/* Refs a lane may hold per level, for all lanes: 4 MiB of 16 bytes each. */
#define LEVEL_REFS (256u << 10)

/* Of an overdue request so many bytes are read. */
#define LATE_BYTES 4096u

static bool ended(const struct lane *l)
{
	return l->e->stop || l->generation != l->e->generation ||
	       l->e->gave_up;
}

static void set_state(struct lane *l, enum lane_state state)
{
	struct e2pf_engine *e = l->e;

	if (state == LANE_SWEEPING && l->state != state)
		e->moved = e2pf_now(e);
	l->state = state;
	if (e->gate_waiters && state != LANE_SWEEPING)
		pthread_cond_broadcast(&e->gate_cond);
	if (state == LANE_IDLE)
		pthread_cond_broadcast(&e->end_cond);
}

/* A lane that waits may be the nearest to the checker now, which has more of
 * the budget. */
static void wake_waiting(struct e2pf_engine *e)
{
	unsigned i;

	for (i = 0; i < e->lanes; i++)
		if (e->lane[i].state == LANE_WAITING) {
			pthread_cond_broadcast(&e->work_cond);
			return;
		}
}

static void sleep_on_work(struct lane *l, enum lane_state state)
{
	set_state(l, state);
	pthread_cond_wait(&l->e->work_cond, &l->e->lock);
}

/* Blocks of these classes are used in a later pass than the first. */
static bool is_later(const struct e2pf_engine *e, unsigned cls)
{
	return (e->work == WORK_TABLES || e->work == WORK_LATER) &&
	       (cls == E2PF_DIRS || cls == E2PF_BITMAPS);
}

/* Blocks that were asked for and have no room in a set.  Where the checker's
 * place tells when they are used, they are counted with the batch. */
static void count_unrecorded(struct lane *l, uint64_t bytes, bool later)
{
	if (!later && e2pf_is_in_order(l->e->work))
		l->unrecorded += bytes;
	else
		l->e->unrecorded += bytes;
}

/* Record that blocks first to last of a run were asked for. */
static void record(struct lane *l, const struct e2pf_ref *refs, size_t n,
		   uint64_t first, uint64_t last)
{
	struct e2pf_engine *e = l->e;
	uint64_t bs = e->cfg.geo->block_size;
	uint64_t missing, added, covered = 0, blocks = 0, gap;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t a = refs[i].block, b = a + refs[i].count - 1;
		bool later = is_later(e, refs[i].cls);
		struct e2pf_blockset *set = later ? e->later : e->ahead;

		if (a < first)
			a = first;
		if (b > last)
			b = last;
		if (a > b)
			continue;
		if (!later)
			e2pf_blockset_remove(e->later, a, b - a + 1);
		missing = e2pf_blockset_missing(set, a, b - a + 1);
		added = e2pf_blockset_add(set, a, b - a + 1);
		count_unrecorded(l, (missing - added) * bs, later);
		blocks += missing;
		covered += b - a + 1;
		if (!later)
			l->bytes += missing * bs;
	}
	if (!blocks)
		return;		/* all of it is on its way already */
	gap = last - first + 1 > covered ? last - first + 1 - covered : 0;
	e->gaps += gap * bs;
	l->bytes += gap * bs;
	e->stats.prefetched_bytes += (blocks + gap) * bs;
	atomic_store(&e->tracking, true);
	if (e2pf_ahead_bytes(e) > e->stats.peak_lookahead_bytes)
		e->stats.peak_lookahead_bytes = e2pf_ahead_bytes(e);
}

/* Leave a stuck device to the checker.  The lock is held. */
static void wait_while_stuck(struct lane *l)
{
	struct e2pf_engine *e = l->e;

	while (e->stuck && !ended(l))
		sleep_on_work(l, LANE_WAITING);
}

static bool lane_arrived(void *ctx, int error, uint64_t waited_ns)
{
	struct lane *l = ctx;
	struct e2pf_engine *e = l->e;
	bool go;

	pthread_mutex_lock(&e->lock);
	e->moved = e2pf_now(e);
	e2pf_cost_add(&e->cost, e->moved, waited_ns, e->lanes, 0, 0);
	if (error)
		e2pf_count_failure(e, &e->stats.errors);
	if (e->gate_waiters)
		pthread_cond_broadcast(&e->gate_cond);
	if (waited_ns >= STUCK_NS && e->cfg.paced)
		e->stuck = STUCK_PROOFS;
	wait_while_stuck(l);
	set_state(l, LANE_SWEEPING);
	go = !ended(l) && !e2pf_passed(e, l->last);
	pthread_mutex_unlock(&e->lock);
	return go;
}

/*
 * Wait until there is room for another request.  What has not come is read:
 * in flight still, that waits for it, as a signal that ends the process ends;
 * thrown out again, it is read again; and where the device failed to read it
 * that is seen, of which advice to read ahead says nothing.  False when the
 * batch is no longer wanted.
 */
static bool make_room(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	struct e2pf_device *dev = e->cfg.dev;
	const struct e2pf_sample *s;
	uint32_t len = e->cfg.geo->block_size;
	char buf[LATE_BYTES];
	bool go = true;

	if (len > sizeof(buf))
		len = sizeof(buf);
	while (go && (s = e2pf_window_oldest(&l->window))) {
		bool there = !dev->blind && e2pf_is_resident(e, s->offset, 1);
		bool late = false;

		if (!there) {
			uint64_t began = e2pf_now(e), now;
			int err = dev->ops->read(dev, buf, s->offset, len);

			now = e2pf_now(e);
			late = err || now - s->asked >= E2PF_WINDOW_LATE_NS;
			go = lane_arrived(l, err, now - began);
		}
		e2pf_window_came(&l->window, late);
	}
	return go;
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
		uint64_t began;
		unsigned requests = 0;

		if (!resident && !make_room(l))
			return;
		/* One request at a time: the next may have to wait. */
		if (!resident && len > dev->max_readahead)
			len = dev->max_readahead - dev->max_readahead % bs;
		began = e2pf_now(e);
		if (!resident) {
			requests = dev->ops->willneed(dev, pos, len);
			e2pf_window_add(&l->window, pos + len - bs,
					e2pf_now(e));
		}
		pthread_mutex_lock(&e->lock);
		e->moved = e2pf_now(e);
		e->stats.planned_bytes += len;
		if (!resident) {
			record(l, refs, n, pos / bs, (pos + len - 1) / bs);
			e->stats.prefetched_requests += requests;
			e2pf_cost_add(&e->cost, e->moved, e->moved - began,
				      e->lanes, requests, len);
		}
		pthread_mutex_unlock(&e->lock);
		pos += len;
	}
}

/* Wait for room in the budget; false when the batch is no longer wanted. */
static bool may_issue(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	bool go;

	pthread_mutex_lock(&e->lock);
	wait_while_stuck(l);
	while (!ended(l) && !e2pf_passed(e, l->last) && e2pf_over_budget(l)) {
		if (!e->cfg.paced) {
			e->gave_up = true;
			break;
		}
		sleep_on_work(l, LANE_WAITING);
	}
	set_state(l, LANE_SWEEPING);
	l->sweep.gap = e2pf_gap_blocks(e);
	go = !ended(l) && !e2pf_passed(e, l->last);
	pthread_mutex_unlock(&e->lock);
	return go;
}

static bool lane_issue(void *ctx, const struct e2pf_ref *refs, size_t n)
{
	struct lane *l = ctx;

	if (!may_issue(l))
		return false;
	read_ahead(l, refs, n);
	return true;
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

void e2pf_lane_init_sweep(struct lane *l)
{
	struct e2pf_engine *e = l->e;
	struct e2pf_sweep *s = &l->sweep;
	unsigned lanes = e2pf_wanted_lanes(e);

	s->geo = e->cfg.geo;
	s->groups = e->cfg.groups;
	s->dev = e->cfg.dev;
	s->ops = &lane_ops;
	s->ctx = l;
	s->classes = e->cfg.classes;
	s->gap = 0;
	s->leaves_last = e->block_order;
	s->issue_ahead = e->block_order ? SWEEP_ISSUE_AHEAD :
					      FLASH_ISSUE_AHEAD;
	s->level_cap = LEVEL_REFS / lanes > 4096 ? LEVEL_REFS / lanes : 4096;
	/* One tree block in 64 is far beyond what any sound filesystem has:
	 * an extent node describes 84 extents or more. */
	s->parse_left = e->cfg.geo->blocks / 64 / lanes + 4096;
	e2pf_sweep_init(s);
	e2pf_window_init(&l->window);
}

void *e2pf_lane_main(void *arg)
{
	struct lane *l = arg;
	struct e2pf_engine *e = l->e;

	pthread_mutex_lock(&e->lock);
	while (!e->stop) {
		enum work work = e->work;

		if (!e2pf_take_batch(l)) {
			if (l->state != LANE_IDLE)
				wake_waiting(e);
			set_state(l, LANE_IDLE);
			e2pf_next_work(e);
			if (l->generation == e->generation && !e->stop)
				sleep_on_work(l, LANE_IDLE);
			continue;
		}
		set_state(l, LANE_SWEEPING);
		wake_waiting(e);
		pthread_mutex_unlock(&e->lock);
		e2pf_fill_batch(l, work);
		e2pf_sweep_run(&l->sweep);
		pthread_mutex_lock(&e->lock);
		e2pf_finish_batch(l);
	}
	set_state(l, LANE_IDLE);
	e->running--;
	pthread_cond_broadcast(&e->end_cond);
	pthread_mutex_unlock(&e->lock);
	return NULL;
}
