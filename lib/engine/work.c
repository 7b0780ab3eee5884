/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Work: which phase is current, and what a worker takes next.  Called with the
 * engine's lock held, except e2pf_seed().
 *
 * There is one cursor.  Whoever is free takes the units that follow it, so that
 * all workers read what the checker needs next; or, if there are enough of them,
 * the references that were deferred.  A phase ends when nothing can be taken and
 * no worker is busy.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine_state.h"

/* What is taken at once without a head, by weight, in bytes: little at first, to
 * be ahead of the checker at once, then twice as much each time.  With more, one
 * worker's units, which cost bandwidth, would not be read while another worker's
 * trees cost requests. */
#define LEAST_TAKE (256u << 10)
#define FLASH_TAKE (4u << 20)

/* On a rotational disk: a few seconds of reading in one sweep, after which a
 * checker that waited at the gate can go on. */
#define HEAD_TAKE (512u << 20)

/* Each unit makes a few references of 24 bytes.  At least UNITS_LEAST, and one
 * for so many bytes of the budget. */
#define UNITS_LEAST 512u
#define UNITS_MOST 65536u
#define UNIT_BUDGET 1024u

/* Deferred references that are kept, at most; those beyond are left to the
 * checker.  One of 24 bytes for so many bytes of the budget. */
#define DEFERRED_MOST (128u << 10)
#define DEFERRED_BUDGET 2048u

/* Deferred bytes that are read at once, and beside the units. */
#define SLICE_BYTES (8u << 20)

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t units(const struct e2pf_engine *e, bool *more)
{
	struct e2pf_source *source = e->cfg.source;

	return source->ops->units(source, atomic_load(&e->phase)->number, more);
}

/*
 * Phases.
 */

void e2pf_set_phase(struct e2pf_engine *e, const struct e2pf_phase *phase)
{
	uint64_t now = e2pf_now(e);

	atomic_store(&e->phase, phase);
	e2pf_trace_event(e->trace, "[\"phase\",%" PRIu64 ",%u]\n", now,
			 phase->number);
	e->last_progress = now;
	e->gated = e->workers && e->cfg.paced && e->has_head &&
		   !e->cfg.ungated && phase->gated;
	e->next_unit = 0;
	e->take_bytes = LEAST_TAKE;
	e->weighed = e->brought = 0;
	e->ended = false;
	/* The new phase requests whatever is not cached again. */
	e2pf_forget_ranges(e);
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
	const struct e2pf_phase *next, *phase = atomic_load(&e->phase);
	struct e2pf_source *source = e->cfg.source;
	unsigned epoch = e->epoch;
	bool more;

	if (!phase || e->ended || e->deferred.used || !e2pf_all_idle(e))
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

	if (e->brought > e->weighed && e->weighed)
		most = (uint64_t)((double)most * (double)e->weighed /
				  (double)e->brought);
	if (!e->has_head) {
		take = e->take_bytes;
		e->take_bytes = least(take * 2, FLASH_TAKE);
	}
	return least(take, most);
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

/* How many units from `first` on weigh `most`, at least one.  Those that lie
 * side by side stay together. */
static uint64_t weigh(struct e2pf_engine *e, uint64_t first, uint64_t end,
		      uint64_t most, uint64_t *weight)
{
	struct e2pf_source *source = e->cfg.source;
	unsigned phase = atomic_load(&e->phase)->number;
	uint64_t align = source->align ? source->align : 1, unit, one;

	*weight = 0;
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
	const struct e2pf_phase *phase = w->phase;
	uint64_t first = first_unit(e), most, weight = 0, end;
	bool more;

	end = units(e, &more);
	if (first >= end)
		return false;
	most = e->budget / UNIT_BUDGET;
	most = phase->at_once ? phase->at_once :
	       most < UNITS_LEAST ? UNITS_LEAST : least(most, UNITS_MOST);
	end = least(end, first + most);
	if (!phase->at_once)
		end = weigh(e, first, end, weight_to_take(e), &weight);
	w->first = first;
	w->last = end - 1;
	e->next_unit = end;
	e2pf_add_range(w, weight);
	return true;
}

/*
 * Deferred references.
 */

void e2pf_forget_deferred(struct e2pf_engine *e)
{
	free(e->deferred.ref);
	memset(&e->deferred, 0, sizeof(e->deferred));
}

/* Bytes that may still be read for a later phase. */
static uint64_t later_room(const struct e2pf_engine *e)
{
	if (!e->cfg.paced)
		return UINT64_MAX;
	return e->later_bytes < e->budget / 2 ?
	       e->budget / 2 - e->later_bytes : 0;
}

static bool have_room(struct e2pf_engine *e)
{
	struct deferred *d = &e->deferred;
	size_t room = d->room ? d->room * 2 : 1024;
	struct e2pf_ref *ref;

	if (d->used < d->room)
		return true;
	if (room > DEFERRED_MOST || room > e->budget / DEFERRED_BUDGET + 1024)
		return false;
	ref = realloc(d->ref, room * sizeof(*ref));
	if (!ref)
		return false;
	d->ref = ref;
	d->room = room;
	return true;
}

/* On a head they belong to the sweep of the leaves, while they fit. */
bool e2pf_defer(struct e2pf_engine *e, const struct e2pf_ref *ref)
{
	struct deferred *d = &e->deferred;
	struct e2pf_ref *last = d->used ? &d->ref[d->used - 1] : NULL;

	if (e->has_head && ref->length <= later_room(e)) {
		e->later_bytes += ref->length;
		return false;
	}
	if (last && !d->sorted && last->device == ref->device &&
	    last->cls == ref->cls &&
	    last->offset + last->length == ref->offset &&
	    last->length <= SLICE_BYTES) {
		last->length += ref->length;
	} else {
		if (!have_room(e) || !d->ref)
			return true;
		d->ref[d->used++] = *ref;
		d->sorted = false;
	}
	d->bytes += ref->length;
	return true;
}

static int by_place_down(const void *a, const void *b)
{
	const struct e2pf_ref *x = a, *y = b;

	if (x->device != y->device)
		return x->device > y->device ? -1 : 1;
	return x->offset > y->offset ? -1 : x->offset < y->offset;
}

static bool is_other_busy(const struct worker *w)
{
	unsigned i;

	for (i = 0; i < w->e->workers; i++)
		if (&w->e->worker[i] != w &&
		    w->e->worker[i].state != WORKER_IDLE)
			return true;
	return false;
}

/* Take the lowest of them, a slice or what there is room for. */
static bool take_deferred(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	struct deferred *d = &e->deferred;
	uint64_t room = least(SLICE_BYTES, later_room(e)), taken = 0;

	if (!d->used || room < e->cfg.source->grain)
		return false;
	if (e->has_head)
		room = later_room(e);
	if (!d->sorted)
		qsort(d->ref, d->used, sizeof(*d->ref), by_place_down);
	d->sorted = true;
	while (d->used && taken < room) {
		struct e2pf_ref *ref = &d->ref[d->used - 1], part = *ref;

		if (part.length > room - taken) {
			part.length = (uint32_t)(room - taken);
			part.length -= part.length % e->cfg.source->grain;
			if (!part.length)
				break;
			ref->offset += part.length;
			ref->length -= part.length;
		} else {
			d->used--;
		}
		taken += part.length;
		e2pf_elevator_add(&w->elevator, &part);
	}
	d->bytes -= taken;
	e->later_bytes += taken;
	w->first = UINT64_MAX;
	w->last = UINT64_MAX - 1;
	return taken;
}

/* Beside the units they are read when there is a slice of them, so that they are
 * sorted; with a head, all in one pass at the end. */
static bool is_slice_due(const struct worker *w)
{
	const struct e2pf_engine *e = w->e;

	return !e->has_head && e->deferred.bytes >= 2 * SLICE_BYTES &&
	       is_other_busy(w);
}

bool e2pf_take(struct worker *w)
{
	struct e2pf_engine *e = w->e;
	bool taken;

	w->phase = atomic_load(&e->phase);
	w->epoch = e->epoch;
	w->elevator.deferred = 0;
	if (e->stop || e->gave_up || e->choosing || !w->phase)
		return false;
	taken = is_slice_due(w) && take_deferred(w);
	if (!taken) {
		taken = take_units(w);
		w->elevator.deferred = taken ? w->phase->deferred : 0;
	}
	if (!taken && !is_other_busy(w))
		taken = take_deferred(w);
	return taken;
}

void e2pf_seed(struct worker *w)
{
	struct e2pf_source *source = w->e->cfg.source;
	uint64_t unit;

	/* take_deferred() has already put references into the elevator. */
	if (w->first > w->last)
		return;
	for (unit = w->first; unit <= w->last; unit++)
		source->ops->seed(source, w->phase->number, unit,
				  e2pf_elevator_add, &w->elevator);
}

void e2pf_finish(struct worker *w)
{
	struct e2pf_engine *e = w->e;

	if (w->epoch == e->epoch && w->first <= w->last &&
	    w->phase == e->first_phase)
		e->units_done += w->last - w->first + 1;
}
