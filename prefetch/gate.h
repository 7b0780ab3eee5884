/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The gate.  On a seek-bound device a read of the checker waits here until a worker has
 * read its block, because the checker's own read would move the head away from the
 * sweep and back.
 */
#ifndef PREFETCH_GATE_H
#define PREFETCH_GATE_H

#include <stdatomic.h>

#include "engine.h"

struct pf_gate {
	/* Any thread reads these without the lock. */
	atomic_bool closed;		/* the checker may have to wait in this
					   phase */
	atomic_uint waiters;		/* threads of the checker that wait now */

	/* These need pf_engine.lock. */
	uint64_t waits;			/* reads that have waited */
	uint64_t lost_ns;		/* time of the waits that ended without the
					   block */
	uint64_t served;		/* waits that ended with the block */
};

/* A checker leaves the gate when no worker has made progress for PF_GATE_PATIENCE_NS,
 * or for PF_GATE_IDLE_PATIENCE_NS if no disk is known to be reading. */
#define PF_GATE_PATIENCE_NS 1000000000ull
#define PF_GATE_IDLE_PATIENCE_NS 50000000ull

/* These need no lock. */

/* Set whether reads of the checker may wait in this phase. */
void pf_gate_set_closed(struct pf_gate *gate, bool closed);

/* A read of the checker begins.  Wait until a worker has read its blocks, until no active
 * worker might read them, or until the workers have made no progress for a while.  Sets
 * `missed`, `waited` and `passed_gate` of *r. */
void pf_gate_wait(struct pf_engine *e, struct pf_read *r);

/* The others need pf_engine.lock. */

/* Count a read that leaves the gate after `ns`, with its block if `served`.  `latency` is
 * the device's, in ns; 0: not known.  Opens the gate if waiting does not pay. */
void pf_gate_count_wait(struct pf_gate *gate, uint64_t latency, uint64_t ns,
			bool served);

#endif
