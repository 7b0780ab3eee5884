/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "core.h"

/* What is taken at once without a head, by weight, in bytes: little at first, to
 * be ahead of the checker at once, then twice as much each time.  With more, one
 * worker's units, which cost bandwidth, would not be read while another worker's
 * trees cost requests. */
#define FIRST_TAKE (256u << 10)
#define FLASH_TAKE (4u << 20)

/* On a rotational disk: a few seconds of reading in one sweep, after which a
 * checker that waited at the gate can go on. */
#define HEAD_TAKE (512u << 20)

/* Of all workers together: each unit makes up to three references of 24 bytes. */
#define UNITS_MOST 8192u

static uint64_t lower_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t units(const struct e2pf_engine *e, bool *more)
{
	return e->source->ops->units(e->source, e->schedule.phase->number,
				     more);
}

/*
 * Phases.
 */

void e2pf_schedule_prepare(struct e2pf_engine *e, bool has_head, bool asleep)
{
	const struct e2pf_start start = {
		.budget = e->window.budget,
		.paced = e->cfg.paced,
		.has_head = has_head,
		.asleep = asleep
	};
	struct e2pf_schedule *s = &e->schedule;
	bool begun = s->phase && s->phase != s->first;

	e2pf_assert_held(e);
	e->source->ops->begin(e->source, &start);
	s->first = e->source->ops->next(e->source, NULL);
	/* The phase of the last begin() is gone, but not one that the checker
	 * has begun. */
	if (!begun)
		s->phase = s->first;
}

void e2pf_schedule_begin(struct e2pf_engine *e, const struct e2pf_phase *phase)
{
	struct e2pf_schedule *s = &e->schedule;

	e2pf_assert_held(e);
	s->phase = phase;
	if (!phase)
		return;
	/* A worker that is asking the source finds another epoch. */
	if (s->end != E2PF_PHASE_CHOOSING)
		s->end = E2PF_PHASE_OPEN;
	s->next_unit = 0;
	s->take_bytes = FIRST_TAKE;
	s->epoch++;
	e2pf_pool_progressed(e);
	e2pf_checker_phase_begins(e);
	e2pf_window_phase_begins(e);
	e2pf_schedule_tell_news(e);
}

void e2pf_schedule_tell_news(struct e2pf_engine *e)
{
	e2pf_assert_held(e);
	e->schedule.news++;
	e2pf_pool_wake_workers(e);
}

void e2pf_schedule_next_phase(struct e2pf_engine *e)
{
	struct e2pf_schedule *s = &e->schedule;
	const struct e2pf_phase *next, *phase = s->phase;
	unsigned epoch = s->epoch;
	bool more;

	e2pf_assert_held(e);
	if (!phase || !e2pf_is_reading(e) || s->end != E2PF_PHASE_OPEN ||
	    !e2pf_pool_is_idle(e))
		return;
	units(e, &more);
	if (more)
		return;
	s->end = E2PF_PHASE_CHOOSING;
	e2pf_unlock(&e->lock);
	next = e->source->ops->next(e->source, phase);
	e2pf_lock(&e->lock);
	s->end = E2PF_PHASE_OPEN;
	if (!e2pf_is_reading(e))
		return;
	if (s->epoch != epoch) {
		/* The checker has begun another phase meanwhile: others found
		 * nothing to take, because the source was being asked. */
		e2pf_schedule_tell_news(e);
	} else if (next) {
		e2pf_schedule_begin(e, next);
	} else {
		s->end = E2PF_PHASE_LAST;
		e2pf_pool_tell_end(e);
	}
}

/*
 * Units.
 */

/* The weight of the units to take. */
static uint64_t weight_to_take(struct e2pf_engine *e)
{
	struct e2pf_schedule *s = &e->schedule;
	uint64_t take = HEAD_TAKE;

	if (!e->pacing.speed.has_head) {
		take = s->take_bytes;
		s->take_bytes = lower_of(take * 2, FLASH_TAKE);
	}
	return lower_of(e2pf_window_share(e), take);
}

/* Units behind the checker are left out, since it has read them itself; and so is the
 * one that it is at, unless it has just come to the cursor. */
static uint64_t first_unit(struct e2pf_engine *e)
{
	uint64_t at;

	if (e2pf_is_followed(e) && e2pf_checker_at(e, &at) &&
	    e->schedule.next_unit < at)
		return at + 1;
	return e->schedule.next_unit;
}

/* The end of the units from `first` on that weigh as much as is to be taken, at
 * least one.  Those that lie side by side stay together. */
static uint64_t weigh(struct e2pf_engine *e, uint64_t first, uint64_t end,
		      uint64_t *weight)
{
	struct e2pf_source *source = e->source;
	unsigned phase = e->schedule.phase->number;
	uint64_t align = source->align ? source->align : 1, unit, one;
	uint64_t most = weight_to_take(e);

	for (unit = first; unit < end; unit++, *weight += one) {
		one = source->ops->weight(source, phase, unit);
		if (unit > first && unit % align == 0 && *weight + one > most)
			break;
	}
	return unit;
}

static bool take_units(struct e2pf_engine *e, struct e2pf_taken *taken)
{
	uint64_t first = first_unit(e), end;
	uint32_t at_once = taken->phase->at_once;
	bool more;

	end = units(e, &more);
	if (first >= end)
		return false;
	end = lower_of(end, first + (at_once ? at_once :
				     UNITS_MOST / e->pool.workers));
	taken->bytes = 0;
	if (!at_once)
		end = weigh(e, first, end, &taken->bytes);
	taken->first = first;
	taken->last = end - 1;
	e->schedule.next_unit = end;
	return true;
}

bool e2pf_schedule_take(struct e2pf_engine *e, struct e2pf_taken *taken)
{
	struct e2pf_schedule *s = &e->schedule;

	e2pf_assert_held(e);
	taken->phase = s->phase;
	taken->epoch = s->epoch;
	return e2pf_is_reading(e) && s->end != E2PF_PHASE_CHOOSING &&
	       taken->phase && take_units(e, taken);
}
