/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tree blocks: checks that a block is the one its pointer describes, and finds
 * the blocks that it refers to.
 */
#include "format.h"
#include "plan.h"

const uint8_t *e2pf_btrfs_node_fsid(const void *block)
{
	return (const uint8_t *)block + BT_HEADER_FSID;
}

uint64_t e2pf_btrfs_generation(const void *block)
{
	return bt_le64((const uint8_t *)block + BT_HEADER_GENERATION);
}

bool e2pf_btrfs_is_subvolume(uint64_t owner)
{
	/* As unsigned numbers, the negative ones are included: these are
	 * relocation trees, which are copies of subvolumes' trees. */
	return owner == BT_FS_TREE_OBJECTID || owner >= BT_FIRST_FREE_OBJECTID;
}

/* Snapshots share the blocks of subvolumes, and a block keeps the owner for
 * which it was created. */
static bool fits_owner(uint64_t owner, uint64_t expected)
{
	return owner == expected || (e2pf_btrfs_is_subvolume(owner) &&
				     e2pf_btrfs_is_subvolume(expected));
}

bool e2pf_btrfs_fits(const struct e2pf_btrfs_super *super,
		     const struct e2pf_btrfs_ptr *ptr, const void *block)
{
	const uint8_t *b = block;
	uint32_t items = bt_le32(b + BT_HEADER_NRITEMS);
	uint32_t room = super->nodesize - BT_HEADER_BYTES;

	return bt_le64(b + BT_HEADER_BYTENR) == ptr->logical &&
	       b[BT_HEADER_LEVEL] == ptr->level &&
	       bt_le64(b + BT_HEADER_GENERATION) == ptr->generation &&
	       fits_owner(bt_le64(b + BT_HEADER_OWNER), ptr->owner) &&
	       items <= room / (ptr->level ? BT_PTR_BYTES : BT_ITEM_BYTES);
}

/* True if a tree block can be at this address. */
static bool is_address(const struct e2pf_btrfs_super *super, uint64_t logical)
{
	return logical && logical % super->sectorsize == 0 &&
	       logical <= UINT64_MAX - super->nodesize;
}

static uint32_t count_entries(const struct e2pf_btrfs_super *super,
			      const uint8_t *block, uint32_t bytes)
{
	uint32_t most = (super->nodesize - BT_HEADER_BYTES) / bytes;
	uint32_t items = bt_le32(block + BT_HEADER_NRITEMS);

	return items < most ? items : most;
}

int e2pf_btrfs_compare(const struct e2pf_btrfs_key *a,
		       const struct e2pf_btrfs_key *b)
{
	if (a->objectid != b->objectid)
		return a->objectid < b->objectid ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

struct e2pf_btrfs_key e2pf_btrfs_before(struct e2pf_btrfs_key key)
{
	if (key.offset) {
		key.offset--;
	} else if (key.type) {
		key.type--;
		key.offset = UINT64_MAX;
	} else if (key.objectid) {
		key.objectid--;
		key.type = UINT8_MAX;
		key.offset = UINT64_MAX;
	}
	return key;
}

static struct e2pf_btrfs_key read_key(const uint8_t *bytes)
{
	return (struct e2pf_btrfs_key){
		.objectid = bt_le64(bytes + BT_KEY_OBJECTID),
		.type = bytes[BT_KEY_TYPE],
		.offset = bt_le64(bytes + BT_KEY_OFFSET)
	};
}

uint32_t e2pf_btrfs_children(const struct e2pf_btrfs_super *super,
			     const void *block)
{
	return count_entries(super, block, BT_PTR_BYTES);
}

/* The pointer in entry `i` of a node.  A child cannot be newer: changing it
 * changes all nodes above it. */
static bool take_ptr(const struct e2pf_btrfs_super *super,
		     const struct e2pf_btrfs_ptr *ptr, const void *block,
		     uint32_t i, struct e2pf_btrfs_ptr *child)
{
	const uint8_t *entry = (const uint8_t *)block + BT_HEADER_BYTES +
			       (size_t)i * BT_PTR_BYTES;

	if (!ptr->level || ptr->level >= E2PF_BTRFS_LEVELS)
		return false;
	*child = (struct e2pf_btrfs_ptr) {
		.logical = bt_le64(entry + BT_PTR_BLOCKPTR),
		.generation = bt_le64(entry + BT_PTR_GENERATION),
		.owner = ptr->owner,
		.level = ptr->level - 1
	};
	return is_address(super, child->logical) &&
	       child->generation <= e2pf_btrfs_generation(block);
}

void e2pf_btrfs_plan_node(const struct e2pf_btrfs_super *super,
			  const struct e2pf_btrfs_ptr *ptr, const void *block,
			  e2pf_btrfs_ptr_sink sink, void *ctx)
{
	uint32_t n = e2pf_btrfs_children(super, block), i;
	struct e2pf_btrfs_ptr child;

	for (i = 0; i < n; i++)
		if (take_ptr(super, ptr, block, i, &child))
			sink(ctx, &child);
}

bool e2pf_btrfs_plan_child(const struct e2pf_btrfs_super *super,
			   const struct e2pf_btrfs_ptr *ptr,
			   const struct e2pf_btrfs_key *last,
			   const void *block, uint32_t i,
			   struct e2pf_btrfs_child *child)
{
	const uint8_t *entry = (const uint8_t *)block + BT_HEADER_BYTES +
			       (size_t)i * BT_PTR_BYTES;

	if (!take_ptr(super, ptr, block, i, &child->ptr))
		return false;
	child->first = read_key(entry);
	child->last = i + 1 < e2pf_btrfs_children(super, block) ?
		      e2pf_btrfs_before(read_key(entry + BT_PTR_BYTES)) : *last;
	return e2pf_btrfs_compare(&child->first, &child->last) <= 0;
}

/* The item of a leaf's entry, or NULL if it is not inside the leaf.  *size is
 * its length in bytes. */
static const uint8_t *item_of(const struct e2pf_btrfs_super *super,
			      const uint8_t *block, uint32_t entry,
			      uint32_t *size)
{
	const uint8_t *e = block + BT_HEADER_BYTES + entry * BT_ITEM_BYTES;
	uint32_t room = super->nodesize - BT_HEADER_BYTES;
	uint32_t offset = bt_le32(e + BT_ITEM_OFFSET);

	*size = bt_le32(e + BT_ITEM_SIZE);
	if (offset > room || *size > room - offset)
		return NULL;
	return block + BT_HEADER_BYTES + offset;
}

static uint8_t type_of(const uint8_t *entry)
{
	return entry[BT_KEY_TYPE];
}

bool e2pf_btrfs_take_root(const struct e2pf_btrfs_super *super, uint64_t tree,
			  const uint8_t *item, uint32_t size,
			  struct e2pf_btrfs_ptr *root)
{
	/* Items written by old kernels end with the level. */
	if (size <= BT_ROOT_ITEM_LEVEL)
		return false;
	root->logical = bt_le64(item + BT_ROOT_ITEM_BYTENR);
	root->generation = bt_le64(item + BT_ROOT_ITEM_GENERATION);
	root->owner = tree;
	root->level = item[BT_ROOT_ITEM_LEVEL];
	return is_address(super, root->logical) &&
	       root->level < E2PF_BTRFS_LEVELS;
}

void e2pf_btrfs_plan_roots(const struct e2pf_btrfs_super *super,
			   const void *block, e2pf_btrfs_ptr_sink sink,
			   void *ctx)
{
	const uint8_t *entry = (const uint8_t *)block + BT_HEADER_BYTES, *item;
	uint32_t n = count_entries(super, block, BT_ITEM_BYTES), i, size;
	struct e2pf_btrfs_ptr root;

	for (i = 0; i < n; i++, entry += BT_ITEM_BYTES) {
		if (type_of(entry) != BT_ROOT_ITEM_KEY)
			continue;
		item = item_of(super, block, i, &size);
		if (item && e2pf_btrfs_take_root(super,
				bt_le64(entry + BT_KEY_OBJECTID), item, size,
				&root))
			sink(ctx, &root);
	}
}

void e2pf_btrfs_plan_chunks(const struct e2pf_btrfs_super *super,
			    const void *block, e2pf_btrfs_chunk_sink sink,
			    void *ctx)
{
	const uint8_t *entry = (const uint8_t *)block + BT_HEADER_BYTES, *item;
	uint32_t n = count_entries(super, block, BT_ITEM_BYTES), i, size;
	struct e2pf_btrfs_chunk chunk;

	for (i = 0; i < n; i++, entry += BT_ITEM_BYTES) {
		if (type_of(entry) != BT_CHUNK_ITEM_KEY)
			continue;
		item = item_of(super, block, i, &size);
		if (item && e2pf_btrfs_plan_chunk(super,
				bt_le64(entry + BT_KEY_OFFSET),
				item, size, &chunk))
			sink(ctx, &chunk);
	}
}
