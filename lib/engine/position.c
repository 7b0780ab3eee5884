/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "position.h"

/* Instead of a packed phase and unit: the checker has not reported one. */
#define NOWHERE UINT64_MAX
#define UNIT_BITS 56
#define UNITS (UINT64_MAX >> (64 - UNIT_BITS))

void e2pf_position_start(struct e2pf_position *p, bool paced)
{
	p->at = NOWHERE;
	p->paced = paced;
}

void e2pf_position_set(struct e2pf_position *p, const struct e2pf_phase *phase)
{
	p->phase = phase;
}

void e2pf_position_begin(struct e2pf_position *p,
			 const struct e2pf_phase *phase)
{
	p->phase = phase;
	p->epoch++;
}

bool e2pf_position_report(struct e2pf_position *p, unsigned phase,
			  uint64_t unit)
{
	uint64_t at = (uint64_t)phase << UNIT_BITS | (unit & UNITS);

	if (p->at == at)
		return false;
	p->at = at;
	return true;
}

void e2pf_position_forget(struct e2pf_position *p)
{
	p->at = NOWHERE;
}

bool e2pf_position_last(const struct e2pf_position *p, int *phase,
			uint64_t *unit)
{
	uint64_t at = p->at;

	*phase = (int)(at >> UNIT_BITS);
	*unit = at & UNITS;
	return at != NOWHERE;
}

bool e2pf_position_at(const struct e2pf_position *p, uint64_t *unit)
{
	const struct e2pf_phase *current = p->phase;
	int phase;

	return e2pf_position_last(p, &phase, unit) && current &&
	       (unsigned)phase == current->number;
}

bool e2pf_is_followed(const struct e2pf_position *p)
{
	const struct e2pf_phase *phase = p->phase;

	return phase && phase->followed && p->paced;
}

bool e2pf_passed(const struct e2pf_position *p, uint64_t unit)
{
	uint64_t at;

	return e2pf_is_followed(p) && e2pf_position_at(p, &at) && unit < at;
}
