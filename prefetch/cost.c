/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "cost.h"

/* The sums cover about this many of the worker's requests. */
#define TIME_OF 128.0

void pf_cost_reset(struct pf_cost *cost, uint64_t request_ns, uint64_t now,
		   uint64_t made_by_all)
{
	*cost = (struct pf_cost) {
		.request_ns = request_ns,
		.passed = (double)request_ns * TIME_OF,
		.made_by_all = request_ns ? TIME_OF : 0,
		.last = now, .last_of_all = made_by_all
	};
}

void pf_cost_add_wait(struct pf_cost *cost, uint64_t ns)
{
	cost->waited += (double)ns;
}

/* If the worker has waited for most of the time, the device is the limit, and a request
 * costs the time between two requests.  Otherwise it costs at most that. */
void pf_cost_observe_request(struct pf_cost *cost, uint64_t now,
			     uint64_t made_by_all)
{
	const double fade = 1 - 1 / TIME_OF;
	uint64_t ns;

	cost->passed = cost->passed * fade + (double)(now - cost->last);
	cost->made_by_all = cost->made_by_all * fade +
			    (double)(made_by_all - cost->last_of_all);
	ns = (uint64_t)(cost->passed / cost->made_by_all);
	if (cost->waited * 2 >= cost->passed || ns < cost->request_ns)
		cost->request_ns = ns;
	cost->waited *= fade;
	cost->last = now;
	cost->last_of_all = made_by_all;
}
