/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides whether walks can be seen, and which pass of e2fsck a walk belongs to, from the
 * walks before it:
 *
 *	1	the first scan of all inodes
 *	1B	a second scan, before the directory list was walked over:
 *		blocks are claimed twice
 *	1C	the walk over names that follows, until the names of the files
 *		are found
 *	1D	what follows 1C: reading bitmaps and single files
 *	2	the walk over the directory list
 *	3, 4	what follows 2, also the directories that are written anew
 *	5	from the time the link counts are freed
 *
 * A scan after that is the first scan of a restarted check.  Calls in another
 * order do no harm: a stage is only a name.
 */
#include "check.h"
#include "preload/interpose.h"

bool e2fsck_stages_can_be_followed(void)
{
	/* These calls show the preload library where the check is. */
	static const char *const calls[] = {
		"ext2fs_open2", "ext2fs_open_inode_scan",
		"ext2fs_get_next_inode_full", "ext2fs_dblist_iterate2",
		"ext2fs_close_free",
	};
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!preload_program_refers(calls[i]))
			return false;
	return true;
}

enum ext4_stage e2fsck_stage_after(enum ext4_stage stage, enum seen seen)
{
	switch (seen) {
	case SEEN_OPEN:
		return EXT4_OPEN;
	case SEEN_SCAN:
		return stage == EXT4_PASS1 ? EXT4_PASS1B :
						EXT4_PASS1;
	case SEEN_NAMES:
		return stage == EXT4_PASS1 || stage == EXT4_PASS1B ?
		       EXT4_PASS1C : stage;
	case SEEN_NAMES_END:
		return stage == EXT4_PASS1C ? EXT4_PASS1D : stage;
	case SEEN_LIST:
		return EXT4_PASS2;
	case SEEN_LIST_END:
		return stage == EXT4_PASS2 ? EXT4_PASS3 : stage;
	case SEEN_LINKS_END:
		return stage == EXT4_PASS3 ? EXT4_PASS5 : stage;
	}
	return stage;
}
