/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What a request costs on this device, as the completions of a worker's requests tell: a
 * volume may admit any number at once until a burst is used up, so that only the rate which
 * comes through under load tells.
 */
#ifndef PREFETCH_COST_H
#define PREFETCH_COST_H

#include <stdint.h>

/* Written by the worker's thread alone. */
struct pf_cost {
	uint64_t request_ns;		/* 0: not known */
	/* Of late: the time that has passed, how much of it this worker has waited for
	 * the device, and the requests that all workers have made. */
	double passed, waited, made_by_all;
	uint64_t last, last_of_all;	/* when, and which number */
};

/* Begin with what was measured, which fades as what is observed does. */
void pf_cost_reset(struct pf_cost *cost, uint64_t request_ns, uint64_t now,
		   uint64_t made_by_all);

/* The worker has waited so long for the device. */
void pf_cost_add_wait(struct pf_cost *cost, uint64_t ns);

/* The worker has made another request; all workers together `made_by_all` so far. */
void pf_cost_observe_request(struct pf_cost *cost, uint64_t now,
			     uint64_t made_by_all);

#endif
