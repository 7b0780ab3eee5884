/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The order of leaves: the walk over the recorded links, and the sweeps. */
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "leaf_order.h"

/* Leaves are taken along if there are at most MAX_SWEEPS sweeps: each is a pass
 * over the list. */
#define MAX_SWEEPS 64u

struct order_node {
	uint64_t slot;
	size_t first;			/* index of its first link */
	uint32_t count;			/* links */
	uint8_t level;
	bool walked;
};

/* The links are not needed any more. */
static void forget_links(struct bt_leaf_order *order)
{
	free(order->node);
	free(order->link);
	order->node = NULL;
	order->link = NULL;
	order->nodes = order->node_room = order->links = order->link_room = 0;
}

void bt_leaf_order_clear(struct bt_leaf_order *order, uint64_t bytes)
{
	forget_links(order);
	free(order->leaf);
	*order = (struct bt_leaf_order) {
		.max_bytes = bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX
	};
}

/* A node, too, takes memory, even one without children. */
static bool has_room(const struct bt_leaf_order *order, size_t count)
{
	size_t used = order->links * sizeof(*order->link) +
		      order->nodes * sizeof(*order->node);
	size_t more = count * sizeof(*order->link) + sizeof(*order->node);

	return more <= order->max_bytes - used;
}

void bt_leaf_order_add(struct bt_leaf_order *order, uint64_t slot,
		       uint8_t level, const uint64_t *child, size_t count)
{
	if (!has_room(order, count) ||
	    !e2pf_have_room((void **)&order->link, &order->link_room,
			    order->links, count, sizeof(*order->link)) ||
	    !e2pf_have_room((void **)&order->node, &order->node_room,
			    order->nodes, 1, sizeof(*order->node)))
		return;
	order->node[order->nodes++] = (struct order_node) {
		.slot = slot, .first = order->links,
		.count = (uint32_t)count, .level = level
	};
	memcpy(order->link + order->links, child, count * sizeof(*child));
	order->links += count;
}

static int by_node(const void *a, const void *b)
{
	const struct order_node *x = a, *y = b;

	return E2PF_COMPARE(x->slot, y->slot);
}

static int by_slot(const void *a, const void *b)
{
	const struct bt_order_leaf *x = a, *y = b;

	return E2PF_COMPARE(x->slot, y->slot);
}

static int by_portion(const void *a, const void *b)
{
	const struct bt_order_leaf *x = a, *y = b;
	int order = E2PF_COMPARE(x->sweep, y->sweep);

	if (!order)
		order = E2PF_COMPARE(x->portion, y->portion);
	return order ? order : by_slot(a, b);
}

static void sort(struct bt_leaf_order *order,
		 int (*by)(const void *, const void *))
{
	qsort(order->leaf, order->leaves, sizeof(*order->leaf), by);
}

static void accept_leaf(struct bt_leaf_order *order, uint32_t tree,
			uint64_t slot, struct bt_slot_set *seen)
{
	if (bt_slot_set_add(seen, slot) &&
	    e2pf_have_room((void **)&order->leaf, &order->leaf_room,
			   order->leaves, 1, sizeof(*order->leaf)))
		order->leaf[order->leaves++] = (struct bt_order_leaf) {
			.slot = slot, .sweep = tree
		};
}

/* Take the leaves below a block that no earlier tree has.  Levels decrease, so
 * the depth is bounded. */
static void walk(struct bt_leaf_order *order, uint32_t tree, uint64_t slot,
		 uint8_t level, struct bt_slot_set *seen)
{
	const struct order_node key = { .slot = slot };
	struct order_node *n;
	uint32_t i;

	if (!level) {
		accept_leaf(order, tree, slot, seen);
		return;
	}
	n = order->nodes ? bsearch(&key, order->node, order->nodes,
				   sizeof(*n), by_node) : NULL;
	if (!n || n->walked || n->level != level)
		return;
	n->walked = true;
	for (i = 0; i < n->count; i++)
		walk(order, tree, order->link[n->first + i], level - 1, seen);
}

/* Turn the number of each leaf's tree into that of its sweep, of at least
 * `least` leaves.  The list is in the order of trees.  Returns the number of
 * sweeps. */
static uint32_t number_sweeps(struct bt_leaf_order *order, uint64_t min)
{
	uint32_t sweep = 0, tree = order->leaf[0].sweep;
	uint64_t in_sweep = 0;
	size_t i;

	for (i = 0; i < order->leaves; i++, in_sweep++) {
		struct bt_order_leaf *leaf = &order->leaf[i];

		if (leaf->sweep != tree && in_sweep >= min) {
			sweep++;
			in_sweep = 0;
		}
		tree = leaf->sweep;
		leaf->sweep = sweep;
	}
	return sweep + 1;
}

/* Leaves that are read with an earlier sweep than their own. */
struct along {
	unsigned near;
	uint64_t room;			/* leaves that still fit into memory */
	uint64_t due[MAX_SWEEPS];	/* kept in memory until this sweep */
};

/* Take leaves of later sweeps along.  The list is in the order of slots.  The
 * lowest slots come first while there is room, so that later sweeps need not visit
 * that part of the device at all. */
static void claim_near(struct bt_leaf_order *order, uint32_t sweep,
		       struct along *along)
{
	struct bt_order_leaf *leaf = order->leaf;
	size_t last = order->leaves, i, j;

	along->room += along->due[sweep];
	for (i = 0; i < order->leaves; i++) {
		if (leaf[i].sweep != sweep)
			continue;
		if (last < i && leaf[i].slot - leaf[last].slot > along->near)
			last = i;
		for (j = last + 1; j < i && along->room; j++) {
			if (leaf[j].sweep < sweep)
				continue;
			along->room--;
			along->due[leaf[j].sweep]++;
			leaf[j].sweep = sweep;
		}
		last = i;
	}
}

/* Let the devices take turns within each sweep. */
static void alternate_devices(struct bt_leaf_order *order,
			      const struct bt_chunk_map *map)
{
	struct pf_ref ref;
	struct bt_order_leaf *leaf = order->leaf, *end = leaf + order->leaves;
	uint64_t passed[PF_MAX_DEVICES] = { 0 };
	uint32_t sweep = 0;

	for (sort(order, by_portion); leaf < end; leaf++) {
		if (leaf->sweep != sweep)
			memset(passed, 0, sizeof(passed));
		sweep = leaf->sweep;
		if (bt_chunk_map_find(map, bt_chunk_map_logical(map,
				      leaf->slot), &ref))
			leaf->portion = (uint32_t)(passed[ref.device]++ /
						   BT_LEAF_PORTION) *
				     PF_MAX_DEVICES + ref.device;
	}
}

/* Divide the list into sweeps, and sort it. */
static void divide_into_sweeps(struct bt_leaf_order *order,
			       const struct bt_sweeps *sweeps,
			       const struct bt_chunk_map *map)
{
	bool window = order->leaves > sweeps->room;
	struct along along = {
		.near = sweeps->near,
		.room = window ? sweeps->room / 3 * 2 : UINT64_MAX / 2
	};
	uint64_t min = window ? sweeps->room / 8 :
				  order->leaves / sweeps->max;
	uint32_t count = number_sweeps(order, min), i;

	if (sweeps->near && count <= MAX_SWEEPS) {
		sort(order, by_slot);
		for (i = 0; i < count; i++)
			claim_near(order, i, &along);
	}
	if (sweeps->by_device && !window)
		alternate_devices(order, map);
	sort(order, by_portion);
}

void bt_leaf_order_make(struct bt_leaf_order *order,
			const struct bt_ptr *root, size_t roots,
			const struct bt_sweeps *sweeps,
			const struct bt_chunk_map *map,
			struct bt_slot_set *seen)
{
	size_t i;

	if (order->nodes)
		qsort(order->node, order->nodes, sizeof(*order->node),
		      by_node);
	for (i = 0; i < roots; i++)
		walk(order, (uint32_t)i,
		     bt_chunk_map_slot(map, root[i].logical), root[i].level,
		     seen);
	if (order->leaves)
		divide_into_sweeps(order, sweeps, map);
	forget_links(order);
}
