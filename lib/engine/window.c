/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "core.h"

/* Interval between queries of the machine's available memory. */
#define MEMORY_INTERVAL_NS 100000000ull
#define BUDGET_LEAST (1ull << 20)

/* The most memory for the set of places ahead, bytes: if all of them are alone, 1
 * MiB holds 49,000. */
#define SET_MEMORY (1u << 20)

/* The place of a byte of a device. */
static uint64_t place(const struct e2pf_engine *e, unsigned device,
		      uint64_t offset)
{
	return e->window.base[device] + offset / e->source->grain;
}

/* Bytes read ahead and not used yet. */
static uint64_t unread_bytes(const struct e2pf_engine *e)
{
	return e->window.ahead.size * e->source->grain;
}

void e2pf_window_init(struct e2pf_window *window,
		      const struct e2pf_source *source)
{
	uint64_t places = 0;
	unsigned i;

	/* All devices lie end to end. */
	for (i = 0; i < source->devices; i++) {
		window->base[i] = places;
		places += (source->bytes[i] + source->grain - 1) /
			  source->grain;
	}
}

void e2pf_window_free(struct e2pf_window *window)
{
	e2pf_blockset_clear(&window->ahead, 0);
}

/*
 * The budget.
 */

uint64_t e2pf_engine_budget(uint64_t memory, bool paced)
{
	return paced ? memory / 2 : memory / 4 * 3;
}

void e2pf_window_query_memory(struct e2pf_engine *e)
{
	struct e2pf_window *w = &e->window;
	uint64_t last = w->memory_queried, now, left;

	if (!e->cfg.available)
		return;
	now = e2pf_now(e);
	if (last && now - last < MEMORY_INTERVAL_NS)
		return;
	/* One worker makes the query for all. */
	if (!atomic_compare_exchange_strong(&w->memory_queried, &last, now))
		return;
	left = e2pf_engine_budget(e->cfg.available(e->cfg.ctx), e->cfg.paced);
	if (left > e->cfg.budget)
		left = e->cfg.budget;
	w->budget = left > BUDGET_LEAST ? left : BUDGET_LEAST;
}

void e2pf_window_start(struct e2pf_engine *e)
{
	struct e2pf_window *w = &e->window;

	e2pf_assert_held(e);
	w->budget = e->cfg.budget;
	w->memory_queried = 0;
	e2pf_window_query_memory(e);
	w->unused += unread_bytes(e);
	e2pf_blockset_clear(&w->ahead, SET_MEMORY);
	w->later_bytes = 0;
	w->total_from = w->prefetched_bytes;
}

bool e2pf_window_admits_later(struct e2pf_engine *e, uint64_t bytes)
{
	struct e2pf_window *w = &e->window;
	uint64_t before = atomic_fetch_add(&w->later_bytes, bytes);

	if (!e->cfg.paced || before + bytes <= w->budget / 2)
		return true;
	atomic_fetch_sub(&w->later_bytes, bytes);
	return false;
}

void e2pf_window_drop_later(struct e2pf_engine *e)
{
	e->window.later_bytes = 0;
}

uint64_t e2pf_window_share(const struct e2pf_engine *e)
{
	const struct e2pf_window *w = &e->window;
	uint64_t most = w->budget / 4;

	if (w->read_bytes > w->taken_bytes && w->taken_bytes)
		most = (uint64_t)((double)most * (double)w->taken_bytes /
				  (double)w->read_bytes);
	return most;
}

/*
 * Ranges.  Units are taken in order, so the ranges of a followed phase are in
 * order, too, and the checker passes them one after the other.
 */

void e2pf_window_phase_begins(struct e2pf_engine *e)
{
	struct e2pf_window *w = &e->window;

	e2pf_assert_held(e);
	w->taken_bytes = w->read_bytes = 0;
	w->oldest_range = w->next_range;
}

static struct e2pf_range *range_at(struct e2pf_window *w, uint64_t number)
{
	return &w->range[number % E2PF_RANGES];
}

static void drop_passed(struct e2pf_engine *e)
{
	struct e2pf_window *w = &e->window;

	while (w->oldest_range < w->next_range &&
	       e2pf_passed(e, range_at(w, w->oldest_range)->last))
		w->oldest_range++;
}

uint64_t e2pf_window_add_range(struct e2pf_engine *e,
			       const struct e2pf_taken *taken)
{
	struct e2pf_window *w = &e->window;

	e2pf_assert_held(e);
	w->taken_bytes += taken->bytes;
	drop_passed(e);
	if (w->next_range - w->oldest_range == E2PF_RANGES)
		range_at(w, --w->next_range)->last = taken->last;
	else
		*range_at(w, w->next_range) = (struct e2pf_range) {
			.first = taken->first, .last = taken->last
		};
	return w->next_range++;
}

/* Bytes are requested for the units of a range. */
static void count_ahead(struct e2pf_window *w, uint64_t range, uint64_t bytes)
{
	w->read_bytes += bytes;
	if (range >= w->oldest_range)
		range_at(w, range)->bytes += bytes;
}

/* Bytes for units that the checker has not passed.  Those of the range that it
 * is in count by the part that is left of it. */
static uint64_t bytes_ahead(struct e2pf_engine *e)
{
	struct e2pf_window *w = &e->window;
	uint64_t number, at, bytes = 0;

	drop_passed(e);
	for (number = w->oldest_range; number < w->next_range; number++) {
		const struct e2pf_range *r = range_at(w, number);

		bytes += r->bytes;
		if (e2pf_checker_at(e, &at) && at > r->first)
			bytes -= (uint64_t)((double)r->bytes *
					    (double)(at - r->first) /
					    (double)(r->last - r->first + 1));
	}
	return bytes;
}

bool e2pf_window_is_full(struct e2pf_engine *e, bool nearest)
{
	struct e2pf_window *w = &e->window;
	uint64_t ahead;

	e2pf_assert_held(e);
	/* Without reports the checker's reads make room: what cannot be
	 * recorded cannot be read. */
	if (!e2pf_is_followed(e))
		return unread_bytes(e) >= w->budget ||
		       e2pf_blockset_is_full(&w->ahead);
	/* Half of the budget is reserved for the worker whose units the checker
	 * reaches first: workers further ahead must not starve it. */
	ahead = bytes_ahead(e) + w->later_bytes;
	return ahead >= w->budget || (ahead >= w->budget / 2 && !nearest);
}

bool e2pf_window_is_used_up(const struct e2pf_engine *e)
{
	const struct e2pf_window *w = &e->window;

	return !e->cfg.paced &&
	       w->prefetched_bytes - w->total_from >= w->budget;
}

/*
 * Places.
 */

/* Some bytes of a reference that no reference before it covers. */
struct piece {
	const struct e2pf_ref *ref;
	uint64_t from, to;
};

/* The next piece of a run before byte `end`.  Returns false if there is none.  Each
 * reference is looked at once, and once more for each end that cuts it. */
static bool next_piece(struct e2pf_run_parts *parts, uint64_t pos,
		       uint64_t end, struct piece *p)
{
	while (parts->next < parts->n) {
		const struct e2pf_ref *ref = &parts->ref[parts->next];
		uint64_t from = ref->offset, to = from + ref->length;

		if (from < parts->covered)
			from = parts->covered;
		if (from < pos)
			from = pos;
		if (from >= end)
			return false;
		p->ref = ref;
		p->from = from;
		p->to = to < end ? to : end;
		if (to <= end)
			parts->next++;
		if (p->to > parts->covered)
			parts->covered = p->to;
		if (p->from < p->to)
			return true;
	}
	return false;
}

/* Record a piece as ahead of the checker.  Returns the bytes that were not. */
static uint64_t record_piece(struct e2pf_engine *e,
			     const struct e2pf_taken *taken, uint64_t range,
			     const struct piece *p)
{
	struct e2pf_window *w = &e->window;
	uint64_t first = place(e, p->ref->device, p->from);
	uint64_t last = place(e, p->ref->device, p->to - 1);
	uint64_t bytes = e2pf_blockset_add(&w->ahead, first,
					   last - first + 1) *
			 e->source->grain;

	if (!bytes)
		return 0;
	/* What is for a later phase was counted when it was found. */
	if (!(taken->phase->later & UINT32_C(1) << p->ref->cls))
		count_ahead(w, range, bytes);
	return bytes;
}

void e2pf_window_count_part(struct e2pf_engine *e, struct e2pf_run_parts *parts,
			    const struct e2pf_taken *taken, uint64_t range,
			    uint64_t pos, uint64_t len, bool missing)
{
	struct e2pf_window *w = &e->window;
	uint64_t covered = 0, new_bytes = 0, gaps;
	struct piece p;

	e2pf_assert_held(e);
	w->planned_bytes += len;
	while (next_piece(parts, pos, pos + len, &p)) {
		if (!missing)
			continue;
		covered += p.to - p.from;
		new_bytes += record_piece(e, taken, range, &p);
	}
	if (!new_bytes)
		return;		/* all of it is already in flight */
	gaps = len > covered ? len - covered : 0;
	w->unused += gaps;
	count_ahead(w, range, gaps);
	w->prefetched_bytes += new_bytes + gaps;
	if (unread_bytes(e) > w->peak_bytes)
		w->peak_bytes = unread_bytes(e);
}

bool e2pf_window_forget(struct e2pf_engine *e, unsigned device,
			uint64_t offset, uint64_t length)
{
	struct e2pf_window *w = &e->window;
	uint64_t bytes = e->source->bytes[device], first, n;
	uint64_t end = offset + length;

	e2pf_assert_held(e);
	if (offset >= bytes || !length)
		return false;
	first = place(e, device, offset);
	n = place(e, device, (end < bytes ? end : bytes) - 1) - first;
	n = e2pf_blockset_remove(&w->ahead, first, n + 1);
	/* If the checker does not report its position, its reads make room in
	 * the budget. */
	if (n && !e2pf_is_followed(e) && unread_bytes(e) < w->budget)
		e2pf_pool_wake_throttled(e);
	return n;
}

void e2pf_window_stats(const struct e2pf_engine *e,
		       struct e2pf_engine_stats *stats)
{
	const struct e2pf_window *w = &e->window;

	stats->planned_bytes = w->planned_bytes;
	stats->prefetched_bytes = w->prefetched_bytes;
	stats->peak_lookahead_bytes = w->peak_bytes;
	stats->set_bytes = w->ahead.most_bytes;
	stats->wasted_bytes = unread_bytes(e) + w->unused;
}
