/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The check that the process makes, its session, and what is deduced from e2fsck's
 * arguments and walks. */
#ifndef CHECK_H
#define CHECK_H

#include <ext2fs/ext2fs.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "e2fsck/accel/accelerate.h"
#include "prefetch/session.h"
#include "ext4/source.h"

/* The request in e2fsck's arguments. */
struct arguments {
	bool force;		/* a clean filesystem is checked, too; or an
				   option may mean that */
};

struct arguments e2fsck_arguments_read(int argc, char *const *argv);

/* Whether e2fsck checks nothing, unless it is forced to: the filesystem is marked
 * as clean.  `now` is the time, in seconds. */
bool e2fsck_arguments_find_clean(const struct ext2_super_block *super,
				 int64_t now);

extern struct e2fsck_check {
	struct arguments arguments;
	char *path;			/* of the filesystem opened last */
	bool threads;			/* threads of ours may have started */
	_Atomic ext2_filsys fs;		/* the filesystem being checked */
	struct pf_session *session;	/* of `fs`, or of the last one */
} e2fsck_check;

/* A filesystem was opened, or all of its inodes are about to be scanned.  A scan
 * means that there is a check, even if it looked as if there would be none.  True
 * if a session begins that follows the check. */
bool e2fsck_check_opens(ext2_filsys fs, const char *name, const char *options);
bool e2fsck_check_scans(ext2_filsys fs);

/* This filesystem, or NULL, is about to be closed. */
void e2fsck_check_closes(ext2_filsys fs);

/* The preload library with the accelerations; NULL if it is not in the process, or if
 * another version of it is. */
const struct accel *e2fsck_check_accel(void);

/* Whether the preload library can see where this e2fsck is in its check. */
bool e2fsck_stages_can_be_followed(void);

/* check.fs was opened, and check.session is its session: passes.c follows it.  Called
 * on the checker's thread. */
void e2fsck_passes_begin(void);

/* End the session, if there is one.  From then on nothing is told to the engine,
 * whatever the checker's threads still do.  May be called by any thread. */
void e2fsck_check_ends(void);

/* Events of a check that the preload library can see. */
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
enum ext4_stage e2fsck_stage_after(enum ext4_stage stage, enum seen seen);

/*
 * clones.c: blocks that several files claim.  Pass 1B finds them in the order in which
 * pass 1D clones them, each by a read and a write, so they can be read ahead of
 * pass 1D.  All functions must be called from the checker's thread.
 */

/* Forget all blocks: a scan of all inodes begins. */
void e2fsck_clones_forget(void);

/* Pass 1B has found that this block of a file is claimed several times.  Without
 * memory it is not read ahead. */
void e2fsck_clones_add(uint64_t block);

/* Pass 1D has reached such a block of a file whose blocks it clones.  The engine
 * and its source are those of the check. */
void e2fsck_clones_at(struct ext4_source *ext4, struct pf_engine *engine,
		      uint64_t block);

#endif
