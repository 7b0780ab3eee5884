/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "schedule.h"

/* What is taken at once if nothing seeks, by weight, in bytes: little at first, to
 * be ahead of the checker at once, then twice as much each time.  With more, one
 * worker's units, which cost bandwidth, would not be read while another worker's
 * trees cost requests. */
#define FIRST_TAKE (256u << 10)
#define FLASH_TAKE (4u << 20)

/* If the device seeks: a few seconds of reading in one sweep, after which a
 * checker that waited at the gate can go on. */
#define SEEK_TAKE (512u << 20)

/* Of all workers together: each unit makes up to three references of 24 bytes. */
#define UNITS_MOST 8192u

static uint64_t lower_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t units(const struct e2pf_schedule *s,
		      const struct e2pf_phase *phase, bool *more)
{
	return s->source->ops->units(s->source, phase->number, more);
}

void e2pf_schedule_init(struct e2pf_schedule *s, struct e2pf_source *source)
{
	s->source = source;
}

/*
 * Phases.
 */

void e2pf_schedule_prepare(struct e2pf_schedule *s, struct e2pf_position *p,
			   const struct e2pf_start *start)
{
	const struct e2pf_phase *phase = p->phase;
	bool begun = phase && phase != s->first;

	s->seeks = start->seeks;
	s->source->ops->begin(s->source, start);
	s->first = s->source->ops->next(s->source, NULL);
	/* The phase of the last begin() is gone, but not one that the checker
	 * has begun. */
	if (!begun)
		e2pf_position_set(p, s->first);
}

unsigned e2pf_schedule_begin(struct e2pf_schedule *s, struct e2pf_position *p,
			     const struct e2pf_phase *phase)
{
	if (!phase) {
		e2pf_position_set(p, NULL);
		return 0;
	}
	/* A worker that is asking the source finds another epoch. */
	if (s->end != E2PF_PHASE_CHOOSING)
		s->end = E2PF_PHASE_OPEN;
	s->next_unit = 0;
	s->take_bytes = FIRST_TAKE;
	e2pf_position_begin(p, phase);
	return e2pf_schedule_tell_news(s);
}

unsigned e2pf_schedule_tell_news(struct e2pf_schedule *s)
{
	s->news++;
	return E2PF_EV_WORK;
}

bool e2pf_schedule_has_ended(const struct e2pf_schedule *s,
			     const struct e2pf_position *p)
{
	const struct e2pf_phase *phase = p->phase;
	bool more;

	if (!phase || s->end != E2PF_PHASE_OPEN)
		return false;
	units(s, phase, &more);
	return !more;
}

unsigned e2pf_schedule_set_end(struct e2pf_schedule *s,
			       enum e2pf_phase_end end)
{
	s->end = end;
	return end == E2PF_PHASE_LAST ? E2PF_EV_IDLE : 0;
}

/*
 * Units.
 */

/* The weight of the units to take. */
static uint64_t weight_to_take(struct e2pf_schedule *s, uint64_t share)
{
	uint64_t take = SEEK_TAKE;

	if (!s->seeks) {
		take = s->take_bytes;
		s->take_bytes = lower_of(take * 2, FLASH_TAKE);
	}
	return lower_of(share, take);
}

/* Units behind the checker are left out, since it has read them itself; and so is the
 * one that it is at, unless it has just come to the cursor. */
static uint64_t first_unit(const struct e2pf_schedule *s,
			   const struct e2pf_position *p)
{
	uint64_t at;

	if (e2pf_is_followed(p) && e2pf_position_at(p, &at) &&
	    s->next_unit < at)
		return at + 1;
	return s->next_unit;
}

/* The end of the units from stripe->first on that weigh as much as is to be taken, at
 * least one.  Those that lie side by side stay together. */
static uint64_t weigh(const struct e2pf_schedule *s, uint64_t end,
		      uint64_t most, struct e2pf_stripe *stripe)
{
	struct e2pf_source *source = s->source;
	uint64_t align = source->align ? source->align : 1, unit, one;

	for (unit = stripe->first; unit < end; unit++, stripe->bytes += one) {
		one = source->ops->weight(source, stripe->phase->number, unit);
		if (unit > stripe->first && unit % align == 0 &&
		    stripe->bytes + one > most)
			break;
	}
	return unit;
}

bool e2pf_schedule_take(struct e2pf_schedule *s, const struct e2pf_position *p,
			uint64_t share, unsigned workers,
			struct e2pf_stripe *stripe)
{
	uint32_t at_once;
	uint64_t end;
	bool more;

	*stripe = (struct e2pf_stripe) {
		.phase = p->phase, .epoch = p->epoch,
	};
	if (!stripe->phase || s->end == E2PF_PHASE_CHOOSING)
		return false;
	stripe->first = first_unit(s, p);
	end = units(s, stripe->phase, &more);
	if (stripe->first >= end)
		return false;
	at_once = stripe->phase->at_once;
	end = lower_of(end, stripe->first + (at_once ? at_once :
					    UNITS_MOST / workers));
	if (!at_once)
		end = weigh(s, end, weight_to_take(s, share), stripe);
	stripe->last = end - 1;
	s->next_unit = end;
	return true;
}
