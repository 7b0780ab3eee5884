/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Readahead for the map of a journal.  The first thing a check does is walk it.  On ext3
 * that is one indirect block per 4 MiB, and on a disk each costs a turn of the platter.
 *
 * What a replay reads is left to the kernel, for the journal is read in its order: a
 * window ahead of the replay made 240 requests of 300.
 */
#ifndef E2PF_JOURNAL_H
#define E2PF_JOURNAL_H

#include "device/device.h"
#include "plan.h"

/* Request the indirect, double indirect and triple indirect block that the journal's
 * inode names (0: none), and all blocks that the double indirect block refers to, at
 * most 4 MiB.  The blocks below the triple indirect one are not requested: they begin at
 * 4 GiB.  Returns the bytes that were requested, because they were not cached. */
uint64_t e2pf_journal_request_map(struct e2pf_device *dev,
				  const struct e2pf_geometry *geo,
				  const uint32_t block[3]);

#endif
