/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The check that the process makes, its session, and what is deduced from e2fsck's
 * arguments and walks. */
#ifndef CHECK_H
#define CHECK_H

#include <ext2fs/ext2fs.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "accelerate.h"
#include "session.h"
#include "ext4/ext4_source.h"

/* The request in e2fsck's arguments. */
struct arguments {
	bool force;		/* a clean filesystem is checked, too; or an
				   option may mean that */
	bool parallel;		/* -m, of Lustre's e2fsck */
};

struct arguments arguments_read(int argc, char *const *argv);

/* Whether e2fsck checks nothing, unless it is forced to: the filesystem is marked
 * as clean.  `now` is the time, in seconds. */
bool arguments_find_clean(const struct ext2_super_block *super, int64_t now);

extern struct check {
	struct arguments arguments;
	char *path;			/* of the filesystem opened last */
	bool threads;			/* threads of ours may have started */
	_Atomic ext2_filsys fs;		/* the filesystem being checked */
	struct e2pf_session *session;	/* of `fs`, or of the last one */
} check;

/* A filesystem was opened, or all of its inodes are about to be scanned.  A scan
 * means that there is a check, even if it looked as if there would be none.  True
 * if a session begins that follows the check. */
bool check_opens(ext2_filsys fs, const char *name, const char *options);
bool check_scans(ext2_filsys fs);

/* This filesystem, or NULL, is about to be closed. */
void check_closes(ext2_filsys fs);

/* The module with the accelerations; NULL if it is not in the process, or if
 * another version of it is. */
const struct accel *check_accel(void);

/* Whether the module can see where this e2fsck is in its check. */
bool stages_can_be_followed(void);

/* check.fs was opened, and check.session is its session: passes.c follows it.  Called
 * on the checker's first thread, before it has others. */
void passes_begin(void);

/* End the session, if there is one.  From then on nothing is told to the engine,
 * whatever the checker's threads still do.  May be called by any thread. */
void check_ends(void);

/* Events of a check that the module can see. */
enum seen {
	SEEN_OPEN,		/* the filesystem was opened */
	SEEN_SCAN,		/* a scan of all inodes begins */
	SEEN_NAMES,		/* a walk over the names in directories begins */
	SEEN_NAMES_END,
	SEEN_LIST,		/* a walk over the directory list begins */
	SEEN_LIST_END,
	SEEN_LINKS_END		/* the link counts are freed */
};

/* The stage that follows `stage` when `seen` happens. */
enum e2pf_ext4_stage stage_after(enum e2pf_ext4_stage stage, enum seen seen);

/*
 * clones.c: blocks that several files claim.  Pass 1B finds them in the order in which
 * pass 1D clones them, each by a read and a write, so they can be read ahead of
 * pass 1D.  All functions must be called from the checker's thread.
 */

/* Forget all blocks: a scan of all inodes begins. */
void clones_forget(void);

/* Pass 1B has found that this block of a file is claimed several times.  Without
 * memory it is not read ahead. */
void clones_add(uint64_t block);

/* Pass 1D has reached such a block of a file whose blocks it clones.  The engine
 * and its source are those of the check. */
void clones_at(struct e2pf_ext4 *ext4, struct pf_engine *engine,
	       uint64_t block);

#endif
