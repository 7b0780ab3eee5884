/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * One worker: takes units, and requests and parses what they refer to in the order
 * of its elevator.
 */
#ifndef E2PF_WORKER_H
#define E2PF_WORKER_H

#include <pthread.h>

#include "elevator.h"
#include "monitor.h"
#include "piece.h"
#include "requests.h"

/* Only the worker's thread uses it. */
struct e2pf_worker {
	pthread_t thread;
	struct e2pf_engine *e;
	struct e2pf_turn turn;
	struct e2pf_elevator elevator;
	struct e2pf_requests requests;
	struct e2pf_piece piece;
};

/* Order and budget are final. */
void e2pf_worker_init(struct e2pf_worker *w, struct e2pf_engine *e,
		      unsigned number, unsigned workers);

/* Its thread. */
void *e2pf_worker_main(void *worker);

/* The thread has ended. */
void e2pf_worker_free(struct e2pf_worker *w);

#endif
