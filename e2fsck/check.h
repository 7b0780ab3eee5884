/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The check that the process makes, and its session. */
#ifndef CHECK_H
#define CHECK_H

#include <ext2fs/ext2fs.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "arguments.h"
#include "session.h"

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

/* check.fs was opened, and check.session is its session: passes.c follows it.  Called
 * on the checker's first thread, before it has others. */
void passes_begin(void);

/* End the session, if there is one.  From then on nothing is told to the engine,
 * whatever the checker's threads still do.  May be called by any thread. */
void check_ends(void);

#endif
