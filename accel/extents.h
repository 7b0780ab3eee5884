/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Handles of extents that lie in the inode itself, in place of libext2fs's. */
#ifndef EXTENTS_H
#define EXTENTS_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>

/* From now on; until then every handle that ext2fs_extent_open2() opens is
 * libext2fs's. */
void extents_begin(void);

/* What ext2fs_extent_open2() is then to the program, and to nobody else. */
errcode_t extents_open(ext2_filsys fs, ext2_ino_t ino,
		       struct ext2_inode *inode, ext2_extent_handle_t *ret);

/* Whether a handle is one of ours, and not libext2fs's behind it yet. */
bool extents_are_ours(ext2_extent_handle_t handle);

#endif
