/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses arbitrary bytes as the result of a tree search on a mounted btrfs, or
 * as nodes of a walk.  Aborts if an item or a piece of data extends beyond its
 * container, or if the walk reports an invalid leaf.
 *
 * The first byte selects: 0 the items of a search, whose number is the next
 * byte; otherwise a walk.  The headers of its nodes are corrected, and the next
 * 600 bytes are the rest of the node.
 */
#include "btrfs-fs.h"
#include "fuzz.h"
#include "send/tree_walk.h"

#define TAKEN 600u

static struct input in;
static struct e2pf_btrfs_super super;

static void take_reference(void *ctx, const struct e2pf_btrfs_reference *r)
{
	uint64_t *sum = ctx;

	*sum += r->tree ^ r->inode ^ r->offset;
}

static void take_item(void *ctx, const struct e2pf_btrfs_item *item)
{
	struct e2pf_btrfs_ranges *ranges = ctx;
	struct e2pf_btrfs_data data;
	struct e2pf_btrfs_ptr root;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < item->size; i++)
		sum += item->bytes[i];
	if (e2pf_btrfs_plan_data(item, &data) &&
	    (!data.length || data.offset + data.length < data.offset ||
	     data.logical < data.extent))
		abort();
	if (e2pf_btrfs_plan_root(&super, item, &root) &&
	    root.level >= E2PF_BTRFS_LEVELS)
		abort();
	e2pf_btrfs_plan_inode(item, &sum);
	e2pf_btrfs_plan_references(item, take_reference, &sum);
	e2pf_btrfs_ranges_add(ranges, &item->key, &item->key);
}

static bool read_node(void *ctx, const struct e2pf_btrfs_ptr *ptr, void *block)
{
	uint8_t *bytes, *b = block;

	(void)ctx;
	if (!in.left)
		return false;
	bytes = take(&in, TAKEN);
	fs_block(b, ptr->logical, ptr->owner, ptr->level);
	put64(b + BT_HEADER_GENERATION, ptr->generation);
	memcpy(b + BT_HEADER_NRITEMS, bytes, 4);
	memcpy(b + BT_HEADER_BYTES, bytes + 4, TAKEN - 4);
	free(bytes);
	return e2pf_btrfs_fits(&super, ptr, block);
}

static void walk(const struct e2pf_btrfs_ranges *ranges, uint8_t level)
{
	struct e2pf_btrfs_ptr root = { 1 << 20, UINT64_MAX, 256, level };
	struct e2pf_tree_walk w = {
		.super = &super, .read = read_node, .ranges = ranges,
		.generation = 3
	};
	struct e2pf_btrfs_child leaf;

	if (e2pf_tree_walk_begin(&w, &root))
		while (e2pf_tree_walk_next(&w, &leaf))
			if (leaf.ptr.level || leaf.ptr.generation <= 3 ||
			    e2pf_btrfs_compare(&leaf.first, &leaf.last) > 0)
				abort();
	e2pf_tree_walk_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct e2pf_btrfs_ranges ranges = { .count = 0 };
	uint8_t bytes[E2PF_BTRFS_SUPER_BYTES], how, *found;
	size_t left;

	fs_super(bytes, 1, 1 << 22, 1 << 23);
	if (e2pf_btrfs_plan_super(bytes, 65536, &super) != E2PF_BTRFS_OK)
		abort();
	in = (struct input){ data, size };
	how = take_byte(&in);
	if (!how) {
		uint32_t count = take_byte(&in);

		left = in.left;
		found = take(&in, left);
		e2pf_btrfs_plan_found(found, left, count, take_item, &ranges);
		free(found);
		e2pf_btrfs_ranges_finish(&ranges);
	} else {
		walk(NULL, how);
	}
	e2pf_btrfs_ranges_free(&ranges);
	return 0;
}
