/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The order in which leaves are read.
 *
 * The check walks one tree after the other, and the leaves of each in the order
 * of their addresses.  So the leaves that no earlier tree shares are read in
 * sweeps, of one tree or of several that follow each other.  Links from nodes
 * to their children are recorded as nodes are parsed, in any order, by one
 * thread at a time; then the trees are walked in the check's order, without
 * reading anything.
 */
#ifndef BTRFS_LEAF_ORDER_H
#define BTRFS_LEAF_ORDER_H

#include "chunk_map.h"

/* A leaf in the list. */
struct bt_order_leaf {
	uint64_t slot;
	uint32_t sweep;			/* number; of its tree, until
					   number_sweeps() */
	uint32_t portion;		/* number within the sweep, in the order in
					   which devices alternate */
};

/* All zero: an empty order, which has room for nothing. */
struct bt_leaf_order {
	struct order_node *node;
	size_t nodes, node_room;
	uint64_t *link;			/* slots of children */
	size_t links, link_room;
	size_t max_bytes;		/* of nodes and links */
	struct bt_order_leaf *leaf;	/* in order, after make() */
	size_t leaves, leaf_room;
};

/* Free everything.  From now on nodes and links take at most `bytes`. */
void bt_leaf_order_clear(struct bt_leaf_order *order, uint64_t bytes);

/* Record that the node in this slot has these children.  Those for which there
 * is no room are left to the check. */
void bt_leaf_order_add(struct bt_leaf_order *order, uint64_t slot,
		       uint8_t level, const uint64_t *child, size_t count);

/* How sweeps are made. */
struct bt_sweeps {
	unsigned max;		/* their number: each has at least this part
				   of all leaves, and whole trees */
	unsigned near;		/* slots between two leaves of a sweep, at most,
				   for leaves of later sweeps that lie between
				   them to be taken along */
	uint64_t room;		/* leaves that may be ahead of the check; if
				   there are more, each sweep takes at least an
				   eighth of that, and two thirds of it may be
				   taken along */
	bool by_device;		/* leaves on different devices alternate, a
				   portion of each at a time; not if there are
				   more than `room` */
};

/* Leaves of one device that are adjacent in the list: as many as a worker takes
 * at once, so that workers are at different devices. */
#define BT_LEAF_PORTION 512u

/* Make the list of the leaves of these trees, which are in the check's order,
 * and forget the links.  Each leaf is added to `seen`, and left out if it was
 * there. */
void bt_leaf_order_make(struct bt_leaf_order *order,
			const struct bt_ptr *root, size_t roots,
			const struct bt_sweeps *sweeps,
			const struct bt_chunk_map *map,
			struct bt_slot_set *seen);

#endif
