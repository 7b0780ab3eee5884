/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device whose readahead can be waited for.
 *
 * btrfs check drops the page cache of its devices before it closes them, but
 * the kernel skips pages that are still being read.  Such a page would outlive
 * the check and still hold what a mount has overwritten in the meantime.  So
 * the last requests are recorded, and waited for before that.
 */
#ifndef E2PF_BTRFS_DRAIN_H
#define E2PF_BTRFS_DRAIN_H

#include "device/device.h"

/* Create a device that behaves like `real` and owns it from then on.  Returns
 * NULL if memory runs out: then the caller still owns `real`. */
struct e2pf_device *e2pf_drain_new(struct e2pf_device *real);

/* Wait until the latest requests have completed, for at most `milliseconds`
 * plus the time of one read.  Nobody may make new requests meanwhile. */
void e2pf_drain(struct e2pf_device *dev, int milliseconds);

#endif
