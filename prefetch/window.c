/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "window.h"
#include "state.h"

/* Interval between queries of the machine's available memory. */
#define MEMORY_INTERVAL_NS 100000000ull
#define MIN_BUDGET (1ull << 20)

/* The most memory for the set of blocks ahead, in bytes.  1 MiB suffices for 49,000
 * blocks that are far from each other. */
#define MAX_SET_BYTES (1u << 20)

static uint64_t block_of(const struct pf_window *w, unsigned device,
			 uint64_t offset)
{
	return w->base[device] + offset / w->source->grain;
}

uint64_t pf_window_unread_bytes(const struct pf_window *w)
{
	return w->ahead.size * w->source->grain;
}

void pf_window_init(struct pf_window *w,
		    const struct pf_schedule *schedule,
		    const struct pf_options *options,
		    struct pf_device *dev)
{
	const struct pf_source *source = schedule->source;
	uint64_t blocks = 0;
	unsigned i;

	w->schedule = schedule;
	w->source = source;
	w->options = options;
	w->dev = dev;
	for (i = 0; i < source->devices; i++) {
		w->base[i] = blocks;
		blocks += (source->bytes[i] + source->grain - 1) /
			  source->grain;
	}
}

void pf_window_free(struct pf_window *w)
{
	pf_blockset_reset(&w->ahead, 0);
}

/*
 * The budget.
 */

void pf_window_query_memory(struct pf_window *w)
{
	uint64_t last = w->memory_queried, now, limit;

	if (!w->options->limit)
		return;
	now = w->dev->ops->now(w->dev);
	if (last && now - last < MEMORY_INTERVAL_NS)
		return;
	/* One worker queries for all. */
	if (!atomic_compare_exchange_strong(&w->memory_queried, &last, now))
		return;
	limit = w->options->limit(w->options->ctx);
	if (limit > w->options->budget)
		limit = w->options->budget;
	w->budget = limit > MIN_BUDGET ? limit : MIN_BUDGET;
}

void pf_window_start(struct pf_window *w)
{
	w->budget = w->options->budget;
	w->memory_queried = 0;
	pf_window_query_memory(w);
	w->unused += pf_window_unread_bytes(w);
	pf_blockset_reset(&w->ahead, MAX_SET_BYTES);
	w->deferred_bytes = 0;
	w->total_from = w->prefetched_bytes;
}

bool pf_window_admit_deferred(struct pf_window *w, uint64_t bytes)
{
	uint64_t before = w->deferred_bytes;

	/* Never subtract what was added, because the checker may set the sum to 0
	 * meanwhile. */
	do {
		if (w->options->has_checker && before + bytes > w->budget / 2)
			return false;
	} while (!atomic_compare_exchange_weak(&w->deferred_bytes, &before,
					       before + bytes));
	return true;
}

void pf_window_drop_deferred(struct pf_window *w)
{
	w->deferred_bytes = 0;
}

uint64_t pf_window_max_claim(const struct pf_window *w)
{
	uint64_t max = w->budget / 4;

	if (w->read_bytes > w->claimed_bytes && w->claimed_bytes)
		max = (uint64_t)((double)max * (double)w->claimed_bytes /
				 (double)w->read_bytes);
	return max;
}

/*
 * Stripes.  The workers claim them in order.  In a followed phase the checker also
 * passes them in order.
 */

void pf_window_begin_phase(struct pf_window *w)
{
	w->claimed_bytes = w->read_bytes = 0;
	w->oldest_stripe = w->next_stripe;
}

static struct pf_stripe_ahead *stripe_at(struct pf_window *w,
					 uint64_t number)
{
	return &w->stripe[number % PF_MAX_STRIPES];
}

static void drop_passed(struct pf_window *w)
{
	while (w->oldest_stripe < w->next_stripe &&
	       pf_schedule_has_passed(w->schedule, stripe_at(w, w->oldest_stripe)->last))
		w->oldest_stripe++;
}

void pf_window_add_stripe(struct pf_window *w, struct pf_stripe *stripe)
{
	w->claimed_bytes += stripe->bytes;
	drop_passed(w);
	if (w->next_stripe - w->oldest_stripe == PF_MAX_STRIPES)
		stripe_at(w, --w->next_stripe)->last = stripe->last;
	else
		*stripe_at(w, w->next_stripe) = (struct pf_stripe_ahead) {
			.first = stripe->first, .last = stripe->last
		};
	stripe->number = w->next_stripe++;
}

/* Count bytes that are requested for a stripe.  They are not ahead if the checker has
 * passed the stripe. */
static void count_ahead(struct pf_window *w, uint64_t number, uint64_t bytes)
{
	w->read_bytes += bytes;
	if (number >= w->oldest_stripe)
		stripe_at(w, number)->bytes += bytes;
}

/* The bytes of a stripe that are ahead of a checker at unit `at`.  If the checker is
 * within the stripe, its bytes count in proportion to the units that are left. */
static uint64_t bytes_left(const struct pf_stripe_ahead *s, uint64_t at)
{
	if (at <= s->first)
		return s->bytes;
	/* The checker may have passed the stripe since drop_passed(), because a report
	 * takes no lock. */
	if (at > s->last)
		return 0;
	return s->bytes - (uint64_t)((double)s->bytes *
				     (double)(at - s->first) /
				     (double)(s->last - s->first + 1));
}

static uint64_t bytes_ahead(struct pf_window *w)
{
	uint64_t number, at, bytes = 0;

	drop_passed(w);
	if (!pf_schedule_position(w->schedule, &at))
		at = 0;
	for (number = w->oldest_stripe; number < w->next_stripe; number++)
		bytes += bytes_left(stripe_at(w, number), at);
	return bytes;
}

bool pf_window_is_full(struct pf_window *w, bool nearest)
{
	uint64_t ahead;

	/* Without reports, the checker's reads make room, so a block must be recorded
	 * before it may be read. */
	if (!pf_schedule_is_followed(w->schedule))
		return pf_window_unread_bytes(w) >= w->budget ||
		       pf_blockset_is_full(&w->ahead);
	/* Reserve half of the budget for the worker whose units the checker reaches
	 * first, because workers further ahead must not starve it. */
	ahead = bytes_ahead(w) + w->deferred_bytes;
	return ahead >= w->budget || (ahead >= w->budget / 2 && !nearest);
}

bool pf_window_is_used_up(const struct pf_window *w)
{
	const struct pf_phase *phase = w->schedule->phase;

	return !w->options->has_checker && !(phase && phase->paced) &&
	       w->prefetched_bytes - w->total_from >= w->budget;
}

/*
 * Blocks.
 */

/* Record bytes of a reference as ahead of the checker.  Returns how many of them were not
 * ahead before. */
static uint64_t record_ahead(struct pf_window *w, const struct pf_stripe *stripe,
			     const struct pf_ref *ref, uint64_t from, uint64_t to)
{
	uint64_t first = block_of(w, ref->device, from);
	uint64_t last = block_of(w, ref->device, to - 1);
	uint64_t bytes = pf_blockset_add(&w->ahead, first,
					 last - first + 1) *
			 w->source->grain;

	/* Deferred blocks were counted when they were found. */
	if (!(stripe->phase->deferred & UINT32_C(1) << ref->cls))
		count_ahead(w, stripe->number, bytes);
	return bytes;
}

static uint64_t end_of(const struct pf_ref *ref)
{
	return ref->offset + ref->length;
}

void pf_window_advance_run(struct pf_run *run, uint64_t pos)
{
	while (run->next < run->n && end_of(&run->ref[run->next]) <= pos)
		run->next++;
}

/* Record the run's references from `pos` to `end` as ahead.  Returns the bytes that
 * were not ahead before, and sets *gaps to the bytes between the references. */
static uint64_t record_span(struct pf_window *w, const struct pf_run *run,
			    const struct pf_stripe *stripe, uint64_t pos,
			    uint64_t end, uint64_t *gaps)
{
	uint64_t new_bytes = 0, to;
	const struct pf_ref *ref;
	size_t i;

	*gaps = 0;
	/* References may overlap, so `pos` advances to the end of what was recorded. */
	for (i = run->next; i < run->n && pos < end; i++) {
		ref = &run->ref[i];
		if (ref->offset >= end)
			break;
		if (ref->offset > pos) {
			*gaps += ref->offset - pos;
			pos = ref->offset;
		}
		to = end_of(ref) < end ? end_of(ref) : end;
		if (to > pos) {
			new_bytes += record_ahead(w, stripe, ref, pos, to);
			pos = to;
		}
	}
	*gaps += end - pos;
	return new_bytes;
}

void pf_window_count_span(struct pf_window *w, const struct pf_run *run,
			  const struct pf_stripe *stripe, uint64_t pos,
			  uint64_t len, bool missing)
{
	uint64_t new_bytes, gaps;

	w->planned_bytes += len;
	if (!missing)
		return;
	new_bytes = record_span(w, run, stripe, pos, pos + len, &gaps);
	if (!new_bytes)
		return;		/* the whole span is in flight already */
	w->unused += gaps;
	count_ahead(w, stripe->number, gaps);
	w->prefetched_bytes += new_bytes + gaps;
}

unsigned pf_window_mark_read(struct pf_window *w,
			     const struct pf_read *read, bool *were)
{
	uint64_t bytes = w->source->bytes[read->device], first, n = 0;
	uint64_t end = read->offset + read->length;

	if (read->offset < bytes && read->length) {
		first = block_of(w, read->device, read->offset);
		n = block_of(w, read->device, (end < bytes ? end : bytes) - 1);
		n = pf_blockset_remove(&w->ahead, first, n - first + 1);
	}
	*were = n;
	/* Without reports of its position, the checker's reads make room. */
	return n && !pf_schedule_is_followed(w->schedule) &&
	       pf_window_unread_bytes(w) < w->budget ? PF_EVENT_ROOM : 0;
}
