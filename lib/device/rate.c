/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides when the next request may be made.  Does not know what it is for.
 *
 * Each limit is a time before which no request is made; each request moves it
 * on by its price.  A thread that comes late, because a sleep is never as short
 * as asked for, may catch up on CATCH_UP_NS and no more.
 */
#include <stddef.h>

#include "rate.h"

#define SECOND_NS UINT64_C(1000000000)
#define CATCH_UP_NS UINT64_C(10000000)

/* More than share a machine anywhere. */
#define MOST_SHARERS 1000u

/* Time that `amount` takes at `rate` a second; one request is less than 16 GB,
 * which keeps the product in 64 bits. */
static uint64_t price(uint64_t amount, uint64_t rate)
{
	return rate ? amount * SECOND_NS / rate : 0;
}

static void move_on(uint64_t *not_before, uint64_t now, uint64_t ns)
{
	uint64_t from = now > CATCH_UP_NS ? now - CATCH_UP_NS : 0;

	*not_before = (*not_before > from ? *not_before : from) + ns;
}

uint64_t e2pf_rate_take(struct e2pf_rate *rate, uint64_t now, uint64_t bytes,
			unsigned (*sharers)(void *ctx), void *ctx)
{
	uint64_t until = rate->by_bytes > rate->by_requests ?
			 rate->by_bytes : rate->by_requests;
	unsigned n;

	if (now < until)
		return until - now;
	n = sharers ? sharers(ctx) : 1;
	n = n < 1 ? 1 : n > MOST_SHARERS ? MOST_SHARERS : n;
	if (rate->bandwidth)
		move_on(&rate->by_bytes, now,
			price(bytes, rate->bandwidth) * n);
	if (rate->requests)
		move_on(&rate->by_requests, now,
			price(1, rate->requests) * n);
	return 0;
}
