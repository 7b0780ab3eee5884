/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * From a block of a directory to the inodes that its names refer to.  Decides what is an
 * entry.  The nodes of a hash tree look like entries without an inode, and so do
 * checksums; encrypted and case-folded names are bytes like others, and "." and ".."
 * are neither.
 */
#include "plan.h"

/* Inode, length of the entry and of the name, type. */
#define ENTRY_SIZE 8u

static uint32_t le(const uint8_t *bytes, unsigned size)
{
	uint32_t value = 0;

	memcpy(&value, bytes, size);
	return le32toh(value);
}

/* Entries of 64 KiB do not fit into 16 bits: the lower two, which are 0 in others, are
 * bits 16 and 17, and two values mean the whole block. */
static uint32_t entry_length(const uint8_t *entry, size_t size)
{
	uint32_t length = le(entry + 4, 2);

	if (size < 65536)
		return length;
	if (!length || length == 65535)
		return (uint32_t)size;
	return (length & 65532) | (length & 3) << 16;
}

/* "." and "..": what they name is not below the directory. */
static bool is_dots(const uint8_t *name, unsigned length)
{
	return length && length <= 2 && name[0] == '.' && name[length - 1] == '.';
}

void ext4_plan_entries(const struct ext4_geometry *geo, const void *bytes,
		       size_t size, ext4_entry_fn *found, void *ctx)
{
	const uint8_t *entry = bytes;
	struct ext4_entry one;
	uint32_t length;

	for (; size >= ENTRY_SIZE; entry += length, size -= length) {
		length = entry_length(entry, size);
		if (length < ENTRY_SIZE || length % 4 || length > size)
			return;
		one = (struct ext4_entry) {
			.ino = le(entry, 4), .length = entry[6],
			.name = (const char *)entry + ENTRY_SIZE,
			.directory = entry[7] == EXT2_FT_DIR ||
				     entry[7] == EXT2_FT_UNKNOWN
		};
		if (one.ino && one.ino <= geo->inodes && one.length &&
		    one.length <= length - ENTRY_SIZE &&
		    !is_dots(entry + ENTRY_SIZE, one.length))
			found(ctx, &one);
	}
}

/* The value of the attribute "system.data", where a directory within its inode
 * continues. */
static void plan_inline_rest(const struct ext4_geometry *geo, const uint8_t *tail,
			     size_t room, ext4_entry_fn *found, void *ctx)
{
	struct ext2_ext_attr_entry entry;
	size_t at;

	for (at = 0; at + sizeof(entry) + 4 <= room && le(tail + at, 4);
	     at += EXT2_EXT_ATTR_LEN(entry.e_name_len)) {
		memcpy(&entry, tail + at, sizeof(entry));
		/* 7: EXT4_XATTR_INDEX_SYSTEM of the kernel. */
		if (entry.e_name_index != 7 || entry.e_name_len != 4 ||
		    memcmp(tail + at + sizeof(entry), "data", 4))
			continue;
		if (!entry.e_value_inum &&
		    le16toh(entry.e_value_offs) <= room &&
		    le32toh(entry.e_value_size) <=
		    room - le16toh(entry.e_value_offs))
			ext4_plan_entries(geo, tail + le16toh(entry.e_value_offs),
					  le32toh(entry.e_value_size), found,
					  ctx);
		return;
	}
}

/* The number of the parent comes first. */
void ext4_plan_inline_entries(const struct ext4_geometry *geo, const void *inode,
			      ext4_entry_fn *found, void *ctx)
{
	const uint8_t *bytes = inode, *tail = bytes + EXT2_GOOD_OLD_INODE_SIZE;
	const size_t i_block = offsetof(struct ext2_inode, i_block);
	uint32_t room = geo->inode_size - EXT2_GOOD_OLD_INODE_SIZE, extra;

	if ((le(bytes, 2) & LINUX_S_IFMT) != LINUX_S_IFDIR ||
	    !(le(bytes + offsetof(struct ext2_inode, i_flags), 4) &
	      EXT4_INLINE_DATA_FL))
		return;
	ext4_plan_entries(geo, bytes + i_block + 4,
			  EXT2_N_BLOCKS * sizeof(uint32_t) - 4, found, ctx);
	extra = room ? le(tail, 2) + 4 : 4;
	if (extra + 4 <= room && le(tail + extra - 4, 4) == EXT2_EXT_ATTR_MAGIC)
		plan_inline_rest(geo, tail + extra, room - extra, found, ctx);
}

void ext4_plan_directories(struct ext4_plan *plan, uint32_t first_ino,
			   const void *inodes, size_t size,
			   bool (*takes)(void *ctx, uint32_t ino), ext4_entry_fn *found,
			   void *ctx)
{
	const uint32_t each = plan->geo->inode_size;
	const uint8_t *inode = inodes;
	uint32_t ino;

	/* The last block of a table may have room for more than there are. */
	for (ino = first_ino; size >= each && ino <= plan->geo->inodes; ino++) {
		if (takes(ctx, ino)) {
			ext4_plan_inodes(plan, ino, inode, each);
			ext4_plan_inline_entries(plan->geo, inode, found, ctx);
		}
		size -= each;
		inode += each;
	}
}
