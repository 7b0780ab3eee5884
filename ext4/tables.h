/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Groups, their inode tables, and what may be read of them: for both sources of ext4.
 *
 * While a filesystem is mounted the kernel zeroes the unused parts of inode tables on
 * the device, past its page cache (lazy_itable_init).  A block of one that was read
 * before stays in the page cache, and the kernel finds it when it begins to use it: then
 * inodes that never were seem to be there.
 */
#ifndef EXT4_TABLES_H
#define EXT4_TABLES_H

#include "source.h"

/* source.c: for a source that begins with this one, which is zero before, and has
 * some operations of its own. */
void ext4_source_init(struct ext4_source *ext4, const struct ext4_geometry *geo,
		      const struct ext4_source_options *options);
extern const struct pf_source_ops ext4_source_ops;

/* Do the tables lie in the order of their groups? */
bool ext4_source_tables_are_ordered(const struct ext4_source *ext4);

/* The used part of this group's table, in bytes. */
uint64_t ext4_source_bytes_of_table(const struct ext4_source *ext4,
				    uint64_t group);

/* The blocks of a part of a table. */
struct ext4_table_part {
	uint64_t block;			/* the first one; */
	uint32_t at, blocks;		/* its number in the table, and how many */
	uint32_t group;
};

/* The part, of so many bytes (less than a block: one block), with this inode, which the
 * filesystem has.  Returns false if it is not in use, or its group has no table. */
bool ext4_source_table_part(const struct ext4_source *ext4, uint32_t ino,
			    uint32_t bytes, struct ext4_table_part *part);

/* The operation `may_read` of a source. */
bool ext4_source_may_read(const struct ext4_source *ext4, uint64_t offset,
			  uint64_t length);

/* May this block be read through the page cache, which keeps its whole page? */
bool ext4_source_may_cache(const struct ext4_source *ext4, uint64_t block);

/* A sink that passes on to another what can be read in whole pages. */
struct ext4_whole_pages {
	const struct ext4_source *ext4;
	pf_sink sink;
	void *ctx;
};

/* A plan that passes to that other sink what may be read. */
struct ext4_plan ext4_source_plan(struct ext4_whole_pages *w);

/* Do the bytes of this reference have inodes? */
static inline bool ext4_has_inodes(const struct pf_ref *ref)
{
	const uint8_t parse = ext4_kind_of(ref).parse;

	return parse == EXT4_INODE_TABLE || parse == EXT4_DIRECTORY_TABLE;
}

/* The number of the inode at byte `at` of such a reference, in *ino, and how many are in
 * use from there to the end of the table: 0 if the checker has moved the table. */
uint64_t ext4_source_inodes_left(const struct ext4_source *ext4,
				 const struct pf_ref *ref, uint64_t at,
				 uint32_t *ino);

#endif
