/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From one node of a file's mapping to the blocks below it: extent nodes and
 * indirect blocks.  Decides which nodes are plausible and which of their
 * children must be read.  Knows of the file only the class of its nodes and the
 * class of its data.  Also passes a block to the part of the planner that parses
 * its kind, which the run that led to it tells.
 */
#include "plan_gather.h"

#define EXTENT_MAGIC 0xf30a
#define ENTRY_SIZE 12			/* of header, index and extent */
#define I_BLOCK_SIZE (EXT2_N_BLOCKS * sizeof(uint32_t))
/* A length above this marks an uninitialized extent; subtract this to get the
 * real length. */
#define INIT_MAX_LEN 32768u

static const uint8_t *entry_at(const void *node, unsigned index)
{
	return (const uint8_t *)node + ENTRY_SIZE * (index + 1);
}

/*
 * The number of entries of a node, or 0 if its header is not plausible.
 * libext2fs allows a node to have up to two entries less than would fit,
 * because a checksum may be at its end.
 */
static unsigned extent_entries(const void *node, size_t size, unsigned depth)
{
	const uint8_t *header = node;
	unsigned entries = e2pf_le16(header + 2);
	unsigned max = e2pf_le16(header + 4);
	unsigned fit = size / ENTRY_SIZE - 1;

	if (e2pf_le16(header) != EXTENT_MAGIC || entries > max || max > fit ||
	    max + 2 < fit || e2pf_le16(header + 6) != depth)
		return 0;
	return entries;
}

/* Whether nodes that are `depth` levels above the data must be parsed.  The
 * checker reads the lowest nodes of every file, but they must be parsed only if
 * the file's data is metadata. */
static bool is_parsed(struct e2pf_kind node, unsigned depth)
{
	return depth || node.data < E2PF_CLASSES;
}

/* Extents refer to data, which is planned only if it is metadata. */
static void plan_leaf(struct e2pf_plan *plan, struct e2pf_kind node,
		      const void *bytes, unsigned entries)
{
	unsigned i;

	if (node.data >= E2PF_CLASSES)
		return;
	for (i = 0; i < entries; i++) {
		const uint8_t *extent = entry_at(bytes, i);
		uint64_t block = e2pf_le32(extent + 8) |
				 (uint64_t)e2pf_le16(extent + 6) << 32;
		unsigned length = e2pf_le16(extent + 4);

		if (length > INIT_MAX_LEN)
			length -= INIT_MAX_LEN;
		e2pf_gather_add(plan, e2pf_leaf(node.data), block, length);
	}
}

/* Plan a node of an extent tree: the `size` bytes of block `own` (0 for the
 * root, which is in an inode).  Its header must say the same depth. */
static void plan_extents(struct e2pf_plan *plan, struct e2pf_kind node,
			 uint64_t own, const void *bytes, size_t size)
{
	unsigned entries, i;

	if (node.depth > E2PF_EXTENT_DEPTH)
		return;
	entries = extent_entries(bytes, size, node.depth);
	if (node.depth == 0) {
		plan_leaf(plan, node, bytes, entries);
		return;
	}
	node.depth--;
	node.parse = is_parsed(node, node.depth) ? E2PF_EXTENT_NODE : E2PF_LEAF;
	for (i = 0; i < entries; i++) {
		const uint8_t *index = entry_at(bytes, i);
		uint64_t block = e2pf_le32(index + 4) |
				 (uint64_t)e2pf_le16(index + 8) << 32;

		if (block != own)
			e2pf_gather_add(plan, node, block, 1);
	}
}

void e2pf_plan_extent_root(struct e2pf_plan *plan, const void *i_block,
			   enum e2pf_class cls, enum e2pf_class data)
{
	unsigned depth = e2pf_le16((const uint8_t *)i_block + 6);

	if (depth <= E2PF_EXTENT_DEPTH)
		plan_extents(plan, (struct e2pf_kind) {
			.cls = cls, .data = data, .depth = (uint8_t)depth
		}, 0, i_block, I_BLOCK_SIZE);
}

uint64_t e2pf_first_extent_block(const void *i_block)
{
	const uint8_t *extent = entry_at(i_block, 0);

	if (!extent_entries(i_block, I_BLOCK_SIZE, 0) ||
	    !e2pf_le16(extent + 4))
		return 0;
	return e2pf_le32(extent + 8) |
	       (uint64_t)e2pf_le16(extent + 6) << 32;
}

/* Plan `count` 32-bit numbers of blocks, which are in block `own`: indirect
 * blocks of depth node.depth, or data blocks if that is 0. */
static void plan_pointers(struct e2pf_plan *plan, struct e2pf_kind node,
			  uint64_t own, const void *pointers, unsigned count)
{
	unsigned i;

	if (node.depth == 0) {
		if (node.data >= E2PF_CLASSES)
			return;
		node = e2pf_leaf(node.data);
	} else {
		node.parse = is_parsed(node, node.depth - 1u) ?
			     E2PF_INDIRECT_BLOCK : E2PF_LEAF;
	}
	for (i = 0; i < count; i++) {
		uint32_t block = e2pf_le32((const uint8_t *)pointers +
					   i * sizeof(block));

		if (block != own)
			e2pf_gather_add(plan, node, block, 1);
	}
}

void e2pf_plan_block_map(struct e2pf_plan *plan, const void *i_block,
			 enum e2pf_class cls, enum e2pf_class data)
{
	struct e2pf_kind node = { .cls = cls, .data = data };
	const uint8_t *pointers = i_block;

	plan_pointers(plan, node, 0, pointers, EXT2_NDIR_BLOCKS);
	for (node.depth = 1; node.depth <= 3; node.depth++)
		plan_pointers(plan, node, 0, pointers +
			      (EXT2_IND_BLOCK + node.depth - 1) *
			      sizeof(uint32_t), 1);
}

void e2pf_plan_block(struct e2pf_plan *plan, struct e2pf_kind kind,
		     uint64_t block, const void *bytes)
{
	uint32_t bs = plan->geo->block_size;

	switch (kind.parse) {
	case E2PF_EXTENT_NODE:
		plan_extents(plan, kind, block, bytes, bs);
		break;
	case E2PF_INDIRECT_BLOCK:
		if (kind.depth < 1 || kind.depth > 3)
			break;
		kind.depth--;
		plan_pointers(plan, kind, block, bytes, bs / sizeof(uint32_t));
		break;
	case E2PF_XATTR_BLOCK:
		e2pf_plan_xattr_block(plan, bytes);
		break;
	default:
		break;
	}
	e2pf_gather_flush(plan);
}
