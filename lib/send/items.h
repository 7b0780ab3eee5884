/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Items of files and extents, the results of a tree search that contain them
 * (BTRFS_IOC_TREE_SEARCH_V2), and sets of key ranges.
 *
 * No I/O.  All functions are safe on hostile bytes.  Functions that take no
 * struct e2pf_ranges are pure.
 */
#ifndef E2PF_SEND_ITEMS_H
#define E2PF_SEND_ITEMS_H

#include "btrfs/plan.h"

/* Find the items in the `size` bytes that a search has filled, where it says
 * that there are `count`.  Items that go beyond the end are left out. */
void e2pf_items_found(const void *bytes, size_t size, uint32_t count,
		      e2pf_btrfs_item_sink sink, void *ctx);

/* A part of a file, and where it lies. */
struct e2pf_data {
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
bool e2pf_item_data(const struct e2pf_btrfs_item *item,
		    struct e2pf_data *data);

/* A file that uses a part of an extent, according to the extent's record. */
struct e2pf_reference {
	uint64_t tree, inode;
	uint64_t offset;		/* in bytes; the part's offset in the
					   file minus its offset in the extent:
					   may be below 0 */
};

typedef void (*e2pf_reference_sink)(void *ctx,
				const struct e2pf_reference *reference);

/* Find the files that are named in the record of a data extent itself. */
void e2pf_item_references(const struct e2pf_btrfs_item *item,
			  e2pf_reference_sink sink, void *ctx);

/* Parse an inode.  *changed is the generation that last changed it. */
bool e2pf_item_inode(const struct e2pf_btrfs_item *item, uint64_t *changed);

/* A set of key ranges.  To be used by one thread at a time. */
struct e2pf_ranges {
	struct e2pf_btrfs_range *range;
	size_t count, room;
};

/* The maximum number of ranges.  Whatever is beyond it is not read ahead. */
#define E2PF_RANGES_MOST (1u << 18)

/* Add a range.  If it overlaps or follows the range added last, that one is
 * extended.  Returns false if there is no room. */
bool e2pf_ranges_add(struct e2pf_ranges *ranges,
		     const struct e2pf_btrfs_range *keys);

/* Sort the ranges and join those that overlap.  Call it before
 * e2pf_ranges_meet(). */
void e2pf_ranges_finish(struct e2pf_ranges *ranges);

/* True if any of these keys is in one of the ranges. */
bool e2pf_ranges_meet(const struct e2pf_ranges *ranges,
		      const struct e2pf_btrfs_range *keys);

#endif
