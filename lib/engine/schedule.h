/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The schedule: which phase of the source is current, and which of its units are
 * taken next.
 *
 * There is one cursor.  Whoever is free takes the units that follow it, so that
 * all workers read what the checker needs next.  A phase ends when nothing can be
 * taken and no worker is busy.
 */
#ifndef E2PF_SCHEDULE_H
#define E2PF_SCHEDULE_H

#include <stdatomic.h>

#include "source.h"

struct e2pf_engine;

/* What comes after the current phase. */
enum e2pf_phase_end {
	E2PF_PHASE_OPEN,	/* not known: units are left */
	E2PF_PHASE_CHOOSING,	/* a worker asks the source; nothing is taken
				   meanwhile */
	E2PF_PHASE_LAST		/* nothing, unless the checker begins it */
};

/* Written by schedule.c alone, with the engine's lock held. */
struct e2pf_schedule {
	/* Any thread reads these without the lock. */
	_Atomic(const struct e2pf_phase *) phase;	/* NULL: none */
	atomic_uint epoch;	/* phases begun: what was taken in an older one
				   is dropped */

	_Atomic(enum e2pf_phase_end) end;

	/* These need the lock. */
	const struct e2pf_phase *first;
	unsigned news;		/* whatever may give an idle worker work */
	uint64_t next_unit;	/* the first one not taken */
	uint64_t take_bytes;	/* weight of the units taken next */
};

/* What a worker has taken. */
struct e2pf_taken {
	const struct e2pf_phase *phase;
	unsigned epoch;
	uint64_t first, last;	/* units */
	uint64_t bytes;		/* their weight */
};

/* These need the engine's lock. */

/* Tell the source how the engine is going to work.  Unless the engine was `asleep`
 * and the checker has begun a phase, the first phase becomes the current one. */
void e2pf_schedule_prepare(struct e2pf_engine *e, bool has_head, bool asleep);

/* Begin this phase at its first unit, or, with NULL, none. */
void e2pf_schedule_begin(struct e2pf_engine *e,
			 const struct e2pf_phase *phase);

/* There may be work for an idle worker. */
void e2pf_schedule_tell_news(struct e2pf_engine *e);

/* Take what comes next.  Returns false, with the phase set, if there is nothing
 * now. */
bool e2pf_schedule_take(struct e2pf_engine *e, struct e2pf_taken *taken);

/* If nothing can be taken and no worker is busy, go on to the next phase.  Releases
 * the lock while the source chooses. */
void e2pf_schedule_next_phase(struct e2pf_engine *e);

#endif
