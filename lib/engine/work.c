/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work: which phase is current, and what a worker takes next.  Called with the
 * engine's lock held, except e2pf_seed().
 *
 * There is one cursor.  Whoever is free takes the units that follow it, so that
 * all workers read what the checker needs next; or, if there are enough of them,
 * the references that it has deferred.  A phase ends when nothing can be taken
 * and no worker is busy.
 */
#include <inttypes.h>

#include "engine_state.h"

/* What is taken at once without a head, by weight, in bytes: little at first, to
 * be ahead of the checker at once, then twice as much each time.  With more, one
 * worker's units, which cost bandwidth, would not be read while another worker's
 * trees cost requests. */
#define FIRST_TAKE (256u << 10)
#define FLASH_TAKE (4u << 20)

/* On a rotational disk: a few seconds of reading in one sweep, after which a
 * checker that waited at the gate can go on. */
#define HEAD_TAKE (512u << 20)

/* Each unit makes a few references of 24 bytes. */
#define UNITS_MOST 16384u

/* Deferred bytes of a worker that are read beside the units. */
#define DEFERRED_BYTES (16u << 20)

static uint64_t lower_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t units(const struct e2pf_engine *e, bool *more)
{
	struct e2pf_source *source = e->cfg.source;

	return source->ops->units(source, e->phase->number, more);
}

/*
 * Phases.
 */

void e2pf_set_phase(struct e2pf_engine *e, const struct e2pf_phase *phase)
{
	uint64_t now = e2pf_now(e);

	e->phase = phase;
	e2pf_trace(e, "[\"phase\",%" PRIu64 ",%u]\n", now,
			 phase->number);
	e->last_progress = now;
	e->gated = e->workers && e->cfg.paced && e->speed.has_head &&
		   !e->cfg.ungated && phase->gated;
	e->next_unit = 0;
	e->take_bytes = FIRST_TAKE;
	e->taken_bytes = e->read_bytes = 0;
	e->ended = false;
	e->left_out = false;
	/* The new phase requests whatever is not cached again. */
	e->oldest_range = e->next_range;
	e->epoch++;
	e2pf_tell_news(e);
}

void e2pf_tell_news(struct e2pf_engine *e)
{
	e->news++;
	pthread_cond_broadcast(&e->work_cond);
}

bool e2pf_all_idle(const struct e2pf_engine *e)
{
	unsigned i;

	/* An idle worker that has not heard the news may still be asleep. */
	for (i = 0; i < e->workers; i++)
		if (e->worker[i].state != WORKER_IDLE ||
		    e->worker[i].news != e->news)
			return false;
	return !e->choosing;
}

void e2pf_next_phase(struct e2pf_engine *e)
{
	const struct e2pf_phase *next, *phase = e->phase;
	struct e2pf_source *source = e->cfg.source;
	unsigned epoch = e->epoch;
	bool more;

	if (!phase || e->ended || e->left_out || !e2pf_all_idle(e))
		return;
	units(e, &more);
	if (more)
		return;
	e->choosing = true;
	pthread_mutex_unlock(&e->lock);
	next = source->ops->next(source, phase);
	pthread_mutex_lock(&e->lock);
	e->choosing = false;
	/* The checker may have begun another phase meanwhile. */
	if (e->epoch != epoch || e->stop)
		return;
	e->ended = !next;
	if (next)
		e2pf_set_phase(e, next);
	else
		pthread_cond_broadcast(&e->end_cond);
}

/*
 * Units.
 */

/* The weight of the units to take: a quarter of the budget at most, judging by
 * what was read for those that were taken before. */
static uint64_t weight_to_take(struct e2pf_engine *e)
{
	uint64_t most = e->budget / 4, take = HEAD_TAKE;

	if (e->read_bytes > e->taken_bytes && e->taken_bytes)
		most = (uint64_t)((double)most * (double)e->taken_bytes /
				  (double)e->read_bytes);
	if (!e->speed.has_head) {
		take = e->take_bytes;
		e->take_bytes = lower_of(take * 2, FLASH_TAKE);
	}
	return lower_of(most, take);
}

/* Units behind the checker are left out: it has read them itself. */
static uint64_t first_unit(struct e2pf_engine *e)
{
	uint64_t at;

	if (e2pf_is_followed(e) && e2pf_checker_at(e, &at) &&
	    e->next_unit < at)
		return at + 1;
	return e->next_unit;
}

/* The end of the units from `first` on that weigh as much as is to be taken, at
 * least one.  Those that lie side by side stay together. */
static uint64_t weigh(struct e2pf_engine *e, uint64_t first, uint64_t end,
		      uint64_t *weight)
{
	struct e2pf_source *source = e->cfg.source;
	unsigned phase = e->phase->number;
	uint64_t align = source->align ? source->align : 1, unit, one;
	uint64_t most = weight_to_take(e);

	for (unit = first; unit < end; unit++, *weight += one) {
		one = source->ops->weight(source, phase, unit);
		if (unit > first && unit % align == 0 && *weight + one > most)
			break;
	}
	return unit;
}

static bool take_units(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	uint64_t first = first_unit(e), weight = 0, end;
	bool more;

	end = units(e, &more);
	if (first >= end)
		return false;
	end = lower_of(end, first + (w->phase->at_once ? w->phase->at_once :
						      UNITS_MOST));
	if (!w->phase->at_once)
		end = weigh(e, first, end, &weight);
	w->first = first;
	w->last = end - 1;
	e->next_unit = end;
	e2pf_add_range(w, weight);
	return true;
}

/* Take those that it has deferred, if there are so many bytes. */
static bool take_deferred(struct worker *w, uint64_t least)
{
	if (w->level[E2PF_DEFERRED].bytes < least)
		return false;
	w->first = UINT64_MAX;
	w->last = UINT64_MAX - 1;
	return true;
}

bool e2pf_take(struct worker *w)
{
	struct e2pf_engine *e = w->e;

	if (w->epoch != e->epoch)
		e2pf_drop_level(w, E2PF_DEFERRED);
	w->phase = e->phase;
	w->epoch = e->epoch;
	if (e->stop || e->gave_up || e->choosing || !w->phase)
		return false;
	return take_deferred(w, DEFERRED_BYTES) || take_units(w) ||
	       take_deferred(w, 1);
}

void e2pf_seed(struct worker *w)
{
	struct e2pf_source *source = w->e->cfg.source;
	uint64_t unit;

	for (unit = w->first; unit <= w->last; unit++)
		source->ops->seed(source, w->phase->number, unit, e2pf_add, w);
}
