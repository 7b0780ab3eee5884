/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What a few places of a source show, while there are no workers: whether everything is
 * cached, and how fast its first device is, where its metadata is.
 */
#ifndef E2PF_SAMPLE_H
#define E2PF_SAMPLE_H

#include "device/speed.h"
#include "source.h"

/* Does everything seem to be cached?  Checks samples spread over the devices. */
bool e2pf_samples_are_cached(struct e2pf_source *source,
			     struct e2pf_device *const *devices);

/* Would this phase take longer than the measurement? */
bool e2pf_is_worth_measuring(struct e2pf_source *source,
			     const struct e2pf_phase *first);

/* Measure the device.  `any`: where metadata is cached, at other places.  Returns
 * NULL, or why nothing could be measured, as e2pf_measure_device() does. */
const char *e2pf_measure(struct e2pf_source *source, struct e2pf_device *dev,
			 bool any, struct e2pf_speed *speed);

#endif
