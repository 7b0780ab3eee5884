/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Search results and their items, ranges of keys, walks and lists. */
#include <stdlib.h>
#include <linux/btrfs.h>

#include "lib/array.h"
#include "format.h"
#include "send_items.h"

/* The least number of bytes that the stream has for an extent, without its
 * contents. */
#define MIN_STREAM 64u

void bt_items_found(const void *bytes, size_t size, uint32_t count,
		    bt_item_sink sink, void *ctx)
{
	const uint8_t *b = bytes;
	struct btrfs_ioctl_search_header header;
	struct bt_item item;

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

bool bt_item_data(const struct bt_item *item, struct bt_job *data)
{
	const struct btrfs_file_extent_item *b = (const void *)item->bytes;
	const uint32_t header = BT_AT(file_extent_item, disk_bytenr);
	uint64_t skip, length, extent, bytes;

	if (item->key.type != BTRFS_EXTENT_DATA_KEY || item->size <= header)
		return false;
	*data = (struct bt_job) {
		.inode = item->key.objectid, .from = item->key.offset,
		.generation = le64toh(b->generation),
		.compressed = b->compression != 0
	};
	if (b->type == BTRFS_FILE_EXTENT_INLINE) {
		data->sent = item->size - header;
		return true;
	}
	if (item->size < sizeof(*b) || (b->type != BTRFS_FILE_EXTENT_REG &&
					b->type != BTRFS_FILE_EXTENT_PREALLOC))
		return false;
	skip = le64toh(b->offset);
	length = le64toh(b->num_bytes);
	extent = le64toh(b->disk_bytenr);
	bytes = le64toh(b->disk_num_bytes);
	data->keys = bt_keys_of(extent, extent);
	data->offset = extent + (b->compression ? 0 : skip);
	data->length = b->type == BTRFS_FILE_EXTENT_REG ? length : 0;
	data->stored = b->compression ? bytes : length;
	/* Address 0 means a hole. */
	return extent && length && bytes && length <= INT64_MAX &&
	       item->key.offset <= INT64_MAX - length &&
	       bytes <= UINT64_MAX - extent &&
	       (data->compressed ||
		(skip <= bytes && length <= bytes - skip));
}

void bt_item_references(const struct bt_item *item,
			bt_reference_sink sink, void *ctx)
{
	const struct btrfs_extent_item *extent = (const void *)item->bytes;
	uint32_t at = sizeof(*extent), bytes;

	if (item->key.type != BTRFS_EXTENT_ITEM_KEY || item->size <= at ||
	    !(le64toh(extent->flags) & BTRFS_EXTENT_FLAG_DATA))
		return;
	for (; at < item->size; at += bytes) {
		const uint8_t *b = item->bytes + at;
		const bool by_leaf = b[0] == BTRFS_SHARED_DATA_REF_KEY;
		const struct btrfs_extent_data_ref *ref =
			(const void *)(b + 1);
		struct bt_key key = { .type = BTRFS_EXTENT_DATA_KEY };

		bytes = 1 + (by_leaf ? 8 + BT_SIZE(shared_data_ref) :
				       BT_SIZE(extent_data_ref));
		/* The rest after another type cannot be parsed. */
		if (bytes > item->size - at ||
		    (!by_leaf && b[0] != BTRFS_EXTENT_DATA_REF_KEY))
			return;
		if (by_leaf) {
			key.objectid = bt_le64(b + 1);
			sink(ctx, 0, &key);
			continue;
		}
		key.objectid = le64toh(ref->objectid);
		/* The file offset of the extent's first byte: may be below 0. */
		key.offset = le64toh(ref->offset);
		if (key.offset > INT64_MAX)
			key.offset = 0;
		sink(ctx, le64toh(ref->root), &key);
	}
}

bool bt_ranges_add(struct bt_ranges *ranges,
		   const struct bt_range *keys)
{
	struct bt_range *tail = ranges->count ?
		&ranges->range[ranges->count - 1] : NULL;
	struct bt_key before = bt_before(keys->first);

	if (tail && bt_compare(&tail->first, &keys->first) <= 0 &&
	    bt_compare(&before, &tail->last) <= 0) {
		if (bt_compare(&keys->last, &tail->last) > 0)
			tail->last = keys->last;
		return true;
	}
	if (ranges->count == BT_MAX_ITEMS ||
	    !e2pf_have_room((void **)&ranges->range, &ranges->room,
			    ranges->count, 1, sizeof(*ranges->range)))
		return false;
	ranges->range[ranges->count++] = *keys;
	return true;
}

static int by_first(const void *a, const void *b)
{
	const struct bt_range *x = a, *y = b;

	return bt_compare(&x->first, &y->first);
}

void bt_ranges_finish(struct bt_ranges *ranges)
{
	size_t i, n = ranges->count;

	if (!n)
		return;
	qsort(ranges->range, n, sizeof(*ranges->range), by_first);
	/* Added in order, overlapping and adjacent ranges are joined. */
	ranges->count = 0;
	for (i = 0; i < n; i++)
		bt_ranges_add(ranges, &ranges->range[i]);
}

/* Returns 0 if the ranges have a key in common. */
static int by_keys(const void *a, const void *b)
{
	const struct bt_range *x = a, *y = b;

	return (bt_compare(&x->first, &y->last) > 0) -
	       (bt_compare(&x->last, &y->first) < 0);
}

bool bt_ranges_meet(const struct bt_ranges *ranges,
		    const struct bt_range *keys)
{
	return ranges->count && bsearch(keys, ranges->range, ranges->count,
					sizeof(*keys), by_keys);
}

/* Visit a leaf, or the children of a node, each one level lower. */
static void visit_node(void *ctx, const struct bt_node *node)
{
	struct bt_tree_walk *walk = ctx;
	uint8_t *block;

	if (walk->ended || node->ptr.generation <= walk->generation ||
	    bt_compare(&node->keys.first, &node->keys.last) > 0 ||
	    bt_compare(&node->keys.last, &walk->after) <= 0 ||
	    (walk->ranges && !bt_ranges_meet(walk->ranges, &node->keys)))
		return;
	if (!node->ptr.level) {
		walk->after = node->keys.last;
		walk->ended = !walk->leaf(walk->ctx, node);
		return;
	}
	if (walk->nodes == BT_MAX_TREE_NODES)
		return;
	walk->nodes++;
	block = aligned_alloc(4096, walk->super->nodesize);
	if (!block)
		walk->ended = true;
	else if (walk->read(walk->ctx, &node->ptr, block))
		bt_plan_node(walk->super, node, block, visit_node, walk);
	free(block);
}

void bt_tree_walk(struct bt_tree_walk *walk,
		  const struct bt_ptr *root)
{
	const struct bt_node all = {
		.ptr = *root, .keys = bt_keys_of(0, UINT64_MAX)
	};

	walk->ended = false;
	visit_node(walk, &all);
}

bool bt_jobs_add(struct bt_jobs *jobs, const struct bt_job *job)
{
	if (jobs->count == BT_MAX_ITEMS ||
	    !e2pf_have_room((void **)&jobs->job, &jobs->room, jobs->count, 1,
			    sizeof(*jobs->job)))
		return false;
	jobs->job[jobs->count++] = *job;
	return true;
}

static int by_file(const void *a, const void *b)
{
	const struct bt_job *x = a, *y = b;
	int order = E2PF_COMPARE(x->inode, y->inode);

	return order ? order : E2PF_COMPARE(x->from, y->from);
}

static int by_offset(const void *a, const void *b)
{
	const struct bt_job *x = a, *y = b;
	int order = E2PF_COMPARE(x->offset, y->offset);

	return order ? order : by_file(a, b);
}

void bt_jobs_order(struct bt_jobs *jobs)
{
	if (jobs->count)
		qsort(jobs->job, jobs->count, sizeof(*jobs->job), by_offset);
}

void bt_jobs_order_files(struct bt_jobs *data)
{
	struct bt_job *job = data->job;
	size_t i, first = 0;

	bt_jobs_order(data);
	for (i = 1; i < data->count; i++) {
		if (job[i].offset != job[first].offset)
			first = i;
		job[i].shared = job[i].inode != job[first].inode;
	}
	if (data->count)
		qsort(job, data->count, sizeof(*job), by_file);
}

uint64_t bt_jobs_window(const struct bt_jobs *data, size_t *next,
			struct bt_jobs *window, uint64_t longest,
			uint64_t max, uint64_t sent)
{
	uint64_t bytes = 0;

	for (window->count = 0; *next < data->count; ++*next) {
		const struct bt_job *from = &data->job[*next];
		struct bt_job job = *from;

		if (job.length > longest)
			job.length = job.stored = longest;
		if (job.length > max - bytes)
			break;
		sent += MIN_STREAM + (job.shared ? 0 : from->length);
		if (!job.length || job.shared)
			continue;
		if (bt_jobs_add(window, &job))
			bytes += job.length;
	}
	return sent;
}
