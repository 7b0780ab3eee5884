/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of leaves: the walk over the recorded links, and the sweeps. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "leaf_order.h"

/* While the list is made, an entry has the number of the leaf's tree or sweep,
 * its device, and its slot.  A chunk map has at most 2^33 slots. */
#define NUMBER_SHIFT 40u
#define DEVICE_SHIFT 34u
#define DEVICES 64u
#define SLOT_MASK ((UINT64_C(1) << DEVICE_SHIFT) - 1)

/* Leaves are taken along if there are at most so many sweeps: each is a pass
 * over the list. */
#define SWEEPS_MOST 64u

struct order_node {
	uint64_t slot;
	size_t first;			/* index of its first link */
	uint32_t count;			/* links */
	uint8_t level;
	bool walked;
};

void e2pf_leaf_order_init(struct e2pf_leaf_order *order)
{
	memset(order, 0, sizeof(*order));
	pthread_mutex_init(&order->lock, NULL);
}

void e2pf_leaf_order_clear(struct e2pf_leaf_order *order, uint64_t bytes)
{
	free(order->node);
	free(order->link);
	free(order->leaf);
	order->node = NULL;
	order->link = order->leaf = NULL;
	order->nodes = order->node_room = order->links = order->link_room = 0;
	order->leaves = order->leaf_room = 0;
	order->left = order->found = 0;
	order->bytes_most = bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

void e2pf_leaf_order_fini(struct e2pf_leaf_order *order)
{
	e2pf_leaf_order_clear(order, 0);
	pthread_mutex_destroy(&order->lock);
}

/* A node, too, takes memory, even one without children. */
static bool has_room(const struct e2pf_leaf_order *order, size_t count)
{
	size_t used = order->links * sizeof(*order->link) +
		      order->nodes * sizeof(*order->node);
	size_t more = count * sizeof(*order->link) + sizeof(*order->node);

	return more <= order->bytes_most - used;
}

void e2pf_leaf_order_add(struct e2pf_leaf_order *order, uint64_t slot,
			 uint8_t level, const uint64_t *child, size_t count)
{
	pthread_mutex_lock(&order->lock);
	if (!has_room(order, count) ||
	    !e2pf_have_room((void **)&order->link, &order->link_room, order->links,
		       count, sizeof(*order->link)) ||
	    !e2pf_have_room((void **)&order->node, &order->node_room, order->nodes,
		       1, sizeof(*order->node))) {
		order->left += level == 1 ? count : 0;
	} else {
		order->node[order->nodes++] = (struct order_node) {
			.slot = slot, .first = order->links,
			.count = (uint32_t)count, .level = level
		};
		memcpy(order->link + order->links, child,
		       count * sizeof(*child));
		order->links += count;
	}
	pthread_mutex_unlock(&order->lock);
}

static int by_slot(const void *a, const void *b)
{
	const struct order_node *x = a, *y = b;

	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int by_slot_only(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a & SLOT_MASK;
	uint64_t y = *(const uint64_t *)b & SLOT_MASK;

	return x < y ? -1 : x > y;
}

static bool take_leaf(struct e2pf_leaf_order *order, uint64_t tree,
		      uint64_t slot, struct e2pf_slot_set *seen)
{
	if (!e2pf_slot_set_add(seen, slot))
		return true;
	if (!e2pf_have_room((void **)&order->leaf, &order->leaf_room, order->leaves,
		       1, sizeof(*order->leaf)))
		return false;
	order->leaf[order->leaves++] = tree << NUMBER_SHIFT | slot;
	return true;
}

/* Take the leaves below a block that no earlier tree has.  Levels decrease, so
 * the depth is bounded. */
static bool walk(struct e2pf_leaf_order *order, uint64_t tree, uint64_t slot,
		 uint8_t level, struct e2pf_slot_set *seen)
{
	const struct order_node key = { .slot = slot };
	struct order_node *n;
	uint32_t i;

	if (!level)
		return take_leaf(order, tree, slot, seen);
	n = order->nodes ? bsearch(&key, order->node, order->nodes,
				   sizeof(*n), by_slot) : NULL;
	if (!n || n->walked || n->level != level)
		return true;
	n->walked = true;
	for (i = 0; i < n->count; i++)
		if (!walk(order, tree, order->link[n->first + i],
			  level - 1, seen))
			return false;
	return true;
}

static uint64_t number_of(uint64_t entry)
{
	return entry >> NUMBER_SHIFT;
}

static unsigned device_of(uint64_t entry)
{
	return entry >> DEVICE_SHIFT & (DEVICES - 1);
}

/* Turn the number of each leaf's tree into that of its sweep, of at least
 * `least` leaves.  The list is in the order of trees.  Returns the number of
 * sweeps. */
static uint64_t number_sweeps(struct e2pf_leaf_order *order, uint64_t least)
{
	uint64_t sweep = 0, tree = number_of(*order->leaf), in_sweep = 0;
	size_t i;

	for (i = 0; i < order->leaves; i++) {
		uint64_t *leaf = &order->leaf[i];

		if (number_of(*leaf) != tree && in_sweep >= least) {
			sweep++;
			in_sweep = 0;
		}
		tree = number_of(*leaf);
		*leaf = sweep << NUMBER_SHIFT | (*leaf & SLOT_MASK);
		in_sweep++;
	}
	return sweep + 1;
}

/* Leaves that are read with an earlier sweep than their own. */
struct along {
	unsigned near;
	uint64_t room;			/* so many more may be held */
	uint64_t due[SWEEPS_MOST];	/* held until this sweep */
};

static void take_along(struct along *along, uint64_t *leaf, uint64_t sweep)
{
	if (number_of(*leaf) <= sweep || !along->room)
		return;
	along->room--;
	along->due[number_of(*leaf)]++;
	*leaf = sweep << NUMBER_SHIFT | (*leaf & SLOT_MASK);
}

/* Take leaves of later sweeps along.  The list is in the order of slots.  What
 * there is room for is taken from the lowest slots on, so that later sweeps
 * need not visit that part of the device at all. */
static void take_near(struct e2pf_leaf_order *order, uint64_t sweep,
		      struct along *along)
{
	uint64_t *leaf = order->leaf;
	size_t last = order->leaves, i, j;

	along->room += along->due[sweep];
	for (i = 0; i < order->leaves; i++) {
		if (number_of(leaf[i]) != sweep)
			continue;
		if (last < i && (leaf[i] & SLOT_MASK) -
				(leaf[last] & SLOT_MASK) <= along->near)
			for (j = last + 1; j < i; j++)
				take_along(along, &leaf[j], sweep);
		last = i;
	}
}

/* Add each leaf's device to its entry, so that sorting separates them. */
static void note_devices(struct e2pf_leaf_order *order,
			 const struct e2pf_chunk_map *map)
{
	struct e2pf_btrfs_extent extent[E2PF_BTRFS_PARTS];
	size_t i;

	for (i = 0; i < order->leaves; i++) {
		uint64_t *leaf = &order->leaf[i];
		uint64_t logical = e2pf_chunk_map_logical(map,
							  *leaf & SLOT_MASK);

		if (e2pf_chunk_map_find(map, logical, extent))
			*leaf |= (uint64_t)extent[0].device << DEVICE_SHIFT;
	}
}

/* Append up to a portion of these leaves of one device, and padding. */
static bool append_portion(struct e2pf_leaf_order *to, const uint64_t *leaf,
			   size_t count)
{
	size_t i;

	if (!e2pf_have_room((void **)&to->leaf, &to->leaf_room, to->leaves,
			    E2PF_LEAF_PORTION, sizeof(*leaf)))
		return false;
	for (i = 0; i < E2PF_LEAF_PORTION; i++)
		to->leaf[to->leaves++] = i < count ? leaf[i] : E2PF_LEAF_NONE;
	return true;
}

/* Append the leaves of one sweep, a portion of each device in turn. */
static bool deal_sweep(struct e2pf_leaf_order *to, const uint64_t *leaf,
		       size_t count)
{
	size_t next[DEVICES] = { 0 }, end[DEVICES] = { 0 }, i, left;
	unsigned device;

	for (i = 0; i < count; i++)
		end[device_of(leaf[i])] = i + 1;
	for (device = 1; device < DEVICES; device++) {
		if (end[device] < end[device - 1])
			end[device] = end[device - 1];
		next[device] = end[device - 1];
	}
	for (left = count, device = 0; left;
	     device = (device + 1) % DEVICES) {
		size_t n = end[device] - next[device];

		if (n > E2PF_LEAF_PORTION)
			n = E2PF_LEAF_PORTION;
		if (n && !append_portion(to, leaf + next[device], n))
			return false;
		next[device] += n;
		left -= n;
	}
	return true;
}

/* Deal out each sweep.  The list is sorted by sweep, device and slot. */
static bool deal(struct e2pf_leaf_order *order)
{
	struct e2pf_leaf_order dealt = { .leaves = 0 };
	size_t first = 0, i;
	bool done = true;

	for (i = 1; done && i <= order->leaves; i++) {
		if (i < order->leaves && number_of(order->leaf[i]) ==
					 number_of(order->leaf[first]))
			continue;
		done = deal_sweep(&dealt, order->leaf + first, i - first);
		first = i;
	}
	free(order->leaf);
	order->leaf = dealt.leaf;
	order->leaves = dealt.leaves;
	order->leaf_room = dealt.leaf_room;
	return done;
}

static bool collect(struct e2pf_leaf_order *order,
		    const struct e2pf_tree_root *root, size_t roots,
		    struct e2pf_slot_set *seen)
{
	size_t i;

	if (order->nodes)
		qsort(order->node, order->nodes, sizeof(*order->node),
		      by_slot);
	for (i = 0; i < roots; i++)
		if (!walk(order, i, root[i].slot, root[i].level, seen))
			return false;
	return true;
}

/* Divide the list into sweeps, and sort it. */
static bool sweep(struct e2pf_leaf_order *order,
		  const struct e2pf_sweeps *sweeps,
		  const struct e2pf_chunk_map *map)
{
	bool window = order->leaves > sweeps->room;
	struct along along = {
		.near = sweeps->near,
		.room = window ? sweeps->room / 3 * 2 : UINT64_MAX / 2
	};
	uint64_t least = window ? sweeps->room / 8 :
				  order->leaves / sweeps->most;
	uint64_t count = number_sweeps(order, least), i;

	if (sweeps->near && count <= SWEEPS_MOST) {
		qsort(order->leaf, order->leaves, sizeof(*order->leaf),
		      by_slot_only);
		for (i = 0; i < count; i++)
			take_near(order, i, &along);
	}
	if (sweeps->by_device && !window)
		note_devices(order, map);
	qsort(order->leaf, order->leaves, sizeof(*order->leaf), by_number);
	return !sweeps->by_device || window || deal(order);
}

bool e2pf_leaf_order_make(struct e2pf_leaf_order *order,
			  const struct e2pf_tree_root *root, size_t roots,
			  const struct e2pf_sweeps *sweeps,
			  const struct e2pf_chunk_map *map,
			  struct e2pf_slot_set *seen)
{
	bool done = collect(order, root, roots, seen);
	size_t i;

	order->found = order->leaves;
	if (order->leaves)
		done = sweep(order, sweeps, map) && done;
	for (i = 0; i < order->leaves; i++)
		if (order->leaf[i] != E2PF_LEAF_NONE)
			order->leaf[i] &= SLOT_MASK;
	/* The links are not needed any more. */
	free(order->link);
	free(order->node);
	order->link = NULL;
	order->node = NULL;
	order->nodes = order->node_room = order->links = order->link_room = 0;
	return done;
}
