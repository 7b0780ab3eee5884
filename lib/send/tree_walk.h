/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks the nodes of a tree to find its leaves, without reading any leaf: those
 * changed since a generation, or those with keys in some ranges.  Subtrees
 * without such leaves are not read either.
 *
 * Reads one node at a time, through a function.  To be used by one thread at a
 * time.
 */
#ifndef E2PF_SEND_TREE_WALK_H
#define E2PF_SEND_TREE_WALK_H

#include "items.h"

/* The maximum number of nodes that a walk reads: those of 4 TiB of metadata.
 * In a damaged tree, the walk may reach the same node again and again. */
#define E2PF_TREE_NODES_MOST (1u << 20)

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
	 * keys in `ranges` (NULL: all). */
	uint64_t generation;
	const struct e2pf_ranges *ranges;

	/* The rest is zero at first. */
	struct e2pf_btrfs_key after;	/* the last key of the last leaf */
	uint64_t unread;		/* nodes that could not be read */
	uint32_t nodes;			/* nodes that the walk tried to read */
	bool ended;			/* by leaf(), or memory ran out */
};

/* Walk the tree with this root; when called again, from where the walk ended
 * on. */
void e2pf_tree_walk(struct e2pf_tree_walk *walk,
		    const struct e2pf_btrfs_ptr *root);

#endif
