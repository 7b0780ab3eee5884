/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How long a check is likely to take, stock and with reading ahead, from what
 * there is to read and what the device was measured to do.
 */
#ifndef E2PF_ESTIMATE_H
#define E2PF_ESTIMATE_H

#include "e2prefetch.h"

/*
 * Fill in the estimates of what a check by itself and one with reading ahead
 * take, from all else that is in *probe; where the device was not measured,
 * because what was looked at is cached, what a check computes.  So many heads
 * move on their own, at least 1.  Pure.
 */
void e2pf_estimate_check(struct e2pf_probe *probe, unsigned heads);

#endif
