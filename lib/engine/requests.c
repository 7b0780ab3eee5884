/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "requests.h"

/* Requests in flight at first: at least, and on a device known to be fast. */
#define FIRST 4u
#define FIRST_FAST 64u

/* Each request changes the mean by this part.  With a fifth as many large requests keep
 * gaps narrow for many small ones behind them. */
#define LATELY 100u

/* One of this many parts of a full queue is waited for at a time: to ask the kernel
 * about a request takes 1 us. */
#define STEPS 32u

void e2pf_requests_init(struct e2pf_requests *q, uint64_t latency_ns,
			bool one_by_one)
{
	q->one_by_one = one_by_one;
	q->oldest = q->in_flight = 0;
	q->mean = 0;
	/* As many as complete in half of the time. */
	q->most = FIRST;
	if (latency_ns && latency_ns < E2PF_LATE_NS / 2 / FIRST_FAST)
		q->most = FIRST_FAST;
	else if (latency_ns && latency_ns < E2PF_LATE_NS / 2 / FIRST)
		q->most = (unsigned)(E2PF_LATE_NS / 2 / latency_ns);
}

static unsigned at(const struct e2pf_requests *q, unsigned index)
{
	return (q->oldest + index) % E2PF_IN_FLIGHT_MOST;
}

void e2pf_requests_add(struct e2pf_requests *q,
		       const struct e2pf_request *request)
{
	q->ring[at(q, q->in_flight++)] = *request;
	q->mean = (q->mean * (LATELY - 1) + request->bytes) / LATELY;
}

const struct e2pf_request *e2pf_requests_at(const struct e2pf_requests *q,
					    unsigned index)
{
	return &q->ring[at(q, index)];
}

/* The index of the request to wait for. */
static unsigned step(const struct e2pf_requests *q)
{
	unsigned n = q->one_by_one ? 0 : q->most / STEPS;

	if (n > q->in_flight)
		n = q->in_flight;
	return n ? n - 1 : 0;
}

const struct e2pf_request *e2pf_requests_step(const struct e2pf_requests *q)
{
	return e2pf_requests_at(q, step(q));
}

void e2pf_requests_completed(struct e2pf_requests *q, bool late)
{
	unsigned n = step(q) + 1;

	q->oldest = at(q, n);
	q->in_flight -= n;
	if (late)
		q->most = (q->most + 1) / 2;
	else if (q->most + n <= E2PF_IN_FLIGHT_MOST)
		q->most += n;
	else
		q->most = E2PF_IN_FLIGHT_MOST;
}
