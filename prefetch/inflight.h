/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A worker's requests in flight: their number and its limit, the oldest of them, and
 * the ranges that were requested last.  The ranges tell whether a request will bring
 * the blocks of a checker's read, or may have made that read fail.
 */
#ifndef PREFETCH_INFLIGHT_H
#define PREFETCH_INFLIGHT_H

#include <stdatomic.h>

#include "device.h"

/* The most requests that a worker has in flight.  Sorted requests on arrays of disks
 * become faster up to this number. */
#define PF_MAX_INFLIGHT 1024u

/* A request that takes longer than this is late. */
#define PF_LATE_NS 500000000u

/* A range that was requested.  None of it was in the cache. */
struct pf_request {
	/* Any thread reads these. */
	atomic_uint_fast64_t offset;
	atomic_uint device, length;	/* length 0: an unused slot */

	uint64_t made;			/* time of the request, ns */
};

/* Written only by the worker's thread. */
struct pf_inflight {
	/* A ring.  Completed requests stay in it until their slots are needed, even
	 * after the worker has ended. */
	struct pf_request ring[PF_MAX_INFLIGHT];
	struct pf_request *oldest;	/* in flight; its slot is reused only when
					   another request is made */
	unsigned count;			/* requests in flight */
	unsigned limit;			/* of `count`, at present */
	uint64_t mean;			/* bytes of a recent request */
	atomic_uint_fast64_t bytes;	/* in flight; any thread reads this */
};

/* Begin without requests.  A request takes `latency_ns` while others are in flight; 0:
 * not known. */
void pf_inflight_reset(struct pf_inflight *f, uint64_t latency_ns);

/* Returns true if a request must complete before the next may be made.  `degraded`: allow
 * only a few, because the device may be failing, and the end of the check waits for each
 * request that hits a bad sector. */
bool pf_inflight_is_full(const struct pf_inflight *f, bool degraded);

/* Request this range.  It must not be longer than the device's readahead, and none of
 * it may be in the cache. */
void pf_inflight_add(struct pf_inflight *f, struct pf_device *dev,
		     unsigned device, uint64_t offset, uint32_t length);

/* Remove the oldest request, which has completed or failed, and adapt the limit.
 * `late`: it took more than PF_LATE_NS, or has failed. */
void pf_inflight_remove_oldest(struct pf_inflight *f, bool late);

/* Returns true if the request has completed: its last block, of `grain` bytes, is
 * cached, or was evicted again.  An evicted block is recognized only if the device can
 * tell missing pages from pages that are not up to date.  Otherwise the caller has to
 * read the block, which costs a seek back on a seek-bound device. */
bool pf_inflight_is_complete(const struct pf_request *r,
			     struct pf_device *dev, uint32_t grain);

/* Returns true if this byte is in one of the last requests.  Safe from any thread. */
bool pf_inflight_includes(const struct pf_inflight *f, unsigned device,
			  uint64_t offset);

#endif
