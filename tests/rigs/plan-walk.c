/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk itself: superblock, descriptors, groups, inodes, trees.  The planner
 * decides what is metadata.
 */
#include <stdlib.h>
#include <string.h>

#include "plan-walk.h"

static const void *block_at(const struct plan_walk *walk, uint64_t block)
{
	uint64_t bs = walk->geo.block_size;

	if ((block + 1) * bs > walk->size)
		return NULL;
	return walk->image + block * bs;
}

static void take(void *ctx, const struct e2pf_run *run)
{
	struct plan_walk *walk = ctx;
	uint32_t i;

	if (!run->count || run->block >= walk->geo.blocks ||
	    run->count > walk->geo.blocks - run->block) {
		walk->bad++;
		return;
	}
	if (run->cls == E2PF_INODES && run->parse == E2PF_LEAF)
		walk->ea_inodes++;
	if (run->parse != E2PF_LEAF && run->depth > walk->deepest)
		walk->deepest = run->depth;
	for (i = 0; i < run->count; i++) {
		struct e2pf_run one = *run;
		const void *bytes;

		one.block += i;
		one.count = 1;
		walk->classes[one.block] |= 1u << run->cls;
		bytes = block_at(walk, one.block);
		if (bytes)
			e2pf_plan_block(&walk->geo, walk->groups, &one, bytes,
					take, walk);
	}
}

struct descriptor_walk {
	struct plan_walk *walk;
	uint32_t next;
};

static void take_descriptors(void *ctx, const struct e2pf_run *run)
{
	struct descriptor_walk *at = ctx;
	const struct e2pf_geometry *geo = &at->walk->geo;
	uint32_t i, j, per_block = geo->block_size / geo->desc_size;

	for (i = 0; i < run->count; i++) {
		const char *bytes = block_at(at->walk, run->block + i);

		for (j = 0; bytes && j < per_block; j++, at->next++)
			if (at->next < geo->groups)
				e2pf_plan_descriptor(geo, at->next,
					bytes + (size_t)j * geo->desc_size,
					&at->walk->groups[at->next]);
	}
	take(at->walk, run);
}

static void walk_group(struct plan_walk *walk, uint32_t number)
{
	const struct e2pf_geometry *geo = &walk->geo;
	const struct e2pf_group *group = &walk->groups[number];
	uint32_t per_block = geo->block_size / geo->inode_size;
	uint32_t i;

	e2pf_plan_group(geo, group, take, walk);
	for (i = 0; i < group->inodes_in_use; i += per_block) {
		uint32_t left = group->inodes_in_use - i;
		uint32_t count = left < per_block ? left : per_block;
		const void *bytes = block_at(walk, group->inode_table +
						   i / per_block);

		if (bytes)
			e2pf_plan_inodes(geo, walk->groups,
				number * geo->inodes_per_group + i + 1,
				bytes, (size_t)count * geo->inode_size,
				take, walk);
	}
}

int plan_walk(struct plan_walk *walk, const void *image, uint64_t size)
{
	struct descriptor_walk at = { .walk = walk };
	uint32_t i;

	memset(walk, 0, sizeof(*walk));
	walk->image = image;
	walk->size = size;
	if (e2pf_plan_superblock(walk->image + 1024, &walk->geo))
		return -1;
	walk->groups = calloc(walk->geo.groups, sizeof(*walk->groups));
	walk->classes = calloc(walk->geo.blocks, sizeof(*walk->classes));
	if (!walk->groups || !walk->classes)
		abort();
	e2pf_plan_descriptors(&walk->geo, 1024 / walk->geo.block_size,
			      take_descriptors, &at);
	for (i = 0; i < walk->geo.groups; i++)
		walk_group(walk, i);
	return 0;
}

void plan_walk_free(struct plan_walk *walk)
{
	free(walk->groups);
	free(walk->classes);
}
