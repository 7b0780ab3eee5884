/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sets of key ranges, and the results of searching a tree of a mounted btrfs
 * (BTRFS_IOC_TREE_SEARCH_V2).
 *
 * No I/O.  All functions are safe on hostile bytes.  Functions that take no
 * struct e2pf_btrfs_ranges are pure.
 */
#ifndef E2PF_BTRFS_SEARCH_H
#define E2PF_BTRFS_SEARCH_H

#include "btrfs/plan.h"

/* An item found by a search; `bytes` has `size` bytes. */
struct e2pf_btrfs_item {
	struct e2pf_btrfs_key key;
	uint64_t generation;		/* of its leaf */
	const uint8_t *bytes;
	uint32_t size;
};

/* Called with an item, which is valid only during the call. */
typedef void (*e2pf_btrfs_item_sink)(void *ctx,
				     const struct e2pf_btrfs_item *item);

/* Parse the items in the `size` bytes that a search has filled, where it says
 * that there are `count`.  Items that go beyond the end are left out. */
void e2pf_btrfs_plan_found(const void *bytes, size_t size, uint32_t count,
			   e2pf_btrfs_item_sink sink, void *ctx);

/* A part of a file, and where it lies. */
struct e2pf_btrfs_data {
	uint64_t inode;
	uint64_t offset;		/* in bytes, in the file */
	uint64_t length;		/* in bytes of the file */
	uint64_t generation;		/* when it was written */
	uint64_t extent;		/* logical address of its extent */
	uint64_t extent_bytes;
	uint64_t logical;		/* of its first byte; of the extent, if
					   that is compressed */
	bool compressed;
	bool written;			/* false: allocated only, reads as
					   zeros */
};

/* Parse a file extent.  Returns false for a hole, for inline data, and if it is
 * not valid. */
bool e2pf_btrfs_plan_data(const struct e2pf_btrfs_item *item,
			  struct e2pf_btrfs_data *data);

/* A file that uses a part of an extent, according to the extent's record. */
struct e2pf_btrfs_reference {
	uint64_t tree, inode;
	uint64_t offset;		/* in bytes; the part's offset in the
					   file minus its offset in the extent:
					   may be below 0 */
};

typedef void (*e2pf_btrfs_reference_sink)(void *ctx,
				const struct e2pf_btrfs_reference *reference);

/* Find the files that are named in the record of a data extent itself. */
void e2pf_btrfs_plan_references(const struct e2pf_btrfs_item *item,
				e2pf_btrfs_reference_sink sink, void *ctx);

/* Parse an inode.  *changed is the generation that last changed it. */
bool e2pf_btrfs_plan_inode(const struct e2pf_btrfs_item *item,
			   uint64_t *changed);

/* Parse the item of a tree's root.  The tree's number is in the item's key. */
bool e2pf_btrfs_plan_root(const struct e2pf_btrfs_super *super,
			  const struct e2pf_btrfs_item *item,
			  struct e2pf_btrfs_ptr *root);

/*
 * Ranges of keys; both ends are included.  To be used by one thread at a time.
 */
struct e2pf_btrfs_range {
	struct e2pf_btrfs_key first, last;
};

struct e2pf_btrfs_ranges {
	struct e2pf_btrfs_range *range;
	size_t count, room;
};

/* The maximum number of ranges.  Whatever is beyond it is not read ahead. */
#define E2PF_BTRFS_RANGES_MOST (1u << 18)

/* Add a range.  If it overlaps or follows the range added last, that one is
 * extended.  Returns false if there is no room. */
bool e2pf_btrfs_ranges_add(struct e2pf_btrfs_ranges *ranges,
			   const struct e2pf_btrfs_key *first,
			   const struct e2pf_btrfs_key *last);

/* Sort the ranges and join those that overlap.  Call it before
 * e2pf_btrfs_ranges_meet(). */
void e2pf_btrfs_ranges_finish(struct e2pf_btrfs_ranges *ranges);

/* True if any key from `first` to `last` is in one of the ranges. */
bool e2pf_btrfs_ranges_meet(const struct e2pf_btrfs_ranges *ranges,
			    const struct e2pf_btrfs_key *first,
			    const struct e2pf_btrfs_key *last);

/* Empty the set but keep its memory, or free that. */
void e2pf_btrfs_ranges_empty(struct e2pf_btrfs_ranges *ranges);
void e2pf_btrfs_ranges_free(struct e2pf_btrfs_ranges *ranges);

#endif
