/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks the nodes of a tree to find its leaves, without reading any leaf: those
 * changed since a generation, or those with keys in some ranges.  Subtrees
 * without such leaves are not read either.
 *
 * Reads one node at a time, through a function.  To be used by one thread at a
 * time.
 */
#ifndef E2PF_BTRFS_TREE_WALK_H
#define E2PF_BTRFS_TREE_WALK_H

#include "search.h"

/* Read the tree block that `ptr` describes into `block`, which has
 * super->nodesize bytes.  Returns false if it cannot be read, or if it is
 * another block. */
typedef bool (*e2pf_tree_read)(void *ctx, const struct e2pf_btrfs_ptr *ptr,
			       void *block);

/* The maximum number of nodes that a walk reads: those of 4 TiB of metadata.
 * In a damaged tree, the walk may reach the same node again and again. */
#define E2PF_TREE_NODES_MOST (1u << 20)

struct e2pf_tree_walk {
	const struct e2pf_btrfs_super *super;
	e2pf_tree_read read;
	void *ctx;
	/* Find only blocks newer than `generation` (0: all) and only those with
	 * keys in `ranges` (NULL: all). */
	uint64_t generation;
	const struct e2pf_btrfs_ranges *ranges;

	uint64_t unread;		/* nodes that could not be read */
	uint32_t nodes;			/* nodes that the walk tried to read */
	struct {
		struct e2pf_btrfs_child node;
		uint8_t *block;
		uint32_t next;		/* index of the next entry */
	} level[E2PF_BTRFS_LEVELS];
	unsigned depth;			/* nodes on the stack */
	bool root_is_leaf;
};

/* Start at this root.  The caller has set the members above `unread`; the
 * others are zero or as the last walk left them.  Returns false if memory runs
 * out. */
bool e2pf_tree_walk_begin(struct e2pf_tree_walk *walk,
			  const struct e2pf_btrfs_ptr *root);

/* Find the next leaf in key order.  Returns false if there are no more. */
bool e2pf_tree_walk_next(struct e2pf_tree_walk *walk,
			 struct e2pf_btrfs_child *leaf);

void e2pf_tree_walk_free(struct e2pf_tree_walk *walk);

#endif
