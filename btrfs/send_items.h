/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The parts that decide which blocks are read ahead of a send: items of files and
 * extents, sets of key ranges, a walk over a tree's nodes, and the list of things to
 * read.
 *
 * I/O is left to the walk's own function.  All functions are safe on hostile
 * bytes.  A set, a walk or a list is used by one thread at a time.
 */
#ifndef BTRFS_SEND_ITEMS_H
#define BTRFS_SEND_ITEMS_H

#include "plan.h"

/* Find the items in the `size` bytes of a search's result (BTRFS_IOC_TREE_SEARCH_V2),
 * which says that there are `count`. */
void bt_items_found(const void *bytes, size_t size, uint32_t count,
		    bt_item_sink sink, void *ctx);

/* A leaf to search for, or data to read. */
struct bt_job {
	uint64_t tree;
	struct bt_range keys;		/* of a leaf, or of the data's record */
	uint64_t offset;		/* on a device; of data, the address */
	bool parse;			/* the items in the leaf are needed */
	bool again;			/* the leaf was searched before */
	bool done;
	/* For data: the part of a file, in bytes.  Length 0: it is not read. */
	uint64_t inode, from, length;
	uint64_t stored;		/* bytes, from `offset' on */
	uint64_t sent;			/* of contents in the item itself */
	uint64_t generation;		/* when it was written */
	bool compressed;
	bool shared;			/* with an earlier file */
};

/* Parse a file extent, without its tree.  For contents in the item itself `sent` is the
 * length, and `stored` is 0.  Length 0 stands for zeros.  Returns false for a hole, and
 * for an invalid item. */
bool bt_item_data(const struct bt_item *item, struct bt_job *data);

/* A file of this tree uses an extent, in an item with this key or a later one.  If the
 * tree is 0, a leaf uses it, whose address is the key's first number. */
typedef void (*bt_reference_sink)(void *ctx, uint64_t tree,
				  const struct bt_key *key);

/* Find the files and leaves that the record of a data extent names. */
void bt_item_references(const struct bt_item *item,
			bt_reference_sink sink, void *ctx);

/* A set of key ranges. */
struct bt_ranges {
	struct bt_range *range;
	size_t count, room;
};

/* The maximum length of a set and of a list. */
#define BT_MAX_ITEMS (1u << 18)

/* Add a range; it may extend the one added last.  Returns false if there is no room. */
bool bt_ranges_add(struct bt_ranges *ranges,
		   const struct bt_range *keys);

/* Sort the ranges and join those that overlap, for bt_ranges_meet(). */
void bt_ranges_finish(struct bt_ranges *ranges);

/* True if any of these keys is in one of the ranges. */
bool bt_ranges_meet(const struct bt_ranges *ranges,
		    const struct bt_range *keys);

/* The maximum number of nodes that a walk reads: those of 4 TiB of metadata.  A
 * damaged tree may lead to the same node again and again. */
#define BT_MAX_TREE_NODES (1u << 20)

/* A walk over the nodes of a tree that finds its leaves, without reading any. */
struct bt_tree_walk {
	const struct bt_super *super;
	/* See bt_chunk_map_read(). */
	bool (*read)(void *ctx, const struct bt_ptr *ptr, void *block);
	/* Called with each leaf, in key order.  Returns false to end there. */
	bool (*leaf)(void *ctx, const struct bt_node *leaf);
	void *ctx;
	/* Find only blocks newer than this, and with keys in `ranges` (NULL: all). */
	uint64_t generation;
	const struct bt_ranges *ranges;

	/* Zero at first. */
	struct bt_key after;		/* the last key of the last leaf */
	uint32_t nodes;			/* that it tried to read */
	bool ended;			/* by leaf(), or memory ran out */
};

/* Walk the tree with this root, from the beginning or from where the walk
 * ended. */
void bt_tree_walk(struct bt_tree_walk *walk,
		  const struct bt_ptr *root);

struct bt_jobs {
	struct bt_job *job;
	size_t count, room;
};

/* Add a job.  Returns false if there is no room. */
bool bt_jobs_add(struct bt_jobs *jobs, const struct bt_job *job);

/* Sort the jobs by location, on all devices together: btrfs fills them evenly. */
void bt_jobs_order(struct bt_jobs *jobs);

/* Sort data in the order of files, and mark extents shared with an earlier file. */
void bt_jobs_order_files(struct bt_jobs *data);

/*
 * Fill `window` with the next data of the list, from index *next on: at most
 * `most` bytes, each extent cut to `longest` bytes.  Shared extents are left
 * out: they are sent as references.  Returns the least number of bytes that the
 * send has written at the end of this data, if it has written `sent` before.
 */
uint64_t bt_jobs_window(const struct bt_jobs *data, size_t *next,
			struct bt_jobs *window, uint64_t longest,
			uint64_t max, uint64_t sent);

#endif
