/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * What decides what is read ahead of a send: items of files and extents, the
 * results of a tree search that contain them (BTRFS_IOC_TREE_SEARCH_V2), sets of
 * key ranges, a walk over a tree's nodes, and the list of what is to be read.
 *
 * No I/O, but for the walk's own function.  All functions are safe on hostile
 * bytes.  A set, a walk or a list is used by one thread at a time; all other
 * functions are pure.
 */
#ifndef E2PF_SEND_ITEMS_H
#define E2PF_SEND_ITEMS_H

#include "btrfs/plan.h"

/* Find the items in the `size` bytes that a search has filled, where it says
 * that there are `count`.  Items that go beyond the end are left out. */
void e2pf_items_found(const void *bytes, size_t size, uint32_t count,
		      e2pf_btrfs_item_sink sink, void *ctx);

/* A leaf to search for, or data to read. */
struct e2pf_job {
	uint64_t tree;
	struct e2pf_btrfs_range keys;	/* of a leaf, or of the record of the
					   data's extent */
	unsigned device;
	uint64_t offset;		/* on the device; for data, a logical
					   address, as if there were one
					   device */
	bool parse;			/* the items in the leaf are needed */
	bool done;
	/* Of data: the part of a file, in bytes.  Length 0: a leaf, or data that
	 * is not there to be read. */
	uint64_t inode, from, length;
	uint64_t stored;		/* bytes, from `offset' on */
	uint64_t sent;			/* bytes that the send has written when
					   it comes to its end, at least */
	uint64_t generation;		/* when it was written */
	bool compressed;
	bool shared;			/* with an earlier file */
};

/* Parse a file extent, without its tree.  Length 0: it was only allocated, and
 * reads as zeros.  Returns false for a hole, for inline data, and if it is not
 * valid. */
bool e2pf_item_data(const struct e2pf_btrfs_item *item, struct e2pf_job *data);

/* The least that the stream has of a file whose contents are in this item, in
 * bytes; 0: it is another item, or not newer than this generation. */
uint64_t e2pf_item_inline(const struct e2pf_btrfs_item *item,
			  uint64_t generation);

/* A file of this tree uses an extent: the key of the file's own item, or of an
 * earlier one.  Tree 0: a leaf does, whose address is the key's first number. */
typedef void (*e2pf_reference_sink)(void *ctx, uint64_t tree,
				    const struct e2pf_btrfs_key *key);

/* Find the files and leaves that are named in the record of a data extent
 * itself. */
void e2pf_item_references(const struct e2pf_btrfs_item *item,
			  e2pf_reference_sink sink, void *ctx);

/* Parse an inode.  *changed is the generation that last changed it. */
bool e2pf_item_inode(const struct e2pf_btrfs_item *item, uint64_t *changed);

/* A set of key ranges. */
struct e2pf_ranges {
	struct e2pf_btrfs_range *range;
	size_t count, room;
};

/* The maximum length of a set and of a list.  Whatever is beyond it is not read
 * ahead. */
#define E2PF_ITEMS_MOST (1u << 18)

/* Add a range.  If it overlaps or follows the range added last, that one is
 * extended.  Returns false if there is no room. */
bool e2pf_ranges_add(struct e2pf_ranges *ranges,
		     const struct e2pf_btrfs_range *keys);

/* Sort the ranges and join those that overlap.  Call it before
 * e2pf_ranges_meet(). */
void e2pf_ranges_finish(struct e2pf_ranges *ranges);

/* True if any of these keys is in one of the ranges. */
bool e2pf_ranges_meet(const struct e2pf_ranges *ranges,
		      const struct e2pf_btrfs_range *keys);

/* The maximum number of nodes that a walk reads: those of 4 TiB of metadata.
 * In a damaged tree, the walk may reach the same node again and again. */
#define E2PF_TREE_NODES_MOST (1u << 20)

/* A walk over the nodes of a tree that finds its leaves, without reading any. */
struct e2pf_tree_walk {
	const struct e2pf_btrfs_super *super;
	/* Read the tree block that `ptr` describes into `block`, which has
	 * super->nodesize bytes and is aligned to 4096.  Returns false if it
	 * cannot be read, or if it is another block. */
	bool (*read)(void *ctx, const struct e2pf_btrfs_ptr *ptr, void *block);
	/* Called with each leaf, in key order.  Returns false to end there. */
	bool (*leaf)(void *ctx, const struct e2pf_btrfs_node *leaf);
	void *ctx;
	/* Find only blocks newer than `generation` (0: all) and only those with
	 * keys in `ranges` (NULL: all).  Subtrees without them are not read. */
	uint64_t generation;
	const struct e2pf_ranges *ranges;

	/* The rest is zero at first. */
	struct e2pf_btrfs_key after;	/* the last key of the last leaf */
	uint32_t nodes;			/* nodes that the walk tried to read */
	bool ended;			/* by leaf(), or memory ran out */
};

/* Walk the tree with this root; when called again, from where the walk ended
 * on. */
void e2pf_tree_walk(struct e2pf_tree_walk *walk,
		    const struct e2pf_btrfs_ptr *root);

/* Whether data is stored right behind other data, all of which is read. */
static inline bool e2pf_job_follows(const struct e2pf_job *before,
				    const struct e2pf_job *job)
{
	return job->offset == before->offset + before->stored;
}

struct e2pf_jobs {
	struct e2pf_job *job;
	size_t count, room;
};

/* Add a job.  Returns false if there is no room. */
bool e2pf_jobs_add(struct e2pf_jobs *jobs, const struct e2pf_job *job);

/* Sort the jobs so that they sweep over each device once, and over all devices at
 * about the same time: btrfs fills them evenly. */
void e2pf_jobs_order(struct e2pf_jobs *jobs);

/* Sort data in the order of files, and mark what shares its extent with an earlier
 * file. */
void e2pf_jobs_order_files(struct e2pf_jobs *data);

/*
 * Fill `window` with the next data of the list, from index *next on, in the order
 * of files: at most `most` bytes.  Each piece is cut to `piece` bytes, no more than
 * `most`.  What the kernel does not read, or reads ahead itself, is left out: shared
 * extents, which it sends as references, and the rest of a large file.  Sets *next.
 * Returns how many bytes the send has written, at least, when it has come to the end
 * of this data, and `sent` bytes at its beginning.
 */
uint64_t e2pf_jobs_window(const struct e2pf_jobs *data, size_t *next,
			  struct e2pf_jobs *window, uint64_t piece,
			  uint64_t most, uint64_t sent);

#endif
