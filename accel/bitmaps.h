/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bit arrays that replace libext2fs's red-black trees. */
#ifndef BITMAPS_H
#define BITMAPS_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>

/* Was the map made here, not by libext2fs? */
bool bitmaps_are_ours(ext2fs_generic_bitmap bitmap);

/* The map of the blocks that several files claim, which e2fsck makes in pass 1
 * if there are any.  NULL if it is not there, or not ours. */
ext2fs_block_bitmap bitmaps_claims(void);

/* ext2fs_read_bitmaps(), with maps of the kind that map_kind.c chooses. */
errcode_t bitmaps_read(ext2_filsys fs);

#endif
