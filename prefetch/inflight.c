/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "inflight.h"
#include "trace.h"

/*
 * The limit of requests in flight.  The end of a check waits for all of them, which
 * takes minutes with a full queue on a disk that takes seconds for a request.  The
 * limit grows by one with each request that completes in time, and is halved with each
 * that is late.  A disk takes half a second for 64 requests that it can sort.  The
 * first limit is the number of requests that complete in half of that time, or
 * MIN_FIRST_LIMIT if the latency is not known.
 */
#define MIN_FIRST_LIMIT 4u
#define MAX_FIRST_LIMIT 64u

/* The limit on a device that may be failing. */
#define DEGRADED_LIMIT 2u

/* The mean covers about this many requests.  With 20, a few large requests keep the gaps
 * narrow for many small requests behind them. */
#define MEAN_OF 100u

static unsigned first_limit(uint64_t latency_ns)
{
	uint64_t n = latency_ns ? PF_LATE_NS / 2 / latency_ns : MIN_FIRST_LIMIT;

	if (n < MIN_FIRST_LIMIT)
		return MIN_FIRST_LIMIT;
	return n < MAX_FIRST_LIMIT ? (unsigned)n : MAX_FIRST_LIMIT;
}

/* The request with this number, counted from the oldest one. */
static struct pf_request *request_at(struct pf_inflight *f, unsigned number)
{
	return &f->ring[(f->oldest - f->ring + number) % PF_MAX_INFLIGHT];
}

void pf_inflight_reset(struct pf_inflight *f, uint64_t latency_ns)
{
	f->oldest = f->ring;
	f->count = 0;
	f->limit = first_limit(latency_ns);
	f->mean = 0;
	f->bytes = 0;
}

bool pf_inflight_is_full(const struct pf_inflight *f, bool degraded)
{
	return f->count >= f->limit || (degraded && f->count >= DEGRADED_LIMIT);
}

void pf_inflight_add(struct pf_inflight *f, struct pf_device *dev,
		     unsigned device, uint64_t offset, uint32_t length)
{
	struct pf_request *r = request_at(f, f->count++);

	/* Another thread may see the new offset with the old length meanwhile, and take
	 * blocks for requested that are not. */
	r->offset = offset;
	r->device = device;
	r->length = length;
	f->bytes += length;
	PF_TRACE(request_issued, device, offset, length);
	/* This may block while the device's queue is full. */
	dev->ops->willneed(dev, offset, length);
	r->made = dev->ops->now(dev);
	f->mean = (f->mean * (MEAN_OF - 1) + length) / MEAN_OF;
}

void pf_inflight_remove_oldest(struct pf_inflight *f, bool late)
{
	/* clang takes no atomic operands. */
	PF_TRACE(request_completed, (unsigned)f->oldest->device,
		 (uint64_t)f->oldest->offset, (unsigned)f->oldest->length,
		 f->oldest->made, late);
	f->bytes -= f->oldest->length;
	f->oldest = request_at(f, 1);
	f->count--;
	if (late)
		f->limit = (f->limit + 1) / 2;
	else if (f->limit < PF_MAX_INFLIGHT)
		f->limit++;
}

bool pf_inflight_is_complete(const struct pf_request *r,
			     struct pf_device *dev, uint32_t grain)
{
	enum pf_residency state;

	dev->ops->span(dev, r->offset + r->length - grain, 1, &state);
	return state == PF_CACHED ||
	       (state == PF_MISSING && dev->sees_not_uptodate);
}

bool pf_inflight_includes(const struct pf_inflight *f, unsigned device,
			  uint64_t offset)
{
	const struct pf_request *r;

	for (r = f->ring; r < f->ring + PF_MAX_INFLIGHT; r++)
		if (r->length && r->device == device &&
		    offset - r->offset < r->length)
			return true;
	return false;
}
