/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The btrfs superblock with the chunks in its own array, and tree blocks: checks
 * that a block is the one its pointer describes, and finds the blocks that it
 * refers to.
 */
#include "lib/array.h"
#include "format.h"
#include "plan.h"

/* The limits of node size and sector size.  Both are powers of two. */
#define MIN_BLOCK 4096u
#define MAX_BLOCK 65536u

static bool is_block_size(uint32_t size)
{
	return size >= MIN_BLOCK && size <= MAX_BLOCK &&
	       !(size & (size - 1));
}

/* True if a tree block can be at this address. */
static bool is_address(const struct bt_super *super, uint64_t logical)
{
	return logical && logical % super->sectorsize == 0 &&
	       logical <= UINT64_MAX - super->nodesize;
}

static bool is_root(const struct bt_super *super,
		    const struct bt_ptr *ptr)
{
	return is_address(super, ptr->logical) &&
	       ptr->level < BT_LEVELS;
}

/* Features that move tree blocks or their roots. */
#define FEATURES_ELSEWHERE \
	(BT_FEATURE_INCOMPAT_EXTENT_TREE_V2 | BT_FEATURE_INCOMPAT_ZONED | \
	 BT_FEATURE_INCOMPAT_RAID_STRIPE_TREE | BT_FEATURE_INCOMPAT_REMAP_TREE)

static bool is_sound(const struct bt_super *super)
{
	return is_block_size(super->nodesize) &&
	       is_block_size(super->sectorsize) &&
	       super->sectorsize <= super->nodesize &&
	       super->sys_array_size <= BT_SYS_ARRAY &&
	       is_root(super, &super->root) &&
	       is_root(super, &super->chunk_root);
}

const char *bt_plan_super(const void *bytes,
			  struct bt_super *super)
{
	const uint8_t *b = bytes;
	const struct btrfs_dev_item *device =
		(const void *)(b + BT_SUPER_DEV_ITEM);
	uint64_t incompat = bt_le64(b + BT_SUPER_INCOMPAT);

	*super = (struct bt_super) {
		.device.devid = le64toh(device->devid),
		.generation = bt_le64(b + BT_SUPER_GENERATION),
		.nodesize = bt_le32(b + BT_SUPER_NODESIZE),
		.sectorsize = bt_le32(b + BT_SUPER_SECTORSIZE),
		.sys_array_size = bt_le32(b + BT_SUPER_SYS_ARRAY_SIZE),
		.root = {
			.logical = bt_le64(b + BT_SUPER_ROOT),
			.generation = bt_le64(b + BT_SUPER_GENERATION),
			.owner = BTRFS_ROOT_TREE_OBJECTID,
			.level = b[BT_SUPER_ROOT_LEVEL]
		},
		.chunk_root = {
			.logical = bt_le64(b + BT_SUPER_CHUNK_ROOT),
			.generation =
				bt_le64(b + BT_SUPER_CHUNK_ROOT_GENERATION),
			.owner = BTRFS_CHUNK_TREE_OBJECTID,
			.level = b[BT_SUPER_CHUNK_ROOT_LEVEL]
		}
	};
	memcpy(super->device.uuid, device->uuid, BT_UUID);
	memcpy(super->fsid, b +
	       (incompat & BTRFS_FEATURE_INCOMPAT_METADATA_UUID ?
		BT_SUPER_METADATA_UUID : BT_SUPER_FSID), BT_UUID);
	memcpy(super->sys_array, b + BT_SUPER_SYS_ARRAY, BT_SYS_ARRAY);
	if (bt_le64(b + BT_SUPER_MAGIC) != BT_MAGIC ||
	    bt_le64(b + BT_SUPER_BYTENR) != BT_SUPER_AT || !is_sound(super))
		return "the superblock is damaged";
	return incompat & FEATURES_ELSEWHERE ?
		"unsupported filesystem feature" : NULL;
}

struct bt_ptr bt_self(const void *block)
{
	const uint8_t *b = block;

	return (struct bt_ptr) {
		.logical = bt_le64(b + BT_HEADER_BYTENR),
		.generation = bt_le64(b + BT_HEADER_GENERATION),
		.owner = bt_le64(b + BT_HEADER_OWNER),
		.level = b[BT_HEADER_LEVEL]
	};
}

bool bt_is_subvolume(uint64_t owner)
{
	/* As unsigned numbers, the negative ones are included: these are
	 * relocation trees, which are copies of subvolumes' trees. */
	return owner == BTRFS_FS_TREE_OBJECTID ||
	       owner >= BTRFS_FIRST_FREE_OBJECTID;
}

/* Snapshots share the blocks of subvolumes, and a block keeps the owner for
 * which it was created. */
static bool fits_owner(uint64_t owner, uint64_t expected)
{
	return owner == expected || (bt_is_subvolume(owner) &&
				     bt_is_subvolume(expected));
}

bool bt_fits(const struct bt_super *super,
	     const struct bt_ptr *ptr, const void *block)
{
	struct bt_ptr self = bt_self(block);
	const uint8_t *b = block;
	uint32_t items = bt_le32(b + BT_HEADER_NRITEMS);
	uint32_t room = super->nodesize - BT_HEADER_BYTES;

	return !memcmp(b + BT_HEADER_FSID, super->fsid, BT_UUID) &&
	       self.logical == ptr->logical && self.level == ptr->level &&
	       self.generation == ptr->generation &&
	       fits_owner(self.owner, ptr->owner) &&
	       items <= room / (ptr->level ? BT_PTR_BYTES : BT_ITEM_BYTES);
}

static uint32_t count_entries(const struct bt_super *super,
			      const uint8_t *block, uint32_t bytes)
{
	uint32_t max = (super->nodesize - BT_HEADER_BYTES) / bytes;
	uint32_t items = bt_le32(block + BT_HEADER_NRITEMS);

	return items < max ? items : max;
}

int bt_compare(const struct bt_key *a,
	       const struct bt_key *b)
{
	int order = E2PF_COMPARE(a->objectid, b->objectid);

	if (!order)
		order = E2PF_COMPARE(a->type, b->type);
	return order ? order : E2PF_COMPARE(a->offset, b->offset);
}

struct bt_key bt_before(struct bt_key key)
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

struct bt_key bt_key_at(const uint8_t *bytes)
{
	const struct btrfs_disk_key *key = (const void *)bytes;

	return (struct bt_key) {
		.objectid = le64toh(key->objectid), .type = key->type,
		.offset = le64toh(key->offset)
	};
}

void bt_plan_node(const struct bt_super *super,
		  const struct bt_node *node,
		  const void *block, bt_node_sink sink,
		  void *ctx)
{
	const uint8_t *entry = (const uint8_t *)block + BT_HEADER_BYTES;
	uint32_t n = count_entries(super, block, BT_PTR_BYTES), i;
	uint8_t level = node->ptr.level;

	if (!level || level >= BT_LEVELS)
		return;
	for (i = 0; i < n; i++, entry += BT_PTR_BYTES) {
		struct bt_node child = {
			.ptr = {
				.logical = bt_le64(entry + BT_PTR_BLOCKPTR),
				.generation = bt_le64(entry +
						      BT_PTR_GENERATION),
				.owner = node->ptr.owner,
				.level = level - 1
			},
			.keys = { bt_key_at(entry), node->keys.last }
		};

		if (i + 1 < n)
			child.keys.last = bt_before(
				bt_key_at(entry + BT_PTR_BYTES));
		/* A child cannot be newer: changing it changes all nodes above
		 * it. */
		if (is_address(super, child.ptr.logical) &&
		    child.ptr.generation <= bt_self(block).generation)
			sink(ctx, &child);
	}
}

void bt_plan_leaf(const struct bt_super *super,
		  const void *block, bt_item_sink sink,
		  void *ctx)
{
	const uint8_t *data = (const uint8_t *)block + BT_HEADER_BYTES;
	const uint8_t *entry = data;
	uint32_t n = count_entries(super, block, BT_ITEM_BYTES), i;
	uint32_t room = super->nodesize - BT_HEADER_BYTES, offset;

	for (i = 0; i < n; i++, entry += BT_ITEM_BYTES) {
		struct bt_item item = {
			.key = bt_key_at(entry),
			.size = bt_le32(entry + BT_ITEM_SIZE)
		};

		offset = bt_le32(entry + BT_ITEM_OFFSET);
		if (offset > room || item.size > room - offset)
			continue;
		item.bytes = data + offset;
		sink(ctx, &item);
	}
}

bool bt_plan_root(const struct bt_super *super,
		  const struct bt_item *item,
		  struct bt_ptr *root)
{
	const struct btrfs_root_item *b = (const void *)item->bytes;

	/* Items of old kernels end with the level. */
	if (item->key.type != BTRFS_ROOT_ITEM_KEY ||
	    item->size <= BT_AT(root_item, level))
		return false;
	*root = (struct bt_ptr) {
		.logical = le64toh(b->bytenr),
		.generation = le64toh(b->generation),
		.owner = item->key.objectid, .level = b->level
	};
	return is_root(super, root);
}

void bt_plan_sys_array(const struct bt_super *super,
		       bt_item_sink sink, void *ctx)
{
	const uint8_t *b = super->sys_array;
	uint32_t left = super->sys_array_size;

	while (left >= BT_SIZE(disk_key) + BT_AT(chunk, stripe)) {
		const struct btrfs_chunk *chunk =
			(const void *)(b + BT_SIZE(disk_key));
		/* The length of this item is needed to find the next one. */
		struct bt_item item = {
			.key = bt_key_at(b), .bytes = (const void *)chunk,
			.size = BT_AT(chunk, stripe) + BT_SIZE(stripe) *
				le16toh(chunk->num_stripes)
		};

		left -= BT_SIZE(disk_key);
		if (item.key.type != BTRFS_CHUNK_ITEM_KEY || item.size > left)
			return;
		sink(ctx, &item);
		b = item.bytes + item.size;
		left -= item.size;
	}
}
