/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bit arrays that replace libext2fs's red-black trees. */
#ifndef BITMAPS_H
#define BITMAPS_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>

/* Was the map made here, not by libext2fs? */
bool bitmaps_are_ours(ext2fs_generic_bitmap bitmap);

/* In pass 1 e2fsck makes a map of the blocks that several files claim, if there
 * are any.  Is there one of ours, and does it have this block?  The number may
 * be anything. */
bool bitmaps_have_claims(void);
bool bitmaps_is_claimed(uint64_t block);

/* ext2fs_read_bitmaps(), with maps of the kind that map_kind.c chooses. */
errcode_t bitmaps_read(ext2_filsys fs);

#endif
