/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a map: made as an array of bits where libext2fs was told to make
 * a red-black tree and map_kind.c says that ours may take its place, copied,
 * cleared and freed.
 *
 * A map made here is known by its first word, as libext2fs's own are; what it
 * answers is in bitmaps.c.  Filesystems with bigalloc keep the library's maps,
 * so a block is a bit here.
 *
 * Whatever can fail is done when a map is made, and where it fails the map is
 * the library's: from then on no call fails that could not fail in a tree.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "bitmaps.h"
#include "map.h"
#include "map_kind.h"
#include "real.h"

static uint64_t taken;		/* of the budget, by the maps there are */

bool bitmaps_are_ours(ext2fs_generic_bitmap bitmap)
{
	return map_of(bitmap) != NULL;
}

/* The library's maps remember when they were made.  Nobody asks, but a clock
 * that counts its readings, as the tests have, must agree. */
static void read_clock(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
}

/* Takes the budget of a set that was made. */
static bool within_budget(struct bitset *set)
{
	uint64_t budget = map_kind_budget();

	if (set->bytes > budget || taken > budget - set->bytes) {
		bitset_free(set);
		return false;
	}
	taken += set->bytes;
	return true;
}

static struct map *make(ext2_filsys fs, const struct map_shape *s,
			errcode_t base_error, const char *description)
{
	struct map *map = calloc(1, sizeof(*map));

	if (!map)
		return NULL;
	map->magic = MAP_MAGIC;
	map->base_error = base_error;
	map->start = s->start;
	map->end = s->end;
	map->real_end = s->real_end;
	map->fs = fs;
	map->description = description ? strdup(description) : NULL;
	if ((description && !map->description) ||
	    !bitset_init(&map->set, map_shape_bits(s)) ||
	    !within_budget(&map->set)) {
		free(map->description);
		free(map);
		return NULL;
	}
	read_clock();
	return map;
}

typedef errcode_t allocate_fn(ext2_filsys fs, const char *descr,
			      ext2fs_generic_bitmap *ret);

/* The library's own array: the kind is a public field of the filesystem. */
static errcode_t make_array(allocate_fn *allocate, ext2_filsys fs,
			    const char *descr, ext2fs_generic_bitmap *ret)
{
	int type = map_kind_enter(fs);
	errcode_t err = allocate(fs, descr, ret);

	map_kind_leave(fs, type);
	return err;
}

static void forget(struct map *map)
{
	taken -= map->set.bytes;
	bitset_free(&map->set);
	free(map->description);
	map->magic = 0;
	free(map);
}

errcode_t ext2fs_allocate_inode_bitmap(ext2_filsys fs, const char *descr,
				       ext2fs_inode_bitmap *ret)
{
	enum map_kind kind = map_kind_for(fs, false);
	struct map *map = NULL;
	struct map_shape s;
	REAL(ext2fs_allocate_inode_bitmap);

	if (kind == MAP_ARRAY && !make_array(real, fs, descr, ret))
		return 0;
	if (kind == MAP_OURS) {
		s = map_shape_of_inodes(fs);
		map = make(fs, &s, EXT2_ET_BAD_INODE_MARK, descr);
	}
	if (!map)
		return real(fs, descr, ret);
	fs->write_bitmaps = ext2fs_write_bitmaps;
	*ret = (ext2fs_inode_bitmap)map;
	return 0;
}

/* Without bigalloc the library makes the subcluster map by this as well. */
errcode_t ext2fs_allocate_block_bitmap(ext2_filsys fs, const char *descr,
				       ext2fs_block_bitmap *ret)
{
	enum map_kind kind = map_kind_for(fs, true);
	struct map *map = NULL;
	struct map_shape s;
	REAL(ext2fs_allocate_block_bitmap);

	if (kind == MAP_ARRAY && !make_array(real, fs, descr, ret))
		return 0;
	if (kind == MAP_OURS) {
		s = map_shape_of_blocks(fs);
		map = make(fs, &s, EXT2_ET_BAD_BLOCK_MARK, descr);
	}
	if (!map)
		return real(fs, descr, ret);
	fs->write_bitmaps = ext2fs_write_bitmaps;
	*ret = (ext2fs_block_bitmap)map;
	return 0;
}

void ext2fs_free_generic_bmap(ext2fs_generic_bitmap bitmap)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_free_generic_bmap);

	if (!map) {
		real(bitmap);
		return;
	}
	forget(map);
}

static struct map *copy(const struct map *from)
{
	struct map *map = malloc(sizeof(*map));

	if (!map)
		return NULL;
	*map = *from;
	if (map->description &&
	    asprintf(&map->description, "copy of %s", from->description) < 0) {
		free(map);
		return NULL;
	}
	if (!bitset_copy(&from->set, &map->set) || !within_budget(&map->set)) {
		free(map->description);
		free(map);
		return NULL;
	}
	read_clock();
	return map;
}

static errcode_t empty_tree(const struct map *from, ext2fs_block_bitmap *tree)
{
	char description[PATH_MAX + 128], *p = NULL;
	int type = from->fs->default_bitmap_type;
	errcode_t err;

	if (from->description) {
		snprintf(description, sizeof(description), "copy of %s",
			 from->description);
		p = description;
	}
	from->fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	if (from->base_error == EXT2_ET_BAD_INODE_MARK) {
		REAL(ext2fs_allocate_inode_bitmap);
		err = real(from->fs, p, (ext2fs_inode_bitmap *)tree);
	} else {
		REAL(ext2fs_allocate_block_bitmap);
		err = real(from->fs, p, tree);
	}
	from->fs->default_bitmap_type = type;
	return err;
}

/* What is in the map goes into a tree of the library's, as a copy of a tree
 * would be one. */
static errcode_t copy_to_tree(const struct map *from, ext2fs_block_bitmap *ret)
{
	uint64_t bit = 0, end = 0, last = from->real_end - from->start, most;
	ext2fs_block_bitmap tree;
	errcode_t err = empty_tree(from, &tree);

	if (err)
		return err;
	/* As far as there may be padding. */
	ext2fs_fudge_generic_bmap_end(tree, 0, from->real_end, NULL);
	while ((bit = bitset_first_set(&from->set, bit, last)) != UINT64_MAX) {
		end = bitset_first_clear(&from->set, bit, last);
		most = bit + INT_MAX < last ? bit + INT_MAX : last + 1;
		if (end > most)
			end = most;
		ext2fs_mark_block_bitmap_range2(tree, bit + from->start,
						(unsigned)(end - bit));
		bit = end;
	}
	ext2fs_fudge_generic_bmap_end(tree, 0, from->end, NULL);
	*ret = tree;
	return 0;
}

errcode_t ext2fs_copy_generic_bmap(ext2fs_generic_bitmap src,
				   ext2fs_generic_bitmap *dest)
{
	struct map *from = map_of(src), *map;
	REAL(ext2fs_copy_generic_bmap);

	if (!from)
		return real(src, dest);
	map = copy(from);
	if (!map)
		return copy_to_tree(from, (ext2fs_block_bitmap *)dest);
	*dest = (ext2fs_generic_bitmap)map;
	return 0;
}

void ext2fs_clear_generic_bmap(ext2fs_generic_bitmap bitmap)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_clear_generic_bmap);

	if (map)
		bitset_clear_all(&map->set);
	else
		real(bitmap);
}

/*
 * Where the library makes maps itself, and its calls may go past us.
 */

errcode_t bitmaps_read(ext2_filsys fs)
{
	int type = map_kind_enter(fs);
	errcode_t err;
	REAL(ext2fs_read_bitmaps);

	err = real(fs);
	map_kind_leave(fs, type);
	/* An array takes its memory at once, a tree what is in it. */
	return err == EXT2_ET_NO_MEMORY ? real(fs) : err;
}

/* Without bigalloc this is a map of blocks like any other, which the library
 * makes by ext2fs_allocate_block_bitmap(). */
errcode_t ext2fs_allocate_subcluster_bitmap(ext2_filsys fs, const char *descr,
					    ext2fs_block_bitmap *ret)
{
	errcode_t err;
	REAL(ext2fs_allocate_subcluster_bitmap);

	if (map_kind_for(fs, true) != MAP_ARRAY)
		return real(fs, descr, ret);
	err = make_array(real, fs, descr, ret);
	return err == EXT2_ET_NO_MEMORY ? real(fs, descr, ret) : err;
}

errcode_t ext2fs_create_icount2(ext2_filsys fs, int flags, unsigned int size,
				ext2_icount_t hint, ext2_icount_t *ret)
{
	int type = map_kind_enter(fs);
	errcode_t err;
	REAL(ext2fs_create_icount2);

	err = real(fs, flags, size, hint, ret);
	map_kind_leave(fs, type);
	return err == EXT2_ET_NO_MEMORY ? real(fs, flags, size, hint, ret) :
	       err;
}
