/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests of one worker that are in flight, as far as it knows: how many
 * there may be.
 *
 * What is in flight when a check ends has to be waited for: the last close of
 * a block device, and the end of a process in it, wait for every page that
 * is being read, whatever signal comes.  On a disk that takes seconds for a
 * request a full queue is minutes.  So the limit is one of time: few requests
 * to begin with, twice as many after each round while they come in time, and
 * fewer when one was late.
 *
 * Knows no device: its owner looks whether the oldest has come, and waits.
 * Of many requests not each is kept count of, but one in so many.
 *
 * Not safe from two threads at once.
 */
#ifndef E2PF_INFLIGHT_H
#define E2PF_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

/* Requests that are kept count of, at most. */
#define E2PF_INFLIGHT_SAMPLES 32u

/* In flight in the beginning: at least, and on a device that is known to be
 * fast.  At most: more than this no device has a queue for. */
#define E2PF_INFLIGHT_FIRST 4u
#define E2PF_INFLIGHT_FIRST_FAST 64u
#define E2PF_INFLIGHT_MOST E2PF_DEPTH_MOST

/* One that is not there after so long is late.  A disk with a head that has
 * 64 requests to choose among takes half a second for them. */
#define E2PF_INFLIGHT_LATE_NS 500000000u

struct e2pf_request {
	unsigned device;
	uint64_t offset;	/* of something it reads, bytes */
	uint64_t asked;		/* ns */
	unsigned covers;	/* requests: it and some before it */
};

struct e2pf_inflight {
	struct e2pf_request sample[E2PF_INFLIGHT_SAMPLES];
	unsigned first, used;
	unsigned limit;		/* requests */
	unsigned in_flight;	/* of them, covered by the samples */
	unsigned since;		/* requests after the last sample */
};

/* `request_ns`: what the device takes for each of several requests made
 * together, times the workers that make them; 0 where it is not known. */
void e2pf_inflight_init(struct e2pf_inflight *f, uint64_t request_ns);

/* A request was made that reads what lies at `offset` of a device. */
void e2pf_inflight_add(struct e2pf_inflight *f, unsigned device,
		       uint64_t offset, uint64_t now_ns);

/* The request that has to be there before another is made; NULL: none. */
const struct e2pf_request *e2pf_inflight_oldest(
		const struct e2pf_inflight *f);

/* It has come, or never will.  `late`: that took E2PF_INFLIGHT_LATE_NS, or was an
 * error. */
void e2pf_inflight_came(struct e2pf_inflight *f, bool late);

#endif
