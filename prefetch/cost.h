/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The cost of a request on this device, derived from the completions of a worker's
 * requests.  A measurement beforehand does not suffice: a volume may admit any number at
 * once until a burst is used up, so that only the rate under load shows the cost.
 */
#ifndef PREFETCH_COST_H
#define PREFETCH_COST_H

#include <stdint.h>

/* Written only by the worker's thread. */
struct pf_cost {
	uint64_t request_ns;		/* 0: not known */
	/* Sums in which older values fade: the time that has passed, the part of it
	 * that this worker has waited for the device, and the requests of all workers. */
	double passed, waited, made_by_all;
	uint64_t last, last_of_all;	/* time of this worker's last request, and the
					   count of all requests then */
};

/* Begin with the measured cost, which fades like what is observed. */
void pf_cost_reset(struct pf_cost *cost, uint64_t request_ns, uint64_t now,
		   uint64_t made_by_all);

/* The worker has waited for the device. */
void pf_cost_add_wait(struct pf_cost *cost, uint64_t ns);

/* The worker has made another request.  All workers together have made `made_by_all`. */
void pf_cost_observe_request(struct pf_cost *cost, uint64_t now,
			     uint64_t made_by_all);

#endif
