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

/* What follows from a change of a part.  The part's function returns a mask of these, and
 * settle() in monitor.c acts on it. */
enum e2pf_event {
	E2PF_EV_WORK = 1,	/* idle and throttled workers look again */
	E2PF_EV_ROOM = 2,	/* the same, if one of them is throttled */
	E2PF_EV_GATE = 4,	/* a checker that waits at the gate looks again */
	E2PF_EV_ENDED = 8,	/* callers that wait for the workers to end, or to
				   have nothing left to read, look again */
	E2PF_EV_GIVE_UP = 16,	/* the workers claim nothing any more */
	E2PF_EV_WAKE = 32	/* an engine that is asleep starts to read */
};

/* What is known of the phase after the current one.  The last worker that finds nothing to
 * claim goes from UNKNOWN to CHOOSING, and from there to UNKNOWN in the next phase, or to
 * NONE; a phase that the checker begins leads from NONE to UNKNOWN. */
enum e2pf_next_phase {
	E2PF_NEXT_UNKNOWN,	/* the source was not asked yet */
	E2PF_NEXT_CHOOSING,	/* a worker is asking it, without the lock; nothing
				   is claimed meanwhile */
	E2PF_NEXT_NONE		/* none follows, unless the checker begins one */
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
	atomic_bool has_checker;	/* there is a checker */

	/* These need the lock. */
	enum e2pf_next_phase next;
	const struct e2pf_phase *first;	/* since the source's begin() */
	bool seeks;
	unsigned news;		/* counts what may give an idle worker work */
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

/* The checker's last report no longer counts. */
void e2pf_schedule_forget_report(struct e2pf_schedule *s);

/* Tell the source how the engine is going to work.  The first phase becomes the current
 * one, unless the checker has begun another. */
void e2pf_schedule_prepare(struct e2pf_schedule *s,
			   const struct e2pf_start *start);

/* Begin this phase at its first unit, or, with NULL, none. */
unsigned e2pf_schedule_begin(struct e2pf_schedule *s,
			     const struct e2pf_phase *phase);

/* There may be work for an idle worker: it looks again. */
unsigned e2pf_schedule_tell_news(struct e2pf_schedule *s);

/* Claim the units that come next, of a weight of at most `most` bytes, for one of the
 * `workers`.  Returns false, with the phase set, if there is nothing now. */
bool e2pf_schedule_claim(struct e2pf_schedule *s, uint64_t most,
			 unsigned workers, struct e2pf_stripe *stripe);

/* May the phase end when all workers are idle?  It may not if reports of the checker can
 * still add units, or if the source is being asked already, or was. */
bool e2pf_schedule_may_end(const struct e2pf_schedule *s);
unsigned e2pf_schedule_set_next(struct e2pf_schedule *s,
				enum e2pf_next_phase next);

#endif
