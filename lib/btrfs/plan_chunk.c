/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chunks: parses a chunk item into a layout, and translates offsets in the
 * chunk to stripes.
 */
#include "format.h"
#include "plan.h"

/* Set the layout for a profile.  Returns false if the profile is unknown or
 * does not allow this number of stripes. */
static bool set_profile(struct e2pf_btrfs_layout *l, uint64_t type,
			unsigned sub_stripes)
{
	uint64_t profile = type & BT_BLOCK_GROUP_PROFILE_MASK;
	unsigned n = l->stripes;

	l->profile = E2PF_BTRFS_COPIES;
	l->copies = 1;
	l->across = 1;
	switch (profile) {
	case 0:
		return n == 1;
	case BT_BLOCK_GROUP_DUP:
	case BT_BLOCK_GROUP_RAID1:
		l->copies = 2;
		return n == 2;
	case BT_BLOCK_GROUP_RAID1C3:
		l->copies = 3;
		return n == 3;
	case BT_BLOCK_GROUP_RAID1C4:
		l->copies = 4;
		return n == 4;
	case BT_BLOCK_GROUP_RAID0:
		l->profile = E2PF_BTRFS_RAID0;
		l->across = (uint16_t)n;
		return true;
	case BT_BLOCK_GROUP_RAID10:
		l->profile = E2PF_BTRFS_RAID10;
		l->copies = 2;
		l->across = (uint16_t)(n / 2);
		return n >= 2 && n % 2 == 0 && sub_stripes == 2;
	case BT_BLOCK_GROUP_RAID5:
	case BT_BLOCK_GROUP_RAID6:
		l->profile = E2PF_BTRFS_RAID56;
		sub_stripes = profile == BT_BLOCK_GROUP_RAID5 ? 1 : 2;
		if (n <= sub_stripes)
			return false;
		l->across = (uint16_t)(n - sub_stripes);
		return true;
	default:
		return false;
	}
}

static bool take_layout(const uint8_t *b, uint64_t logical,
			uint32_t sectorsize, struct e2pf_btrfs_layout *l)
{
	uint64_t type = bt_le64(b + BT_CHUNK_TYPE);
	uint64_t unit = bt_le64(b + BT_CHUNK_STRIPE_LEN);
	unsigned sub = bt_le16(b + BT_CHUNK_SUB_STRIPES);

	l->logical = logical;
	l->length = bt_le64(b + BT_CHUNK_LENGTH);
	l->stripes = bt_le16(b + BT_CHUNK_NUM_STRIPES);
	l->system = type & BT_BLOCK_GROUP_SYSTEM;
	l->metadata = type & (BT_BLOCK_GROUP_SYSTEM | BT_BLOCK_GROUP_METADATA);
	return l->stripes && l->stripes <= E2PF_BTRFS_STRIPES &&
	       unit == E2PF_BTRFS_STRIPE_LEN && l->length &&
	       logical % sectorsize == 0 && l->length % sectorsize == 0 &&
	       l->length <= UINT64_MAX / 2 &&
	       logical <= UINT64_MAX - l->length &&
	       set_profile(l, type, sub);
}

bool e2pf_btrfs_plan_chunk(const struct e2pf_btrfs_super *super,
			   uint64_t logical, const void *item, size_t size,
			   struct e2pf_btrfs_chunk *chunk)
{
	const size_t head = BT_CHUNK_STRIPE;
	const uint8_t *b = item;
	unsigned i;

	if (size < head ||
	    !take_layout(b, logical, super->sectorsize, &chunk->layout) ||
	    size - head < chunk->layout.stripes * BT_STRIPE_BYTES)
		return false;
	for (i = 0; i < chunk->layout.stripes; i++) {
		const uint8_t *s = b + head + i * BT_STRIPE_BYTES;
		struct e2pf_btrfs_stripe *to = &chunk->stripe[i];

		to->devid = bt_le64(s + BT_STRIPE_DEVID);
		to->offset = bt_le64(s + BT_STRIPE_OFFSET);
		memcpy(to->device_uuid, s + BT_STRIPE_DEV_UUID,
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
	uint64_t row = unit / l->across;
	unsigned column = (unsigned)(unit % l->across);
	struct e2pf_btrfs_place place = { .stripe = copy, .offset = offset };

	place.length = l->length - offset;
	if (l->profile == E2PF_BTRFS_COPIES)
		return place;
	if (place.length > E2PF_BTRFS_STRIPE_LEN -
			   offset % E2PF_BTRFS_STRIPE_LEN)
		place.length = E2PF_BTRFS_STRIPE_LEN -
			       offset % E2PF_BTRFS_STRIPE_LEN;
	place.offset = row * E2PF_BTRFS_STRIPE_LEN +
		       offset % E2PF_BTRFS_STRIPE_LEN;
	if (l->profile == E2PF_BTRFS_RAID10)
		place.stripe = column * l->copies + copy;
	else if (l->profile == E2PF_BTRFS_RAID56)
		/* The parity moves by one stripe with each row. */
		place.stripe = (unsigned)((row + column) % l->stripes);
	else
		place.stripe = column;
	return place;
}

uint64_t e2pf_btrfs_offset(const struct e2pf_btrfs_layout *l, unsigned stripe,
			   uint64_t offset)
{
	uint64_t row = offset / E2PF_BTRFS_STRIPE_LEN, column = stripe, unit;

	switch (l->profile) {
	case E2PF_BTRFS_COPIES:
		return offset;
	case E2PF_BTRFS_RAID56:
		return UINT64_MAX;
	case E2PF_BTRFS_RAID10:
		column /= l->copies;
	}
	if (row > UINT64_MAX / E2PF_BTRFS_STRIPE_LEN / l->across - 1)
		return UINT64_MAX;
	unit = row * l->across + column;
	return unit * E2PF_BTRFS_STRIPE_LEN + offset % E2PF_BTRFS_STRIPE_LEN;
}
