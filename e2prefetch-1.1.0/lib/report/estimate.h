/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Estimates how long a check takes, by the stock program and with readahead,
 * from the amount of metadata and the measured speed of the device.
 */
#ifndef E2PF_ESTIMATE_H
#define E2PF_ESTIMATE_H

#include "e2prefetch.h"
#include "engine/engine.h"

struct e2pf_probe;

/* The time that something is likely to take, in seconds. */
struct e2pf_estimate {
	double expected, low, high;
};

/*
 * Fill in the estimates for a check without and with readahead, from the other
 * members of *probe.  If the device was not measured they are 0: the time of
 * computing alone is no forecast.  `heads` is the number of heads that move
 * independently, at least 1.  Pure.
 */
void e2pf_estimate_check(struct e2pf_probe *probe, unsigned heads);

/*
 * How long a check that has just taken `seconds` would have taken without
 * readahead: what it computed, and what it would have waited for the blocks that
 * were read ahead of it.  The time that accelerations saved is not counted.
 * Returns 0 if nothing was gained, if the device was not measured, or if it
 * answers so fast that the measurement says little.
 */
double e2pf_estimate_without(const struct e2pf_engine_stats *stats,
			     uint32_t block_size, double seconds);

#endif
