/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Compact maps in place of libext2fs's red-black trees. */
#ifndef BITMAPS_H
#define BITMAPS_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stdint.h>

/* Are libext2fs's table of functions and its maps laid out as this file
 * expects?  Makes a map of this filesystem, which must have 64-bit bitmaps and
 * no bigalloc. */
bool bitmaps_layout_is_known(ext2_filsys fs);

/* Make ours, or libext2fs's, the trees that are made from now on.  The layout must
 * be known. */
void bitmaps_begin(void);
void bitmaps_end(void);
bool bitmaps_are_ours(void);

/* In pass 1 e2fsck makes a map of the blocks that several files claim, if there
 * are any.  Is there one of ours? */
bool bitmaps_have_claims(void);

/* Later e2fsck asks that map about each block of each file.  Whenever the
 * answer is yes, `claimed` is called first.  NULL ends these calls. */
void bitmaps_watch_claims(void (*claimed)(void *ctx), void *ctx);

#endif
