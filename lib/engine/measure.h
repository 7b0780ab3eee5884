/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a device is like, by what it does: latency of a lone read, gain of a
 * deep queue, and what a request costs beside its bytes.
 */
#ifndef E2PF_MEASURE_H
#define E2PF_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"

/* Reads made one at a time, and then together. */
#define E2PF_PROBE_LONE 3
#define E2PF_PROBE_DEEP 8
#define E2PF_PROBES (E2PF_PROBE_LONE + E2PF_PROBE_DEEP)

struct e2pf_probe {
	uint64_t latency_ns;	/* of one read far from the last */
	uint64_t deep_ns;	/* for each of eight made together */
};

/*
 * Read one page at each of E2PF_PROBES byte offsets, which are not in the
 * page cache and far from each other.  False, and *probe untouched, when a
 * read fails.
 */
bool e2pf_probe_device(struct e2pf_device *dev, const uint64_t *offsets,
		       struct e2pf_probe *probe);

/* A disk with a head: a lone read takes milliseconds, and a deep queue does
 * not bring it below that. */
bool e2pf_probe_has_head(const struct e2pf_probe *probe);

/*
 * What requests cost: the time of windows of requests as a sum of so much a
 * request and so much a byte, by least squares.  Zero it to begin.
 */
struct e2pf_cost {
	uint64_t began;		/* of this window, ns; 0: none is open */
	uint64_t waited_ns;	/* in it, by all threads together */
	uint64_t requests;
	uint64_t bytes;
	double nn, nb, bb, nt, bt;	/* sums over windows; n requests,
					   b bytes, t ns */
};

/* At `now` so many requests were made, and so long was waited for them or
 * for earlier ones; `threads` do so at the same time. */
void e2pf_cost_add(struct e2pf_cost *cost, uint64_t now, uint64_t waited_ns,
		   unsigned threads, uint64_t requests, uint64_t bytes);

/* Bytes better read through than left out, going by what a request costs; 0
 * when not known, and where requests are cheap. */
uint64_t e2pf_cost_gap(const struct e2pf_cost *cost);

#endif
