/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The controller: see control.h.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "control.h"

/* The latency at a depth is known from so many samples on, and no longer known
 * after so many others. */
#define KNOWN 8u
#define FORGOTTEN 4096u

/* Each sample moves the median by this factor: from memory to a disk in 30
 * samples. */
#define STEP 1.2

/*
 * What does a request cost, and what does a byte?
 */

/* The least requests and time of a window: completions are noticed several at a
 * time.  A window counts only if some thread was waiting for BUSY_PART of it:
 * otherwise the processor was the limit.  Other threads may be idle. */
#define WINDOW_REQUESTS 32u
#define WINDOW_NS 2e7
#define BUSY_PART 0.9

/* The queue is full if a request takes so much longer than with few in flight,
 * or longer than any device takes without a queue. */
#define QUEUED 1.5
#define QUEUED_NS 6e7

/* A volume has separate limits for requests and for bytes, and is as slow as the
 * lower one.  Only windows of requests APART times as large as a request is worth
 * show the cost of a byte, and of requests so much smaller the cost of a request.
 * What lies between would raise both: gaps would widen, requests grow and seem
 * dearer still.  Image "extents" of bench/ with 3,000 IOPS and 125 MiB/s: 3.18 s,
 * with 2 instead of 4 3.36 s, and 3.6 s if every window counts.  SMALL requests
 * and LARGE ones always show it, and those of the other two sizes as long as the
 * worth is not known. */
#define APART 4
#define SMALL 8192.0
#define LARGE 131072.0
#define RATHER_SMALL 49152.0
#define RATHER_LARGE 65536.0

/* Windows that have to agree. */
#define ENOUGH (E2PF_CONTROL_RECENT / 2 + 1)

/* Requests are dear until they cost less than this. */
#define CHEAP_NS 1e5

/* The bytes that take as long as a request: 2 to 4 ms of a sorted queue of a
 * rotational disk, 20 us of flash. */
#define HEAD_REQUEST_BYTES (256u << 10)
#define FLASH_REQUEST_BYTES (8u << 10)

/* Of a byte, at most, on a device that is slow by its seeks and not by its
 * bytes: 50 MB/s. */
#define SLOW_BYTE_NS 20.0

/*
 * Which gaps are read through?
 */

/* Each request reduces the weight of earlier ones by this part, so that the
 * last 500 or so decide: four times as many as are in flight.  Time of a check
 * of image "extents" of bench/ with 3,000 IOPS and 125 MiB/s: 3.30 s if 25
 * requests decide, 3.15 s with 100, 3.00 s with 500. */
#define FADE 0.002

/* The largest gap worth reading through, as a part of the bytes that take as
 * long as a request; where bytes are the limit, 1/NEAR_PART of it. */
#define WORTH_PART 0.8
#define NEAR_PART 8u

/* Larger gaps would waste memory.  On a rotational disk 64 KiB pass under the
 * head in half a millisecond, less than any request takes.  Of sorted replays
 * that read through gaps of 0, 64 KiB and 1 MiB, those with 64 KiB are the
 * fastest on most disks (doc/timing.md). */
#define USUAL_GAP (64u << 10)
#define HEAD_MOST_GAP (256u << 10)

void e2pf_control_init(struct e2pf_control *c, bool has_head)
{
	memset(c, 0, sizeof(*c));
	c->has_head = has_head;
}

static unsigned log_2(unsigned n)
{
	unsigned log = 0;

	while (n >>= 1)
		log++;
	return log < E2PF_CONTROL_DEPTHS ? log : E2PF_CONTROL_DEPTHS - 1;
}

static bool is_known(const struct e2pf_by_depth *d, unsigned depth)
{
	return d->at[depth].samples >= KNOWN &&
	       d->samples - d->at[depth].last < FORGOTTEN;
}

static void add_latency(struct e2pf_by_depth *d, unsigned in_flight, double ns)
{
	unsigned depth = log_2(in_flight);
	double *old = &d->at[depth].ns;

	if (d->samples - d->at[depth].last >= FORGOTTEN)
		d->at[depth].samples = 0;
	if (!d->at[depth].samples)
		*old = ns;
	else
		*old = ns > *old ? *old * STEP : *old / STEP;
	d->at[depth].samples++;
	d->at[depth].last = d->samples++;
	d->depth = depth;
}

static void add_recent(struct e2pf_recent *r, double value)
{
	r->value[r->next] = value;
	r->next = (r->next + 1) % E2PF_CONTROL_RECENT;
	if (r->used < E2PF_CONTROL_RECENT)
		r->used++;
}

static double median(const struct e2pf_recent *r)
{
	unsigned i, j, below;

	for (i = 0; i < r->used; i++) {
		for (j = below = 0; j < r->used; j++)
			below += r->value[j] < r->value[i] ||
				 (j < i && r->value[j] == r->value[i]);
		if (below == r->used / 2)
			return r->value[i];
	}
	return 0;
}

static double byte_ns(const struct e2pf_control *c)
{
	return c->byte_ns.used >= ENOUGH ? median(&c->byte_ns) :
					   E2PF_USUAL_BYTE_NS;
}

/* The bytes that take as long as a request; 0: not known. */
static double worth(const struct e2pf_control *c)
{
	return c->request_ns.used >= ENOUGH ?
	       median(&c->request_ns) / byte_ns(c) : 0;
}

/* The time without that of the bytes: a queue of large requests is slow on any
 * device. */
static double without_bytes(const struct e2pf_control *c, uint64_t bytes,
			    uint64_t ns)
{
	double byte = byte_ns(c), transfer;

	transfer = (byte < SLOW_BYTE_NS ? byte : SLOW_BYTE_NS) * (double)bytes;
	return (double)ns > transfer + 1 ? (double)ns - transfer : 1;
}

void e2pf_control_came(struct e2pf_control *c, unsigned in_flight,
		       uint64_t bytes, uint64_t ns)
{
	add_latency(&c->latency, in_flight, without_bytes(c, bytes, ns));
}

/* Was the device the limit, and not what its requests have to wait for
 * anyway? */
static bool is_queued(const struct e2pf_control *c)
{
	const struct e2pf_by_depth *d = &c->latency;
	unsigned least = 0;

	if (!is_known(d, d->depth))
		return false;
	while (!is_known(d, least))
		least++;
	return d->at[d->depth].ns >= QUEUED_NS ||
	       d->at[d->depth].ns >= d->at[least].ns * QUEUED;
}

static void close_window(struct e2pf_control *c, double ns)
{
	double bound = worth(c), size = (double)c->bytes / (double)c->requests;
	double least = bound ? bound / APART : RATHER_SMALL;
	double most = bound ? bound * APART : RATHER_LARGE;
	double each = ns / (double)c->requests;

	if (least < SMALL)
		least = SMALL;
	if (most > LARGE)
		most = LARGE;

	if (size >= most)
		add_recent(&c->byte_ns, ns / (double)c->bytes);
	else if (size <= least &&
		 (is_queued(c) || (c->dear && each < CHEAP_NS)))
		add_recent(&c->request_ns, each);
	if (c->request_ns.used >= ENOUGH)
		c->dear = median(&c->request_ns) >=
			  (c->dear ? CHEAP_NS : E2PF_DEAR_NS);
}

void e2pf_control_count(struct e2pf_control *c, uint64_t now,
			uint64_t waited_ns,
			uint64_t requests, uint64_t bytes)
{
	double ns = (double)(now - c->began);

	if (c->began) {
		c->waited_ns += waited_ns;
		c->requests += requests;
		c->bytes += bytes;
		if (c->requests < WINDOW_REQUESTS || ns < WINDOW_NS)
			return;
		if ((double)c->waited_ns >= BUSY_PART * ns)
			close_window(c, ns);
	}
	c->began = now;
	c->waited_ns = 0;
	c->requests = 0;
	c->bytes = 0;
}

void e2pf_control_asked(struct e2pf_control *c, uint64_t requests,
			uint64_t bytes)
{
	double keep = 1 - FADE * (double)requests;

	if (keep < 0)
		keep = 0;
	c->asked_requests = c->asked_requests * keep + (double)requests;
	c->asked_bytes = c->asked_bytes * keep + (double)bytes;
}

void e2pf_control_set(struct e2pf_control *c, double request, double byte)
{
	unsigned i;

	for (i = 0; i < E2PF_CONTROL_RECENT; i++) {
		add_recent(&c->request_ns, request);
		add_recent(&c->byte_ns, byte);
	}
	c->dear = request >= E2PF_DEAR_NS;
}

void e2pf_control_gap_range(const struct e2pf_control *c, uint64_t *least,
			    uint64_t *most)
{
	*least = c->has_head ? USUAL_GAP : 0;
	*most = c->has_head ? HEAD_MOST_GAP : USUAL_GAP;
	if (c->has_head || !c->dear)
		return;
	if (worth(c) * WORTH_PART < USUAL_GAP)
		*most = (uint64_t)(worth(c) * WORTH_PART);
	*least = *most / NEAR_PART;
}

uint64_t e2pf_control_gap(const struct e2pf_control *c)
{
	uint64_t least, most, gap;

	e2pf_control_gap_range(c, &least, &most);
	if (!c->dear)
		return least;
	/* A head is late by every request and by every byte: half of the
	 * break-even point, where nothing is gained and memory is lost. */
	gap = (uint64_t)(worth(c) / 2);
	if (!c->has_head)
		gap = c->asked_requests * worth(c) >= c->asked_bytes ? most :
								       least;
	return gap < least ? least : gap > most ? most : gap;
}

uint64_t e2pf_control_widest_gap(const struct e2pf_control *c)
{
	uint64_t least, most;

	e2pf_control_gap_range(c, &least, &most);
	return c->dear && !c->has_head ? most : e2pf_control_gap(c);
}

uint64_t e2pf_control_request_bytes(const struct e2pf_control *c)
{
	if (c->has_head)
		return HEAD_REQUEST_BYTES;
	return c->dear ? (uint64_t)worth(c) : FLASH_REQUEST_BYTES;
}
