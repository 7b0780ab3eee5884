/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The planner on hand-made inodes, trees and attributes: what it finds in valid
 * ones, and that it ignores impossible values.
 */
#include <endian.h>

#include "unit.h"
#include "plan-rig.h"

/* An inode of 256 bytes, followed by bytes that must not be read. */
struct inode {
	struct ext2_inode base;
	uint8_t tail[128];
};

static struct inode make_inode(unsigned mode, uint32_t flags)
{
	struct inode inode;

	memset(&inode, 0, sizeof(inode));
	inode.base.i_mode = htole16(mode);
	inode.base.i_links_count = htole16(1);
	inode.base.i_flags = htole32(flags);
	return inode;
}

static void put16(void *at, uint16_t value)
{
	value = htole16(value);
	memcpy(at, &value, sizeof(value));
}

static void put32(void *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static void put_header(void *node, unsigned entries, unsigned max,
		       unsigned depth)
{
	put16(node, 0xf30a);
	put16((char *)node + 2, entries);
	put16((char *)node + 4, max);
	put16((char *)node + 6, depth);
}

static void put_extent(void *node, unsigned index, uint64_t block,
		       unsigned length)
{
	char *at = (char *)node + 12 * (index + 1);

	put16(at + 4, length);
	put16(at + 6, block >> 32);
	put32(at + 8, block);
}

static void put_index(void *node, unsigned index, uint64_t block)
{
	char *at = (char *)node + 12 * (index + 1);

	put32(at + 4, block);
	put16(at + 8, block >> 32);
	put16(at + 10, 0xffff);
}

/* What is found anew. */
static unsigned plan_with(struct found *found, const struct e2pf_geometry *geo,
			  const struct e2pf_group *groups,
			  const struct inode *inode)
{
	found->count = 0;
	e2pf_plan_inodes(into(found, geo, groups), 20, inode, sizeof(*inode));
	return found->count;
}

/* A reference that was found, and one that is not parsed. */
#define REF(...) assert_ref(&found, __VA_ARGS__)
#define UNPARSED(i, block, count, cls) REF(i, block, count, cls, E2PF_UNPARSED, 0, NONE)

static struct found plan_inode(uint32_t ino, const struct inode *inode)
{
	struct e2pf_geometry geo = sound_geometry();
	struct found found = { 0 };

	e2pf_plan_inodes(into(&found, &geo, NULL), ino, inode, sizeof(*inode));
	return found;
}

/* A directory of two extents, in a filesystem of `blocks` (0: the usual number),
 * and what is read of it; 0: nothing. */
TEST(directory_in_extents)
{
	const uint64_t usual = sound_geometry().blocks;
	const uint64_t last = (UINT64_C(1) << 48) - 2;
	const struct {
		uint64_t blocks;
		struct { uint64_t block; unsigned length; } in[2], out[2];
	} of[] = {
		/* Adjacent; unwritten, and empty; the longest one counts as
		 * written. */
		{ 0, {{ 5000, 3 }, { 5003, 2 }}, {{ 5000, 5 }} },
		{ 0, {{ 6000, 32768 + 4 }, { 7000, 0 }}, {{ 6000, 4 }} },
		{ 0, {{ 5000, 32768 }, { 50000, 1 }},
		  {{ 5000, 32768 }, { 50000, 1 }} },
		/* Out of range. */
		{ 0, {{ 0, 1 }, { usual, 1 }}, {{ 0 }} },
		{ 0, {{ UINT64_C(0xffffffffffff), 0xffff }, { usual - 7, 100 }},
		  {{ usual - 7, 7 }} },
		/* Numbers of 48 bits. */
		{ last + 1, {{ last - 1, 9 }, { last + 1, 9 }},
		  {{ last - 1, 2 }} },
	};
	struct inode inode = make_inode(LINUX_S_IFDIR, EXT4_EXTENTS_FL);
	struct e2pf_geometry geo = sound_geometry();
	struct found found;
	size_t i, n;

	put_header(inode.base.i_block, 2, 4, 0);
	for (i = 0; i < COUNT(of); i++) {
		geo.blocks = of[i].blocks ? of[i].blocks : usual;
		for (n = 0; n < 2; n++)
			put_extent(inode.base.i_block, n, of[i].in[n].block,
				   of[i].in[n].length);
		plan_with(&found, &geo, NULL, &inode);
		for (n = 0; n < 2 && of[i].out[n].block; n++)
			UNPARSED(n, of[i].out[n].block, of[i].out[n].length,
			     E2PF_DIRS);
		assert_int_equal(found.count, n);
	}
	put_header(inode.base.i_block, 2, 4, 1);
	put_index(inode.base.i_block, 0, last);
	put_index(inode.base.i_block, 1, last + 1);
	assert_int_equal(plan_with(&found, &geo, NULL, &inode), 1);
	REF(0, last, 1, E2PF_EXTENTS, E2PF_EXTENT_NODE, 0, E2PF_DIRS);
}

TEST(extent_indexes)
{
	struct inode inode = make_inode(LINUX_S_IFREG, EXT4_EXTENTS_FL);
	struct found found;

	put_header(inode.base.i_block, 3, 4, 1);
	put_index(inode.base.i_block, 0, 5000);
	put_index(inode.base.i_block, 1, 5001);
	put_index(inode.base.i_block, 2, 9000);
	/* In a file, the lowest nodes are not parsed. */
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 2);
	UNPARSED(0, 5000, 2, E2PF_EXTENTS);
	UNPARSED(1, 9000, 1, E2PF_EXTENTS);

	/* In a directory, they are. */
	inode.base.i_mode = htole16(LINUX_S_IFDIR);
	found = plan_inode(20, &inode);
	REF(0, 5000, 2, E2PF_EXTENTS, E2PF_EXTENT_NODE, 0, E2PF_DIRS);

	put_header(inode.base.i_block, 1, 4, 5);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 1);
	REF(0, 5000, 1, E2PF_EXTENTS, E2PF_EXTENT_NODE, 4, E2PF_DIRS);

	/* Extents in the inode of a file are data. */
	inode.base.i_mode = htole16(LINUX_S_IFREG);
	put_header(inode.base.i_block, 1, 4, 0);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 0);
}

/* The number of the block that is planned. */
#define OWN 5000u

static struct found plan_block(struct e2pf_kind kind, const void *block)
{
	struct e2pf_geometry geo = sound_geometry();
	struct found found = { 0 };
	uint8_t *copy = malloc(geo.block_size);

	/* A separate allocation, so that a memory checker sees an overrun. */
	assert_non_null(copy);
	memcpy(copy, block, geo.block_size);
	e2pf_plan_block(into(&found, &geo, NULL), kind, OWN, copy);
	free(copy);
	return found;
}

TEST(extent_nodes)
{
	struct e2pf_kind kind = {
		.cls = E2PF_EXTENTS,
		.parse = E2PF_EXTENT_NODE, .depth = 2, .data = E2PF_DIRS
	};
	uint8_t block[4096] = { 0 };
	struct found found;
	unsigned i;

	put_header(block, 340, 340, 2);
	for (i = 0; i < 340; i++)
		put_index(block, i, 100 + i);
	found = plan_block(kind, block);
	assert_int_equal(found.count, 1);
	REF(0, 100, 340, E2PF_EXTENTS, E2PF_EXTENT_NODE, 1, E2PF_DIRS);

	/* A node that refers to itself. */
	put_index(block, 1, 5000);
	found = plan_block(kind, block);
	assert_int_equal(found.count, 2);
	REF(0, 100, 1, E2PF_EXTENTS, E2PF_EXTENT_NODE, 1, E2PF_DIRS);
	REF(1, 102, 338, E2PF_EXTENTS, E2PF_EXTENT_NODE, 1, E2PF_DIRS);

	/* The lowest level: data. */
	kind.depth = 0;
	put_header(block, 1, 340, 0);
	put_extent(block, 0, 5000, 7);
	found = plan_block(kind, block);
	assert_int_equal(found.count, 1);
	UNPARSED(0, 5000, 7, E2PF_DIRS);

	/* Nodes and data have the class of the file. */
	kind.cls = kind.data = E2PF_FILES;
	found = plan_block(kind, block);
	UNPARSED(0, 5000, 7, E2PF_FILES);
}

/* Headers of the root, which is in an inode, and of a node `depth` levels above
 * the data. */
TEST(extent_nodes_refused)
{
	enum { ROOT = -1 };
	static const struct {
		int expected;
		unsigned entries, max, depth;
	} bad[] = {
		{ ROOT, 5, 4, 0 },	/* more entries than max */
		{ ROOT, 5, 5, 0 },	/* max beyond the inode */
		{ ROOT, 0xffff, 0xffff, 0 },
		{ ROOT, 1, 1, 0 },	/* smaller max than is ever written */
		{ ROOT, 1, 4, 6 },	/* too deep */
		{ ROOT, 1, 4, 0xffff },
		{ ROOT, 1, 4, 0x100 },	/* cut off to 8 bits it is 0 */
		{ 2, 1, 340, 3 },	/* deeper than its parent claimed */
		{ 2, 1, 340, 1 },
		{ 2, 1, 340, 0 },
		{ 0, 1, 340, 1 },
		{ 6, 1, 340, 6 },	/* deeper than any tree */
		{ 255, 1, 340, 255 },
		{ 2, 341, 340, 2 },
		{ 2, 341, 341, 2 },	/* beyond the block */
		{ 2, 0xffff, 0xffff, 2 },
		{ 2, 1, 337, 2 },
		{ 2, 0, 340, 2 },
	};
	struct inode inode = make_inode(LINUX_S_IFDIR, EXT4_EXTENTS_FL);
	size_t i;

	for (i = 0; i < COUNT(bad); i++) {
		struct e2pf_kind kind = {
			.cls = E2PF_EXTENTS, .parse = E2PF_EXTENT_NODE,
			.data = E2PF_DIRS, .depth = (uint8_t)bad[i].expected
		};
		bool root = bad[i].expected == ROOT;
		uint8_t block[4096] = { 0 };
		void *node = root ? (void *)inode.base.i_block : block;
		unsigned j;

		for (j = 0; j < (root ? 4 : 340); j++)
			put_index(node, j, 100 + 2 * j);
		if (root)
			put_extent(node, 0, 5000, 3);
		put_header(node, bad[i].entries, bad[i].max, bad[i].depth);
		assert_int_equal(root ? plan_inode(20, &inode).count :
				 plan_block(kind, block).count, 0);
	}
	put_header(inode.base.i_block, 1, 4, 0);
	put_extent(inode.base.i_block, 0, 5000, 3);
	assert_int_equal(plan_inode(20, &inode).count, 1);
	put16(inode.base.i_block, 0xf30b);	/* another magic number */
	assert_int_equal(plan_inode(20, &inode).count, 0);
}

TEST(block_map)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFREG, 0);
	struct found found;
	unsigned i;

	for (i = 0; i < 15; i++)
		put32(&inode.base.i_block[i], 3000 + 2 * i);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 3);
	REF(0, 3024, 1, E2PF_INDIRECT, E2PF_UNPARSED, 1, NONE);
	REF(1, 3026, 1, E2PF_INDIRECT, E2PF_INDIRECT_BLOCK, 2, NONE);
	REF(2, 3028, 1, E2PF_INDIRECT, E2PF_INDIRECT_BLOCK, 3, NONE);

	inode.base.i_mode = htole16(LINUX_S_IFDIR);
	put32(&inode.base.i_block[1], 3001);
	put32(&inode.base.i_block[2], 0);
	put32(&inode.base.i_block[3], geo.blocks);
	put32(&inode.base.i_block[4], 0xffffffff);
	found = plan_inode(20, &inode);
	assert_int_equal(found.count, 1 + 7 + 3);
	UNPARSED(0, 3000, 2, E2PF_DIRS);
	UNPARSED(1, 3010, 1, E2PF_DIRS);
	REF(8, 3024, 1, E2PF_INDIRECT, E2PF_INDIRECT_BLOCK, 1, E2PF_DIRS);
}

TEST(indirect_blocks)
{
	struct e2pf_geometry geo = sound_geometry();
	struct e2pf_kind kind = {
		.cls = E2PF_INDIRECT,
		.parse = E2PF_INDIRECT_BLOCK, .depth = 3, .data = NONE
	};
	uint8_t block[4096] = { 0 };
	struct found found;

	put32(block, 4000);
	put32(block + 4, 4001);
	put32(block + 8, OWN);		/* itself */
	put32(block + 12, geo.blocks);
	put32(block + 4092, 4100);
	found = plan_block(kind, block);
	assert_int_equal(found.count, 2);
	REF(0, 4000, 2, E2PF_INDIRECT, E2PF_INDIRECT_BLOCK, 2, NONE);
	REF(1, 4100, 1, E2PF_INDIRECT, E2PF_INDIRECT_BLOCK, 2, NONE);
	kind.depth = 2;
	found = plan_block(kind, block);
	REF(0, 4000, 2, E2PF_INDIRECT, E2PF_UNPARSED, 1, NONE);
	kind.depth = 1;
	found = plan_block(kind, block);
	assert_int_equal(found.count, 0);
	kind.data = E2PF_DIRS;
	found = plan_block(kind, block);
	UNPARSED(0, 4000, 2, E2PF_DIRS);
	kind.depth = 0;
	assert_int_equal(plan_block(kind, block).count, 0);
	kind.depth = 4;
	assert_int_equal(plan_block(kind, block).count, 0);
	kind.depth = 255;
	assert_int_equal(plan_block(kind, block).count, 0);
}

/* By its size a target is in the inode, or a link is none. */
TEST(symlinks)
{
	static const struct {
		uint32_t flags, size, size_high;
		unsigned found;
	} of[] = {
		{ EXT4_EXTENTS_FL, 60, 0, 1 }, { EXT4_EXTENTS_FL, 59, 0, 0 },
		{ EXT4_EXTENTS_FL, 0, 0, 0 }, { EXT4_EXTENTS_FL, 60, 1, 0 },
		{ 0, 4095, 0, 1 }, { 0, 40, 0, 0 },
		{ EXT4_INLINE_DATA_FL, 4095, 0, 0 },
	};
	struct inode inode;
	struct found found;
	size_t i;

	for (i = 0; i < COUNT(of); i++) {
		inode = make_inode(LINUX_S_IFLNK, of[i].flags);
		if (of[i].flags & EXT4_EXTENTS_FL) {
			put_header(inode.base.i_block, 1, 4, 0);
			put_extent(inode.base.i_block, 0, 5000, 1);
		} else {
			put32(&inode.base.i_block[0], 5000);
		}
		inode.base.i_size = htole32(of[i].size);
		inode.base.i_size_high = htole32(of[i].size_high);
		found = plan_inode(20, &inode);
		assert_int_equal(found.count, of[i].found);
		if (of[i].found)
			UNPARSED(0, 5000, 1, E2PF_SYMLINKS);
	}
}

TEST(inodes_without_blocks)
{
	static const unsigned modes[] = {
		LINUX_S_IFCHR, LINUX_S_IFBLK, LINUX_S_IFIFO, LINUX_S_IFSOCK, 0
	};
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode;
	struct found found;
	size_t i;

	for (i = 0; i < COUNT(modes); i++) {
		inode = make_inode(modes[i], 0);
		memset(inode.base.i_block, 1, sizeof(inode.base.i_block));
		put32(&inode.base.i_file_acl, 7777);
		found = plan_inode(20, &inode);
		assert_int_equal(found.count, 1);
		UNPARSED(0, 7777, 1, E2PF_XATTRS);
	}
	inode = make_inode(LINUX_S_IFDIR, EXT4_INLINE_DATA_FL);
	put32(&inode.base.i_block[0], 5000);
	put32(&inode.base.i_block[12], 5001);
	assert_int_equal(plan_inode(20, &inode).count, 0);

	/* Deleted, or not a valid inode number. */
	inode.base.i_flags = 0;
	assert_int_equal(plan_inode(20, &inode).count, 2);
	assert_int_equal(plan_inode(0, &inode).count, 0);
	assert_int_equal(plan_inode(geo.inodes, &inode).count, 2);
	assert_int_equal(plan_inode(geo.inodes + 1, &inode).count, 0);
	assert_int_equal(plan_inode(UINT32_MAX, &inode).count, 0);
	inode.base.i_links_count = 0;
	assert_int_equal(plan_inode(20, &inode).count, 0);
	assert_int_equal(plan_inode(EXT2_ROOT_INO, &inode).count, 0);
	assert_int_equal(plan_inode(9, &inode).count, 2);
}

TEST(xattr_block_number)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFIFO, 0);
	struct e2pf_group groups[40] = { 0 };
	struct found found = { 0 };

	put32(&inode.base.i_file_acl, geo.blocks);
	assert_int_equal(plan_inode(20, &inode).count, 0);
	put32(&inode.base.i_file_acl, 7777);
	put16(&inode.base.osd2.linux2.l_i_file_acl_high, 1);
	assert_int_equal(plan_inode(20, &inode).count, 0);
	geo.feature_incompat &= ~EXT4_FEATURE_INCOMPAT_64BIT;
	assert_int_equal(plan_with(&found, &geo, groups, &inode), 1);
	/* With groups, the inodes of its values can be found. */
	REF(0, 7777, 1, E2PF_XATTRS, E2PF_XATTR_BLOCK, 0, NONE);
	geo.feature_compat = 0;
	assert_int_equal(plan_with(&found, &geo, groups, &inode), 0);
}

static size_t put_entry(uint8_t *at, unsigned name_length, uint32_t inum)
{
	memset(at, 0, 16);
	at[0] = name_length;
	at[1] = 1;
	put32(at + 4, inum);
	memset(at + 16, 'n', name_length);
	return (16 + name_length + 3) & ~3u;
}

TEST(ea_inodes_in_inode)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFIFO, 0);
	struct e2pf_group groups[40] = { 0 };
	struct found found = { 0 };
	uint8_t *at = inode.tail;

	groups[0].inode_table = 500;
	groups[39].inode_table = 9000;
	put16(at, 28);
	put32(at + 28, 0xea020000);
	at += 32;
	at += put_entry(at, 1, 17);		/* second block, with 16 inodes
						   per block */
	at += put_entry(at, 2, 18);		/* in the same block */
	at += put_entry(at, 3, geo.inodes);
	put_entry(at, 5, 8193);			/* its group has no table */
	assert_int_equal(plan_with(&found, &geo, groups, &inode), 2);
	UNPARSED(0, 501, 1, E2PF_INODES);
	UNPARSED(1, 9000 + 511, 1, E2PF_INODES);

	assert_int_equal(plan_with(&found, &geo, NULL, &inode), 0);
	/* The tail begins beyond the inode's end, or has no magic number. */
	put16(inode.tail, 124);
	assert_int_equal(plan_with(&found, &geo, groups, &inode), 0);
	put16(inode.tail, 0xfffc);
	assert_int_equal(plan_with(&found, &geo, groups, &inode), 0);
	put16(inode.tail, 32);
	assert_int_equal(plan_with(&found, &geo, groups, &inode), 0);
}

/* The value itself is read if files have inline data. */
TEST(ea_value)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode inode = make_inode(LINUX_S_IFREG,
					EXT4_EXTENTS_FL | EXT4_EA_INODE_FL);
	struct found found = { 0 };

	inode.base.i_size = htole32(1 << 24);
	put_header(inode.base.i_block, 1, 4, 0);
	put_extent(inode.base.i_block, 0, 700, 16);
	assert_int_equal(plan_with(&found, &geo, NULL, &inode), 0);
	geo.feature_incompat |= EXT4_FEATURE_INCOMPAT_INLINE_DATA;
	assert_int_equal(plan_with(&found, &geo, NULL, &inode), 1);
	UNPARSED(0, 700, 16, E2PF_XATTRS);
	/* Longer than possible, twice; not a value; without the feature. */
	inode.base.i_size = htole32((1 << 24) + 1);
	assert_int_equal(plan_with(&found, &geo, NULL, &inode), 0);
	inode.base.i_size = 0;
	inode.base.i_size_high = htole32(1);
	assert_int_equal(plan_with(&found, &geo, NULL, &inode), 0);
	inode.base.i_size_high = 0;
	inode.base.i_flags = htole32(EXT4_EXTENTS_FL);
	assert_int_equal(plan_with(&found, &geo, NULL, &inode), 0);
	inode.base.i_flags = htole32(EXT4_EXTENTS_FL | EXT4_EA_INODE_FL);
	geo.feature_incompat &= ~EXT4_FEATURE_INCOMPAT_EA_INODE;
	assert_int_equal(plan_with(&found, &geo, NULL, &inode), 0);
}

TEST(ea_inodes_in_block)
{
	struct e2pf_geometry geo = sound_geometry();
	struct e2pf_kind kind = {
		.cls = E2PF_XATTRS,
		.parse = E2PF_XATTR_BLOCK, .data = NONE
	};
	struct e2pf_group groups[40] = { 0 };
	struct found found = { 0 };
	uint8_t *block = calloc(1, 4096), *at = block + 32;

	assert_non_null(block);
	groups[0].inode_table = 500;
	put32(block, 0xea020000);
	at += put_entry(at, 200, 10);		/* reserved */
	at += put_entry(at, 0, geo.inodes + 1);
	at += put_entry(at, 9, UINT32_MAX);
	at += put_entry(at, 9, 90);
	at += 4;				/* zeros: the end */
	put_entry(at, 9, 100);
	e2pf_plan_block(into(&found, &geo, groups), kind, OWN, block);
	assert_int_equal(found.count, 1);
	UNPARSED(0, 505, 1, E2PF_INODES);

	/* Without the feature, or the magic number, or groups. */
	geo.feature_incompat &= ~EXT4_FEATURE_INCOMPAT_EA_INODE;
	e2pf_plan_block(into(&found, &geo, groups), kind, OWN, block);
	geo = sound_geometry();
	e2pf_plan_block(into(&found, &geo, NULL), kind, OWN, block);
	put32(block, 0xea010000);
	e2pf_plan_block(into(&found, &geo, groups), kind, OWN, block);
	assert_int_equal(found.count, 1);

	/* No end marker, and names of the greatest length. */
	put32(block, 0xea020000);
	memset(block + 32, 0xff, 4096 - 32);
	e2pf_plan_block(into(&found, &geo, groups), kind, OWN, block);
	assert_int_equal(found.count, 1);
	free(block);
}

/* A reference's length has 32 bits, however many blocks are added. */
TEST(references_of_32_bits)
{
	const uint32_t most = UINT32_MAX / 4096;
	struct e2pf_geometry geo = sound_geometry();
	struct found found = { 0 };
	struct e2pf_plan *plan = into(&found, &geo, NULL);

	geo.blocks = UINT64_C(1) << 40;
	e2pf_gather_add(plan, e2pf_unparsed(E2PF_DIRS), 5000, most);
	e2pf_gather_add(plan, e2pf_unparsed(E2PF_DIRS), 5000 + most, most + 7u);
	e2pf_gather_flush(plan);
	assert_int_equal(found.count, 3);
	UNPARSED(0, 5000, most, E2PF_DIRS);
	UNPARSED(1, 5000 + most, most, E2PF_DIRS);
	UNPARSED(2, 5000 + 2 * most, 7, E2PF_DIRS);
}

/* What is not wanted is passed only if it leads to something that is. */
TEST(only_wanted_classes)
{
	struct inode inode = make_inode(LINUX_S_IFDIR, EXT4_EXTENTS_FL);
	struct e2pf_geometry geo = sound_geometry();
	struct found found = { 0 };
	struct e2pf_plan *plan = into(&found, &geo, NULL);

	put_header(inode.base.i_block, 1, 4, 1);
	put_index(inode.base.i_block, 0, 5000);
	plan->classes = 1u << E2PF_DIRS;
	e2pf_plan_inodes(plan, 20, &inode, sizeof(inode));
	assert_int_equal(found.count, 1);
	assert_true(found.ref[0].parse);
	plan->classes = 1u << E2PF_BITMAPS;
	e2pf_plan_inodes(plan, 20, &inode, sizeof(inode));
	assert_int_equal(found.count, 2);
	assert_false(found.ref[1].parse);
	put_header(inode.base.i_block, 1, 4, 0);
	put_extent(inode.base.i_block, 0, 5000, 1);
	e2pf_plan_inodes(plan, 20, &inode, sizeof(inode));
	assert_int_equal(found.count, 2);
}

TEST(no_first_extent)
{
	struct inode inode = make_inode(LINUX_S_IFLNK, EXT4_EXTENTS_FL);

	inode.base.i_size = htole32(100);
	put_extent(inode.base.i_block, 0, 5000, 1);
	assert_int_equal(plan_inode(20, &inode).count, 0);
}

TEST(runs_of_inodes)
{
	struct e2pf_geometry geo = sound_geometry();
	struct inode table[16];
	struct found found = { 0 };
	unsigned i;

	for (i = 0; i < 16; i++) {
		table[i] = make_inode(LINUX_S_IFDIR, 0);
		put32(&table[i].base.i_block[0], 5000 + 2 * i);
	}
	e2pf_plan_inodes(into(&found, &geo, NULL), 17, table,
			 3 * geo.inode_size);
	assert_int_equal(found.count, 3);
	UNPARSED(2, 5004, 1, E2PF_DIRS);
	found.count = 0;
	e2pf_plan_inodes(into(&found, &geo, NULL), 17, table,
			 sizeof(table) - 1);
	assert_int_equal(found.count, 15);
	found.count = 0;
	e2pf_plan_inodes(into(&found, &geo, NULL), geo.inodes - 1, table,
			 sizeof(table));
	assert_int_equal(found.count, 2);
	e2pf_plan_inodes(into(&found, &geo, NULL), 0, table,
			 sizeof(table));
	e2pf_plan_inodes(into(&found, &geo, NULL), geo.inodes + 1, table,
			 sizeof(table));
	e2pf_plan_inodes(into(&found, &geo, NULL), UINT32_MAX, table,
			 sizeof(table));
	assert_int_equal(found.count, 2);

	/* Numbers do not wrap around. */
	found.count = 0;
	geo.inodes = UINT32_MAX;
	e2pf_plan_inodes(into(&found, &geo, NULL), UINT32_MAX, table,
			 sizeof(table));
	assert_int_equal(found.count, 1);
}

UNIT_MAIN(NULL, NULL)
