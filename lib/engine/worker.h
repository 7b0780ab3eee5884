/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * One worker: takes units, and requests and parses what they refer to in the order
 * of its elevator.
 */
#ifndef E2PF_WORKER_H
#define E2PF_WORKER_H

#include "elevator.h"
#include "pacing.h"
#include "piece.h"
#include "requests.h"
#include "schedule.h"

/* Only the worker's thread uses it. */
struct e2pf_worker {
	struct e2pf_engine *e;
	unsigned number;
	struct e2pf_taken taken;
	uint64_t range;			/* of the window: its units */
	struct e2pf_elevator elevator;
	struct e2pf_requests requests;
	struct e2pf_piece piece;
	uint64_t requests_made;
};

/* The lock is held. */
void e2pf_worker_init(struct e2pf_worker *w, struct e2pf_engine *e,
		      unsigned number, unsigned workers);

/* Its thread. */
void *e2pf_worker_main(void *worker);

/* The thread has ended. */
void e2pf_worker_free(struct e2pf_worker *w);

#endif
