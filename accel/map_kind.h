/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kind of map takes the place of libext2fs's red-black trees. */
#ifndef MAP_KIND_H
#define MAP_KIND_H

#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stdint.h>

enum map_kind {
	MAP_TREE,	/* libext2fs's red-black tree, as it would be */
	MAP_ARRAY,	/* libext2fs's own array of bits */
	MAP_OURS	/* that of bitmaps.c */
};

/*
 * From now on maps of a filesystem whose maps fit `budget` bytes together are
 * of this kind.  False, and all stay trees, where the user's e2fsck.conf
 * chooses the kind of maps, statistics of maps are asked for, or the kernel or
 * a limit counts address space; *why is the reason then.
 */
bool map_kind_begin(enum map_kind kind, uint64_t budget, const char **why);

/* The kind of the next map of this filesystem, of its inodes or its blocks.
 * MAP_TREE is whatever the library would make. */
enum map_kind map_kind_for(ext2_filsys fs, bool blocks);

/*
 * Around a call in which the library makes maps itself: with MAP_ARRAY they
 * are arrays then.  map_kind_enter() returns what map_kind_leave() takes.
 */
int map_kind_enter(ext2_filsys fs);
void map_kind_leave(ext2_filsys fs, int type);

/* Bytes that all maps may take. */
uint64_t map_kind_budget(void);

/* One part in this many of the memory that is available may be taken by maps;
 * they would take it if no chunk of them were clear or full. */
#define MAPS_SHARE 4u

/* The numbers a map is for: those that may be asked for go to `end`, padding
 * of the last group to `real_end`. */
struct map_shape {
	uint64_t start, end, real_end;
};

struct map_shape map_shape_of_inodes(ext2_filsys fs);
struct map_shape map_shape_of_blocks(ext2_filsys fs);
uint64_t map_shape_bits(const struct map_shape *s);

#endif
