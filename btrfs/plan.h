/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The planner for btrfs: finds the tree blocks that metadata refers to.
 *
 * Every function here is pure: no I/O, no allocation, no global state, safe
 * from any thread and on hostile bytes.  On-disk numbers are checked before
 * they are returned, and every loop is bounded by the size of the buffer it
 * reads.  Impossible values are silently left out: to report them is the
 * checker's task.
 */
#ifndef BTRFS_PLAN_H
#define BTRFS_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BT_SUPER_BYTES 4096u
#define BT_SUPER_AT 65536u		/* its offset on a device */
#define BT_SYS_ARRAY 2048u
#define BT_UUID 16u

/* The maximum number of levels in a tree, including leaves. */
#define BT_LEVELS 8u

/* The maximum number of children of a node: those of the largest, 65536 bytes
 * with a header of 101, at 33 bytes each. */
#define BT_CHILDREN 1982u

/* A pointer to a tree block, with the values that its header must have. */
struct bt_ptr {
	uint64_t logical;	/* in bytes, a multiple of sectorsize */
	uint64_t generation;
	uint64_t owner;		/* tree: BT_*_TREE_OBJECTID */
	uint8_t level;		/* 0 for a leaf */
};

/* A device, as its superblock describes it. */
struct bt_device {
	uint64_t devid;
	uint8_t uuid[BT_UUID];
};

/* The needed fields of a superblock, in host byte order. */
struct bt_super {
	uint8_t fsid[BT_UUID];			/* of tree blocks */
	struct bt_device device;		/* that it is on */
	uint64_t generation;
	uint32_t nodesize;			/* 4096 to 65536 */
	uint32_t sectorsize;			/* 4096 to nodesize */
	struct bt_ptr root, chunk_root;
	uint32_t sys_array_size;		/* bytes */
	uint8_t sys_array[BT_SYS_ARRAY];
};

/* Parse the superblock.  Returns NULL, or the reason why the filesystem cannot
 * be read ahead: it is damaged, or has a feature with which blocks or their
 * roots are elsewhere. */
const char *bt_plan_super(const void *bytes,
			  struct bt_super *super);

struct bt_key {
	uint64_t objectid;
	uint64_t offset;
	uint8_t type;
};

/* Keys from the first to the last, both included. */
struct bt_range {
	struct bt_key first, last;
};

/* All keys of the objects with these numbers. */
static inline struct bt_range bt_keys_of(uint64_t first,
					 uint64_t last)
{
	return (struct bt_range) {
		{ first, 0, 0 }, { last, UINT64_MAX, UINT8_MAX }
	};
}

/* The key in these 17 bytes of a tree block. */
struct bt_key bt_key_at(const uint8_t *bytes);

/* Compare two keys.  Returns less than 0, 0, or more than 0, in tree order. */
int bt_compare(const struct bt_key *a,
	       const struct bt_key *b);

/* The key before this one.  The lowest key is returned unchanged. */
struct bt_key bt_before(struct bt_key key);

/* The identity of a tree block, by its header. */
struct bt_ptr bt_self(const void *block);

/* True if these super->nodesize bytes are the tree block that `ptr` describes,
 * of this filesystem, by its header.  The checksum is not verified.  A seed's
 * blocks have another fsid, and are left to the check. */
bool bt_fits(const struct bt_super *super,
	     const struct bt_ptr *ptr, const void *block);

/* True if a tree of this owner holds files.  It may then share blocks with
 * another such tree (a snapshot). */
bool bt_is_subvolume(uint64_t owner);

/* A tree block, and the range of its keys. */
struct bt_node {
	struct bt_ptr ptr;
	struct bt_range keys;
};

/* An item of a leaf; `bytes` has `size` bytes. */
struct bt_item {
	struct bt_key key;
	const uint8_t *bytes;
	uint32_t size;
};

/* Called for each item or pointer.  The argument is valid only during the call. */
typedef void (*bt_node_sink)(void *ctx,
			     const struct bt_node *child);
typedef void (*bt_item_sink)(void *ctx,
			     const struct bt_item *item);

/* Find the children of a node whose block fits node->ptr.  If keys are out of
 * order, the range of a child may end before it begins. */
void bt_plan_node(const struct bt_super *super,
		  const struct bt_node *node,
		  const void *block, bt_node_sink sink,
		  void *ctx);

/* Find the items of a leaf; those that are not inside it are left out. */
void bt_plan_leaf(const struct bt_super *super,
		  const void *block, bt_item_sink sink,
		  void *ctx);

/* Find the items in the superblock's own array: chunks of the chunk tree. */
void bt_plan_sys_array(const struct bt_super *super,
		       bt_item_sink sink, void *ctx);

/* Parse the root of a tree.  Returns false for another item, or a bad one. */
bool bt_plan_root(const struct bt_super *super,
		  const struct bt_item *item,
		  struct bt_ptr *root);

#endif
