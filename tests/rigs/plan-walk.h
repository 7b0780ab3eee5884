/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Walks a whole image with the planner alone, and records for every block the
 * classes it was reported as.  For tests: the image is in memory.
 */
#ifndef PLAN_WALK_H
#define PLAN_WALK_H

#include <ext2fs/ext2fs.h>

#include "ext4/plan.h"

struct plan_walk {
	const unsigned char *image;
	uint64_t size;			/* of the image, bytes */
	struct e2pf_geometry geo;
	struct e2pf_group *groups;
	uint16_t *classes;		/* per block, 1 << enum e2pf_class */
	unsigned ea_inodes;		/* runs that lead to EA inodes */
	unsigned deepest;		/* levels of nodes below a root */
	unsigned bad;			/* runs outside the filesystem */
};

/* `fs` is the image, opened.  Returns 0, or -1 if the superblock is rejected. */
int plan_walk(struct plan_walk *walk, ext2_filsys fs, const void *image,
	      uint64_t size);
void plan_walk_free(struct plan_walk *walk);

#endif
