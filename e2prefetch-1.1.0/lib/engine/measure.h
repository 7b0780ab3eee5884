/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Classifies a device by its speed: the latency of a single read, the gain from
 * a deep queue, and the cost of a byte.
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

/* Bytes of each.  It is the middle of a reference of at least PROBE_LEAST bytes:
 * the kernel's own readahead from its start does not reach that. */
#define E2PF_PROBE_BYTES 4096u
#define E2PF_PROBE_LEAST (2 * E2PF_PROBE_BYTES)

struct e2pf_latencies {
	uint64_t latency_ns;	/* of one read far from the last */
	uint64_t deep_latency_ns;	/* for each of eight made together */
};

/*
 * Read one page at each of E2PF_PROBES byte offsets, which are not cached and
 * far from each other.  Returns false, with *probe unchanged, if a read fails
 * or one takes half a second.
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

#endif
