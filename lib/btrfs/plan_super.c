/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The btrfs superblock, and the chunks in its own array. */
#include "format.h"
#include "plan.h"

/* The limits of node size and sector size.  Both are powers of two. */
#define LEAST_BLOCK 4096u
#define MOST_BLOCK 65536u

uint64_t e2pf_btrfs_super_offset(unsigned mirror)
{
	/* 64 KiB, 64 MiB, 256 GiB. */
	return mirror ? UINT64_C(16384) << 12 * mirror : 65536;
}

static bool is_block_size(uint32_t size)
{
	return size >= LEAST_BLOCK && size <= MOST_BLOCK &&
	       !(size & (size - 1));
}

static bool is_root(const struct e2pf_btrfs_super *super,
		    const struct e2pf_btrfs_ptr *ptr)
{
	return ptr->logical && ptr->logical % super->sectorsize == 0 &&
	       ptr->level < E2PF_BTRFS_LEVELS;
}

static void take_roots(const uint8_t *b, struct e2pf_btrfs_super *super)
{
	super->root = (struct e2pf_btrfs_ptr) {
		.logical = bt_le64(b + BT_SUPER_ROOT),
		.generation = super->generation,
		.owner = BT_ROOT_TREE_OBJECTID,
		.level = b[BT_SUPER_ROOT_LEVEL]
	};
	super->chunk_root = (struct e2pf_btrfs_ptr) {
		.logical = bt_le64(b + BT_SUPER_CHUNK_ROOT),
		.generation = bt_le64(b + BT_SUPER_CHUNK_ROOT_GENERATION),
		.owner = BT_CHUNK_TREE_OBJECTID,
		.level = b[BT_SUPER_CHUNK_ROOT_LEVEL]
	};
}

/* The first feature with which blocks, or their roots, are elsewhere. */
static const char *unknown_format(uint64_t incompat)
{
	static const struct {
		uint64_t flag;
		const char *why;
	} formats[] = {
		{ BT_FEATURE_INCOMPAT_EXTENT_TREE_V2,
		  "extent-tree-v2 is not supported" },
		{ BT_FEATURE_INCOMPAT_RAID_STRIPE_TREE,
		  "raid-stripe-tree is not supported" },
		{ BT_FEATURE_INCOMPAT_REMAP_TREE,
		  "remap-tree is not supported" },
	};
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (incompat & formats[i].flag)
			return formats[i].why;
	return NULL;
}

static void take_device(const uint8_t *b, bool metadata_uuid,
			struct e2pf_btrfs_device *device)
{
	const uint8_t *item = b + BT_SUPER_DEV_ITEM;

	device->devid = bt_le64(item + BT_DEV_ITEM_DEVID);
	memcpy(device->uuid, item + BT_DEV_ITEM_UUID, E2PF_BTRFS_UUID);
	memcpy(device->node_fsid, b + (metadata_uuid ? BT_SUPER_METADATA_UUID :
				       BT_SUPER_FSID), E2PF_BTRFS_UUID);
}

static bool is_sound(const struct e2pf_btrfs_super *super)
{
	return is_block_size(super->nodesize) &&
	       is_block_size(super->sectorsize) &&
	       super->sectorsize <= super->nodesize &&
	       super->sys_array_size <= E2PF_BTRFS_SYS_ARRAY &&
	       is_root(super, &super->root) &&
	       is_root(super, &super->chunk_root);
}

const char *e2pf_btrfs_plan_super(const void *bytes, uint64_t offset,
				  struct e2pf_btrfs_super *super)
{
	const uint8_t *b = bytes;
	uint64_t incompat = bt_le64(b + BT_SUPER_INCOMPAT);

	memset(super, 0, sizeof(*super));
	memcpy(super->fsid, b + BT_SUPER_FSID, E2PF_BTRFS_UUID);
	take_device(b, incompat & BT_FEATURE_INCOMPAT_METADATA_UUID,
		    &super->device);
	super->generation = bt_le64(b + BT_SUPER_GENERATION);
	super->bytes_used = bt_le64(b + BT_SUPER_BYTES_USED);
	super->devices = bt_le64(b + BT_SUPER_NUM_DEVICES);
	super->nodesize = bt_le32(b + BT_SUPER_NODESIZE);
	super->sectorsize = bt_le32(b + BT_SUPER_SECTORSIZE);
	super->sys_array_size = bt_le32(b + BT_SUPER_SYS_ARRAY_SIZE);
	take_roots(b, super);
	if (bt_le64(b + BT_SUPER_MAGIC) != BT_MAGIC ||
	    bt_le64(b + BT_SUPER_BYTENR) != offset || !is_sound(super))
		return "the superblock is damaged";
	memcpy(super->sys_array, b + BT_SUPER_SYS_ARRAY,
	       super->sys_array_size);
	return unknown_format(incompat);
}

void e2pf_btrfs_plan_sys_array(const struct e2pf_btrfs_super *super,
			       e2pf_btrfs_item_sink sink, void *ctx)
{
	const uint8_t *b = super->sys_array;
	uint32_t left = super->sys_array_size;

	while (left >= BT_KEY_BYTES + BT_CHUNK_STRIPE) {
		struct e2pf_btrfs_item item = {
			.key = e2pf_btrfs_key_at(b), .bytes = b + BT_KEY_BYTES
		};

		/* Without the length of this item, the next one cannot be
		 * found. */
		item.size = BT_CHUNK_STRIPE + BT_STRIPE_BYTES *
			    bt_le16(item.bytes + BT_CHUNK_NUM_STRIPES);
		left -= BT_KEY_BYTES;
		if (item.key.type != BT_CHUNK_ITEM_KEY || item.size > left)
			return;
		sink(ctx, &item);
		b += BT_KEY_BYTES + item.size;
		left -= item.size;
	}
}
