/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watching a program's own reads: operations of the channel's I/O manager are
 * replaced, in the manager's own table, by ones that tell the engine and then
 * call the manager's, on the same channel.  So every error, callback and byte
 * is that manager's, and the channel's manager stays the one that the program
 * asked for: it may compare the two, and what it opens by that manager (a
 * parallel e2fsck does for each of its threads) is watched as well.
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
					   watched */
	io_channel channel;		/* the first one */
	struct e2pf_engine *engine;
	_Atomic(struct e2pf_journal *) journal;	/* NULL: none to be replayed */
};

/*
 * Watch `channel`, and whatever its manager opens under the same name.  False,
 * and nothing has changed, where another observer watches that manager, where
 * its table cannot be written to or is not one we know, or without memory.  Not while other threads
 * call this or e2pf_unobserve().
 */
bool e2pf_observe(struct e2pf_observer *o, io_channel channel,
		  struct e2pf_engine *engine);

/* Put the operations back.  A read that another thread has begun ends as it
 * was begun: the engine outlives it. */
void e2pf_unobserve(struct e2pf_observer *o);

#endif
