/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The requests that one worker has in flight, and how many there may be.
 *
 * The end of a check has to wait for all requests in flight: the last close of
 * a block device, and the exit of a process that reads it, wait for each page
 * that is being read, even after a signal.  On a disk that takes seconds for a
 * request, a full queue takes minutes.  So the limit follows the time that a
 * request takes: it grows by one with each that completes in time, and is halved
 * if one is late.
 *
 * Only the worker's thread calls these functions.
 */
#ifndef E2PF_REQUESTS_H
#define E2PF_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

/* Sorted requests on arrays of disks gain up to this number in flight. */
#define E2PF_IN_FLIGHT_MOST 1024u

/* A request is late after this time.  A disk with 64 requests to
 * choose among takes half a second for them. */
#define E2PF_LATE_NS 500000000u

struct e2pf_request {
	unsigned device;
	uint64_t offset;	/* of one block it reads, bytes */
	uint64_t bytes;
	uint64_t made;		/* when, ns */
};

struct e2pf_requests {
	struct e2pf_request ring[E2PF_IN_FLIGHT_MOST];
	unsigned oldest, in_flight;
	unsigned most;		/* that may be in flight, at present */
	bool one_by_one;	/* the oldest is waited for */
	uint64_t mean;		/* bytes of a request, of late */
};

/* None is in flight.  `latency_ns`: of each request while others are in flight, as
 * measured; 0: not measured. */
void e2pf_requests_init(struct e2pf_requests *q, uint64_t latency_ns,
			bool one_by_one);

void e2pf_requests_add(struct e2pf_requests *q,
		       const struct e2pf_request *request);

/* The request to wait for next: when it has completed, those before it have, too,
 * or will soon.  There must be one in flight. */
const struct e2pf_request *e2pf_requests_step(const struct e2pf_requests *q);

/* One of them, from the oldest on. */
const struct e2pf_request *e2pf_requests_at(const struct e2pf_requests *q,
					    unsigned index);

/* That request and those before it have completed; or it is `late`, or has failed, and
 * counts as completed. */
void e2pf_requests_completed(struct e2pf_requests *q, bool late);

#endif
