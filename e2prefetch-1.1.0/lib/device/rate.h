/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many bytes and requests a second may be asked for, shared by all
 * processes on this machine that prefetch.
 */
#ifndef E2PF_RATE_H
#define E2PF_RATE_H

#include <stdint.h>

/* Zeroed but for the first two: no request was made yet. */
struct e2pf_rate {
	uint64_t bandwidth;		/* bytes in a second; 0: any */
	unsigned requests;		/* in a second; 0: any */
	/* No request is made before, ns. */
	uint64_t by_bytes, by_requests;
};

/*
 * Nanoseconds from `now` until a request of so many bytes may be made; or 0,
 * and it is counted as made.  sharers(ctx) is asked how many processes share
 * the limits (NULL: one).  The caller serializes.
 */
uint64_t e2pf_rate_take(struct e2pf_rate *rate, uint64_t now, uint64_t bytes,
			unsigned (*sharers)(void *ctx), void *ctx);

#endif
