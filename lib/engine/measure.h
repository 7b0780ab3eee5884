/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a device is like, by what it does: latency of a lone read, gain of a
 * deep queue, what a request costs beside its bytes, and which of the two is
 * the limit now.
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

struct e2pf_latencies {
	uint64_t latency_ns;	/* of one read far from the last */
	uint64_t deep_latency_ns;	/* for each of eight made together */
};

/*
 * Read one page at each of E2PF_PROBES byte offsets, which are not in the
 * page cache and far from each other.  False, and *probe untouched, when a
 * read fails.
 */
bool e2pf_probe_device(struct e2pf_device *dev, const uint64_t *offsets,
		       struct e2pf_latencies *probe);

/* A disk with a head: a lone read takes milliseconds, and a deep queue does
 * not bring it below that. */
bool e2pf_probe_has_head(const struct e2pf_latencies *probe);

/* What a request takes where others are in flight, ns, the wait for the first
 * one's answer taken off. */
uint64_t e2pf_probe_request_ns(const struct e2pf_latencies *probe);

/* No disk with a head, and yet a request costs as much as many a byte: a
 * volume with a cap on requests. */
bool e2pf_probe_is_dear(const struct e2pf_latencies *probe);

/*
 * Read `length` bytes at each of E2PF_PROBE_DEEP byte offsets together, where
 * nothing is in the page cache: the time of a byte, ns, of a device whose
 * lone read takes `latency_ns`.  0 when a read fails.
 */
double e2pf_probe_byte_ns(struct e2pf_device *dev, const uint64_t *offsets,
			  uint32_t length, uint64_t latency_ns);

/*
 * A volume limits requests and bytes apart, at the same time: what is asked
 * for is done when the slower of the two is.  Where lately requests were the
 * limit a gap costs nothing; where bytes were, a request does.
 */
struct e2pf_balance {
	double request_ns, byte_ns;	/* of each, at its limit */
	double requests, bytes;		/* asked for lately */
};

/* So much was asked for. */
void e2pf_balance_add(struct e2pf_balance *balance, uint64_t requests,
		      uint64_t bytes);

/* Bytes that a request is worth. */
uint64_t e2pf_balance_worth(const struct e2pf_balance *balance);

/* Bytes better read through than left out: where bytes are the limit, and
 * now. */
uint64_t e2pf_balance_least(const struct e2pf_balance *balance);
uint64_t e2pf_balance_gap(const struct e2pf_balance *balance);

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
