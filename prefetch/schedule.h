/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The schedule: the current phase of the source, the checker's position in it, the
 * units that are claimed next, and the end of the phase.
 *
 * There is one cursor.  A free worker claims the units behind it, so that all workers
 * read what the checker needs next.  A phase ends when no units can be claimed and no
 * worker is busy.
 */
#ifndef PREFETCH_SCHEDULE_H
#define PREFETCH_SCHEDULE_H

#include <stdatomic.h>

#include "source.h"

/* What is known about the phase after the current one.  The last worker that finds
 * nothing to claim changes UNKNOWN to CHOOSING.  It then begins the next phase, which
 * is UNKNOWN again, or sets NONE.  NONE changes to UNKNOWN when the checker begins a
 * phase. */
enum pf_next_phase {
	PF_NEXT_UNKNOWN,	/* the source was not asked yet */
	PF_NEXT_CHOOSING,	/* a worker is asking the source, without the lock;
				   nothing is claimed meanwhile */
	PF_NEXT_NONE		/* no phase follows unless the checker begins one */
};

struct pf_schedule {
	struct pf_source *source;
	/* Any thread reads these without the lock.  The checker also writes its report
	 * without the lock. */
	_Atomic(const struct pf_phase *) phase;	/* the current one, or NULL */
	atomic_uint epoch;	/* number of phases begun; a stripe of an older
				   epoch is dropped */
	atomic_uint_fast64_t report;	/* the checker's phase and unit, packed */
	atomic_bool has_checker;	/* there is a checker */

	/* These need pf_engine.lock. */
	enum pf_next_phase next;
	const struct pf_phase *first;	/* since the source's begin() */
	bool seek_bound;
	unsigned news;		/* number of events that may give an idle worker
				   work */
	uint64_t next_unit;	/* the first one that was not claimed */
	uint64_t claim_bytes;	/* weight of the units to claim next */
};

/* Units that a worker claims at once. */
struct pf_stripe {
	const struct pf_phase *phase;
	unsigned epoch;
	uint64_t first, last;	/* units */
	uint64_t bytes;		/* their weight */
	uint64_t number;	/* of the stripe, in the window */
};

void pf_schedule_init(struct pf_schedule *s, struct pf_source *source);

/* These need no lock. */

/* The checker reports this unit of a phase.  Returns false if its last report was the
 * same. */
bool pf_schedule_report(struct pf_schedule *s, unsigned phase,
			uint64_t unit);

/* The checker's last report, of any phase.  Returns false if there is none. */
bool pf_schedule_last_report(const struct pf_schedule *s, int *phase,
			     uint64_t *unit);

/* The unit of the checker's last report.  Returns false if that was not of the current
 * phase. */
bool pf_schedule_position(const struct pf_schedule *s, uint64_t *unit);

/* Returns true if the checker reports its position in the current phase. */
bool pf_schedule_is_followed(const struct pf_schedule *s);

/* Returns true if the checker has passed this unit of the current phase. */
bool pf_schedule_has_passed(const struct pf_schedule *s, uint64_t unit);

/* The others need pf_engine.lock. */

/* Forget the checker's last report. */
void pf_schedule_forget_report(struct pf_schedule *s);

/* Call the source's begin() with these options.  Its first phase becomes the current one,
 * unless the checker has begun another. */
void pf_schedule_begin_source(struct pf_schedule *s,
			      const struct pf_options *options, bool asleep);

/* Begin this phase at its first unit; NULL: no phase. */
unsigned pf_schedule_begin_phase(struct pf_schedule *s,
				 const struct pf_phase *phase);

/* Make idle workers look for units again. */
unsigned pf_schedule_announce_units(struct pf_schedule *s);

/* Claim the next units, with a weight of at most `max` bytes, for one of the `workers`.
 * Returns false, with only the phase and epoch set, if there are none now. */
bool pf_schedule_claim(struct pf_schedule *s, uint64_t max,
		       unsigned workers, struct pf_stripe *stripe);

/* Returns true if the phase may end when all workers are idle.  It may not if reports
 * of the checker can still add units, or if the source was already asked for the next
 * phase. */
bool pf_schedule_may_end(const struct pf_schedule *s);

/* Returns true if the source paces the phase, and more units may follow. */
bool pf_schedule_waits(const struct pf_schedule *s);

/* Set what is known about the next phase. */
unsigned pf_schedule_set_next(struct pf_schedule *s,
			      enum pf_next_phase next);

#endif
