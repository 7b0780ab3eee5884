/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures a device and classifies it by the figures; the engine acts on the
 * results.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "control.h"
#include "measure.h"

/*
 * A 7200 rpm disk takes 8 to 15 ms for a single read far away, and 4 ms per
 * read with eight in flight; a USB disk 10 ms.  Flash takes 0.05 to 1 ms for a
 * single read.  A network volume may take several ms, and a tenth of that per
 * read with eight in flight.
 */
#define HEAD_LATENCY_NS 2000000u
#define HEAD_DEEP_NS 1200000u

/* The checker waits for the probe.  A device that takes longer than this for
 * one read is stuck, and the probe would tell nothing. */
#define PROBE_PATIENCE_NS 500000000u

static uint64_t now(struct e2pf_device *dev)
{
	return dev->ops->now(dev);
}

static bool read_one(struct e2pf_device *dev, uint64_t offset)
{
	char buf[E2PF_PROBE_BYTES];

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
		dev->ops->willneed(dev, offsets[i], E2PF_PROBE_BYTES);
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
	       (double)e2pf_probe_request_ns(probe) >= E2PF_DEAR_NS;
}

double e2pf_probe_byte_ns(struct e2pf_device *dev, const uint64_t *offsets,
			  uint32_t length, uint64_t latency_ns)
{
	uint64_t began = now(dev), ns;
	unsigned i;

	for (i = 0; i < E2PF_PROBE_DEEP; i++)
		dev->ops->willneed(dev, offsets[i], length);
	for (i = 0; i < E2PF_PROBE_DEEP; i++)
		if (!read_one(dev, offsets[i] + length - E2PF_PROBE_BYTES))
			return 0;
	ns = now(dev) - began;
	if (ns <= latency_ns)
		return 0;
	return (double)(ns - latency_ns) / (E2PF_PROBE_DEEP - 1) / length;
}
