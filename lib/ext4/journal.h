/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A journal that is about to be looked at, or replayed.
 *
 * Before anything else a check walks over the map of its blocks, of ext3 an
 * indirect block for each 4 MiB: on a disk as many turns of the platter.  A
 * replay first looks for the ends of the transactions, from descriptor block
 * to descriptor block past the data between them, and then reads that data: on
 * a disk each step costs a turn of the platter.  Reading all ahead of it in
 * order costs one transfer.
 *
 * All calls from the checker's thread.
 */
#ifndef E2PF_JOURNAL_H
#define E2PF_JOURNAL_H

#include <stdint.h>

#include "device/device.h"
#include "plan.h"

struct e2pf_journal;

/* A journal without blocks, or NULL without memory.  The device outlives
 * it. */
struct e2pf_journal *e2pf_journal_new(struct e2pf_device *dev,
				      uint32_t block_size);
void e2pf_journal_free(struct e2pf_journal *j);

/* The checker is about to walk over the journal's map: ask at once for the
 * indirect, the double and the triple indirect block that its inode names (0:
 * there is none), and for all that the second refers to.  What lies below the
 * third is not: it begins at 4 GiB. */
void e2pf_journal_walk(struct e2pf_journal *j, const struct e2pf_geometry *geo,
		       const uint32_t block[3]);

/* The block of the filesystem that is the journal's next.  Of a journal in too
 * many pieces only the first part is read ahead. */
void e2pf_journal_add(struct e2pf_journal *j, uint64_t block);

/* The checker is about to read this block, of the journal or not: read ahead
 * of it.  The window begins small and grows while it is followed. */
void e2pf_journal_at(struct e2pf_journal *j, uint64_t block);

/* What was missing and asked for: bytes, and requests made for them. */
uint64_t e2pf_journal_bytes(const struct e2pf_journal *j);
uint64_t e2pf_journal_requests(const struct e2pf_journal *j);

#endif
