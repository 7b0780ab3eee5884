/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What the two parts of the module share: preload.c decides when a session
 * begins and ends, passes.c follows the check.
 */
#ifndef PASSES_H
#define PASSES_H

#include <ext2fs/ext2fs.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "session.h"

extern struct check {
	bool threads;			/* ours may have started */
	_Atomic ext2_filsys fs;		/* the filesystem being checked; set
					   by passes_begin() and passes_end() */
	struct e2pf_session *session;	/* of `fs`, or of the one before it */
} check;

/* All inodes of this filesystem are about to be scanned: so there is a check,
 * even if it looked as if there would be none. */
void check_is_scanned(ext2_filsys fs);

/* e2fsck has opened this filesystem, and check.session is its session.  Called
 * on the checker's first thread, before it has others. */
void passes_begin(ext2_filsys fs);

/* From now on nothing is told to the engine, whatever the checker's threads
 * still do.  May be called by any thread. */
void passes_end(void);

#endif
