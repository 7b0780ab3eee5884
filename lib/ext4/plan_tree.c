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

/* The description of a node's child that is `depth` levels above the leaves. */
static struct e2pf_run child_of(const struct e2pf_run *run,
				enum e2pf_parse parse, unsigned depth)
{
	struct e2pf_run child = *run;

	child.parse = parse;
	child.depth = depth;
	return child;
}

/* Extents refer to data, which is planned only if it is metadata. */
static void plan_leaf(struct e2pf_gather *out, const struct e2pf_run *run,
		      const void *node, unsigned entries)
{
	const struct e2pf_run like = {
		.cls = run->data,
		.parse = E2PF_LEAF,
		.data = E2PF_CLASSES
	};
	unsigned i;

	if (run->data >= E2PF_CLASSES)
		return;
	for (i = 0; i < entries; i++) {
		const uint8_t *extent = entry_at(node, i);
		uint64_t block = e2pf_le32(extent + 8) |
				 (uint64_t)e2pf_le16(extent + 6) << 32;
		unsigned length = e2pf_le16(extent + 4);

		if (length > INIT_MAX_LEN)
			length -= INIT_MAX_LEN;
		e2pf_gather_add(out, &like, block, length);
	}
}

void e2pf_plan_extents(struct e2pf_gather *out, const struct e2pf_run *run,
		       unsigned depth, const void *node, size_t size)
{
	struct e2pf_run child;
	unsigned entries, i;

	if (depth > E2PF_EXTENT_DEPTH)
		return;
	entries = extent_entries(node, size, depth);
	if (depth == 0) {
		plan_leaf(out, run, node, entries);
		return;
	}
	/* The checker reads the lowest nodes of every file, but they must be
	 * parsed only if the file's data is metadata. */
	child = child_of(run, E2PF_EXTENT_NODE, depth - 1);
	if (depth == 1 && run->data >= E2PF_CLASSES)
		child.parse = E2PF_LEAF;
	for (i = 0; i < entries; i++) {
		const uint8_t *index = entry_at(node, i);
		uint64_t block = e2pf_le32(index + 4) |
				 (uint64_t)e2pf_le16(index + 8) << 32;

		if (block != run->block)
			e2pf_gather_add(out, &child, block, 1);
	}
}

void e2pf_plan_extent_root(struct e2pf_gather *out, const void *i_block,
			   enum e2pf_class cls, enum e2pf_class data)
{
	const struct e2pf_run root = { .cls = cls, .data = data };

	e2pf_plan_extents(out, &root, e2pf_le16((const uint8_t *)i_block + 6),
			  i_block, I_BLOCK_SIZE);
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

/*
 * Plan `count` 32-bit block numbers.  The blocks are indirect blocks of depth
 * `depth`, or data blocks if that is 0.
 */
static void plan_pointers(struct e2pf_gather *out, const struct e2pf_run *run,
			  unsigned depth, const void *pointers,
			  unsigned count)
{
	struct e2pf_run child = child_of(run, E2PF_INDIRECT_BLOCK, depth);
	unsigned i;

	if (depth == 0) {
		if (run->data >= E2PF_CLASSES)
			return;
		child = (struct e2pf_run) {
			.cls = run->data,
			.parse = E2PF_LEAF,
			.data = E2PF_CLASSES
		};
	} else if (depth == 1 && run->data >= E2PF_CLASSES) {
		child.parse = E2PF_LEAF;
	}
	for (i = 0; i < count; i++) {
		uint32_t block = e2pf_le32((const uint8_t *)pointers +
					   i * sizeof(block));

		if (block != run->block)
			e2pf_gather_add(out, &child, block, 1);
	}
}

void e2pf_plan_block_map(struct e2pf_gather *out, const void *i_block,
			 enum e2pf_class cls, enum e2pf_class data)
{
	struct e2pf_run root = { .cls = cls, .data = data };
	const uint8_t *pointers = i_block;
	unsigned depth;

	plan_pointers(out, &root, 0, pointers, EXT2_NDIR_BLOCKS);
	for (depth = 1; depth <= 3; depth++)
		plan_pointers(out, &root, depth, pointers +
			      (EXT2_IND_BLOCK + depth - 1) * sizeof(uint32_t),
			      1);
}

void e2pf_plan_indirect(struct e2pf_gather *out, const struct e2pf_run *run,
			const void *block)
{
	if (run->depth >= 1 && run->depth <= 3)
		plan_pointers(out, run, run->depth - 1, block,
			      out->geo->block_size / sizeof(uint32_t));
}

void e2pf_plan_block(const struct e2pf_geometry *geo,
		     const struct e2pf_group *groups,
		     const struct e2pf_run *run, const void *block,
		     e2pf_run_sink sink, void *ctx)
{
	struct e2pf_gather out = { .geo = geo, .sink = sink, .ctx = ctx };

	switch (run->parse) {
	case E2PF_EXTENT_NODE:
		e2pf_plan_extents(&out, run, run->depth, block,
				  geo->block_size);
		break;
	case E2PF_INDIRECT_BLOCK:
		e2pf_plan_indirect(&out, run, block);
		break;
	case E2PF_XATTR_BLOCK:
		e2pf_plan_xattr_block(&out, groups, block);
		break;
	default:
		break;
	}
	e2pf_gather_flush(&out);
}
