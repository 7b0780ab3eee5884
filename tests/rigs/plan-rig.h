/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the planner share: a sound superblock, and what a function
 * of the planner handed out.
 */
#ifndef PLAN_RIG_H
#define PLAN_RIG_H

#include "ext4/plan.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NONE E2PF_CLASSES
#define MANY 512

struct found {
	unsigned count;
	struct e2pf_run run[MANY];
};

/* A sink, of a struct found. */
void record(void *ctx, const struct e2pf_run *run);

void assert_ref(const struct found *found, unsigned index,
		uint64_t block, uint32_t count, unsigned cls,
		unsigned parse, unsigned depth, unsigned data);

/* 4 KiB blocks, 40 groups, everything an ext4 of today has. */
struct ext2_super_block sound_super(void);
struct e2pf_geometry sound_geometry(void);

#endif
