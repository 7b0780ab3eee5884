/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces libext2fs's handles for extents that are in the inode itself. */
#ifndef EXTENTS_H
#define EXTENTS_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>

/* Begin to use our handles; before, ext2fs_extent_open2() always opens
 * libext2fs's. */
void extents_begin(void);

/* What ext2fs_extent_open2() then does when called from the program itself. */
errcode_t extents_open(ext2_filsys fs, ext2_ino_t ino,
		       struct ext2_inode *inode, ext2_extent_handle_t *ret);

/* Is the handle ours, with no libext2fs handle behind it yet? */
bool extents_are_ours(ext2_extent_handle_t handle);

#endif
