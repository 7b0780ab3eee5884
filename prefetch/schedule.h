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
#ifndef PREFETCH_SCHEDULE_H
#define PREFETCH_SCHEDULE_H

#include <stdatomic.h>

#include "source.h"

/* What is known of the phase after the current one.  The last worker that finds nothing to
 * claim goes from UNKNOWN to CHOOSING, and from there to UNKNOWN in the next phase, or to
 * NONE; a phase that the checker begins leads from NONE to UNKNOWN. */
enum pf_next_phase {
	PF_NEXT_UNKNOWN,	/* the source was not asked yet */
	PF_NEXT_CHOOSING,	/* a worker is asking it, without the lock; nothing
				   is claimed meanwhile */
	PF_NEXT_NONE		/* none follows, unless the checker begins one */
};

struct pf_schedule {
	struct pf_source *source;
	/* Any thread reads these without the lock, and the checker's report is
	 * written without. */
	_Atomic(const struct pf_phase *) phase;	/* the current one; NULL:
							   none */
	atomic_uint epoch;	/* phases begun: what was claimed in an older
				   one is dropped */
	atomic_uint_fast64_t report;	/* the checker's phase and unit, packed */
	atomic_bool has_checker;	/* there is a checker */

	/* These need the lock. */
	enum pf_next_phase next;
	const struct pf_phase *first;	/* since the source's begin() */
	bool seek_bound;
	unsigned news;		/* counts what may give an idle worker work */
	uint64_t next_unit;	/* the first one not claimed */
	uint64_t claim_bytes;	/* weight of the units claimed next */
};

/* Units that a worker claims at once. */
struct pf_stripe {
	const struct pf_phase *phase;
	unsigned epoch;
	uint64_t first, last;	/* units */
	uint64_t bytes;		/* their weight */
	uint64_t number;	/* in the window */
};

void pf_schedule_init(struct pf_schedule *s, struct pf_source *source);

/* These need no lock. */

/* The checker reports this unit of a phase.  Returns false if it has done so before. */
bool pf_schedule_report(struct pf_schedule *s, unsigned phase,
			uint64_t unit);

/* Its last report, of any phase; false: there is none. */
bool pf_schedule_last_report(const struct pf_schedule *s, int *phase,
			     uint64_t *unit);

/* Has the checker reported a unit of the current phase? */
bool pf_schedule_position(const struct pf_schedule *s, uint64_t *unit);

/* Does the checker report its position in the current phase? */
bool pf_schedule_is_followed(const struct pf_schedule *s);

/* Has the checker passed this unit? */
bool pf_schedule_has_passed(const struct pf_schedule *s, uint64_t unit);

/* The others need the lock. */

/* The checker's last report no longer counts. */
void pf_schedule_forget_report(struct pf_schedule *s);

/* Have the source begin, with the options as they are known now.  The first phase becomes
 * the current one, unless the checker has begun another. */
void pf_schedule_begin_source(struct pf_schedule *s,
			      const struct pf_options *options, bool asleep);

/* Begin this phase at its first unit, or, with NULL, none. */
unsigned pf_schedule_begin_phase(struct pf_schedule *s,
				 const struct pf_phase *phase);

/* There may be work for an idle worker: it looks again. */
unsigned pf_schedule_announce_units(struct pf_schedule *s);

/* Claim the units that come next, of a weight of at most `max` bytes, for one of the
 * `workers`.  Returns false, with the phase set, if there is nothing now. */
bool pf_schedule_claim(struct pf_schedule *s, uint64_t max,
		       unsigned workers, struct pf_stripe *stripe);

/* May the phase end when all workers are idle?  It may not if reports of the checker can
 * still add units, or if the source is being asked already, or was. */
bool pf_schedule_may_end(const struct pf_schedule *s);
unsigned pf_schedule_set_next(struct pf_schedule *s,
			      enum pf_next_phase next);

#endif
