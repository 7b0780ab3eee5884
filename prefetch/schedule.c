/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "schedule.h"
#include "state.h"

/* The weight of a claim in bytes if the device is not seek-bound.  The first claim is
 * small, to be ahead of the checker at once.  Each further claim is twice as large, up
 * to FLASH_CLAIM.  With larger claims, one worker's units, which cost bandwidth, would
 * not be read while another worker's trees cost requests. */
#define FIRST_CLAIM (256u << 10)
#define FLASH_CLAIM (4u << 20)

/* The weight of a claim if the device is seek-bound: a few seconds of reading in one
 * sweep, after which a checker that waited at the gate can continue. */
#define SEEK_CLAIM (512u << 20)

/* The most units that all workers together claim.  Each unit yields up to three
 * references of 24 bytes. */
#define MAX_UNITS 8192u

/* A report is one word, so that the checker can store it without the lock.  The unit is
 * in the lowest UNIT_BITS, and the phase above them. */
#define NO_REPORT UINT64_MAX
#define UNIT_BITS 56
#define UNIT_MASK (UINT64_MAX >> (64 - UNIT_BITS))

static uint64_t min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t count_units(const struct pf_schedule *s,
			    const struct pf_phase *phase, bool *more)
{
	return s->source->ops->units(s->source, phase->number, more);
}

void pf_schedule_init(struct pf_schedule *s, struct pf_source *source)
{
	s->source = source;
	s->report = NO_REPORT;
}

/*
 * The checker's position.
 */

void pf_schedule_forget_report(struct pf_schedule *s)
{
	s->report = NO_REPORT;
}

bool pf_schedule_report(struct pf_schedule *s, unsigned phase,
			uint64_t unit)
{
	uint64_t report = (uint64_t)phase << UNIT_BITS | (unit & UNIT_MASK);

	if (s->report == report)
		return false;
	s->report = report;
	return true;
}

bool pf_schedule_last_report(const struct pf_schedule *s, int *phase,
			     uint64_t *unit)
{
	uint64_t report = s->report;

	*phase = (int)(report >> UNIT_BITS);
	*unit = report & UNIT_MASK;
	return report != NO_REPORT;
}

bool pf_schedule_position(const struct pf_schedule *s, uint64_t *unit)
{
	const struct pf_phase *current = s->phase;
	int phase;

	return pf_schedule_last_report(s, &phase, unit) && current &&
	       (unsigned)phase == current->number;
}

bool pf_schedule_is_followed(const struct pf_schedule *s)
{
	const struct pf_phase *phase = s->phase;

	return phase && phase->followed && s->has_checker;
}

bool pf_schedule_has_passed(const struct pf_schedule *s, uint64_t unit)
{
	uint64_t at;

	return pf_schedule_is_followed(s) && pf_schedule_position(s, &at) && unit < at;
}

/*
 * Phases.
 */

void pf_schedule_begin_source(struct pf_schedule *s,
			      const struct pf_options *options, bool asleep)
{
	const struct pf_phase *phase = s->phase;
	bool begun = phase && phase != s->first;

	s->seek_bound = options->seek_bound;
	s->has_checker = options->has_checker;
	s->source->ops->begin(s->source, options, asleep);
	s->first = s->source->ops->next(s->source, NULL);
	/* A phase of the last begin() is no longer valid.  A phase that the checker has
	 * begun is. */
	if (!begun)
		s->phase = s->first;
}

unsigned pf_schedule_begin_phase(struct pf_schedule *s,
				 const struct pf_phase *phase)
{
	s->phase = phase;
	if (!phase)
		return 0;
	/* A worker that is asking the source finds another epoch, and drops the
	 * answer. */
	if (s->next != PF_NEXT_CHOOSING)
		s->next = PF_NEXT_UNKNOWN;
	s->next_unit = 0;
	s->claim_bytes = FIRST_CLAIM;
	s->epoch++;
	return pf_schedule_announce_units(s);
}

unsigned pf_schedule_announce_units(struct pf_schedule *s)
{
	s->news++;
	return PF_EVENT_WORK;
}

bool pf_schedule_may_end(const struct pf_schedule *s)
{
	const struct pf_phase *phase = s->phase;
	bool more;

	if (!phase || s->next != PF_NEXT_UNKNOWN)
		return false;
	count_units(s, phase, &more);
	return !more;
}

bool pf_schedule_waits(const struct pf_schedule *s)
{
	const struct pf_phase *phase = s->phase;
	bool more = false;

	if (phase && phase->paced)
		count_units(s, phase, &more);
	return more;
}

unsigned pf_schedule_set_next(struct pf_schedule *s,
			      enum pf_next_phase next)
{
	s->next = next;
	return next == PF_NEXT_NONE ? PF_EVENT_ENDED : 0;
}

/*
 * Units.
 */

/* The weight of the units to claim, at most `max`. */
static uint64_t weight_to_claim(struct pf_schedule *s, uint64_t max)
{
	uint64_t weight = SEEK_CLAIM;

	if (!s->seek_bound) {
		weight = s->claim_bytes;
		s->claim_bytes = min_of(weight * 2, FLASH_CLAIM);
	}
	return min_of(max, weight);
}

/* The first unit to claim.  Units that the checker has passed are left out, because it
 * has read them itself.  So is the unit that it is at, unless it has just reached the
 * cursor. */
static uint64_t first_unit(const struct pf_schedule *s)
{
	uint64_t at;

	if (pf_schedule_is_followed(s) && pf_schedule_position(s, &at) &&
	    s->next_unit < at)
		return at + 1;
	return s->next_unit;
}

/* Choose the units from stripe->first on that together weigh at most `max` bytes, and
 * at least one.  Returns the unit behind them, and sets stripe->bytes to their weight. */
static uint64_t weigh_units(const struct pf_schedule *s, uint64_t end,
			    uint64_t max, struct pf_stripe *stripe)
{
	struct pf_source *source = s->source;
	uint64_t unit, one;

	for (unit = stripe->first; unit < end; unit++, stripe->bytes += one) {
		one = source->ops->weight(source, stripe->phase->number, unit);
		if (unit > stripe->first && stripe->bytes + one > max)
			break;
	}
	return unit;
}

bool pf_schedule_claim(struct pf_schedule *s, uint64_t max,
		       unsigned workers, struct pf_stripe *stripe)
{
	uint32_t at_once;
	uint64_t end;
	bool more;

	*stripe = (struct pf_stripe) {
		.phase = s->phase, .epoch = s->epoch,
	};
	if (!stripe->phase || s->next == PF_NEXT_CHOOSING)
		return false;
	stripe->first = first_unit(s);
	end = count_units(s, stripe->phase, &more);
	if (stripe->first >= end)
		return false;
	at_once = stripe->phase->at_once;
	end = min_of(end, stripe->first + (at_once ? at_once :
					   MAX_UNITS / workers));
	if (!at_once)
		end = weigh_units(s, end, weight_to_claim(s, max), stripe);
	stripe->last = end - 1;
	s->next_unit = end;
	return true;
}
