/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Observes a program's own reads.  The channel gets a copy of its I/O manager's
 * table in which the reads are replaced by ones that notify the engine and call
 * the original operation on the same channel.  So every error, callback and byte
 * comes from that manager.
 */
#ifndef E2FSCK_OBSERVE_H
#define E2FSCK_OBSERVE_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>

#include "prefetch/engine.h"

/*
 * Observe `channel` for `engine`.  Returns false and changes nothing while a channel
 * is observed, if one of another manager ever was, or if the manager's table has an
 * unknown layout.  The caller must keep other threads from the channel and from this
 * function meanwhile.
 */
bool e2fsck_observe(io_channel channel, struct pf_engine *engine);

/* End observing for this engine; the channel may be closed already.  A read that
 * another thread has begun still tells the engine when it ends, so the engine must
 * outlive it.  Does nothing if nothing is observed for it. */
void e2fsck_unobserve(struct pf_engine *engine);

/* For pread.c: a read of this thread has failed with EIO.  It may have done so because of
 * the engine's, whose sectors are in the same large folio or in the same merged request.
 * If so, it should be made again, past the page cache. */
bool e2fsck_failed_read_may_be_ours(void);

#endif
