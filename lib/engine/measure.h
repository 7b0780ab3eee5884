/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Measuring the first device of a source, where its metadata is. */
#ifndef E2PF_MEASURE_H
#define E2PF_MEASURE_H

#include "device/speed.h"
#include "source.h"

/* Would this phase take longer than the measurement? */
bool e2pf_is_worth_measuring(struct e2pf_source *source,
			     const struct e2pf_phase *first);

/* Measure the device.  `any`: where metadata is cached, at other places.  Returns
 * NULL, or why nothing could be measured, as e2pf_measure_device() does. */
const char *e2pf_measure(struct e2pf_source *source, struct e2pf_device *dev,
			 bool any, struct e2pf_speed *speed);

#endif
