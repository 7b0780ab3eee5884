/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Observes a program's own reads.  Operations in the table of the channel's I/O
 * manager are replaced by ones that notify the engine and call the original
 * operation on the same channel.  So every error, callback and byte comes from
 * that manager.  The channel also keeps the manager that the program requested,
 * because the program may compare the two.  Channels that it opens with that
 * manager (a parallel e2fsck opens one for each thread) are observed as well.
 */
#ifndef E2PF_OBSERVE_H
#define E2PF_OBSERVE_H

#include <ext2fs/ext2fs.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "engine/engine.h"
#include "ext4/journal.h"

struct e2pf_observed;

struct e2pf_observer {
	struct e2pf_observed *observed;	/* the manager; NULL: nothing is
					   observed */
	io_channel channel;		/* the first channel */
	struct e2pf_engine *engine;
	_Atomic(struct e2pf_journal *) journal;	/* NULL: no journal to replay */
};

/*
 * Observe `channel`, and all channels that its manager opens under the same
 * name.  Returns false and changes nothing if another observer observes that
 * manager, if its table is not writable or has an unknown layout, or if memory
 * runs out.  No other thread may call this or e2pf_unobserve() at the same
 * time.
 */
bool e2pf_observe(struct e2pf_observer *o, io_channel channel,
		  struct e2pf_engine *engine);

/* Restore the original operations.  A read that another thread has begun still
 * tells the engine when it ends, so the engine must outlive it. */
void e2pf_unobserve(struct e2pf_observer *o);

#endif
