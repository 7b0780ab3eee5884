/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tree blocks: checks that a block is the one its pointer describes, and finds
 * the blocks that it refers to.
 */
#include "format.h"
#include "plan.h"

const uint8_t *e2pf_btrfs_node_fsid(const void *block)
{
	return (const uint8_t *)block + BT_HEADER_FSID;
}

uint64_t e2pf_btrfs_generation(const void *block)
{
	return bt_le64((const uint8_t *)block + BT_HEADER_GENERATION);
}

bool e2pf_btrfs_is_subvolume(uint64_t owner)
{
	/* As unsigned numbers, the negative ones are included: these are
	 * relocation trees, which are copies of subvolumes' trees. */
	return owner == BT_FS_TREE_OBJECTID || owner >= BT_FIRST_FREE_OBJECTID;
}

/* Snapshots share the blocks of subvolumes, and a block keeps the owner for
 * which it was created. */
static bool fits_owner(uint64_t owner, uint64_t expected)
{
	return owner == expected || (e2pf_btrfs_is_subvolume(owner) &&
				     e2pf_btrfs_is_subvolume(expected));
}

bool e2pf_btrfs_fits(const struct e2pf_btrfs_super *super,
		     const struct e2pf_btrfs_ptr *ptr, const void *block)
{
	const uint8_t *b = block;
	uint32_t items = bt_le32(b + BT_HEADER_NRITEMS);
	uint32_t room = super->nodesize - BT_HEADER_BYTES;

	return bt_le64(b + BT_HEADER_BYTENR) == ptr->logical &&
	       b[BT_HEADER_LEVEL] == ptr->level &&
	       bt_le64(b + BT_HEADER_GENERATION) == ptr->generation &&
	       fits_owner(bt_le64(b + BT_HEADER_OWNER), ptr->owner) &&
	       items <= room / (ptr->level ? BT_PTR_BYTES : BT_ITEM_BYTES);
}

/* True if a tree block can be at this address. */
static bool is_address(const struct e2pf_btrfs_super *super, uint64_t logical)
{
	return logical && logical % super->sectorsize == 0 &&
	       logical <= UINT64_MAX - super->nodesize;
}

static uint32_t count_entries(const struct e2pf_btrfs_super *super,
			      const uint8_t *block, uint32_t bytes)
{
	uint32_t most = (super->nodesize - BT_HEADER_BYTES) / bytes;
	uint32_t items = bt_le32(block + BT_HEADER_NRITEMS);

	return items < most ? items : most;
}

int e2pf_btrfs_compare(const struct e2pf_btrfs_key *a,
		       const struct e2pf_btrfs_key *b)
{
	if (a->objectid != b->objectid)
		return a->objectid < b->objectid ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

struct e2pf_btrfs_key e2pf_btrfs_before(struct e2pf_btrfs_key key)
{
	if (key.offset) {
		key.offset--;
	} else if (key.type) {
		key.type--;
		key.offset = UINT64_MAX;
	} else if (key.objectid) {
		key.objectid--;
		key.type = UINT8_MAX;
		key.offset = UINT64_MAX;
	}
	return key;
}

struct e2pf_btrfs_key e2pf_btrfs_key_at(const uint8_t *bytes)
{
	return (struct e2pf_btrfs_key){
		.objectid = bt_le64(bytes + BT_KEY_OBJECTID),
		.type = bytes[BT_KEY_TYPE],
		.offset = bt_le64(bytes + BT_KEY_OFFSET)
	};
}

void e2pf_btrfs_plan_node(const struct e2pf_btrfs_super *super,
			  const struct e2pf_btrfs_node *node,
			  const void *block, e2pf_btrfs_node_sink sink,
			  void *ctx)
{
	const uint8_t *entry = (const uint8_t *)block + BT_HEADER_BYTES;
	uint32_t n = count_entries(super, block, BT_PTR_BYTES), i;
	uint8_t level = node->ptr.level;

	if (!level || level >= E2PF_BTRFS_LEVELS)
		return;
	for (i = 0; i < n; i++, entry += BT_PTR_BYTES) {
		struct e2pf_btrfs_node child = {
			.ptr = {
				.logical = bt_le64(entry + BT_PTR_BLOCKPTR),
				.generation = bt_le64(entry +
						      BT_PTR_GENERATION),
				.owner = node->ptr.owner,
				.level = level - 1
			},
			.keys = { e2pf_btrfs_key_at(entry), node->keys.last }
		};

		if (i + 1 < n)
			child.keys.last = e2pf_btrfs_before(
				e2pf_btrfs_key_at(entry + BT_PTR_BYTES));
		/* A child cannot be newer: changing it changes all nodes above
		 * it. */
		if (is_address(super, child.ptr.logical) &&
		    child.ptr.generation <= e2pf_btrfs_generation(block))
			sink(ctx, &child);
	}
}

void e2pf_btrfs_plan_leaf(const struct e2pf_btrfs_super *super,
			  const void *block, e2pf_btrfs_item_sink sink,
			  void *ctx)
{
	const uint8_t *data = (const uint8_t *)block + BT_HEADER_BYTES;
	const uint8_t *entry = data;
	uint32_t n = count_entries(super, block, BT_ITEM_BYTES), i;
	uint32_t room = super->nodesize - BT_HEADER_BYTES, offset;

	for (i = 0; i < n; i++, entry += BT_ITEM_BYTES) {
		struct e2pf_btrfs_item item = {
			.key = e2pf_btrfs_key_at(entry),
			.size = bt_le32(entry + BT_ITEM_SIZE)
		};

		offset = bt_le32(entry + BT_ITEM_OFFSET);
		if (offset > room || item.size > room - offset)
			continue;
		item.bytes = data + offset;
		sink(ctx, &item);
	}
}

bool e2pf_btrfs_plan_root(const struct e2pf_btrfs_super *super,
			  const struct e2pf_btrfs_item *item,
			  struct e2pf_btrfs_ptr *root)
{
	/* Items written by old kernels end with the level. */
	if (item->key.type != BT_ROOT_ITEM_KEY ||
	    item->size <= BT_ROOT_ITEM_LEVEL)
		return false;
	root->logical = bt_le64(item->bytes + BT_ROOT_ITEM_BYTENR);
	root->generation = bt_le64(item->bytes + BT_ROOT_ITEM_GENERATION);
	root->owner = item->key.objectid;
	root->level = item->bytes[BT_ROOT_ITEM_LEVEL];
	return is_address(super, root->logical) &&
	       root->level < E2PF_BTRFS_LEVELS;
}
