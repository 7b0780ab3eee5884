/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many requests of one worker may be in flight.
 *
 * The end of a check has to wait for all requests in flight: the last close of
 * a block device, and the exit of a process that reads it, wait for each page
 * that is being read, even after a signal.  On a disk that takes seconds for a
 * request, a full queue takes minutes.  So the limit follows the time that a
 * request takes: it grows by one with each that completes in time, and is halved
 * if one is late.
 *
 * This file does not access the device: its owner checks whether the oldest
 * request has completed, and waits for it.  If many requests may be in flight,
 * only one in several is tracked.
 *
 * Not safe from two threads at once.
 */
#ifndef E2PF_INFLIGHT_H
#define E2PF_INFLIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The maximum number of tracked requests. */
#define E2PF_INFLIGHT_SAMPLES 32u

/* Requests in flight at first: at least, and on a device known to be fast.
 * MOST: sorted requests on arrays of disks gain up to this. */
#define E2PF_INFLIGHT_FIRST 4u
#define E2PF_INFLIGHT_FIRST_FAST 64u
#define E2PF_INFLIGHT_MOST 1024u

/* A request is late after this time.  A rotational disk with 64 requests to
 * choose among takes half a second for them. */
#define E2PF_INFLIGHT_LATE_NS 500000000u

/* A request that has completed. */
struct e2pf_completed {
	uint64_t ns;		/* since it was made */
	unsigned depth;		/* requests in flight then, with it */
	uint64_t queued;	/* bytes of these */
};

struct e2pf_request {
	unsigned device;
	uint64_t offset;	/* of one block it reads, bytes */
	uint64_t asked;		/* ns */
	unsigned depth;		/* as above */
	uint64_t queued;
	unsigned covers;	/* requests up to and including this one since
				   the previous sample */
	uint64_t bytes;		/* of these requests */
};

struct e2pf_inflight {
	struct e2pf_request sample[E2PF_INFLIGHT_SAMPLES];
	unsigned first, used;
	unsigned limit;		/* requests */
	atomic_uint in_flight;	/* requests covered by the samples; any thread
				   may read it */
	uint64_t bytes;		/* of these */
	unsigned since;		/* requests since the last sample */
	uint64_t since_bytes;	/* of these */
};

/* `request_ns`: the device's time per request when several are in flight,
 * multiplied by the number of workers; 0: not known. */
void e2pf_inflight_init(struct e2pf_inflight *f, uint64_t request_ns);

/* A request of `bytes` was made that covers `offset` of a device. */
void e2pf_inflight_add(struct e2pf_inflight *f, unsigned device,
		       uint64_t offset, uint64_t bytes, uint64_t now_ns);

/* The oldest tracked request that has not completed; NULL: none. */
const struct e2pf_request *e2pf_inflight_oldest(
		const struct e2pf_inflight *f);

/* Does it have to complete before another is made? */
bool e2pf_inflight_is_full(const struct e2pf_inflight *f);

/* The oldest request has completed or failed.  `late`: it took
 * E2PF_INFLIGHT_LATE_NS, or it failed. */
void e2pf_inflight_completed(struct e2pf_inflight *f, bool late);

#endif
