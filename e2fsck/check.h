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
	bool force;		/* check a clean filesystem, too; set also if an
				   option may mean that */
};

struct arguments e2fsck_arguments_read(int argc, char *const *argv);

/* Returns true if the filesystem is marked as clean, so that e2fsck checks nothing
 * unless it is forced to.  `now` is the time, in seconds. */
bool e2fsck_arguments_find_clean(const struct ext2_super_block *super,
				 int64_t now);

extern struct e2fsck_check {
	struct arguments arguments;
	char *path;			/* of the filesystem opened last */
	bool threads;			/* this library may have started threads */
	_Atomic ext2_filsys fs;		/* the filesystem being checked */
	struct pf_session *session;	/* of `fs`, or of the last one */
} e2fsck_check;

/* A filesystem was opened.  Returns true if a session begins that follows the check. */
bool e2fsck_check_opens(ext2_filsys fs, const char *name, const char *options);

/* A scan of all inodes is about to begin, so there is a check, even if none was
 * expected.  Returns true if a session begins that follows the check. */
bool e2fsck_check_scans(ext2_filsys fs);

/* The program is about to close this filesystem, which may be NULL. */
void e2fsck_check_closes(ext2_filsys fs);

/* Returns the interface of e2fsck-accel.so; NULL if this version of it is not in the
 * process. */
const struct accel *e2fsck_check_accel(void);

/* Returns true if this library can follow the stages of this e2fsck. */
bool e2fsck_stages_can_be_followed(void);

/* Begin to follow e2fsck_check.fs for e2fsck_check.session.  Called by the checker's
 * thread. */
void e2fsck_passes_begin(void);

/* End the session, if there is one.  Later calls of the checker's threads are no longer
 * reported to the engine.  Safe from any thread. */
void e2fsck_check_ends(void);

/* Events of a check that this library can see. */
enum seen {
	SEEN_OPEN,		/* the filesystem was opened */
	SEEN_SCAN,		/* a scan of all inodes begins */
	SEEN_NAMES,		/* a walk over the names in directories begins */
	SEEN_NAMES_END,
	SEEN_LIST,		/* a walk over the directory list begins */
	SEEN_LIST_END,
	SEEN_LINKS_END		/* the link counts are freed */
};

/* Returns the stage after `stage` when `seen` happens. */
enum ext4_stage e2fsck_stage_after(enum ext4_stage stage, enum seen seen);

/*
 * clones.c: blocks that several files claim.  Pass 1B finds them in the order in which
 * pass 1D clones them, by a read and a write each, so they can be read ahead of pass
 * 1D.  Only the checker's thread may call these functions.
 */

/* Forget all blocks, because a scan of all inodes begins. */
void e2fsck_clones_forget(void);

/* Pass 1B has found that several files claim this block.  It is not read ahead if
 * memory runs out. */
void e2fsck_clones_add(uint64_t block);

/* Pass 1D has reached such a block, in a file whose blocks it clones.  `ext4` and
 * `engine` are those of the check. */
void e2fsck_clones_report_block(struct ext4_source *ext4,
				struct pf_engine *engine, uint64_t block);

#endif
