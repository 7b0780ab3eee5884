/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Which pass a check is in, deduced from the walks it makes.  Used for the
 * statistics, and for prefetching that helps in one pass only.
 */
#ifndef STAGES_H
#define STAGES_H

#include "ext4/ext4_source.h"

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

#endif
