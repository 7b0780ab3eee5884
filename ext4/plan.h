/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The planner: finds the blocks that metadata refers to.
 *
 * Every function here is pure: no I/O, no allocation, no global state, safe
 * from any thread and on hostile bytes.  On-disk numbers are read as
 * little-endian on any host, and checked against the filesystem's size before
 * they are returned.  Every loop is bounded by the size of the buffer it reads.
 * Impossible values are silently left out: to report them is the checker's
 * task.
 */
#ifndef EXT4_PLAN_H
#define EXT4_PLAN_H

#include <endian.h>
#include <string.h>
#include <ext2fs/ext2fs.h>

#include "prefetch/source.h"

/* The classes of metadata. */
enum ext4_class {
	EXT4_BITMAPS,		/* block and inode bitmaps */
	EXT4_INODES,		/* inode tables, the part in use */
	EXT4_EXTENTS,		/* blocks of extent trees */
	EXT4_INDIRECT,		/* indirect, double and triple indirect
				   blocks */
	EXT4_DIRS,		/* directory blocks, including htree nodes */
	EXT4_XATTRS,		/* extended attribute blocks */
	EXT4_SYMLINKS,		/* symbolic links too long for the inode */
	EXT4_FILES,		/* block maps of the journal and of other reserved
				   inodes; blocks that pass 1D clones */
	EXT4_CLASSES
};

#define EXT4_ALL_CLASSES ((1u << EXT4_CLASSES) - 1)

/* The superblock fields that planning needs, in host byte order. */
struct ext4_geometry {
	uint64_t blocks;		/* s_blocks_count */
	uint32_t block_size;		/* bytes, 1024 to 65536 */
	uint32_t first_data_block;
	uint32_t blocks_per_group;
	uint32_t inodes_per_group;
	uint32_t inode_size;		/* bytes, 128 to block_size */
	uint32_t inodes;		/* s_inodes_count */
	uint32_t groups;
	uint32_t desc_size;		/* bytes, at least 32 */
	uint32_t feature_compat;
	uint32_t feature_incompat;
	uint32_t feature_ro_compat;
	uint32_t first_ino;
	uint32_t hash_seed[4];		/* of names in directories, */
	int hash_version;		/* for an ext4_hash_fn */
};

/* True if this can be the number of a block that metadata refers to.  Zero
 * always means a hole, even if the filesystem has a block 0. */
static inline bool ext4_block_ok(const struct ext4_geometry *geo,
				 uint64_t block)
{
	return block && block >= geo->first_data_block && block < geo->blocks;
}

/* The number of blocks that `inodes` inodes of a table take. */
static inline uint32_t ext4_table_blocks(const struct ext4_geometry *geo,
					 uint32_t inodes)
{
	return ((uint64_t)inodes * geo->inode_size + geo->block_size - 1) /
	       geo->block_size;
}

/* One group's descriptor, in host byte order, as the checker will use it. */
struct ext4_group {
	uint64_t inode_table;		/* first block; 0 if out of range */
	uint64_t block_bitmap;		/* 0 if out of range or uninit */
	uint64_t inode_bitmap;		/* 0 if out of range or uninit */
	uint32_t inodes_in_use;		/* at the table's start, that a scan
					   reads */
	uint32_t inodes_allocated;	/* for progress reports only */
};

/* How the bytes of a block are parsed once they have been read. */
enum ext4_parse {
	EXT4_UNPARSED,			/* refers to no metadata */
	EXT4_INODE_TABLE,
	EXT4_EXTENT_NODE,
	EXT4_INDIRECT_BLOCK,
	/* Below a directory (directories.c): a part of a table, and a block of
	 * entries. */
	EXT4_DIRECTORY_TABLE,
	EXT4_DIRECTORY_BLOCK
};

/* The kind of a run of blocks: the cookie of a reference. */
struct ext4_kind {
	union {
		uint32_t group;		/* of an inode table */
		uint32_t from_ino;	/* only below a directory, of any other block:
					   the inode that leads to it */
	};
	uint8_t parse;			/* enum ext4_parse */
	uint8_t depth;			/* extent node: levels below it;
					   indirect: 1 single to 3 triple */
	uint8_t data;			/* class of the data blocks below it,
					   EXT4_CLASSES if they are not
					   metadata */
	uint8_t cls;			/* enum ext4_class, as in the
					   reference */
};

_Static_assert(sizeof(struct ext4_kind) == sizeof(uint64_t), "a cookie");

static inline uint64_t ext4_cookie_of(struct ext4_kind kind)
{
	uint64_t cookie;

	memcpy(&cookie, &kind, sizeof(cookie));
	return cookie;
}

static inline struct ext4_kind ext4_kind_of(const struct pf_ref *ref)
{
	struct ext4_kind kind;

	memcpy(&kind, &ref->cookie, sizeof(kind));
	return kind;
}

/* The same reference, as one to which the inode of this number leads: the blocks of a
 * directory are parsed for their entries. */
static inline struct pf_ref ext4_ref_from(const struct pf_ref *found, uint32_t ino)
{
	struct ext4_kind kind = ext4_kind_of(found);
	struct pf_ref ref = *found;

	if (kind.cls == EXT4_DIRS && !ref.parse) {
		kind.parse = EXT4_DIRECTORY_BLOCK;
		ref.parse = true;
	}
	kind.from_ino = ino;
	ref.cookie = ext4_cookie_of(kind);
	return ref;
}

/* The kind of blocks that are not parsed. */
static inline struct ext4_kind ext4_unparsed(enum ext4_class cls)
{
	return (struct ext4_kind) {
		.cls = cls, .parse = EXT4_UNPARSED, .data = EXT4_CLASSES
	};
}

/* Classes that are found by parsing. */
#define EXT4_TREE_CLASSES (EXT4_ALL_CLASSES & \
			   ~(1u << EXT4_BITMAPS | 1u << EXT4_INODES))

/*
 * The state of the planner.  It passes the references that it finds to the
 * sink before a function returns: runs of adjacent blocks of one kind, all
 * inside the filesystem.
 */
struct ext4_plan {
	const struct ext4_geometry *geo;
	unsigned classes;		/* 1u << enum ext4_class: blocks of
					   others are passed only if they lead
					   to some */
	pf_sink sink;
	void *ctx;
	struct pf_ref pending;	/* private; length 0: none */
};

/*
 * Parse the 1024 bytes of an on-disk superblock.  Returns 0, or -1 if it is not
 * a superblock or its fields contradict each other; then *geo is undefined.
 */
int ext4_plan_superblock(const void *superblock, struct ext4_geometry *geo);

/*
 * Parse the on-disk descriptor of group `number`, geo->desc_size bytes.  As in
 * the inode scan, the unused part of a group is trusted if descriptors have
 * checksums (uninit_bg, metadata_csum).  The checksum itself is not verified.
 *
 * When libext2fs opens a filesystem with a backup superblock, it clears the
 * marks of unused parts in memory, and the scan then reads every inode.  To
 * know what will be read, take descriptors from libext2fs and not from the
 * disk.
 */
void ext4_plan_descriptor(const struct ext4_geometry *geo, uint32_t number,
			  const void *desc, struct ext4_group *group);

/* Find the blocks that group `number` refers to directly: its bitmaps and the
 * used part of its inode table. */
void ext4_plan_group(struct ext4_plan *plan, uint32_t number,
		     const struct ext4_group *group);

/*
 * Find the blocks that consecutive inodes of a table refer to.  `first_ino` is
 * the number of the first one; `inodes` holds `size` bytes.  For each inode: extent
 * tree or indirect blocks, directory blocks, xattr block and slow symlink.
 * Incomplete inodes, and inodes that the filesystem does not have, are skipped.
 */
void ext4_plan_inodes(struct ext4_plan *plan, uint32_t first_ino,
		      const void *inodes, size_t size);

/*
 * Find the blocks that one metadata block refers to: `bytes` holds
 * geo->block_size of them, from block number `block`.  A block of a kind that is
 * not parsed refers to nothing.  For a block of an inode table nothing is found
 * either, because its bytes do not tell the inode numbers: use ext4_plan_inodes().
 */
void ext4_plan_block(struct ext4_plan *plan, struct ext4_kind kind,
		     uint64_t block, const void *bytes);

/* ext2fs_dirhash(), which a preload library lacks. */
typedef errcode_t ext4_hash_fn(int version, const char *name, int length,
			       const uint32_t *seed, ext2_dirhash_t *hash,
			       ext2_dirhash_t *minor);

/* An entry of a directory. */
struct ext4_entry {
	uint32_t ino;			/* which the filesystem has */
	bool directory;			/* it may be a directory's */
	const char *name;		/* without an end, valid during the call */
	unsigned length;
};

typedef void ext4_entry_fn(void *ctx, const struct ext4_entry *entry);

/* Find the entries in `size` bytes of a directory: one block of it, or the part in its
 * inode. */
void ext4_plan_entries(const struct ext4_geometry *geo, const void *bytes,
		       size_t size, ext4_entry_fn *found, void *ctx);

/* The same for a directory that lies in its inode; `inode` has all bytes of that.  Any
 * other inode has no entries here. */
void ext4_plan_inline_entries(const struct ext4_geometry *geo, const void *inode,
			      ext4_entry_fn *found, void *ctx);

/* Find the blocks and entries of those inodes of a table that `takes` accepts.  The other
 * arguments are as for ext4_plan_inodes(). */
void ext4_plan_directories(struct ext4_plan *plan, uint32_t first_ino,
			   const void *inodes, size_t size,
			   bool (*takes)(void *ctx, uint32_t ino), ext4_entry_fn *found,
			   void *ctx);

/* Add `count` blocks.  They extend the pending reference if they follow it and
 * are of the same kind; otherwise that is passed on first. */
void ext4_gather_add(struct ext4_plan *plan, struct ext4_kind kind,
		     uint64_t block, uint64_t count);

/* Pass on the pending reference.  Call it before every return to the planner's
 * caller. */
void ext4_gather_flush(struct ext4_plan *plan);

#endif
