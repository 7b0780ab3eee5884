/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a device is like, judged by its speed: latency of a single read, gain
 * from a deep queue, what a request costs apart from its bytes, and whether
 * requests or bytes are the limit now.
 */
#ifndef E2PF_MEASURE_H
#define E2PF_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/device.h"

/* Reads made one at a time, and then all in flight at once. */
#define E2PF_PROBE_LONE 3
#define E2PF_PROBE_DEEP 8
#define E2PF_PROBES (E2PF_PROBE_LONE + E2PF_PROBE_DEEP)

struct e2pf_latencies {
	uint64_t latency_ns;	/* of one read far from the last */
	uint64_t deep_latency_ns;	/* for each of eight made together */
};

/*
 * Read one page at each of E2PF_PROBES byte offsets, which are not cached and
 * far from each other.  Returns false, with *probe unchanged, when a read
 * fails.
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
 * Read `length` bytes at each of E2PF_PROBE_DEEP byte offsets at once; nothing
 * of them is cached.  Returns the time per byte in ns, for a device on which a
 * single read takes `latency_ns`.  0 when a read fails.
 */
double e2pf_probe_byte_ns(struct e2pf_device *dev, const uint64_t *offsets,
			  uint32_t length, uint64_t latency_ns);

/*
 * A volume limits IOPS and bandwidth separately and at the same time: the
 * slower of the two decides when a request is done.  If IOPS were the limit
 * lately, reading through a gap costs nothing; if bandwidth was, an extra
 * request costs nothing.
 */
struct e2pf_balance {
	double request_ns, byte_ns;	/* time of each, where it is the
					   limit */
	double requests, bytes;		/* asked for lately */
};

/* So many requests, of so many bytes, were made. */
void e2pf_balance_add(struct e2pf_balance *balance, uint64_t requests,
		      uint64_t bytes);

/* Bytes that take as long as a request. */
uint64_t e2pf_balance_worth(const struct e2pf_balance *balance);

/* The largest gap to read through: where bandwidth is the limit, and now. */
uint64_t e2pf_balance_least(const struct e2pf_balance *balance);
uint64_t e2pf_balance_gap(const struct e2pf_balance *balance);

/*
 * What a request costs: fits the time of windows of requests, by least squares,
 * to so much a request plus so much a byte.  Begins zeroed.
 */
struct e2pf_cost {
	uint64_t began;		/* start of this window, ns; 0: none is open */
	uint64_t waited_ns;	/* during the window, by all threads together */
	uint64_t requests;
	uint64_t bytes;
	double nn, nb, bb, nt, bt;	/* sums over windows of n requests, b
					   bytes, t ns */
};

/* At `now` so many requests were made, and so long was waited for them or for
 * earlier ones, by one of `threads` threads. */
void e2pf_cost_add(struct e2pf_cost *cost, uint64_t now, uint64_t waited_ns,
		   unsigned threads, uint64_t requests, uint64_t bytes);

/* The largest gap to read through, judging by what a request costs; 0 when not
 * known, or when requests are cheap. */
uint64_t e2pf_cost_gap(const struct e2pf_cost *cost);

#endif
