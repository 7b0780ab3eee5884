/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The schedule: the current phase of the source, how far in it the checker is, which units
 * are claimed next, and when the phase has ended.
 *
 * There is one cursor.  A free worker claims the units that follow it, so that all
 * workers read what the checker needs next.  A phase ends when no units can be claimed
 * and no worker is busy.
 */
#ifndef E2PF_SCHEDULE_H
#define E2PF_SCHEDULE_H

#include <stdatomic.h>

#include "source.h"

/* The requests of a part of the engine that has changed: it returns events, and
 * settle() in monitor.c wakes others. */
enum e2pf_event {
	E2PF_EV_WORK = 1,	/* all workers that sleep look again */
	E2PF_EV_ROOM = 2,	/* the same, if one of them is throttled */
	E2PF_EV_GATE = 4,	/* whoever waits at the gate looks again; */
	E2PF_EV_IDLE = 8,	/* and who waits for the workers to end, or to
				   have nothing left to do */
	E2PF_EV_GIVE_UP = 16,	/* the workers claim nothing any more */
	E2PF_EV_WAKE = 32	/* an engine that is asleep starts to read */
};

/* The phase after the current one. */
enum e2pf_phase_end {
	E2PF_PHASE_OPEN,	/* not known: units are left */
	E2PF_PHASE_CHOOSING,	/* a worker asks the source; nothing is claimed
				   meanwhile */
	E2PF_PHASE_LAST		/* nothing, unless the checker begins it */
};

struct e2pf_schedule {
	struct e2pf_source *source;
	/* Any thread reads these without the lock, and the checker's report is
	 * written without. */
	_Atomic(const struct e2pf_phase *) phase;	/* the current one; NULL:
							   none */
	atomic_uint epoch;	/* phases begun: what was claimed in an older
				   one is dropped */
	atomic_uint_fast64_t at;	/* the checker's phase and unit, packed */
	atomic_bool paced;	/* there is a checker */

	/* These need the lock. */
	enum e2pf_phase_end end;
	const struct e2pf_phase *first;
	bool seeks;
	unsigned news;		/* whatever may give an idle worker work */
	uint64_t next_unit;	/* the first one not claimed */
	uint64_t claim_bytes;	/* weight of the units claimed next */
};

/* Units that a worker claims at once. */
struct e2pf_stripe {
	const struct e2pf_phase *phase;
	unsigned epoch;
	uint64_t first, last;	/* units */
	uint64_t bytes;		/* their weight */
	uint64_t number;	/* in the window */
};

void e2pf_schedule_init(struct e2pf_schedule *s, struct e2pf_source *source);

/* These need no lock. */

/* The checker reports this unit of a phase.  Returns false if it has done so before. */
bool e2pf_schedule_report(struct e2pf_schedule *s, unsigned phase,
			  uint64_t unit);

/* Its last report, of any phase; false: there is none. */
bool e2pf_schedule_last(const struct e2pf_schedule *s, int *phase,
			uint64_t *unit);

/* Has the checker reported a unit of the current phase? */
bool e2pf_schedule_at(const struct e2pf_schedule *s, uint64_t *unit);

/* Does the checker report its position in the current phase? */
bool e2pf_is_followed(const struct e2pf_schedule *s);

/* Has the checker passed this unit? */
bool e2pf_passed(const struct e2pf_schedule *s, uint64_t unit);

/* The others need the lock. */

/* What the checker has reported no longer counts. */
void e2pf_schedule_forget(struct e2pf_schedule *s);

/* Tell the source how the engine is going to work.  The first phase becomes the current
 * one, unless the checker has begun another. */
void e2pf_schedule_prepare(struct e2pf_schedule *s,
			   const struct e2pf_start *start);

/* Begin this phase at its first unit, or, with NULL, none. */
unsigned e2pf_schedule_begin(struct e2pf_schedule *s,
			     const struct e2pf_phase *phase);

/* There may be work for an idle worker. */
unsigned e2pf_schedule_tell_news(struct e2pf_schedule *s);

/* Claim what comes next, of a weight of at most `share` bytes, for one of the `workers`.
 * Returns false, with the phase set, if there is nothing now. */
bool e2pf_schedule_claim(struct e2pf_schedule *s, uint64_t share,
			 unsigned workers, struct e2pf_stripe *stripe);

/* Were all units claimed, and are there no more to come? */
bool e2pf_schedule_has_ended(const struct e2pf_schedule *s);
unsigned e2pf_schedule_set_end(struct e2pf_schedule *s,
			       enum e2pf_phase_end end);

#endif
