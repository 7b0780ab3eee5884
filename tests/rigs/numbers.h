/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Pseudo-random numbers that are the same in each run and on every machine, and
 * little-endian ones at any address.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t number(uint64_t below)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (state >> 33) % below;
}

#define PUT(bits) \
static inline void put##bits(void *at, uint##bits##_t value) \
{ \
	value = htole##bits(value); \
	memcpy(at, &value, sizeof(value)); \
}
PUT(16)
PUT(32)
PUT(64)

#endif
