/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walk: a stack of nodes, as deep as a tree can be. */
#include <stdlib.h>

#include "tree_walk.h"

static bool is_wanted(const struct e2pf_tree_walk *walk,
		      const struct e2pf_btrfs_child *child)
{
	return child->ptr.generation > walk->generation &&
	       (!walk->ranges ||
		e2pf_btrfs_ranges_meet(walk->ranges, &child->first,
				       &child->last));
}

/* Push a node.  A node that cannot be read is skipped. */
static bool push(struct e2pf_tree_walk *walk,
		 const struct e2pf_btrfs_child *node)
{
	unsigned d = walk->depth;

	if (d == E2PF_BTRFS_LEVELS || walk->nodes == E2PF_TREE_NODES_MOST)
		return true;
	walk->nodes++;
	if (!walk->level[d].block)
		walk->level[d].block = aligned_alloc(4096,
						     walk->super->nodesize);
	if (!walk->level[d].block)
		return false;
	if (!walk->read(walk->ctx, &node->ptr, walk->level[d].block)) {
		walk->unread++;
		return true;
	}
	walk->level[d].node = *node;
	walk->level[d].next = 0;
	walk->depth++;
	return true;
}

bool e2pf_tree_walk_begin(struct e2pf_tree_walk *walk,
			  const struct e2pf_btrfs_ptr *root)
{
	struct e2pf_btrfs_child all = {
		.ptr = *root,
		.first = E2PF_BTRFS_FIRST_KEY,
		.last = E2PF_BTRFS_LAST_KEY
	};

	walk->depth = 0;
	walk->nodes = 0;
	walk->root_is_leaf = false;
	if (!is_wanted(walk, &all))
		return true;
	if (!root->level) {
		walk->root_is_leaf = true;
		walk->level[0].node = all;
		return true;
	}
	return push(walk, &all);
}

bool e2pf_tree_walk_next(struct e2pf_tree_walk *walk,
			 struct e2pf_btrfs_child *leaf)
{
	if (walk->root_is_leaf) {
		walk->root_is_leaf = false;
		*leaf = walk->level[0].node;
		return true;
	}
	/* Each push is one level lower, so the loop ends. */
	while (walk->depth) {
		unsigned d = walk->depth - 1;
		const struct e2pf_btrfs_child *node = &walk->level[d].node;

		if (walk->level[d].next ==
		    e2pf_btrfs_children(walk->super, walk->level[d].block)) {
			walk->depth--;
			continue;
		}
		if (!e2pf_btrfs_plan_child(walk->super, &node->ptr,
					   &node->last, walk->level[d].block,
					   walk->level[d].next++, leaf) ||
		    !is_wanted(walk, leaf))
			continue;
		if (!leaf->ptr.level)
			return true;
		if (!push(walk, leaf))
			return false;
	}
	return false;
}

void e2pf_tree_walk_free(struct e2pf_tree_walk *walk)
{
	unsigned i;

	for (i = 0; i < E2PF_BTRFS_LEVELS; i++) {
		free(walk->level[i].block);
		walk->level[i].block = NULL;
	}
	walk->depth = 0;
}
