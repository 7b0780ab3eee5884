/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * From an inode to the blocks that a full check reads because of it: the nodes of
 * its mapping, its attribute block, and its data if that is metadata.  Decides which
 * inodes count as in use, of which class their data is, and which nodes are
 * plausible.  Ignores checksums, sizes and times.
 *
 * A value of an attribute may be an inode of its own (ea_inode): its table is read as
 * all are, so nothing is looked up for it.
 *
 * All results of the planner pass through ext4_gather_add(): adjacent blocks of
 * the same kind become one reference, and each is limited to blocks inside the
 * filesystem and to wanted classes.
 */
#include "plan.h"

static uint16_t le16(const void *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return le16toh(value);
}

static uint32_t le32(const void *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

void ext4_gather_flush(struct ext4_plan *plan)
{
	if (plan->pending.length)
		plan->sink(plan->ctx, &plan->pending);
	plan->pending.length = 0;
}

static bool follows(const struct pf_ref *ref, uint64_t cookie,
		    uint64_t offset, uint64_t length)
{
	return ref->length && ref->cookie == cookie &&
	       ref->offset + ref->length == offset &&
	       ref->length + length <= UINT32_MAX;
}

void ext4_gather_add(struct ext4_plan *plan, struct ext4_kind kind,
		     uint64_t block, uint64_t count)
{
	uint64_t bs = plan->geo->block_size, max = UINT32_MAX / bs * bs;
	struct pf_ref *pending = &plan->pending;
	uint64_t left, offset = block * bs, length;
	uint64_t cookie = ext4_cookie_of(kind);

	if (!count || !ext4_block_ok(plan->geo, block) ||
	    (kind.parse == EXT4_UNPARSED && !(plan->classes & 1u << kind.cls)))
		return;
	if (count > plan->geo->blocks - block)
		count = plan->geo->blocks - block;
	for (left = count * bs; left; left -= length, offset += length) {
		length = left < max ? left : max;
		if (follows(pending, cookie, offset, length)) {
			pending->length += (uint32_t)length;
			continue;
		}
		ext4_gather_flush(plan);
		*pending = (struct pf_ref) {
			.offset = offset,
			.length = (uint32_t)length,
			.cookie = cookie,
			.cls = kind.cls,
			/* It is parsed only if it leads to a wanted block. */
			.parse = kind.parse != EXT4_UNPARSED &&
				 plan->classes & EXT4_TREE_CLASSES
		};
	}
}

/*
 * The mapping of a file: extent nodes and indirect blocks.
 */

/* EXT4_MAX_EXTENT_DEPTH of the kernel: five levels of the smallest nodes map
 * more than the 2^32 blocks that a file can have. */
#define EXTENT_DEPTH 5

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

/* A block number of 48 bits, in two parts. */
static uint64_t block_of(const uint8_t *low, const uint8_t *high)
{
	return le32(low) | (uint64_t)le16(high) << 32;
}

/*
 * The number of entries of a node, or 0 if its header is not plausible.
 * libext2fs allows a node to have up to two entries less than would fit,
 * because a checksum may be at its end.
 */
static unsigned extent_entries(const void *node, size_t size, unsigned depth)
{
	const uint8_t *header = node;
	unsigned entries = le16(header + 2);
	unsigned max = le16(header + 4);
	unsigned fit = size / ENTRY_SIZE - 1;

	if (le16(header) != EXTENT_MAGIC || entries > max || max > fit ||
	    max + 2 < fit || le16(header + 6) != depth)
		return 0;
	return entries;
}

/* Whether nodes that are `depth` levels above the data must be parsed.  The
 * checker reads the lowest nodes of every file, but they must be parsed only if
 * the file's data is metadata. */
static bool is_parsed(struct ext4_kind node, unsigned depth)
{
	return depth || node.data < EXT4_CLASSES;
}

/* Extents refer to data, which is planned only if it is metadata. */
static void plan_data(struct ext4_plan *plan, struct ext4_kind node,
		      const void *bytes, unsigned entries)
{
	unsigned i;

	if (node.data >= EXT4_CLASSES)
		return;
	for (i = 0; i < entries; i++) {
		const uint8_t *extent = entry_at(bytes, i);
		uint64_t block = block_of(extent + 8, extent + 6);
		unsigned length = le16(extent + 4);

		if (length > INIT_MAX_LEN)
			length -= INIT_MAX_LEN;
		ext4_gather_add(plan, ext4_unparsed(node.data), block, length);
	}
}

/* Plan a node of an extent tree: the `size` bytes of block `own` (0 for the
 * root, which is in an inode).  Its header must say the same depth. */
static void plan_extents(struct ext4_plan *plan, struct ext4_kind node,
			 uint64_t own, const void *bytes, size_t size)
{
	unsigned entries, i;

	if (node.depth > EXTENT_DEPTH)
		return;
	entries = extent_entries(bytes, size, node.depth);
	if (node.depth == 0) {
		plan_data(plan, node, bytes, entries);
		return;
	}
	node.depth--;
	node.parse = is_parsed(node, node.depth) ? EXT4_EXTENT_NODE : EXT4_UNPARSED;
	for (i = 0; i < entries; i++) {
		const uint8_t *index = entry_at(bytes, i);
		uint64_t block = block_of(index + 4, index + 8);

		if (block != own)
			ext4_gather_add(plan, node, block, 1);
	}
}

/* The first block of the first extent, if the tree has no nodes below its root;
 * 0 otherwise. */
static uint64_t first_extent_block(const void *i_block)
{
	const uint8_t *extent = entry_at(i_block, 0);

	if (!extent_entries(i_block, I_BLOCK_SIZE, 0) || !le16(extent + 4))
		return 0;
	return block_of(extent + 8, extent + 6);
}

/* Plan `count` 32-bit numbers of blocks, which are in block `own`: indirect
 * blocks of depth node.depth, or data blocks if that is 0. */
static void plan_pointers(struct ext4_plan *plan, struct ext4_kind node,
			  uint64_t own, const void *pointers, unsigned count)
{
	unsigned i;

	if (node.depth == 0) {
		if (node.data >= EXT4_CLASSES)
			return;
		node = ext4_unparsed(node.data);
	} else {
		node.parse = is_parsed(node, node.depth - 1u) ?
			     EXT4_INDIRECT_BLOCK : EXT4_UNPARSED;
	}
	for (i = 0; i < count; i++) {
		uint32_t block = le32((const uint8_t *)pointers +
					   i * sizeof(block));

		if (block != own)
			ext4_gather_add(plan, node, block, 1);
	}
}

/* Plan the root of an extent tree or of a block map: the 60 bytes of i_block.
 * Nodes have class `cls`, data blocks class `data` (EXT4_CLASSES: not
 * metadata). */
static void plan_root(struct ext4_plan *plan, bool extents,
		      const void *i_block, enum ext4_class cls,
		      enum ext4_class data)
{
	struct ext4_kind node = { .cls = cls, .data = data };
	const uint8_t *pointers = i_block;

	/* Its nodes are not wanted, and lead to no wanted block. */
	if (!(plan->classes & 1u << cls) &&
	    (data >= EXT4_CLASSES || !(plan->classes & 1u << data)))
		return;
	if (extents) {
		/* One of more than 8 bits is not the header's any more. */
		node.depth = (uint8_t)le16(pointers + 6);
		plan_extents(plan, node, 0, i_block, I_BLOCK_SIZE);
		return;
	}
	plan_pointers(plan, node, 0, pointers, EXT2_NDIR_BLOCKS);
	for (node.depth = 1; node.depth <= 3; node.depth++)
		plan_pointers(plan, node, 0, pointers +
			      (EXT2_IND_BLOCK + node.depth - 1) *
			      sizeof(uint32_t), 1);
}

/*
 * Inodes.
 */

/* The checker reads these inodes whatever their link count is. */
static bool is_reserved(const struct ext4_geometry *geo, uint32_t ino)
{
	return ino < geo->first_ino && ino != EXT2_ROOT_INO;
}

/* The attribute block of an inode. */
static void plan_xattr_block(struct ext4_plan *plan,
			     const struct ext2_inode *inode)
{
	const struct ext4_geometry *geo = plan->geo;
	uint64_t block = le32toh(inode->i_file_acl);

	if (!(geo->feature_compat & EXT2_FEATURE_COMPAT_EXT_ATTR))
		return;
	if (geo->feature_incompat & EXT4_FEATURE_INCOMPAT_64BIT)
		block |= (uint64_t)
			 le16toh(inode->osd2.linux2.l_i_file_acl_high) << 32;
	ext4_gather_add(plan, ext4_unparsed(EXT4_XATTRS), block, 1);
}

/* Plan the mapping of a file, and its data if that has a class. */
static void plan_mapping(struct ext4_plan *plan,
			 const struct ext2_inode *inode, bool special,
			 enum ext4_class data)
{
	uint32_t flags = le32toh(inode->i_flags);
	bool extents = flags & EXT4_EXTENTS_FL;

	if (flags & EXT4_INLINE_DATA_FL)
		return;
	plan_root(plan, extents, inode->i_block, special ? EXT4_FILES :
		  extents ? EXT4_EXTENTS : EXT4_INDIRECT, data);
}

/*
 * A target of up to 59 bytes is stored in the inode; libext2fs decides that by
 * the size alone.  A longer target is in the first block, and a valid one has
 * no second block.
 */
static void plan_symlink(struct ext4_plan *plan,
			 const struct ext2_inode *inode)
{
	uint32_t size = le32toh(inode->i_size), flags = le32toh(inode->i_flags);

	if (inode->i_size_high || size < sizeof(inode->i_block) ||
	    flags & EXT4_INLINE_DATA_FL)
		return;
	ext4_gather_add(plan, ext4_unparsed(EXT4_SYMLINKS),
			flags & EXT4_EXTENTS_FL ?
			first_extent_block(inode->i_block) :
			le32(inode->i_block), 1);
	plan_mapping(plan, inode, false, EXT4_CLASSES);
}

static void plan_inode(struct ext4_plan *plan, uint32_t ino,
		       const uint8_t *bytes)
{
	struct ext2_inode inode;

	memcpy(&inode, bytes, sizeof(inode));
	/* The bad blocks inode has only a mapping, not even a mode. */
	if (ino == EXT2_BAD_INO) {
		plan_mapping(plan, &inode, true, EXT4_CLASSES);
		return;
	}
	if (!inode.i_links_count && !is_reserved(plan->geo, ino))
		return;

	plan_xattr_block(plan, &inode);
	switch (le16toh(inode.i_mode) & LINUX_S_IFMT) {
	case LINUX_S_IFREG:
		/* Journal, quota files, and blocks for a larger table of
		 * groups. */
		plan_mapping(plan, &inode, ino < plan->geo->first_ino,
			     EXT4_CLASSES);
		break;
	case LINUX_S_IFDIR:
		plan_mapping(plan, &inode, false, EXT4_DIRS);
		break;
	case LINUX_S_IFLNK:
		plan_symlink(plan, &inode);
		break;
	default:
		break;
	}
}

void ext4_plan_inodes(struct ext4_plan *plan, uint32_t first_ino,
		      const void *inodes, size_t size)
{
	const struct ext4_geometry *geo = plan->geo;
	size_t count = size / geo->inode_size, i;
	const uint8_t *inode = inodes;

	if (!first_ino || first_ino > geo->inodes)
		return;
	if (count > geo->inodes - first_ino + 1ull)
		count = geo->inodes - first_ino + 1ull;
	for (i = 0; i < count; i++, inode += geo->inode_size) {
		plan_inode(plan, first_ino + (uint32_t)i, inode);
		ext4_gather_flush(plan);
	}
}

void ext4_plan_block(struct ext4_plan *plan, struct ext4_kind kind,
		     uint64_t block, const void *bytes)
{
	uint32_t bs = plan->geo->block_size;

	switch (kind.parse) {
	case EXT4_EXTENT_NODE:
		plan_extents(plan, kind, block, bytes, bs);
		break;
	case EXT4_INDIRECT_BLOCK:
		if (kind.depth < 1 || kind.depth > 3)
			break;
		kind.depth--;
		plan_pointers(plan, kind, block, bytes, bs / sizeof(uint32_t));
		break;
	default:
		break;
	}
	ext4_gather_flush(plan);
}
