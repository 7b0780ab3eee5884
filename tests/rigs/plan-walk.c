/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The walk itself: superblock, groups, inodes, trees.  The planner
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

static struct e2pf_plan plan_for(const struct plan_walk *walk, e2pf_sink sink,
				 void *ctx)
{
	return (struct e2pf_plan) {
		.geo = &walk->geo, .groups = walk->groups,
		.classes = E2PF_ALL_CLASSES, .sink = sink, .ctx = ctx
	};
}

static void take(void *ctx, const struct e2pf_ref *ref)
{
	struct plan_walk *walk = ctx;
	struct e2pf_kind kind = e2pf_kind_of(ref);
	uint64_t bs = walk->geo.block_size, block = ref->offset / bs;
	uint64_t end = block + ref->length / bs;

	if (!ref->length || ref->offset % bs || ref->length % bs ||
	    end > walk->geo.blocks) {
		walk->bad++;
		return;
	}
	if (ref->cls == E2PF_INODES && !ref->parse)
		walk->ea_inodes++;
	if (ref->parse && kind.depth > walk->deepest)
		walk->deepest = kind.depth;
	for (; block < end; block++) {
		struct e2pf_plan plan = plan_for(walk, take, walk);
		const void *bytes = block_at(walk, block);

		walk->classes[block] |= 1u << ref->cls;
		if (bytes)
			e2pf_plan_block(&plan, kind, block, bytes);
	}
}

static void take_group(struct plan_walk *walk, ext2_filsys fs, uint32_t number)
{
	char desc[EXT2_MAX_DESC_SIZE];

	memcpy(desc, ext2fs_group_desc(fs, fs->group_desc, number),
	       walk->geo.desc_size);
#ifdef WORDS_BIGENDIAN
	ext2fs_swap_group_desc2(fs, (void *)desc);
#endif
	e2pf_plan_descriptor(&walk->geo, number, desc, &walk->groups[number]);
}

static void walk_group(struct plan_walk *walk, uint32_t number)
{
	const struct e2pf_geometry *geo = &walk->geo;
	const struct e2pf_group *group = &walk->groups[number];
	uint32_t per_block = geo->block_size / geo->inode_size;
	struct e2pf_plan plan = plan_for(walk, take, walk);
	uint32_t i;

	e2pf_plan_group(&plan, number, group);
	for (i = 0; i < group->inodes_in_use; i += per_block) {
		uint32_t left = group->inodes_in_use - i;
		uint32_t count = left < per_block ? left : per_block;
		const void *bytes = block_at(walk, group->inode_table +
						   i / per_block);

		if (bytes)
			e2pf_plan_inodes(&plan,
				number * geo->inodes_per_group + i + 1,
				bytes, (size_t)count * geo->inode_size);
	}
}

int plan_walk(struct plan_walk *walk, ext2_filsys fs, const void *image,
	      uint64_t size)
{
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
	for (i = 0; i < walk->geo.groups; i++)
		take_group(walk, fs, i);
	for (i = 0; i < walk->geo.groups; i++)
		walk_group(walk, i);
	return 0;
}

void plan_walk_free(struct plan_walk *walk)
{
	free(walk->groups);
	free(walk->classes);
}
