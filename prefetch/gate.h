/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The gate: where a read of the checker waits for a worker to read its block, on a device that
 * is seek-bound.  There a read by the checker moves the head away from the sweep and back.
 */
#ifndef PREFETCH_GATE_H
#define PREFETCH_GATE_H

#include <stdatomic.h>

#include "engine.h"

struct pf_gate {
	/* Any thread reads these without the lock. */
	atomic_bool closed;		/* in this phase the checker may have to
					   wait */
	atomic_uint waiters;		/* the checker's threads that wait now */

	/* These need the lock. */
	uint64_t waits;			/* reads that have waited */
	/* The time of the waits that ended without the block, and the number of
	 * those that ended with it. */
	uint64_t lost_ns, served;
};

/* A checker at the gate goes on when no worker has made progress for
 * PF_GATE_PATIENCE_NS, or, where no disk is known to read, for PF_GATE_IDLE_PATIENCE_NS. */
#define PF_GATE_PATIENCE_NS 1000000000ull
#define PF_GATE_IDLE_PATIENCE_NS 50000000ull

/* These need no lock. */

/* May reads of the checker wait, in this phase? */
void pf_gate_set_closed(struct pf_gate *gate, bool closed);

/* A read of the checker begins: wait until a worker has read its blocks, or until no worker
 * that might read them is active, or until none has made progress for a while.  Sets what
 * struct pf_read says. */
void pf_gate_wait(struct pf_engine *e, struct pf_read *r);

/* The others need the lock. */

/* A read has waited for `ns`, and leaves the gate, with its block if `served`.  `latency` is
 * that of the device, 0: not known.  If waiting does not pay, the gate is open from now on. */
void pf_gate_count_wait(struct pf_gate *gate, uint64_t latency, uint64_t ns,
			bool served);

#endif
