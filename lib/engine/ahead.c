/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much may be read ahead of the checker, which gaps are read through, and
 * when a worker waits: for room, for a device that is stuck, or because a limit
 * per second is reached.
 */
#include "engine_state.h"

/* Interval between queries of the machine's available memory. */
#define BUDGET_INTERVAL_NS 100000000ull
#define BUDGET_LEAST (1ull << 20)

/*
 * What is ahead.  Units are taken in order, so the ranges of a followed phase
 * are in order, too, and the checker passes them one after the other.
 */

static struct range *range(struct e2pf_engine *e, uint64_t number)
{
	return &e->range[number % RANGES];
}

static void drop_passed(struct e2pf_engine *e)
{
	while (e->oldest_range < e->next_range &&
	       e2pf_passed(e, range(e, e->oldest_range)->last))
		e->oldest_range++;
}

void e2pf_add_range(struct worker *w, uint64_t bytes)
{
	struct e2pf_engine *e = w->e;

	e->taken_bytes += bytes;
	drop_passed(e);
	if (e->next_range - e->oldest_range == RANGES)
		range(e, --e->next_range)->last = w->last;
	else
		*range(e, e->next_range) = (struct range) {
			.first = w->first, .last = w->last
		};
	w->range = e->next_range++;
}

void e2pf_count_ahead(struct worker *w, uint64_t bytes)
{
	struct e2pf_engine *e = w->e;

	e->read_bytes += bytes;
	if (w->range >= e->oldest_range)
		range(e, w->range)->bytes += bytes;
}

/* Bytes for units that the checker has not passed.  Those of the range that it
 * is in count by the part that is left of it. */
static uint64_t bytes_ahead(struct e2pf_engine *e)
{
	uint64_t number, at, bytes = 0;

	drop_passed(e);
	for (number = e->oldest_range; number < e->next_range; number++) {
		const struct range *r = range(e, number);

		bytes += r->bytes;
		if (e2pf_checker_at(e, &at) && at > r->first)
			bytes -= (uint64_t)((double)r->bytes *
					    (double)(at - r->first) /
					    (double)(r->last - r->first + 1));
	}
	return bytes;
}

/* Is this the worker whose units the checker reaches first? */
static bool is_nearest(const struct worker *w)
{
	const struct e2pf_engine *e = w->e;
	unsigned i;

	for (i = 0; i < e->workers; i++) {
		const struct worker *o = &e->worker[i];

		if (o != w && o->state != WORKER_IDLE &&
		    o->epoch == w->epoch && o->first < w->first)
			return false;
	}
	return true;
}

static bool is_over_budget(const struct worker *w)
{
	struct e2pf_engine *e = w->e;
	uint64_t ahead;

	/* Without reports the checker's reads make room: what cannot be
	 * recorded cannot be read. */
	if (!e2pf_is_followed(e))
		return e2pf_ahead_bytes(e) >= e->budget ||
		       e2pf_blockset_is_full(&e->ahead);
	/* There was room when they were found. */
	if (e2pf_is_deferred(w))
		return false;
	/* Half of the budget is reserved for the worker whose units the checker
	 * reaches first: workers further ahead must not starve it. */
	ahead = bytes_ahead(e) + e->later_bytes;
	return ahead >= e->budget ||
	       (ahead >= e->budget / 2 && !is_nearest(w));
}

bool e2pf_has_room_later(struct e2pf_engine *e, uint32_t bytes)
{
	uint64_t before = atomic_fetch_add(&e->later_bytes, bytes);

	if (!e->cfg.paced || before + bytes <= e->budget / 2)
		return true;
	atomic_fetch_sub(&e->later_bytes, bytes);
	atomic_store(&e->left_out, true);
	return false;
}

void e2pf_ask_memory(struct e2pf_engine *e)
{
	uint64_t asked = atomic_load(&e->budget_asked), now, left;

	if (!e->cfg.available)
		return;
	now = e2pf_now(e);
	if (asked && now - asked < BUDGET_INTERVAL_NS)
		return;
	/* One worker makes the query for all. */
	if (!atomic_compare_exchange_strong(&e->budget_asked, &asked, now))
		return;
	left = e2pf_engine_budget(e->cfg.available(e->cfg.ctx), e->cfg.paced);
	if (left > e->cfg.budget)
		left = e->cfg.budget;
	e->budget = left > BUDGET_LEAST ? left : BUDGET_LEAST;
}

/*
 * Waits.  The state is THROTTLED because a checker at the gate must not wait for
 * a worker that sleeps.
 */

void e2pf_wait_while_stuck(struct worker *w)
{
	struct e2pf_engine *e = w->e;

	while (e->stuck && !e2pf_is_obsolete(w)) {
		e2pf_set_state(w, WORKER_THROTTLED);
		pthread_cond_wait(&e->work_cond, &e->lock);
	}
	e2pf_set_state(w, WORKER_READING);
}

bool e2pf_wait_for_room(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	bool wanted;

	pthread_mutex_lock(&e->lock);
	e2pf_wait_while_stuck(w);
	/* A total budget is never freed again: reading ahead ends here. */
	if (!e->cfg.paced &&
	    e->stats.prefetched_bytes - e->total_from >= e->budget)
		e->gave_up = true;
	while (!e2pf_is_obsolete(w) && e->cfg.paced && is_over_budget(w)) {
		/* The checker wakes those it finds throttled: check again once
		 * this one can be found. */
		if (w->state != WORKER_THROTTLED) {
			e2pf_set_state(w, WORKER_THROTTLED);
			continue;
		}
		pthread_cond_wait(&e->work_cond, &e->lock);
		pthread_mutex_unlock(&e->lock);
		e2pf_ask_memory(e);
		pthread_mutex_lock(&e->lock);
	}
	e2pf_set_state(w, WORKER_READING);
	wanted = !e2pf_is_obsolete(w);
	pthread_mutex_unlock(&e->lock);
	return wanted;
}

/* Limits per second. */
bool e2pf_within_limits(struct worker *w, uint64_t bytes)
{
	struct e2pf_engine *e = w->e;
	struct timespec ts;
	uint64_t ns = 0;
	bool wanted;

	if (!e->cfg.bandwidth && !e->cfg.requests)
		return true;
	pthread_mutex_lock(&e->lock);
	while ((wanted = !e2pf_is_obsolete(w)) &&
	       (ns = e2pf_rate_take(&e->rate, e2pf_now(e), bytes,
				    e->cfg.sharers ?
				    e->cfg.sharers(e->cfg.ctx) : 1))) {
		e2pf_set_state(w, WORKER_THROTTLED);
		/* To be woken also when nobody wants the request any more. */
		ts = e2pf_deadline(ns);
		pthread_cond_timedwait(&e->work_cond, &e->lock, &ts);
	}
	e2pf_set_state(w, WORKER_READING);
	pthread_mutex_unlock(&e->lock);
	return wanted;
}

/*
 * What a request costs, and so which gaps are worth reading through.
 */

/* Requests are dear from here on: 5 us on NVMe, 12 to 20 us on a SATA SSD, 333
 * us on a volume with 3,000 IOPS. */
#define DEAR_NS 1e5

/* Every device takes as long: the processor does.  Less means that nothing is
 * known yet. */
#define LEAST_NS 1e3

/* Of a byte in a queue: 500 MB/s.  Where bytes take longer, large requests seem
 * dear, and only small gaps are read through with them. */
#define BYTE_NS 2.0

/* Each request reduces the weight of earlier ones by this part. */
#define FADE 0.002

/* What a completed request adds to what is known: most if so many were in flight.
 * A short queue shows the latency. */
#define LEARN 0.1
#define LEARN_DEPTH 64u

/* On a rotational disk 64 KiB pass under the head in half a millisecond, less
 * than any request takes.  Where requests are limited apart from bytes, gaps are
 * wide while requests are small, since then there are bytes to spare. */
#define HEAD_GAP (64u << 10)
#define WIDE_GAP (32u << 10)
#define NARROW_GAP (4u << 10)
#define SMALL_REQUEST (40u << 10)

/* A disk that takes one request at a time, or a volume limited to a hundred a
 * second: what the kernel would read ahead costs less than another request. */
#define DEAREST_NS 8e6
#define DEAREST_GAP (1u << 20)

void e2pf_count_requests(struct worker *w, uint64_t requests, uint64_t bytes)
{
	double keep = 1 - FADE * (double)requests;

	if (keep < 0)
		keep = 0;
	w->recent_requests = w->recent_requests * keep + (double)requests;
	w->recent_bytes = w->recent_bytes * keep + (double)bytes;
}

/* All workers are taken to have as many requests in flight. */
void e2pf_learn(struct worker *w, const struct request *r, uint64_t now)
{
	unsigned workers = w->e->workers, depth = r->depth * workers;
	double ns = (double)(now - r->asked) -
		    BYTE_NS * (double)r->queued * workers;

	ns = ns > 0 ? ns / depth : 0;
	w->request_ns += (ns - w->request_ns) * LEARN *
			 (depth < LEARN_DEPTH ? depth : LEARN_DEPTH) /
			 LEARN_DEPTH;
}

uint64_t e2pf_widest_gap(const struct e2pf_engine *e, double request_ns)
{
	uint32_t most = e->cfg.devices[0]->max_readahead;
	uint64_t gap = e->speed.has_head ? HEAD_GAP :
		       request_ns > DEAR_NS ? WIDE_GAP :
		       request_ns > LEAST_NS ? NARROW_GAP : 0;

	if (request_ns > DEAREST_NS && most > gap)
		gap = most < DEAREST_GAP ? most : DEAREST_GAP;
	return gap;
}

uint64_t e2pf_gap(const struct worker *w)
{
	uint64_t gap = e2pf_widest_gap(w->e, w->request_ns);

	if (gap == WIDE_GAP &&
	    w->recent_bytes >= w->recent_requests * SMALL_REQUEST)
		gap = NARROW_GAP;
	return w->count ? 0 : gap;
}
