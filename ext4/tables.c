/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "tables.h"

struct ext4_group ext4_source_group(const struct ext4_source *ext4,
				    uint64_t number)
{
	struct ext4_group group = { .inode_table = 0 };

	if (ext4->groups)
		group = ext4->groups[number];
	else if (ext4->copy_group)
		ext4->copy_group(ext4->groups_owner, (uint32_t)number, &group);
	return group;
}

uint64_t ext4_source_bytes_of_table(const struct ext4_source *ext4,
				    uint64_t group)
{
	return (uint64_t)ext4_source_group(ext4, group).inodes_in_use *
	       ext4->geo->inode_size;
}

uint64_t ext4_source_table_bytes(const struct ext4_source *ext4)
{
	uint64_t bytes = 0;
	uint32_t g;

	for (g = 0; g < ext4->geo->groups; g++)
		bytes += ext4_source_bytes_of_table(ext4, g);
	return bytes;
}

bool ext4_source_table_part(const struct ext4_source *ext4, uint32_t ino,
			    uint32_t bytes, struct ext4_table_part *part)
{
	const struct ext4_geometry *geo = ext4->geo;
	uint32_t g = (ino - 1) / geo->inodes_per_group;
	uint32_t index = (ino - 1) % geo->inodes_per_group;
	uint32_t each = bytes > geo->block_size ? bytes / geo->block_size : 1;
	uint32_t at = (uint32_t)((uint64_t)index * geo->inode_size / geo->block_size);
	struct ext4_group group = ext4_source_group(ext4, g);
	uint32_t left;

	if (!group.inode_table || index >= group.inodes_in_use)
		return false;
	at -= at % each;
	left = ext4_table_blocks(geo, group.inodes_in_use) - at;
	*part = (struct ext4_table_part) {
		group.inode_table + at, at, left < each ? left : each, g
	};
	return true;
}

uint64_t ext4_source_inodes_left(const struct ext4_source *ext4,
				 const struct pf_ref *ref, uint64_t at,
				 uint32_t *ino)
{
	const struct ext4_geometry *geo = ext4->geo;
	uint32_t number = ext4_kind_of(ref).group;
	struct ext4_group group = ext4_source_group(ext4, number);
	uint64_t before = (ref->offset + at - group.inode_table *
			   geo->block_size) / geo->inode_size;

	*ino = number * geo->inodes_per_group + (uint32_t)before + 1;
	return before < group.inodes_in_use ? group.inodes_in_use - before : 0;
}

bool ext4_source_tables_are_ordered(const struct ext4_source *ext4)
{
	uint64_t table, before = 0;
	uint32_t i;

	for (i = 0; i < ext4->geo->groups; i++, before = table) {
		table = ext4_source_group(ext4, i).inode_table;
		if (table <= before)
			return false;
	}
	return true;
}

/* The first group whose table ends behind this block. */
static uint32_t first_table(const struct ext4_source *ext4, uint64_t block,
			    uint32_t all)
{
	uint32_t low = 0, high = ext4->geo->groups, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (ext4_source_group(ext4, middle).inode_table + all > block)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool ext4_source_may_read(const struct ext4_source *ext4, uint64_t offset,
			  uint64_t length)
{
	const struct ext4_geometry *geo = ext4->geo;
	uint64_t first = offset / geo->block_size, table;
	uint64_t end = (offset + length - 1) / geo->block_size + 1;
	uint32_t all = ext4_table_blocks(geo, geo->inodes_per_group), g, used;

	if (!ext4->options.guarded || !ext4->ordered)
		return !ext4->options.guarded;
	for (g = first_table(ext4, first, all); g < geo->groups; g++) {
		const struct ext4_group group = ext4_source_group(ext4, g);

		table = group.inode_table;
		used = ext4_table_blocks(geo, group.inodes_in_use);
		if (table >= end)
			break;
		if (used < all && table + used < end)
			return false;
	}
	return true;
}

bool ext4_source_may_cache(const struct ext4_source *ext4, uint64_t block)
{
	uint32_t size = ext4->geo->block_size, page = ext4->options.page;

	if (page < size)
		page = size;
	return ext4_source_may_read(ext4, block * size / page * page, page);
}

static void pass_pages(void *ctx, const struct pf_ref *found)
{
	const struct ext4_whole_pages *w = ctx;
	uint32_t page = w->ext4->options.page, before, behind;
	struct pf_ref ref = *found;

	before = ref.offset % page;
	if (before && !ext4_source_may_read(w->ext4, ref.offset - before, before)) {
		before = page - before;
		before = before < ref.length ? before : ref.length;
		ref.offset += before;
		ref.length -= before;
	}
	behind = (ref.offset + ref.length) % page;
	if (ref.length && behind &&
	    !ext4_source_may_read(w->ext4, ref.offset + ref.length, page - behind))
		ref.length -= behind < ref.length ? behind : ref.length;
	if (ref.length)
		w->sink(w->ctx, &ref);
}

struct ext4_plan ext4_source_plan(struct ext4_whole_pages *w)
{
	const struct ext4_source *ext4 = w->ext4;
	bool whole = ext4->options.page > ext4->geo->block_size;

	return (struct ext4_plan) {
		.geo = ext4->geo, .classes = ext4->options.classes,
		.sink = whole ? pass_pages : w->sink,
		.ctx = whole ? w : w->ctx
	};
}
