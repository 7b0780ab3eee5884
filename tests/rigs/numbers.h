/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Pseudo-random numbers that are the same in each run and on every machine.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdint.h>

static inline uint64_t number(uint64_t below)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (state >> 33) % below;
}

#endif
