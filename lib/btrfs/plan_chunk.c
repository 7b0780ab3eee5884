/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chunks: parses a chunk item into a layout, and translates offsets in the
 * chunk to stripes.
 */
#include "format.h"
#include "plan.h"

/* A profile: how many of a chunk's stripes hold the same data, and how many
 * hold parity. */
static const struct profile {
	uint64_t type;
	uint8_t profile, copies, parity;
	uint16_t least, most;		/* stripes */
} profiles[] = {
	{ 0, E2PF_BTRFS_COPIES, 1, 0, 1, 1 },
	{ BT_BLOCK_GROUP_DUP, E2PF_BTRFS_COPIES, 2, 0, 2, 2 },
	{ BT_BLOCK_GROUP_RAID1, E2PF_BTRFS_COPIES, 2, 0, 2, 2 },
	{ BT_BLOCK_GROUP_RAID1C3, E2PF_BTRFS_COPIES, 3, 0, 3, 3 },
	{ BT_BLOCK_GROUP_RAID1C4, E2PF_BTRFS_COPIES, 4, 0, 4, 4 },
	{ BT_BLOCK_GROUP_RAID0, E2PF_BTRFS_RAID0, 1, 0, 1,
	  E2PF_BTRFS_STRIPES },
	{ BT_BLOCK_GROUP_RAID10, E2PF_BTRFS_RAID10, 2, 0, 2,
	  E2PF_BTRFS_STRIPES },
	{ BT_BLOCK_GROUP_RAID5, E2PF_BTRFS_RAID56, 1, 1, 2,
	  E2PF_BTRFS_STRIPES },
	{ BT_BLOCK_GROUP_RAID6, E2PF_BTRFS_RAID56, 1, 2, 3,
	  E2PF_BTRFS_STRIPES },
};

/* Set the layout for a profile.  Returns false if the profile is unknown or
 * does not allow this number of stripes. */
static bool set_profile(struct e2pf_btrfs_layout *l, uint64_t type,
			unsigned sub_stripes)
{
	const struct profile *p = profiles;

	while (p->type != (type & BT_BLOCK_GROUP_PROFILE_MASK))
		if (++p == profiles + sizeof(profiles) / sizeof(*profiles))
			return false;
	l->profile = p->profile;
	l->copies = p->copies;
	l->across = (uint16_t)(l->stripes - p->parity);
	if (p->profile == E2PF_BTRFS_COPIES)
		l->across = 1;
	if (p->profile == E2PF_BTRFS_RAID10) {
		l->across = l->stripes / 2;
		if (l->stripes % 2 || sub_stripes != 2)
			return false;
	}
	return l->stripes >= p->least && l->stripes <= p->most;
}

static bool take_layout(const uint8_t *b, uint64_t logical,
			uint32_t sectorsize, struct e2pf_btrfs_layout *l)
{
	uint64_t type = bt_le64(b + BT_CHUNK_TYPE);

	l->logical = logical;
	l->length = bt_le64(b + BT_CHUNK_LENGTH);
	l->stripes = bt_le16(b + BT_CHUNK_NUM_STRIPES);
	l->system = type & BT_BLOCK_GROUP_SYSTEM;
	l->metadata = type & (BT_BLOCK_GROUP_SYSTEM | BT_BLOCK_GROUP_METADATA);
	return set_profile(l, type, bt_le16(b + BT_CHUNK_SUB_STRIPES)) &&
	       bt_le64(b + BT_CHUNK_STRIPE_LEN) == E2PF_BTRFS_STRIPE_LEN &&
	       l->length && logical % sectorsize == 0 &&
	       l->length % sectorsize == 0 && l->length <= UINT64_MAX / 2 &&
	       logical <= UINT64_MAX - l->length;
}

bool e2pf_btrfs_plan_chunk(const struct e2pf_btrfs_super *super,
			   const struct e2pf_btrfs_item *item,
			   struct e2pf_btrfs_chunk *chunk)
{
	const uint8_t *s = item->bytes + BT_CHUNK_STRIPE;
	unsigned i;

	if (item->key.type != BT_CHUNK_ITEM_KEY ||
	    item->size < BT_CHUNK_STRIPE ||
	    !take_layout(item->bytes, item->key.offset, super->sectorsize,
			 &chunk->layout) ||
	    item->size - BT_CHUNK_STRIPE <
	    chunk->layout.stripes * BT_STRIPE_BYTES)
		return false;
	for (i = 0; i < chunk->layout.stripes; i++, s += BT_STRIPE_BYTES) {
		chunk->stripe[i].devid = bt_le64(s + BT_STRIPE_DEVID);
		chunk->stripe[i].offset = bt_le64(s + BT_STRIPE_OFFSET);
		memcpy(chunk->stripe[i].device_uuid, s + BT_STRIPE_DEV_UUID,
		       E2PF_BTRFS_UUID);
	}
	return true;
}

uint64_t e2pf_btrfs_stripe_bytes(const struct e2pf_btrfs_layout *l)
{
	uint64_t row = (uint64_t)l->across * E2PF_BTRFS_STRIPE_LEN;

	if (l->profile == E2PF_BTRFS_COPIES)
		return l->length;
	return l->length / row * E2PF_BTRFS_STRIPE_LEN +
	       (l->length % row ? E2PF_BTRFS_STRIPE_LEN : 0);
}

struct e2pf_btrfs_place e2pf_btrfs_place(const struct e2pf_btrfs_layout *l,
					 uint64_t offset, unsigned copy)
{
	uint64_t unit = offset / E2PF_BTRFS_STRIPE_LEN;
	uint32_t in_unit = offset % E2PF_BTRFS_STRIPE_LEN;
	uint64_t row = unit / l->across;
	unsigned column = (unsigned)(unit % l->across);
	struct e2pf_btrfs_place place = {
		.stripe = copy, .offset = offset, .length = l->length - offset
	};

	if (l->profile == E2PF_BTRFS_COPIES)
		return place;
	if (place.length > E2PF_BTRFS_STRIPE_LEN - in_unit)
		place.length = E2PF_BTRFS_STRIPE_LEN - in_unit;
	place.offset = row * E2PF_BTRFS_STRIPE_LEN + in_unit;
	/* The parity moves by one stripe with each row. */
	place.stripe = l->profile == E2PF_BTRFS_RAID56 ?
		       (unsigned)((row + column) % l->stripes) :
		       column * l->copies + copy;
	return place;
}

uint64_t e2pf_btrfs_offset(const struct e2pf_btrfs_layout *l, unsigned stripe,
			   uint64_t offset)
{
	uint64_t row = offset / E2PF_BTRFS_STRIPE_LEN;

	if (l->profile == E2PF_BTRFS_COPIES)
		return offset;
	if (l->profile == E2PF_BTRFS_RAID56 ||
	    row > UINT64_MAX / E2PF_BTRFS_STRIPE_LEN / l->across - 1)
		return UINT64_MAX;
	return (row * l->across + stripe / l->copies) * E2PF_BTRFS_STRIPE_LEN +
	       offset % E2PF_BTRFS_STRIPE_LEN;
}
