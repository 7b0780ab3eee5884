/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Search results, the items of files and extents, and ranges of keys. */
#include <stdlib.h>
#include <linux/btrfs.h>

#include "array.h"
#include "btrfs/format.h"
#include "items.h"

void e2pf_items_found(const void *bytes, size_t size, uint32_t count,
		      e2pf_btrfs_item_sink sink, void *ctx)
{
	const uint8_t *b = bytes;
	struct btrfs_ioctl_search_header header;
	struct e2pf_btrfs_item item;

	while (count-- && size >= sizeof(header)) {
		/* The header is in host byte order, and not aligned. */
		memcpy(&header, b, sizeof(header));
		b += sizeof(header);
		size -= sizeof(header);
		if (header.len > size || header.type > UINT8_MAX)
			return;
		item.key.objectid = header.objectid;
		item.key.type = (uint8_t)header.type;
		item.key.offset = header.offset;
		item.bytes = b;
		item.size = header.len;
		sink(ctx, &item);
		b += header.len;
		size -= header.len;
	}
}

bool e2pf_item_data(const struct e2pf_btrfs_item *item,
		    struct e2pf_data *data)
{
	const uint8_t *b = item->bytes;
	uint64_t skip;
	uint8_t type;

	if (item->key.type != BT_EXTENT_DATA_KEY ||
	    item->size < BT_FILE_EXTENT_BYTES)
		return false;
	type = b[BT_FILE_EXTENT_TYPE];
	if (type != BT_FILE_EXTENT_REG && type != BT_FILE_EXTENT_PREALLOC)
		return false;
	skip = bt_le64(b + BT_FILE_EXTENT_OFFSET);
	data->inode = item->key.objectid;
	data->offset = item->key.offset;
	data->length = bt_le64(b + BT_FILE_EXTENT_NUM_BYTES);
	data->generation = bt_le64(b + BT_FILE_EXTENT_GENERATION);
	data->extent = bt_le64(b + BT_FILE_EXTENT_DISK_BYTENR);
	data->extent_bytes = bt_le64(b + BT_FILE_EXTENT_DISK_NUM_BYTES);
	data->compressed = b[BT_FILE_EXTENT_COMPRESSION] != 0;
	data->written = type == BT_FILE_EXTENT_REG;
	data->logical = data->extent + (data->compressed ? 0 : skip);
	/* Address 0 means a hole. */
	return data->extent && data->length && data->extent_bytes &&
	       data->length <= INT64_MAX && data->offset <= INT64_MAX &&
	       data->length <= INT64_MAX - data->offset &&
	       data->extent_bytes <= UINT64_MAX - data->extent &&
	       (data->compressed ||
		(skip <= data->extent_bytes &&
		 data->length <= data->extent_bytes - skip));
}

/* The length of an inline reference, including its type.  0 if the type is
 * unknown: then what follows cannot be parsed. */
static uint32_t reference_bytes(uint8_t type)
{
	switch (type) {
	case BT_EXTENT_DATA_REF_KEY:
		return 1 + BT_EXTENT_DATA_REF_BYTES;
	case BT_SHARED_DATA_REF_KEY:
		return 1 + 8 + BT_SHARED_DATA_REF_BYTES;
	case BT_TREE_BLOCK_REF_KEY:
	case BT_SHARED_BLOCK_REF_KEY:
		return 1 + 8;
	default:
		return 0;
	}
}

void e2pf_item_references(const struct e2pf_btrfs_item *item,
			  e2pf_reference_sink sink, void *ctx)
{
	uint32_t at = BT_EXTENT_ITEM_BYTES, bytes;
	struct e2pf_reference r;

	if (item->key.type != BT_EXTENT_ITEM_KEY || item->size <= at ||
	    !(bt_le64(item->bytes + BT_EXTENT_ITEM_FLAGS) &
	      BT_EXTENT_FLAG_DATA))
		return;
	for (; at < item->size; at += bytes) {
		const uint8_t *b = item->bytes + at;

		bytes = reference_bytes(b[0]);
		if (!bytes || bytes > item->size - at)
			return;
		if (b[0] != BT_EXTENT_DATA_REF_KEY)
			continue;
		b++;
		r.tree = bt_le64(b + BT_EXTENT_DATA_REF_ROOT);
		r.inode = bt_le64(b + BT_EXTENT_DATA_REF_OBJECTID);
		r.offset = bt_le64(b + BT_EXTENT_DATA_REF_OFFSET);
		sink(ctx, &r);
	}
}

bool e2pf_item_inode(const struct e2pf_btrfs_item *item, uint64_t *changed)
{
	if (item->key.type != BT_INODE_ITEM_KEY ||
	    item->size < BT_INODE_ITEM_BYTES)
		return false;
	*changed = bt_le64(item->bytes + BT_INODE_ITEM_TRANSID);
	return true;
}

bool e2pf_ranges_add(struct e2pf_ranges *ranges,
		     const struct e2pf_btrfs_range *keys)
{
	struct e2pf_btrfs_range *tail = ranges->count ?
		&ranges->range[ranges->count - 1] : NULL;
	struct e2pf_btrfs_key before = e2pf_btrfs_before(keys->first);

	if (tail && e2pf_btrfs_compare(&tail->first, &keys->first) <= 0 &&
	    e2pf_btrfs_compare(&before, &tail->last) <= 0) {
		if (e2pf_btrfs_compare(&keys->last, &tail->last) > 0)
			tail->last = keys->last;
		return true;
	}
	if (ranges->count == E2PF_RANGES_MOST ||
	    !e2pf_have_room((void **)&ranges->range, &ranges->room,
			    ranges->count, 1, sizeof(*ranges->range)))
		return false;
	ranges->range[ranges->count++] = *keys;
	return true;
}

static int by_first(const void *a, const void *b)
{
	const struct e2pf_btrfs_range *x = a, *y = b;

	return e2pf_btrfs_compare(&x->first, &y->first);
}

void e2pf_ranges_finish(struct e2pf_ranges *ranges)
{
	size_t i, n = ranges->count;

	if (!n)
		return;
	qsort(ranges->range, n, sizeof(*ranges->range), by_first);
	/* Added in order, overlapping and adjacent ranges are joined. */
	ranges->count = 0;
	for (i = 0; i < n; i++) {
		struct e2pf_btrfs_range range = ranges->range[i];

		e2pf_ranges_add(ranges, &range);
	}
}

bool e2pf_ranges_meet(const struct e2pf_ranges *ranges,
		      const struct e2pf_btrfs_range *keys)
{
	size_t low = 0, high = ranges->count, middle;

	/* Find the first range that does not end before these keys. */
	while (low < high) {
		middle = low + (high - low) / 2;
		if (e2pf_btrfs_compare(&ranges->range[middle].last,
				       &keys->first) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < ranges->count &&
	       e2pf_btrfs_compare(&ranges->range[low].first, &keys->last) <= 0;
}
