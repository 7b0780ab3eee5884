/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The position: the current phase of the source, and how far in it the checker is.  Any
 * thread reads it without the lock; only the checker's report is written without.
 */
#ifndef E2PF_POSITION_H
#define E2PF_POSITION_H

#include <stdatomic.h>

#include "source.h"

/* What a part of the engine asks for when it has changed: it returns events, and wakes
 * nobody (monitor.c: settle()). */
enum e2pf_event {
	E2PF_EV_WORK = 1,	/* all workers that sleep look again */
	E2PF_EV_ROOM = 2,	/* the same, if one of them is throttled */
	E2PF_EV_GATE = 4,	/* whoever waits at the gate looks again; */
	E2PF_EV_IDLE = 8,	/* and who waits for the workers to end, or to
				   have nothing left to do */
	E2PF_EV_GIVE_UP = 16,	/* the workers take nothing any more */
	E2PF_EV_WAKE = 32	/* an engine that is asleep starts to read */
};

struct e2pf_position {
	_Atomic(const struct e2pf_phase *) phase;	/* NULL: none */
	atomic_uint epoch;	/* phases begun: what was taken in an older one
				   is dropped */
	atomic_uint_fast64_t at;	/* the checker's phase and unit, packed */
	atomic_bool paced;	/* there is a checker */
};

/* Reading begins: the checker has reported nothing, and only reports if `paced`. */
void e2pf_position_start(struct e2pf_position *p, bool paced);

/* This phase is the current one; and it begins at its first unit. */
void e2pf_position_set(struct e2pf_position *p, const struct e2pf_phase *phase);
void e2pf_position_begin(struct e2pf_position *p,
			 const struct e2pf_phase *phase);

/* The checker reports this unit of a phase.  Returns false if it has done so before. */
bool e2pf_position_report(struct e2pf_position *p, unsigned phase,
			  uint64_t unit);

/* What it has reported no longer counts. */
void e2pf_position_forget(struct e2pf_position *p);

/* What it has reported last, of any phase; false: nothing. */
bool e2pf_position_last(const struct e2pf_position *p, int *phase,
			uint64_t *unit);

/* Has the checker reported a unit of the current phase? */
bool e2pf_position_at(const struct e2pf_position *p, uint64_t *unit);

/* Does the checker report its position in the current phase? */
bool e2pf_is_followed(const struct e2pf_position *p);

/* Has the checker passed this unit? */
bool e2pf_passed(const struct e2pf_position *p, uint64_t unit);

#endif
