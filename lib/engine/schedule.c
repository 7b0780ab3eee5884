/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "schedule.h"

/* The weight that is claimed at once if the device does not seek, in bytes: little
 * at first, to be ahead of the checker at once, then twice as much each time.
 * With more, one worker's units, which cost bandwidth, would not be read while
 * another worker's trees cost requests. */
#define FIRST_CLAIM (256u << 10)
#define FLASH_CLAIM (4u << 20)

/* If the device seeks: a few seconds of reading in one sweep, after which a
 * checker that waited at the gate can go on. */
#define SEEK_CLAIM (512u << 20)

/* The limit of all workers together: each unit makes up to three references of 24
 * bytes. */
#define UNITS_MOST 8192u

/* A report of the checker in one word, so that it is stored without the lock: the phase
 * above UNIT_BITS, the unit below.  NOWHERE: there is none. */
#define NOWHERE UINT64_MAX
#define UNIT_BITS 56
#define UNIT_MASK (UINT64_MAX >> (64 - UNIT_BITS))

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
	s->at = NOWHERE;
}

/*
 * Where the checker is.
 */

void e2pf_schedule_forget_report(struct e2pf_schedule *s)
{
	s->at = NOWHERE;
}

bool e2pf_schedule_report(struct e2pf_schedule *s, unsigned phase,
			  uint64_t unit)
{
	uint64_t at = (uint64_t)phase << UNIT_BITS | (unit & UNIT_MASK);

	if (s->at == at)
		return false;
	s->at = at;
	return true;
}

bool e2pf_schedule_last(const struct e2pf_schedule *s, int *phase,
			uint64_t *unit)
{
	uint64_t at = s->at;

	*phase = (int)(at >> UNIT_BITS);
	*unit = at & UNIT_MASK;
	return at != NOWHERE;
}

bool e2pf_schedule_at(const struct e2pf_schedule *s, uint64_t *unit)
{
	const struct e2pf_phase *current = s->phase;
	int phase;

	return e2pf_schedule_last(s, &phase, unit) && current &&
	       (unsigned)phase == current->number;
}

bool e2pf_is_followed(const struct e2pf_schedule *s)
{
	const struct e2pf_phase *phase = s->phase;

	return phase && phase->followed && s->has_checker;
}

bool e2pf_passed(const struct e2pf_schedule *s, uint64_t unit)
{
	uint64_t at;

	return e2pf_is_followed(s) && e2pf_schedule_at(s, &at) && unit < at;
}

/*
 * Phases.
 */

void e2pf_schedule_prepare(struct e2pf_schedule *s,
			   const struct e2pf_start *start)
{
	const struct e2pf_phase *phase = s->phase;
	bool begun = phase && phase != s->first;

	s->seeks = start->seeks;
	s->has_checker = start->has_checker;
	s->source->ops->begin(s->source, start);
	s->first = s->source->ops->next(s->source, NULL);
	/* The phase of the last begin() is gone, but not one that the checker
	 * has begun. */
	if (!begun)
		s->phase = s->first;
}

unsigned e2pf_schedule_begin(struct e2pf_schedule *s,
			     const struct e2pf_phase *phase)
{
	s->phase = phase;
	if (!phase)
		return 0;
	/* A worker that is asking the source drops the answer: it finds another
	 * epoch. */
	if (s->next != E2PF_NEXT_CHOOSING)
		s->next = E2PF_NEXT_UNKNOWN;
	s->next_unit = 0;
	s->claim_bytes = FIRST_CLAIM;
	s->epoch++;
	return e2pf_schedule_tell_news(s);
}

unsigned e2pf_schedule_tell_news(struct e2pf_schedule *s)
{
	s->news++;
	return E2PF_EV_WORK;
}

bool e2pf_schedule_may_end(const struct e2pf_schedule *s)
{
	const struct e2pf_phase *phase = s->phase;
	bool more;

	if (!phase || s->next != E2PF_NEXT_UNKNOWN)
		return false;
	units(s, phase, &more);
	return !more;
}

unsigned e2pf_schedule_set_next(struct e2pf_schedule *s,
				enum e2pf_next_phase next)
{
	s->next = next;
	return next == E2PF_NEXT_NONE ? E2PF_EV_ENDED : 0;
}

/*
 * Units.
 */

/* The weight of the units to claim, at most `most`. */
static uint64_t weight_to_claim(struct e2pf_schedule *s, uint64_t most)
{
	uint64_t weight = SEEK_CLAIM;

	if (!s->seeks) {
		weight = s->claim_bytes;
		s->claim_bytes = lower_of(weight * 2, FLASH_CLAIM);
	}
	return lower_of(most, weight);
}

/* Units behind the checker are left out, since it has read them itself; and so is the
 * one that it is at, unless it has just come to the cursor. */
static uint64_t first_unit(const struct e2pf_schedule *s)
{
	uint64_t at;

	if (e2pf_is_followed(s) && e2pf_schedule_at(s, &at) &&
	    s->next_unit < at)
		return at + 1;
	return s->next_unit;
}

/* Returns the end of the units from stripe->first on that together weigh at most `most`
 * bytes, or of the first one alone, and sets stripe->bytes to their weight. */
static uint64_t weigh(const struct e2pf_schedule *s, uint64_t end,
		      uint64_t most, struct e2pf_stripe *stripe)
{
	struct e2pf_source *source = s->source;
	uint64_t unit, one;

	for (unit = stripe->first; unit < end; unit++, stripe->bytes += one) {
		one = source->ops->weight(source, stripe->phase->number, unit);
		if (unit > stripe->first && stripe->bytes + one > most)
			break;
	}
	return unit;
}

bool e2pf_schedule_claim(struct e2pf_schedule *s, uint64_t most,
			 unsigned workers, struct e2pf_stripe *stripe)
{
	uint32_t at_once;
	uint64_t end;
	bool more;

	*stripe = (struct e2pf_stripe) {
		.phase = s->phase, .epoch = s->epoch,
	};
	if (!stripe->phase || s->next == E2PF_NEXT_CHOOSING)
		return false;
	stripe->first = first_unit(s);
	end = units(s, stripe->phase, &more);
	if (stripe->first >= end)
		return false;
	at_once = stripe->phase->at_once;
	end = lower_of(end, stripe->first + (at_once ? at_once :
					    UNITS_MOST / workers));
	if (!at_once)
		end = weigh(s, end, weight_to_claim(s, most), stripe);
	stripe->last = end - 1;
	s->next_unit = end;
	return true;
}
