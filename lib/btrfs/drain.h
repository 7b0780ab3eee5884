/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device whose read-ahead can be waited for.
 *
 * btrfs check drops the page cache of its devices before it closes them, and
 * the kernel leaves out pages that are still being read.  Such a page would
 * outlive the check, and hold what a mount has overwritten since: so the last
 * requests are remembered, and waited for first.
 */
#ifndef E2PF_BTRFS_DRAIN_H
#define E2PF_BTRFS_DRAIN_H

#include "device/device.h"

/* A device that does what `real` does, which it owns from then on.  NULL
 * without memory: then `real` is still the caller's. */
struct e2pf_device *e2pf_drain_new(struct e2pf_device *real);

/* Wait until what was asked for lately has come, at most `milliseconds` and
 * the time of one read.  Nobody may ask for more meanwhile. */
void e2pf_drain(struct e2pf_device *dev, int milliseconds);

#endif
