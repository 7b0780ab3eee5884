/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A worker's requests in flight: how many there may be, which is the oldest, and which
 * ranges were requested last, so that a read of the checker knows whether one of them will
 * bring its blocks, or may have made it fail.
 */
#ifndef PREFETCH_INFLIGHT_H
#define PREFETCH_INFLIGHT_H

#include <stdatomic.h>

#include "device.h"

/* The most requests that a worker has in flight: sorted ones on arrays of disks gain up
 * to this number. */
#define PF_MAX_INFLIGHT 1024u

/* A request that takes longer is late. */
#define PF_LATE_NS 500000000u

/* A range that was requested; none of it was in the cache. */
struct pf_request {
	/* Any thread reads these. */
	atomic_uint_fast64_t offset;
	atomic_uint device, length;	/* 0: nothing */

	uint64_t made;			/* when, ns */
};

/* Written by the worker's thread alone. */
struct pf_inflight {
	/* A ring.  Requests that have completed stay in it until their slots are
	 * needed, also when the worker has ended. */
	struct pf_request ring[PF_MAX_INFLIGHT];
	struct pf_request *oldest;	/* of those in flight; it stays as it is
					   until the next request is made */
	unsigned count;			/* of those in flight */
	unsigned limit;			/* of their number, at present */
	uint64_t mean;			/* bytes of a request, of late */
};

/* Begin with none.  Each takes `latency_ns` while others are in flight; 0: not known. */
void pf_inflight_reset(struct pf_inflight *f, uint64_t latency_ns);

/* Must one complete before the next may be made?  `degraded`: the device may be failing,
 * and each that hits a bad sector has to be waited for, at the latest at the end. */
bool pf_inflight_is_full(const struct pf_inflight *f, bool degraded);

/* Request this range, which is at most the device's readahead; none of it is in the
 * cache. */
void pf_inflight_add(struct pf_inflight *f, struct pf_device *dev,
		     unsigned device, uint64_t offset, uint32_t length);

/* The oldest one is no longer in flight.  `late`: it took long or has failed, and then
 * counts as completed, too. */
void pf_inflight_remove_oldest(struct pf_inflight *f, bool late);

/* Is the last block, of `grain` bytes, of this request cached?  If it is missing it was
 * evicted again, and the request has completed.  Only where the device can tell a missing
 * block from a held one: elsewhere the caller reads the block, which takes a seek back where
 * the device is seek-bound. */
bool pf_inflight_is_complete(const struct pf_request *r,
			     struct pf_device *dev, uint32_t grain);

/* Is this byte in one of the last requests?  Any thread may ask. */
bool pf_inflight_includes(const struct pf_inflight *f, unsigned device,
			  uint64_t offset);

#endif
