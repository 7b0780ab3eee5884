/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kind of map replaces libext2fs's red-black trees. */
#ifndef MAP_KIND_H
#define MAP_KIND_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stdint.h>

enum map_kind {
	MAP_TREE,	/* libext2fs's red-black tree: no change */
	MAP_ARRAY,	/* libext2fs's own bit array */
	MAP_OURS	/* the maps of bitmaps.c */
};

/*
 * From now on make maps of this kind for filesystems whose maps together fit
 * into `budget` bytes.  Returns false, and keeps trees, if the user's
 * e2fsck.conf chooses the kind of maps, if statistics of maps are asked for, or
 * if address space is limited or accounted; *why is then the reason.
 */
bool map_kind_begin(enum map_kind kind, uint64_t budget, const char **why);

/* True after map_kind_begin() with MAP_OURS. */
bool map_kind_is_ours(void);

/* The kind of the next map of this filesystem's inodes or blocks.  MAP_TREE
 * means whatever libext2fs would make. */
enum map_kind map_kind_for(ext2_filsys fs, bool blocks);

/*
 * Call these around a call in which libext2fs makes maps itself: with MAP_ARRAY
 * it then makes arrays.  map_kind_leave() takes what map_kind_enter() returned.
 */
int map_kind_enter(ext2_filsys fs);
void map_kind_leave(ext2_filsys fs, int type);

/* Bytes that all maps together may take. */
uint64_t map_kind_budget(void);

/* All maps together may take this fraction of the available memory: a quarter.
 * They take that much only if each chunk has both clear and set bits. */
#define MAPS_SHARE 4u

/* The numbers that a map covers: valid ones go up to `end`, padding of the last
 * group up to `real_end`. */
struct map_shape {
	uint64_t start, end, real_end;
};

struct map_shape map_shape_of_inodes(ext2_filsys fs);
struct map_shape map_shape_of_blocks(ext2_filsys fs);
uint64_t map_shape_bits(const struct map_shape *s);

#endif
