/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A table of the most recent readahead calls: a later call overwrites an
 * earlier one in the same slot. */
#include <time.h>

#include "repeats.h"

/* Blocks that were read this recently (ns) are assumed to be still cached. */
#define REPEAT_NS 100000000u

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool repeats_add(struct repeats *r, unsigned device, uint64_t offset,
		 uint64_t length)
{
	uint64_t hash = (offset / 4096 + device) * UINT64_C(0x9E3779B97F4A7C15);
	unsigned i = (unsigned)(hash >> 32) % REPEATS_SLOTS;
	uint64_t t = now();
	bool again;

	again = r->slot[i].called && r->slot[i].offset == offset &&
		r->slot[i].length == length && r->slot[i].device == device &&
		t - r->slot[i].called < REPEAT_NS;
	r->calls++;
	r->repeated += again;
	if (again || length > UINT32_MAX)
		return again;
	r->slot[i].offset = offset;
	r->slot[i].length = (uint32_t)length;
	r->slot[i].device = device;
	r->slot[i].called = t;
	return false;
}
