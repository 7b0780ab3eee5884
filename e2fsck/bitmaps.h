/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bit arrays in place of libext2fs's red-black trees. */
#ifndef BITMAPS_H
#define BITMAPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * From now on maps of a filesystem whose maps fit `budget` bytes are bit
 * arrays, which take no more than that.  False, and nothing changes, where
 * the user's e2fsck.conf chooses the kind of maps, statistics of maps are
 * asked for, or the kernel or a limit counts address space.
 */
bool bitmaps_begin(uint64_t budget);

/* One part in this many of the memory that is available may be taken by maps;
 * they would take it if no chunk of them were clear or full. */
#define BITMAPS_SHARE 4u

#endif
