/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures a device and classifies it by the figures; the engine acts on the
 * results.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "measure.h"

/*
 * A 7200 rpm disk takes 8 to 15 ms for a single read far away, and 4 ms per
 * read with eight in flight; a USB disk 10 ms.  Flash takes 0.05 to 1 ms for a
 * single read.  A network volume may take several ms, and a tenth of that per
 * read with eight in flight.
 */
#define HEAD_LATENCY_NS 2000000u
#define HEAD_DEEP_NS 1200000u

/* Requests in a window.  A window counts only if the threads spent at least
 * BUSY_PART of it waiting: then the device was the limit. */
#define WINDOW_REQUESTS 256u
#define BUSY_PART 0.6

/* Weight of a window relative to the next one. */
#define FADE 0.9

/* Below this a request is cheap, and the measured time is mostly processor
 * time.  It is 5 us on NVMe, 12 to 20 us on a SATA SSD, 333 us on a volume with
 * 3000 IOPS, and milliseconds on a rotational disk. */
#define DEAR_REQUEST_NS 150000.0

#define PROBE_BYTES 4096u

/* Each request reduces the weight of earlier ones by this part, so that the
 * last 500 or so decide: four times as many as are in flight.  Time of a check
 * of image "extents" of bench/ with 3,000 IOPS and 125 MiB/s: 3.30 s if 25
 * requests decide, 3.15 s with 100, 3.00 s with 500. */
#define BALANCE_FADE 0.002

/* Largest gap worth reading through, as a part of the bytes that take as long
 * as a request. */
#define WORTH_PART 0.8

/* Where bandwidth is the limit, gaps of 1/NEAR_PART of a request's worth are
 * still read through. */
#define NEAR_PART 8u

/* The checker waits for the probe.  A device that takes longer than this for
 * one read is stuck, and the probe would tell nothing. */
#define PROBE_PATIENCE_NS 500000000u

static uint64_t now(struct e2pf_device *dev)
{
	return dev->ops->now(dev);
}

static bool read_one(struct e2pf_device *dev, uint64_t offset)
{
	char buf[PROBE_BYTES];

	return dev->ops->read(dev, buf, offset, sizeof(buf)) == 0;
}

/* The median of three, since one may have been delayed by another request. */
static uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	return c < low ? low : c > high ? high : c;
}

bool e2pf_probe_device(struct e2pf_device *dev, const uint64_t *offsets,
		       struct e2pf_latencies *probe)
{
	uint64_t t[E2PF_PROBE_LONE], deep;
	unsigned i;

	for (i = 0; i < E2PF_PROBE_LONE; i++) {
		t[i] = now(dev);
		if (!read_one(dev, offsets[i]))
			return false;
		t[i] = now(dev) - t[i];
		if (t[i] >= PROBE_PATIENCE_NS)
			return false;
	}
	offsets += E2PF_PROBE_LONE;
	deep = now(dev);
	for (i = 0; i < E2PF_PROBE_DEEP; i++)
		dev->ops->willneed(dev, offsets[i], PROBE_BYTES);
	for (i = 0; i < E2PF_PROBE_DEEP; i++)
		if (!read_one(dev, offsets[i]))
			return false;
	deep = now(dev) - deep;
	probe->latency_ns = median(t[0], t[1], t[2]);
	probe->deep_latency_ns = deep / E2PF_PROBE_DEEP;
	return true;
}

bool e2pf_probe_has_head(const struct e2pf_latencies *probe)
{
	return probe->latency_ns >= HEAD_LATENCY_NS &&
	       probe->deep_latency_ns >= HEAD_DEEP_NS;
}

uint64_t e2pf_probe_request_ns(const struct e2pf_latencies *probe)
{
	uint64_t all = probe->deep_latency_ns * E2PF_PROBE_DEEP;

	return all > probe->latency_ns ?
	       (all - probe->latency_ns) / (E2PF_PROBE_DEEP - 1) : 0;
}

bool e2pf_probe_is_dear(const struct e2pf_latencies *probe)
{
	return !e2pf_probe_has_head(probe) &&
	       (double)e2pf_probe_request_ns(probe) >= DEAR_REQUEST_NS;
}

double e2pf_probe_byte_ns(struct e2pf_device *dev, const uint64_t *offsets,
			  uint32_t length, uint64_t latency_ns)
{
	uint64_t began = now(dev), ns;
	unsigned i;

	for (i = 0; i < E2PF_PROBE_DEEP; i++)
		dev->ops->willneed(dev, offsets[i], length);
	for (i = 0; i < E2PF_PROBE_DEEP; i++)
		if (!read_one(dev, offsets[i] + length - PROBE_BYTES))
			return 0;
	ns = now(dev) - began;
	if (ns <= latency_ns)
		return 0;
	return (double)(ns - latency_ns) / (E2PF_PROBE_DEEP - 1) / length;
}

void e2pf_balance_add(struct e2pf_balance *b, uint64_t requests,
		      uint64_t bytes)
{
	double keep = 1 - BALANCE_FADE * (double)requests;

	if (keep < 0)
		keep = 0;
	b->requests = b->requests * keep + (double)requests;
	b->bytes = b->bytes * keep + (double)bytes;
}

uint64_t e2pf_balance_worth(const struct e2pf_balance *b)
{
	return b->byte_ns > 0 ?
	       (uint64_t)(b->request_ns / b->byte_ns * WORTH_PART) : 0;
}

uint64_t e2pf_balance_least(const struct e2pf_balance *b)
{
	return e2pf_balance_worth(b) / NEAR_PART;
}

uint64_t e2pf_balance_gap(const struct e2pf_balance *b)
{
	bool by_requests = b->requests * b->request_ns >=
			   b->bytes * b->byte_ns;

	return by_requests ? e2pf_balance_worth(b) : e2pf_balance_least(b);
}

static void close_window(struct e2pf_cost *c, double ns)
{
	double n = (double)c->requests, b = (double)c->bytes;

	c->nn = c->nn * FADE + n * n;
	c->nb = c->nb * FADE + n * b;
	c->bb = c->bb * FADE + b * b;
	c->nt = c->nt * FADE + n * ns;
	c->bt = c->bt * FADE + b * ns;
}

void e2pf_cost_add(struct e2pf_cost *c, uint64_t now_ns, uint64_t waited_ns,
		   unsigned threads, uint64_t requests, uint64_t bytes)
{
	double ns = (double)(now_ns - c->began);

	if (c->began) {
		c->waited_ns += waited_ns;
		c->requests += requests;
		c->bytes += bytes;
		if (c->requests < WINDOW_REQUESTS)
			return;
		if ((double)c->waited_ns >= BUSY_PART * ns * threads)
			close_window(c, ns);
	}
	c->began = now_ns;
	c->waited_ns = 0;
	c->requests = 0;
	c->bytes = 0;
}

uint64_t e2pf_cost_gap(const struct e2pf_cost *c)
{
	double det = c->nn * c->bb - c->nb * c->nb;
	double request, byte;

	/* The windows are too similar to separate the two costs. */
	if (det <= 0.01 * c->nn * c->bb)
		return 0;
	request = (c->nt * c->bb - c->bt * c->nb) / det;
	byte = (c->bt * c->nn - c->nt * c->nb) / det;
	if (request < DEAR_REQUEST_NS || byte <= 0)
		return 0;
	/* Half of the break-even point, at which nothing is gained and memory
	 * is lost. */
	return (uint64_t)(request / byte / 2);
}
