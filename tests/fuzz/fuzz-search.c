/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
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
#include "btrfs/send_items.h"

#define TAKEN 600u

static struct input in;
static struct bt_super super;

static void take_reference(void *ctx, uint64_t tree,
			   const struct bt_key *key)
{
	uint64_t *sum = ctx;

	*sum += tree ^ key->objectid ^ key->offset;
}

static void take_item(void *ctx, const struct bt_item *item)
{
	struct bt_ranges *ranges = ctx;
	struct bt_job data;
	struct bt_ptr root;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < item->size; i++)
		sum += item->bytes[i];
	if (bt_item_data(item, &data) &&
	    (data.from + data.length < data.from ||
	     data.offset < data.keys.first.objectid ||
	     data.sent > item->size))
		abort();
	if (bt_plan_root(&super, item, &root) &&
	    root.level >= BT_LEVELS)
		abort();
	bt_item_references(item, take_reference, &sum);
	bt_ranges_add(ranges, &(struct bt_range) {
		item->key, item->key });
}

static bool read_node(void *ctx, const struct bt_ptr *ptr, void *block)
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
	return bt_fits(&super, ptr, block);
}

/* Ends the walk now and then: it goes on from there. */
static bool take_leaf(void *ctx, const struct bt_node *leaf)
{
	unsigned *leaves = ctx;

	if (leaf->ptr.level || leaf->ptr.generation <= 3 ||
	    bt_compare(&leaf->keys.first, &leaf->keys.last) > 0)
		abort();
	return ++*leaves % 8;
}

static void walk(uint8_t level)
{
	struct bt_ptr root = { 1 << 20, UINT64_MAX, 256, level };
	unsigned leaves = 0;
	struct bt_tree_walk w = {
		.super = &super, .read = read_node, .leaf = take_leaf,
		.ctx = &leaves, .generation = 3
	};

	do
		bt_tree_walk(&w, &root);
	while (w.ended);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_ranges ranges = { .count = 0 };
	uint8_t how, *found;
	size_t left;

	super = fs_sound_super();
	in = (struct input){ data, size };
	how = take_byte(&in);
	if (!how) {
		uint32_t count = take_byte(&in);

		left = in.left;
		found = take(&in, left);
		bt_items_found(found, left, count, take_item, &ranges);
		free(found);
		bt_ranges_finish(&ranges);
	} else {
		walk(how);
	}
	free(ranges.range);
	return 0;
}
