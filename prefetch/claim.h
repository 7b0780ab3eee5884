/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What a worker claims: the next stripe, and room for it in the window.  Each function
 * takes the lock, unless its comment says otherwise.
 */
#ifndef PREFETCH_CLAIM_H
#define PREFETCH_CLAIM_H

#include "state.h"

/* Claim the next stripe, and sleep while there is none.  Returns false if the worker must
 * end. */
bool pf_claim_next_stripe(struct pf_worker *w);

/* The worker's thread ends. */
void pf_claim_end_worker(struct pf_worker *w);

/* Wait for room in the window.  Returns false if the stripe is obsolete. */
bool pf_claim_wait_for_room(struct pf_worker *w);

/* Count a span of a run, as pf_window_count_span() does.  Returns false if the stripe is
 * obsolete. */
bool pf_claim_count_span(struct pf_worker *w, const struct pf_run *run,
			 uint64_t pos, uint64_t len, bool missing);

/* A worker's read at this offset has returned after `ns`; `error` is an errno or 0.
 * Waits while the device is stalled.  Returns false if the stripe is obsolete.  Takes
 * the lock only if the read was slow or failed, if the device is stalled, or if a
 * checker is at the gate. */
bool pf_claim_read_returned(struct pf_worker *w, uint64_t offset, int error,
			    uint64_t ns);

/* A worker's read at this offset has not returned after `ns`.  The worker counts as
 * throttled until the read has ended, because a checker at the gate must not wait for
 * it. */
void pf_claim_read_stalls(struct pf_worker *w, uint64_t offset, uint64_t ns);

/* The read that stalled has ended. */
void pf_claim_read_ended(struct pf_worker *w);

/* Make idle workers look for units again, because there are more. */
void pf_claim_announce_units(struct pf_engine *e);

/* These need pf_engine.lock. */

/* Begin this phase at its first unit; NULL: no phase. */
void pf_claim_begin_phase(struct pf_engine *e, const struct pf_phase *phase);

/* Returns true if nothing is left to claim: all workers sleep, or there are none. */
bool pf_claim_has_finished(const struct pf_engine *e);

#endif
