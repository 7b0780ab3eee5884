/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What a few samples of a source show, while there are no workers: whether everything is
 * cached, and how fast the device is.
 */
#ifndef PF_SAMPLES_H
#define PF_SAMPLES_H

#include "device/speed.h"
#include "source.h"

/* Are samples that are spread over the devices cached, and what they refer to?  If there
 * are none, nothing counts as cached. */
bool pf_samples_are_cached(struct pf_source *source,
			   struct e2pf_device *const *devices);

/* Measure the first device where its metadata is, and if asked what a byte costs.  Returns
 * NULL, or why nothing could be measured, as e2pf_measure_device(). */
const char *pf_samples_measure(struct pf_source *source,
			       struct e2pf_device *dev, bool with_bytes,
			       struct e2pf_speed *speed);

#endif
