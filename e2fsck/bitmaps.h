/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bit arrays in place of libext2fs's red-black trees. */
#ifndef BITMAPS_H
#define BITMAPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * From now on maps of a filesystem whose maps fit `budget` bytes are bit
 * arrays.  False, and nothing changes, where the user's e2fsck.conf chooses
 * the kind of maps, or statistics of maps are asked for.
 */
bool bitmaps_begin(uint64_t budget);

/* The share of what is available that maps may take. */
#define BITMAPS_SHARE 16u

#endif
