/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keys of btrfs's trees, sets of ranges of them, and what a search of a
 * mounted filesystem's tree (BTRFS_IOC_TREE_SEARCH_V2) has returned.
 *
 * No I/O.  All is safe on hostile bytes; the functions without a struct
 * e2pf_btrfs_ranges are pure.
 */
#ifndef E2PF_BTRFS_SEARCH_H
#define E2PF_BTRFS_SEARCH_H

#include "btrfs/plan.h"

struct e2pf_btrfs_key {
	uint64_t objectid;
	uint64_t offset;
	uint8_t type;
};

/* The first key there is, and the last. */
#define E2PF_BTRFS_FIRST_KEY ((struct e2pf_btrfs_key){ 0, 0, 0 })
#define E2PF_BTRFS_LAST_KEY \
	((struct e2pf_btrfs_key){ UINT64_MAX, UINT64_MAX, UINT8_MAX })

/* Below 0, 0 or above 0, in the order of a tree. */
int e2pf_btrfs_compare(const struct e2pf_btrfs_key *a,
		       const struct e2pf_btrfs_key *b);

/* The key before this one; the first is its own. */
struct e2pf_btrfs_key e2pf_btrfs_before(struct e2pf_btrfs_key key);

/* A child of a node, with the keys it may have. */
struct e2pf_btrfs_child {
	struct e2pf_btrfs_ptr ptr;
	struct e2pf_btrfs_key first, last;
};

/* Number of entries of a node of `super`'s, as far as they lie in it. */
uint32_t e2pf_btrfs_children(const struct e2pf_btrfs_super *super,
			     const void *block);

/*
 * Child `i` (below e2pf_btrfs_children()) of a node that fits `ptr`, whose
 * own last key is `last`.  False where the entry cannot be true.
 */
bool e2pf_btrfs_plan_child(const struct e2pf_btrfs_super *super,
			   const struct e2pf_btrfs_ptr *ptr,
			   const struct e2pf_btrfs_key *last,
			   const void *block, uint32_t i,
			   struct e2pf_btrfs_child *child);

/* An item that a search has found; `bytes` are `size` of them. */
struct e2pf_btrfs_item {
	struct e2pf_btrfs_key key;
	uint64_t generation;		/* of its leaf */
	const uint8_t *bytes;
	uint32_t size;
};

/* Takes an item, valid during the call only. */
typedef void (*e2pf_btrfs_item_sink)(void *ctx,
				     const struct e2pf_btrfs_item *item);

/* The items in the `size` bytes that a search filled, of which it said that
 * there are `count`.  What would reach past the end is left out. */
void e2pf_btrfs_plan_found(const void *bytes, size_t size, uint32_t count,
			   e2pf_btrfs_item_sink sink, void *ctx);

/* Where a part of a file lies. */
struct e2pf_btrfs_data {
	uint64_t inode;
	uint64_t offset;		/* bytes, in the file */
	uint64_t length;		/* bytes of the file */
	uint64_t generation;		/* when it was written */
	uint64_t extent;		/* logical address of its extent */
	uint64_t extent_bytes;
	uint64_t logical;		/* of its own first byte; the extent's
					   where it is compressed */
	bool compressed;
	bool written;			/* false: allocated only, reads as
					   zeros */
};

/* Parse a file's extent; false for a hole, for data that are in the item
 * itself, and for what cannot be true. */
bool e2pf_btrfs_plan_data(const struct e2pf_btrfs_item *item,
			  struct e2pf_btrfs_data *data);

/* A file that has a part of an extent, as the extent's record says. */
struct e2pf_btrfs_reference {
	uint64_t tree, inode;
	uint64_t offset;		/* bytes, in the file, less those of
					   the extent before it: may be
					   below 0 */
};

typedef void (*e2pf_btrfs_reference_sink)(void *ctx,
				const struct e2pf_btrfs_reference *reference);

/* The files that the record of an extent of data names in itself. */
void e2pf_btrfs_plan_references(const struct e2pf_btrfs_item *item,
				e2pf_btrfs_reference_sink sink, void *ctx);

/* Parse an inode; *changed is the generation that changed it last. */
bool e2pf_btrfs_plan_inode(const struct e2pf_btrfs_item *item,
			   uint64_t *changed);

/* Parse the item of a tree's root, whose key has the tree's number. */
bool e2pf_btrfs_plan_root(const struct e2pf_btrfs_super *super,
			  const struct e2pf_btrfs_item *item,
			  struct e2pf_btrfs_ptr *root);

/*
 * Ranges of keys, ends included.  From one thread at a time.
 */
struct e2pf_btrfs_range {
	struct e2pf_btrfs_key first, last;
};

struct e2pf_btrfs_ranges {
	struct e2pf_btrfs_range *range;
	size_t count, room;
};

/* There are at most.  With more, what is left out is not read ahead. */
#define E2PF_BTRFS_RANGES_MOST (1u << 18)

/* Add one; false without room.  A range that goes on where the last ended
 * makes that one longer. */
bool e2pf_btrfs_ranges_add(struct e2pf_btrfs_ranges *ranges,
			   const struct e2pf_btrfs_key *first,
			   const struct e2pf_btrfs_key *last);

/* Sort, and join those that overlap: before the first
 * e2pf_btrfs_ranges_meet(). */
void e2pf_btrfs_ranges_finish(struct e2pf_btrfs_ranges *ranges);

/* Is any key from first to last in one of them? */
bool e2pf_btrfs_ranges_meet(const struct e2pf_btrfs_ranges *ranges,
			    const struct e2pf_btrfs_key *first,
			    const struct e2pf_btrfs_key *last);

/* Empty it, and keep its memory; or free that. */
void e2pf_btrfs_ranges_empty(struct e2pf_btrfs_ranges *ranges);
void e2pf_btrfs_ranges_free(struct e2pf_btrfs_ranges *ranges);

#endif
