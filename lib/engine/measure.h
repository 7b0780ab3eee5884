/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Classifies a device by its speed: the latency of a single read, the gain from
 * a deep queue, the cost of a request apart from its bytes, and whether
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
 * far from each other.  Returns false, with *probe unchanged, if a read fails.
 */
bool e2pf_probe_device(struct e2pf_device *dev, const uint64_t *offsets,
		       struct e2pf_latencies *probe);

/* A disk with a head: a lone read takes milliseconds, and a deep queue does
 * not bring it below that. */
bool e2pf_probe_has_head(const struct e2pf_latencies *probe);

/* Time per request with others in flight, ns, without the latency of the first
 * one. */
uint64_t e2pf_probe_request_ns(const struct e2pf_latencies *probe);

/* Not a disk with a head, and yet a request costs as much as many bytes: a
 * volume with a limit on IOPS. */
bool e2pf_probe_is_dear(const struct e2pf_latencies *probe);

/*
 * Read `length` bytes at each of E2PF_PROBE_DEEP byte offsets at once; none of
 * them may be cached.  Returns the time per byte in ns, for a device on which a
 * single read takes `latency_ns`, or 0 if a read fails.
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
	double requests, bytes;		/* requested lately */
};

/* Count requests that were made, and their bytes. */
void e2pf_balance_add(struct e2pf_balance *balance, uint64_t requests,
		      uint64_t bytes);

/* Bytes that take as long as a request. */
uint64_t e2pf_balance_worth(const struct e2pf_balance *balance);

/* The largest gap to read through: if bandwidth is the limit, and now. */
uint64_t e2pf_balance_least(const struct e2pf_balance *balance);
uint64_t e2pf_balance_gap(const struct e2pf_balance *balance);

/*
 * The cost of a request: a least-squares fit of the time of windows of requests
 * to a cost per request plus a cost per byte.  Initialize it to zero.
 */
struct e2pf_cost {
	uint64_t began;		/* start of this window, ns; 0: none is open */
	uint64_t waited_ns;	/* during the window, by all threads together */
	uint64_t requests;
	uint64_t bytes;
	double nn, nb, bb, nt, bt;	/* sums over windows of n requests, b
					   bytes, t ns */
};

/* Count requests made up to `now` by one of `threads` threads, and the time
 * that it waited for these or earlier ones. */
void e2pf_cost_add(struct e2pf_cost *cost, uint64_t now, uint64_t waited_ns,
		   unsigned threads, uint64_t requests, uint64_t bytes);

/* The largest gap to read through, judging by the cost of a request; 0 if that
 * is not known, or if requests are cheap. */
uint64_t e2pf_cost_gap(const struct e2pf_cost *cost);

#endif
