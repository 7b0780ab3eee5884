/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The functions of libext2fs and libcom_err that a preload library calls.  A
 * preload library is not linked with them: the program that it is loaded into has
 * them, or the preload library does nothing.  So each is a weak reference, which is
 * NULL in another program or with a libext2fs that lacks it.  Add a function here
 * before you call it: a preload library with another reference does not link.
 *
 * Included by the compiler's -include, after config.h and before all others.
 */
#ifndef LIB_WEAK_H
#define LIB_WEAK_H

/* A preload library needs all of these, or does nothing.  Two are called on
 * big-endian machines only. */
#define E2PF_FOLLOWS_WITH(X) \
	X(ext2fs_blocks_count) X(ext2fs_dblist_count2) \
	X(ext2fs_get_library_version) X(ext2fs_group_desc) \
	X(ext2fs_read_inode) X(ext2fs_swap_group_desc2) \
	X(ext2fs_swap_super) X(io_channel_cache_readahead) \
	X(io_channel_read_blk64) X(unix_io_manager)

/* Accelerations need these. */
#define E2PF_ACCELERATES_WITH(X) \
	X(ext2fs_allocate_block_bitmap) X(ext2fs_blocks_count_set) \
	X(ext2fs_clear_block_bitmap) X(ext2fs_copy_bitmap) \
	X(ext2fs_find_first_set_generic_bmap) \
	X(ext2fs_find_first_zero_generic_bmap) X(ext2fs_free_block_bitmap) \
	X(ext2fs_fudge_block_bitmap_end2) X(ext2fs_get_block_bitmap_range2) \
	X(ext2fs_mark_block_bitmap_range2) X(ext2fs_mark_generic_bmap) \
	X(ext2fs_read_ind_block) X(ext2fs_set_bitmap_padding) \
	X(ext2fs_set_block_bitmap_range2) X(ext2fs_superblock_csum_set) \
	X(ext2fs_test_block_bitmap_range2) X(ext2fs_test_generic_bmap) \
	X(ext2fs_unmark_block_bitmap_range2) X(ext2fs_unmark_generic_bmap) \
	X(ext2fs_write_ind_block) X(ext2fs_write_inode)

/* This must precede the header, whose inline functions use some of these: clang makes a
 * reference weak only if the weak declaration comes first. */
#define E2PF_PRAGMA(text) _Pragma(#text)
#define E2PF_WEAK(name) E2PF_PRAGMA(weak name)
E2PF_FOLLOWS_WITH(E2PF_WEAK)
E2PF_ACCELERATES_WITH(E2PF_WEAK)

#include <ext2fs/ext2fs.h>

#define E2PF_IS_THERE(name) && (const void *)&name

#endif
