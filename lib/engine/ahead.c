/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much may be read ahead of the checker, which gaps are read through, and
 * when a worker waits because a limit per second is reached.  Called with the
 * engine's lock held, except e2pf_ask_memory() and e2pf_within_limits().
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
		e->range_bytes -= range(e, e->oldest_range++)->bytes;
}

void e2pf_forget_ranges(struct e2pf_engine *e)
{
	e->oldest_range = e->next_range;
	e->range_bytes = 0;
}

void e2pf_add_range(struct worker *w, uint64_t weight)
{
	struct e2pf_engine *e = w->e;

	e->weighed += weight;
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

	e->brought += bytes;
	if (!e2pf_is_followed(e) || w->range < e->oldest_range)
		return;
	range(e, w->range)->bytes += bytes;
	e->range_bytes += bytes;
}

/* Bytes for units that the checker has not passed.  Those of the range that it
 * is in count by the part that is left of it. */
static uint64_t bytes_ahead(struct e2pf_engine *e)
{
	const struct range *r;
	uint64_t at;

	drop_passed(e);
	r = range(e, e->oldest_range);
	if (e->oldest_range == e->next_range || !e2pf_checker_at(e, &at) ||
	    at <= r->first)
		return e->range_bytes;
	return e->range_bytes - (uint64_t)((double)r->bytes *
					   (double)(at - r->first) /
					   (double)(r->last - r->first + 1));
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

bool e2pf_over_budget(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	uint64_t ahead;

	if (!e->cfg.paced)
		return e->stats.prefetched_bytes - e->total_from >= e->budget;
	/* Without reports the checker's reads make room: what cannot be
	 * recorded cannot be read. */
	if (!e2pf_is_followed(e))
		return e2pf_ahead_bytes(e) >= e->budget ||
		       e2pf_blockset_is_full(e->ahead);
	/* There was room when they were taken. */
	if (w->first > w->last)
		return false;
	/* Half of the budget is reserved for the worker whose units the checker
	 * reaches first: workers further ahead must not starve it. */
	ahead = bytes_ahead(e) + e->later_bytes;
	return ahead >= e->budget ||
	       (ahead >= e->budget / 2 && !is_nearest(w));
}

/* The budget follows the machine's available memory, to which blocks that were
 * read ahead and not used yet are added.  It never exceeds the configured
 * one. */
void e2pf_follow_memory(struct e2pf_engine *e, uint64_t left)
{
	left = e2pf_engine_budget(left, e->cfg.paced);
	e->budget = left < e->cfg.budget ? left : e->cfg.budget;
	if (e->budget < BUDGET_LEAST)
		e->budget = BUDGET_LEAST;
}

void e2pf_ask_memory(struct e2pf_engine *e)
{
	uint64_t asked = atomic_load(&e->budget_asked), t, left;

	if (!e->cfg.available)
		return;
	t = e2pf_now(e);
	if (asked && t - asked < BUDGET_INTERVAL_NS)
		return;
	/* One worker makes the query for all. */
	if (!atomic_compare_exchange_strong(&e->budget_asked, &asked, t))
		return;
	left = e->cfg.available(e->cfg.available_ctx);
	pthread_mutex_lock(&e->lock);
	e2pf_follow_memory(e, left);
	pthread_mutex_unlock(&e->lock);
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

void e2pf_count_requests(struct e2pf_engine *e, uint64_t requests,
			 uint64_t bytes)
{
	double keep = 1 - FADE * (double)requests;

	if (keep < 0)
		keep = 0;
	e->stats.prefetched_requests += requests;
	e->recent_requests = e->recent_requests * keep + (double)requests;
	e->recent_bytes = e->recent_bytes * keep + (double)bytes;
}

void e2pf_learn(struct e2pf_engine *e, const struct e2pf_completed *one)
{
	unsigned depth = one->depth * e->workers;
	double ns = (double)one->ns -
		    BYTE_NS * (double)one->queued * e->workers;

	ns = ns > 0 ? ns / depth : 0;
	e->request_ns += (ns - e->request_ns) * LEARN *
			 (depth < LEARN_DEPTH ? depth : LEARN_DEPTH) /
			 LEARN_DEPTH;
}

uint64_t e2pf_widest_gap(const struct e2pf_engine *e)
{
	uint32_t most = e->cfg.devices[0]->max_readahead;
	uint64_t gap = e->has_head ? HEAD_GAP :
		       e->request_ns > DEAR_NS ? WIDE_GAP :
		       e->request_ns > LEAST_NS ? NARROW_GAP : 0;

	if (e->request_ns > DEAREST_NS && most > gap)
		gap = most < DEAREST_GAP ? most : DEAREST_GAP;
	return gap;
}

uint64_t e2pf_gap_room(const struct e2pf_engine *e)
{
	unsigned part = e->cfg.source->gap_part;
	uint64_t most;

	if (!part)
		return UINT64_MAX;
	most = e->stats.prefetched_bytes / part;
	return most > e->gaps ? most - e->gaps : 0;
}

/* As the source's limit is used up the gap shrinks, so that the smallest gaps,
 * which are worth the most, are read through. */
uint64_t e2pf_gap(const struct e2pf_engine *e)
{
	uint64_t gap = e2pf_widest_gap(e), room = e2pf_gap_room(e);

	if (gap == WIDE_GAP &&
	    e->recent_bytes >= e->recent_requests * SMALL_REQUEST)
		gap = NARROW_GAP;
	if (room == UINT64_MAX)
		return gap;
	return (uint64_t)((double)gap * (double)room /
			  (double)(room + e->gaps + 1));
}

/*
 * Limits per second (device/rate.h).
 */

/* Sleep on work_cond, to be woken also when the request is no longer wanted.
 * The state is THROTTLED because a checker at the gate must not wait for a
 * worker that sleeps. */
static void sleep_for(struct worker *w, uint64_t ns)
{
	struct e2pf_engine *e = w->e;
	struct timespec ts;

	w->state = WORKER_THROTTLED;
	if (e->gate_waiters)
		pthread_cond_broadcast(&e->gate_cond);
	e2pf_deadline(&ts, ns);
	pthread_cond_timedwait(&e->work_cond, &e->lock, &ts);
}

bool e2pf_within_limits(struct worker *w, uint64_t bytes)
{
	struct e2pf_engine *e = w->e;
	uint64_t ns = 0;
	bool wanted;

	if (!e->cfg.bandwidth && !e->cfg.requests)
		return true;
	pthread_mutex_lock(&e->lock);
	while ((wanted = !e2pf_ended(w) && !e2pf_passed(e, w->last)) &&
	       (ns = e2pf_rate_take(&e->rate, e2pf_now(e), bytes,
				    e->cfg.sharers, e->cfg.available_ctx)))
		sleep_for(w, ns);
	if (w->state != WORKER_READING) {
		w->state = WORKER_READING;
		atomic_store(&e->last_progress, e2pf_now(e));
	}
	pthread_mutex_unlock(&e->lock);
	return wanted;
}
