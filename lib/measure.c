/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measuring a device.  Decides what the figures mean; what follows from it
 * is the engine's.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "measure.h"

/*
 * A 7200 rpm disk takes 8 to 15 ms for a read far away and serves eight
 * queued ones in the time of three to five; a USB disk in that of eight.
 * Flash takes 0.05 to 1 ms.  A network volume of several milliseconds serves
 * eight in little more than the time of one, as does a large array.
 */
#define HEAD_LATENCY_NS 2000000u
#define HEAD_MOST_GAIN 5.0

/* A window of so many requests tells what one costs. */
#define WINDOW_REQUESTS 256u
#define SMALL_REQUEST (16u << 10)
#define LARGE_REQUEST (64u << 10)

/* Below this a request is cheap, and what it was measured to cost is mostly
 * the processor's time: an NVMe disk is at 5 us, a SATA SSD at 12 to 20, a
 * volume of 3000 IOPS at 333, a disk with a head at thousands. */
#define DEAR_REQUEST_NS 150000.0

#define PROBE_BYTES 4096u

static uint64_t now(struct e2pf_device *dev)
{
	return dev->ops->now(dev);
}

static bool read_one(struct e2pf_device *dev, uint64_t offset)
{
	char buf[PROBE_BYTES];

	return dev->ops->read(dev, buf, offset, sizeof(buf)) == 0;
}

/* The median of three: one of them may have met somebody else's request. */
static uint64_t median(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low = a < b ? a : b, high = a < b ? b : a;

	return c < low ? low : c > high ? high : c;
}

bool e2pf_probe_device(struct e2pf_device *dev, const uint64_t *offsets,
		       struct e2pf_probe *probe)
{
	uint64_t t[E2PF_PROBE_LONE], deep;
	unsigned i;

	for (i = 0; i < E2PF_PROBE_LONE; i++) {
		t[i] = now(dev);
		if (!read_one(dev, offsets[i]))
			return false;
		t[i] = now(dev) - t[i];
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
	probe->gain = (double)probe->latency_ns * E2PF_PROBE_DEEP /
		      (double)(deep ? deep : 1);
	return true;
}

bool e2pf_probe_has_head(const struct e2pf_probe *probe)
{
	return probe->latency_ns >= HEAD_LATENCY_NS &&
	       probe->gain < HEAD_MOST_GAIN;
}

/* Half of the new and half of the old: a window may have been disturbed. */
static double blend(double old, double value)
{
	return old > 0 ? (old + value) / 2 : value;
}

static void close_window(struct e2pf_cost *c)
{
	double ns = (double)c->busy_ns;
	uint64_t mean = c->bytes / c->requests;

	if (mean >= LARGE_REQUEST && ns > 0)
		c->bytes_per_ns = blend(c->bytes_per_ns,
					(double)c->bytes / ns);
	if (mean <= SMALL_REQUEST && c->bytes_per_ns > 0) {
		ns -= (double)c->bytes / c->bytes_per_ns;
		if (ns > 0)
			c->ns_per_request = blend(c->ns_per_request, ns /
						  (double)c->requests);
	}
}

void e2pf_cost_add(struct e2pf_cost *c, uint64_t waited_ns, unsigned threads,
		   uint64_t requests, uint64_t bytes)
{
	c->busy_ns += waited_ns / (threads ? threads : 1);
	c->requests += requests;
	c->bytes += bytes;
	if (c->requests < WINDOW_REQUESTS)
		return;
	close_window(c);
	c->busy_ns = 0;
	c->requests = 0;
	c->bytes = 0;
}

uint64_t e2pf_cost_gap(const struct e2pf_cost *c)
{
	if (c->ns_per_request < DEAR_REQUEST_NS)
		return 0;
	return (uint64_t)(c->ns_per_request * c->bytes_per_ns);
}
