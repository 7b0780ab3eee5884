/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A walk over the nodes of one tree that tells which leaves there are: those
 * changed since a generation, or those that have keys of some ranges, without
 * reading any of them.  Subtrees without such leaves are not read either.
 *
 * Reads through a function, one node at a time.  From one thread at a time.
 */
#ifndef E2PF_BTRFS_TREE_WALK_H
#define E2PF_BTRFS_TREE_WALK_H

#include "search.h"

/* Read the tree block that `ptr` says into `block` of super->nodesize bytes.
 * False when it cannot be had, or is another one. */
typedef bool (*e2pf_tree_read)(void *ctx, const struct e2pf_btrfs_ptr *ptr,
			       void *block);

/* Nodes that a walk reads at most: those of 4 TiB of metadata.  A damaged tree
 * may come by the same node again and again. */
#define E2PF_TREE_NODES_MOST (1u << 20)

struct e2pf_tree_walk {
	const struct e2pf_btrfs_super *super;
	e2pf_tree_read read;
	void *ctx;
	/* Only what is newer than this, 0 for all; only what has keys of
	 * these, NULL for any. */
	uint64_t generation;
	const struct e2pf_btrfs_ranges *ranges;

	uint64_t unread;		/* nodes that could not be had */
	uint32_t nodes;			/* that were asked for */
	struct {
		struct e2pf_btrfs_child node;
		uint8_t *block;
		uint32_t next;		/* entry */
	} level[E2PF_BTRFS_LEVELS];
	unsigned depth;			/* nodes that are open */
	bool root_is_leaf;
};

/* Begin at this root; the fields above `unread` have been set, the others are
 * zero or as the last walk left them.  False without memory. */
bool e2pf_tree_walk_begin(struct e2pf_tree_walk *walk,
			  const struct e2pf_btrfs_ptr *root);

/* The next leaf, in the order of keys; false when there is none. */
bool e2pf_tree_walk_next(struct e2pf_tree_walk *walk,
			 struct e2pf_btrfs_child *leaf);

void e2pf_tree_walk_free(struct e2pf_tree_walk *walk);

#endif
