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
	super->log_root = (struct e2pf_btrfs_ptr) {
		.logical = bt_le64(b + BT_SUPER_LOG_ROOT),
		.generation = super->generation + 1,
		.owner = BT_TREE_LOG_OBJECTID,
		.level = b[BT_SUPER_LOG_ROOT_LEVEL]
	};
}

const char *e2pf_btrfs_unknown_format(const void *bytes)
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
	uint64_t incompat = bt_le64((const uint8_t *)bytes +
				    BT_SUPER_INCOMPAT);
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (incompat & formats[i].flag)
			return formats[i].why;
	return NULL;
}

enum e2pf_btrfs_verdict e2pf_btrfs_plan_super(const void *bytes,
					      uint64_t offset,
					      struct e2pf_btrfs_super *super)
{
	const uint8_t *b = bytes, *dev = b + BT_SUPER_DEV_ITEM;
	uint64_t incompat = bt_le64(b + BT_SUPER_INCOMPAT);

	if (bt_le64(b + BT_SUPER_MAGIC) != BT_MAGIC ||
	    bt_le64(b + BT_SUPER_BYTENR) != offset)
		return E2PF_BTRFS_NONE;
	memset(super, 0, sizeof(*super));
	memcpy(super->fsid, b + BT_SUPER_FSID, E2PF_BTRFS_UUID);
	memcpy(super->node_fsid, b + (incompat &
	       BT_FEATURE_INCOMPAT_METADATA_UUID ? BT_SUPER_METADATA_UUID :
	       BT_SUPER_FSID), E2PF_BTRFS_UUID);
	memcpy(super->device_uuid, dev + BT_DEV_ITEM_UUID,
	       E2PF_BTRFS_UUID);
	super->devid = bt_le64(dev + BT_DEV_ITEM_DEVID);
	super->generation = bt_le64(b + BT_SUPER_GENERATION);
	super->bytes_used = bt_le64(b + BT_SUPER_BYTES_USED);
	super->devices = bt_le64(b + BT_SUPER_NUM_DEVICES);
	super->nodesize = bt_le32(b + BT_SUPER_NODESIZE);
	super->sectorsize = bt_le32(b + BT_SUPER_SECTORSIZE);
	super->sys_array_size = bt_le32(b + BT_SUPER_SYS_ARRAY_SIZE);
	if (!is_block_size(super->nodesize) ||
	    !is_block_size(super->sectorsize) ||
	    super->sectorsize > super->nodesize ||
	    super->sys_array_size > E2PF_BTRFS_SYS_ARRAY)
		return E2PF_BTRFS_NONE;
	memcpy(super->sys_array, b + BT_SUPER_SYS_ARRAY,
	       super->sys_array_size);
	take_roots(b, super);
	if (!is_root(super, &super->root) ||
	    !is_root(super, &super->chunk_root))
		return E2PF_BTRFS_NONE;
	if (!is_root(super, &super->log_root))
		super->log_root.logical = 0;
	return e2pf_btrfs_unknown_format(bytes) ? E2PF_BTRFS_UNKNOWN :
						  E2PF_BTRFS_OK;
}

void e2pf_btrfs_plan_sys_array(const struct e2pf_btrfs_super *super,
			       e2pf_btrfs_chunk_sink sink, void *ctx)
{
	const size_t head = BT_CHUNK_STRIPE;
	const uint8_t *b = super->sys_array;
	size_t left = super->sys_array_size, size;

	while (left >= BT_KEY_BYTES + head) {
		const uint8_t *item = b + BT_KEY_BYTES;
		struct e2pf_btrfs_chunk chunk;

		/* Without the length of this item, the next one cannot be
		 * found. */
		size = head + BT_STRIPE_BYTES *
		       bt_le16(item + BT_CHUNK_NUM_STRIPES);
		if (b[BT_KEY_TYPE] != BT_CHUNK_ITEM_KEY ||
		    size > left - BT_KEY_BYTES)
			return;
		if (e2pf_btrfs_plan_chunk(super, bt_le64(b + BT_KEY_OFFSET),
					  item, size, &chunk))
			sink(ctx, &chunk);
		b += BT_KEY_BYTES + size;
		left -= BT_KEY_BYTES + size;
	}
}
