/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Shared by the tests of the planner: a valid superblock, and a record of the
 * references that a planner function passed.
 */
#ifndef PLAN_RIG_H
#define PLAN_RIG_H

#include <ext2fs/ext2fs.h>

#include "ext4/plan.h"

#define NONE E2PF_CLASSES
#define MANY 512

struct found {
	struct e2pf_plan plan;
	uint32_t block_size;
	unsigned count;
	struct e2pf_ref ref[MANY];
};

/* A plan that records in `found` what it finds, after what is there. */
struct e2pf_plan *into(struct found *found, const struct e2pf_geometry *geo,
		       const struct e2pf_group *groups);

void assert_ref(const struct found *found, unsigned index,
		uint64_t block, uint32_t count, unsigned cls,
		unsigned parse, unsigned depth, unsigned data);

/* 4 KiB blocks, 40 groups, and all features of a current ext4. */
struct ext2_super_block sound_super(void);
struct e2pf_geometry sound_geometry(void);

#endif
