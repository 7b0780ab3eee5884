/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* When the next request may be made under limits per second. */
#ifndef E2PF_RATE_H
#define E2PF_RATE_H

#include <stdint.h>

/* Limits per second.  Zeroed but for the first two: no request was made yet. */
struct e2pf_rate {
	uint64_t bandwidth;		/* bytes; 0: any */
	unsigned requests;		/* 0: any */
	/* No request is made before, ns. */
	uint64_t by_bytes, by_requests;
};

/* Nanoseconds from `now` until a request of `bytes` may be made; or 0, and
 * it is counted as made.  The limits are shared by `sharers` processes.  The caller
 * serializes. */
uint64_t e2pf_rate_take(struct e2pf_rate *rate, uint64_t now, uint64_t bytes,
			unsigned sharers);

#endif
