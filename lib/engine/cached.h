/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* What is in the page cache already. */
#ifndef E2PF_CACHED_H
#define E2PF_CACHED_H

#include "device/device.h"
#include "source.h"

/* Are all of these bytes cached?  In any thread. */
bool e2pf_is_cached(struct e2pf_device *dev, uint64_t offset, uint64_t len);

/* Does everything seem to be cached?  Checks samples spread over the devices.  The
 * engine's lock is held, as source.h says. */
bool e2pf_samples_are_cached(struct e2pf_source *source,
			     struct e2pf_device *const *devices);

#endif
