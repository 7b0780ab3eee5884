/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Watching a program's own reads: an io_channel's operations are replaced by
 * ones that tell the engine and then call the manager's own, on the same
 * channel.  So every error, callback and byte is that manager's.
 */
#ifndef E2PF_OBSERVE_H
#define E2PF_OBSERVE_H

#include <ext2fs/ext2fs.h>

#include "engine/engine.h"
#include "ext4/journal.h"

struct e2pf_observer {
	struct struct_io_manager table;	/* first: found from the channel */
	io_manager real;
	io_channel channel;
	struct e2pf_engine *engine;
	struct e2pf_journal *journal;	/* NULL: none to be replayed */
};

/* Watch `channel`.  The observer outlives every use of its table, which a
 * program may keep: it works, unwatched, after e2pf_unobserve(). */
void e2pf_observe(struct e2pf_observer *o, io_channel channel,
		  struct e2pf_engine *engine);
void e2pf_unobserve(struct e2pf_observer *o);

#endif
