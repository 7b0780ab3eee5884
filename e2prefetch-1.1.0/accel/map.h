/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layout of our maps, for the files that implement them. */
#ifndef MAP_H
#define MAP_H

#include <ext2fs/ext2fs.h>

#include "bitset.h"

/* No error table uses a code that ends in these bytes. */
#define MAP_MAGIC ((errcode_t)0x65327066)

struct map {
	errcode_t magic;	/* first, as in libext2fs's own maps */
	errcode_t base_error;	/* tells a map of inodes from a map of blocks */
	uint64_t start, end, real_end;
	char *description;
	ext2_filsys fs;
	struct bitset set;
};

/* The map if it is ours, otherwise NULL. */
static inline struct map *map_of(ext2fs_generic_bitmap bitmap)
{
	struct map *map = (struct map *)bitmap;

	return map && map->magic == MAP_MAGIC ? map : NULL;
}

#endif
