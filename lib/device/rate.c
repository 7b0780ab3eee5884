/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "rate.h"

#define SECOND_NS UINT64_C(1000000000)

/* A thread that comes late, because a sleep is never as short as asked for, may
 * catch up on CATCH_UP_NS, and no more. */
#define CATCH_UP_NS UINT64_C(10000000)

/* More than share a machine anywhere. */
#define MOST_SHARERS 1000u

/* A limit is a time before which no request is made; each moves it on by what
 * `amount` takes at the rate, times the sharers.  One request is less than 16 GB,
 * which keeps the product in 64 bits. */
static void move_on(uint64_t *not_before, uint64_t now, uint64_t amount,
		    uint64_t rate, unsigned sharers)
{
	uint64_t from = now > CATCH_UP_NS ? now - CATCH_UP_NS : 0;

	if (*not_before < from)
		*not_before = from;
	if (rate)
		*not_before += amount * SECOND_NS / rate * sharers;
}

uint64_t e2pf_rate_take(struct e2pf_rate *rate, uint64_t now, uint64_t bytes,
			unsigned sharers)
{
	uint64_t until = rate->by_bytes > rate->by_requests ?
			 rate->by_bytes : rate->by_requests;

	if (now < until)
		return until - now;
	sharers = sharers < 1 ? 1 :
		  sharers > MOST_SHARERS ? MOST_SHARERS : sharers;
	move_on(&rate->by_bytes, now, bytes, rate->bandwidth, sharers);
	move_on(&rate->by_requests, now, 1, rate->requests, sharers);
	return 0;
}
