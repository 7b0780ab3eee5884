/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walk: each call is one level lower, so it is as deep as a tree can be. */
#include <stdlib.h>

#include "tree_walk.h"

static bool is_wanted(const struct e2pf_tree_walk *walk,
		      const struct e2pf_btrfs_node *node)
{
	return node->ptr.generation > walk->generation &&
	       e2pf_btrfs_compare(&node->keys.first, &node->keys.last) <= 0 &&
	       e2pf_btrfs_compare(&node->keys.last, &walk->after) > 0 &&
	       (!walk->ranges || e2pf_ranges_meet(walk->ranges, &node->keys));
}

/* Visit a leaf, or the children of a node.  A node that cannot be read is
 * skipped. */
static void visit(void *ctx, const struct e2pf_btrfs_node *node)
{
	struct e2pf_tree_walk *walk = ctx;
	uint8_t *block;

	if (walk->ended || !is_wanted(walk, node))
		return;
	if (!node->ptr.level) {
		walk->after = node->keys.last;
		walk->ended = !walk->leaf(walk->ctx, node);
		return;
	}
	if (walk->nodes == E2PF_TREE_NODES_MOST)
		return;
	walk->nodes++;
	block = aligned_alloc(4096, walk->super->nodesize);
	if (!block)
		walk->ended = true;
	else if (!walk->read(walk->ctx, &node->ptr, block))
		walk->unread++;
	else
		e2pf_btrfs_plan_node(walk->super, node, block, visit, walk);
	free(block);
}

void e2pf_tree_walk(struct e2pf_tree_walk *walk,
		    const struct e2pf_btrfs_ptr *root)
{
	const struct e2pf_btrfs_node all = {
		.ptr = *root, .keys = e2pf_btrfs_keys_of(0, UINT64_MAX)
	};

	walk->ended = false;
	visit(walk, &all);
}
