/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a map of ours is, for the files that answer for one. */
#ifndef MAP_H
#define MAP_H

#include <ext2fs/ext2fs.h>

#include "bitset.h"

/* No error code of any table ends in these letters. */
#define MAP_MAGIC ((errcode_t)0x65327066)

struct map {
	errcode_t magic;	/* first, as in the library's own maps */
	errcode_t base_error;	/* tells a map of inodes from one of blocks */
	uint64_t start, end, real_end;
	char *description;
	ext2_filsys fs;
	struct bitset set;
};

/* The map, if it is one of ours, or else NULL. */
static inline struct map *map_of(ext2fs_generic_bitmap bitmap)
{
	struct map *map = (struct map *)bitmap;

	return map && map->magic == MAP_MAGIC ? map : NULL;
}

#endif
