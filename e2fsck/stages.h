/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pass a check is in, by the walks that are seen: for the statistics, and
 * for what is of use in one pass only.
 */
#ifndef STAGES_H
#define STAGES_H

#include "ext4/ext4_source.h"

/* What can be seen of a check. */
enum seen {
	SEEN_OPEN,		/* the filesystem was opened */
	SEEN_SCAN,		/* a scan of all inodes begins */
	SEEN_NAMES,		/* a walk over the names in directories begins */
	SEEN_NAMES_END,
	SEEN_LIST,		/* a walk over the directory list begins */
	SEEN_LIST_END,
	SEEN_DIRECTORY,		/* the blocks of one directory are walked over,
				   and may be changed */
	SEEN_LINKS,		/* a count of links is looked at */
	SEEN_LINKS_END,		/* the counts of links are freed */
	SEEN_BITMAPS		/* bitmaps are read */
};

/* The stage the check is in from here on. */
enum e2pf_ext4_stage stage_after(enum e2pf_ext4_stage now, enum seen seen);

#endif
