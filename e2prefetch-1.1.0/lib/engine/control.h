/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The controller: learns from the completions of the engine's own requests what
 * a request costs and what a byte costs, and says which gaps should be read
 * through.  Only recent requests count, so it follows a device that changes, such
 * as a volume whose limits begin when a burst has been used up.
 *
 * Its only input is times and completions: it reads no clock, accesses no
 * device and takes no lock.  Not safe from two threads at once.
 */
#ifndef E2PF_CONTROL_H
#define E2PF_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

/* Latencies are kept by depth: 1, 2 to 3, 4 to 7, ... requests in flight. */
#define E2PF_CONTROL_DEPTHS 16u

/* Requests are dear from 150 us on: 5 us on NVMe, 12 to 20 us on a SATA SSD,
 * 333 us on a volume with 3,000 IOPS. */
#define E2PF_DEAR_NS 1.5e5

/* Of a byte, until it is known: 125 MB/s. */
#define E2PF_USUAL_BYTE_NS 8.0

/* Values of which the median is taken. */
#define E2PF_CONTROL_RECENT 9u

struct e2pf_recent {
	double value[E2PF_CONTROL_RECENT];
	unsigned used, next;
};

struct e2pf_by_depth {
	struct {
		double ns;		/* the median, approximately */
		unsigned samples;	/* since it was last unknown */
		uint64_t last;		/* the number of the last sample */
	} at[E2PF_CONTROL_DEPTHS];
	uint64_t samples;
	unsigned depth;		/* index of the last sample */
};

struct e2pf_control {
	bool has_head;
	bool dear;		/* requests are limited apart from bytes */
	/* A window of completions. */
	uint64_t began;		/* ns; 0: none is open */
	uint64_t waited_ns;	/* by all threads together */
	uint64_t requests, bytes;
	struct e2pf_recent request_ns, byte_ns;
	double asked_requests, asked_bytes;	/* lately */
	struct e2pf_by_depth latency;
};

/* Begin to learn about a device, which has a head or not. */
void e2pf_control_init(struct e2pf_control *c, bool has_head);

/* A request has completed, `ns` after it was made as one of `in_flight`, which
 * had so many bytes together. */
void e2pf_control_came(struct e2pf_control *c, unsigned in_flight,
		       uint64_t bytes, uint64_t ns);

/* Count completed requests up to `now`, and the time that a thread waited for
 * them. */
void e2pf_control_count(struct e2pf_control *c, uint64_t now,
			uint64_t waited_ns,
			uint64_t requests, uint64_t bytes);

/* Count requests that were made, and their bytes. */
void e2pf_control_asked(struct e2pf_control *c, uint64_t requests,
			uint64_t bytes);

/* The costs are known from elsewhere. */
void e2pf_control_set(struct e2pf_control *c, double request_ns,
		      double byte_ns);

/* The largest gap to read through now, bytes. */
uint64_t e2pf_control_gap(const struct e2pf_control *c);

/* The same where requests are the limit. */
uint64_t e2pf_control_widest_gap(const struct e2pf_control *c);

/* The bytes that take as long as a request; a usual figure if it is not
 * known. */
uint64_t e2pf_control_request_bytes(const struct e2pf_control *c);

/* Bounds of that: where bytes are the limit, and where requests are. */
void e2pf_control_gap_range(const struct e2pf_control *c, uint64_t *least,
			    uint64_t *most);

#endif
