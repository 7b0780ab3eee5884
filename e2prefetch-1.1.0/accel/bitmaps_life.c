/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Life cycle of a map: it is created as a bit array if libext2fs was told to
 * make a red-black tree and map_kind.c allows it, and then copied, cleared and
 * freed.
 *
 * Our maps are recognized by their first word, as libext2fs's own are;
 * bitmaps.c has the operations on them.  Filesystems with bigalloc keep
 * libext2fs's maps, so a bit is always one block here.
 *
 * Everything that can fail happens when a map is made; on failure the caller
 * gets a map of libext2fs.  Afterwards no call fails that could not fail in a
 * tree.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <libintl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "bitmaps.h"
#include "interpose.h"
#include "map.h"
#include "map_kind.h"

static uint64_t taken;		/* bytes of the budget that existing maps use */
static struct map *claims;	/* blocks that several files claim */

bool bitmaps_are_ours(ext2fs_generic_bitmap bitmap)
{
	return map_of(bitmap) != NULL;
}

bool bitmaps_have_claims(void)
{
	return claims;
}

/* libext2fs would print a warning for a number outside the map. */
bool bitmaps_is_claimed(uint64_t block)
{
	return claims && block >= claims->start && block <= claims->end &&
	       bitset_test(&claims->set, block - claims->start);
}

/* e2fsck tells its maps apart only by their descriptions, which it
 * translates. */
static bool is_of_claims(const char *description)
{
	return description && !strcmp(description, dgettext("e2fsprogs",
						"multiply claimed block map"));
}

/* libext2fs's maps store the time they were made.  Nothing uses it, but the
 * tests have a clock that counts how often it is read, so we must read it,
 * too. */
static void read_clock(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
}

/* The set of the last map that was freed, empty.  For its own readahead e2fsck
 * makes and frees a map of all blocks once in a few groups. */
static struct bitset spare;

static bool take_set(struct bitset *set, uint64_t bits)
{
	if (spare.bytes != bitset_bytes(bits))
		return bitset_init(set, bits);
	*set = spare;
	memset(&spare, 0, sizeof(spare));
	return true;
}

static void leave_set(struct bitset *set)
{
	bitset_clear_all(set);
	bitset_free(&spare);
	spare = *set;
}

/* Charge a new set to the budget; frees the set if it does not fit. */
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
	    !take_set(&map->set, map_shape_bits(s)) ||
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

/* Make libext2fs's own bit array: its kind is a public field of the
 * filesystem. */
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
	if (map == claims)
		claims = NULL;
	leave_set(&map->set);
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

/* Without bigalloc libext2fs uses this for the subcluster map as well. */
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
	if (is_of_claims(descr))
		claims = map;
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

/* Copy the map into a libext2fs tree with the same contents. */
static errcode_t copy_to_tree(const struct map *from, ext2fs_block_bitmap *ret)
{
	uint64_t bit = 0, end = 0, last = from->real_end - from->start, most;
	ext2fs_block_bitmap tree;
	errcode_t err = empty_tree(from, &tree);

	if (err)
		return err;
	/* The map may have padding bits set up to there. */
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
 * Functions in which libext2fs makes maps itself, possibly without calling the
 * interposed functions.
 */

errcode_t bitmaps_read(ext2_filsys fs)
{
	int type = map_kind_enter(fs);
	errcode_t err;
	REAL(ext2fs_read_bitmaps);

	err = real(fs);
	map_kind_leave(fs, type);
	/* An array takes all of its memory at once, a tree only what it
	 * contains. */
	return err == EXT2_ET_NO_MEMORY ? real(fs) : err;
}

/* Without bigalloc this is an ordinary map of blocks, which libext2fs makes
 * with ext2fs_allocate_block_bitmap(). */
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
