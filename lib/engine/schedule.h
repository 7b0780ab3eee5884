/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The schedule: which units of the current phase are taken next, and when a phase has
 * ended.
 *
 * There is one cursor.  Whoever is free takes the units that follow it, so that
 * all workers read what the checker needs next.  A phase ends when nothing can be
 * taken and no worker is busy.
 */
#ifndef E2PF_SCHEDULE_H
#define E2PF_SCHEDULE_H

#include "position.h"
#include "source.h"

/* What comes after the current phase. */
enum e2pf_phase_end {
	E2PF_PHASE_OPEN,	/* not known: units are left */
	E2PF_PHASE_CHOOSING,	/* a worker asks the source; nothing is taken
				   meanwhile */
	E2PF_PHASE_LAST		/* nothing, unless the checker begins it */
};

struct e2pf_schedule {
	struct e2pf_source *source;
	enum e2pf_phase_end end;
	const struct e2pf_phase *first;
	bool seeks;
	unsigned news;		/* whatever may give an idle worker work */
	uint64_t next_unit;	/* the first one not taken */
	uint64_t take_bytes;	/* weight of the units taken next */
};

/* What a worker has taken. */
struct e2pf_stripe {
	const struct e2pf_phase *phase;
	unsigned epoch;
	uint64_t first, last;	/* units */
	uint64_t bytes;		/* their weight */
};

void e2pf_schedule_init(struct e2pf_schedule *s, struct e2pf_source *source);

/* The others need the lock. */

/* Tell the source how the engine is going to work.  The first phase becomes the current
 * one, unless the checker has begun another. */
void e2pf_schedule_prepare(struct e2pf_schedule *s, struct e2pf_position *p,
			   const struct e2pf_start *start);

/* Begin this phase at its first unit, or, with NULL, none. */
unsigned e2pf_schedule_begin(struct e2pf_schedule *s, struct e2pf_position *p,
			     const struct e2pf_phase *phase);

/* There may be work for an idle worker. */
unsigned e2pf_schedule_tell_news(struct e2pf_schedule *s);

/* Take what comes next, of a weight of at most `share` bytes, for one of the `workers`.
 * Returns false, with the phase set, if there is nothing now. */
bool e2pf_schedule_take(struct e2pf_schedule *s, const struct e2pf_position *p,
			uint64_t share, unsigned workers,
			struct e2pf_stripe *stripe);

/* Were all units taken, and are there no more to come? */
bool e2pf_schedule_has_ended(const struct e2pf_schedule *s,
			     const struct e2pf_position *p);
unsigned e2pf_schedule_set_end(struct e2pf_schedule *s,
			       enum e2pf_phase_end end);

#endif
