/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Estimates how long a check takes, by the stock program and with readahead,
 * from the amount of metadata and the measured speed of the device.
 */
#ifndef E2PF_ESTIMATE_H
#define E2PF_ESTIMATE_H

#include "e2prefetch.h"

/*
 * Fill in the estimates for a check without and with readahead, from the other
 * members of *probe.  If the device was not measured, because everything
 * sampled was cached, they include only CPU time.  `heads` is the number of
 * heads that move independently, at least 1.  Pure.
 */
void e2pf_estimate_check(struct e2pf_probe *probe, unsigned heads);

#endif
