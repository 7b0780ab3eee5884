/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inode and block maps as arrays of bits, where libext2fs was told to make
 * red-black trees and map_kind.c says that ours may take their place.
 *
 * A map made here is known by its first word, as libext2fs's own are, and
 * every function of libext2fs 1.46.2 to 1.47.4 that looks into one and that
 * e2fsck reaches is stood in for; other maps are passed on.  Not reached, and
 * not stood in for: resizing and comparing.  Filesystems with bigalloc keep
 * the library's maps, so a block is a bit here.
 *
 * Whatever can fail is done when a map is made, and where it fails the map is
 * the library's: from then on no call fails that could not fail in a tree.
 *
 * What a caller can see is what it sees of a red-black tree, its peculiarities
 * included: each has a comment beginning with "A tree".
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "bitmaps.h"
#include "bitset.h"
#include "map_kind.h"
#include "real.h"

/* No error code of any table ends in these letters. */
#define MAGIC ((errcode_t)0x65327066)

struct map {
	errcode_t magic;
	errcode_t base_error;
	uint64_t start, end, real_end;
	char *description;
	ext2_filsys fs;
	struct bitset set;
};

static uint64_t taken;		/* of the budget, by the maps there are */

bool bitmaps_are_ours(ext2fs_generic_bitmap bitmap)
{
	return bitmap && ((struct map *)bitmap)->magic == MAGIC;
}

static inline struct map *ours(ext2fs_generic_bitmap bitmap)
{
	struct map *map = (struct map *)bitmap;

	return map && map->magic == MAGIC ? map : NULL;
}

/*
 * Making and freeing.
 */

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
	map->magic = MAGIC;
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
	struct map *map = ours(bitmap);
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
	struct map *from = ours(src), *map;
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
	struct map *map = ours(bitmap);
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

/*
 * Ends.
 */

errcode_t ext2fs_fudge_generic_bmap_end(ext2fs_generic_bitmap bitmap,
					errcode_t neq, __u64 end, __u64 *oend)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_fudge_generic_bmap_end);

	if (!map)
		return real(bitmap, neq, end, oend);
	if (end > map->real_end)
		return neq;
	if (oend)
		*oend = map->end;
	map->end = end;
	return 0;
}

__u64 ext2fs_get_generic_bmap_start(ext2fs_generic_bitmap bitmap)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_get_generic_bmap_start);

	return map ? map->start : real(bitmap);
}

__u64 ext2fs_get_generic_bmap_end(ext2fs_generic_bitmap bitmap)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_get_generic_bmap_end);

	return map ? map->end : real(bitmap);
}

void ext2fs_set_generic_bmap_padding(ext2fs_generic_bitmap bitmap)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_set_generic_bmap_padding);

	if (!map)
		real(bitmap);
	else
		/* The count is 32 bits wide in the library. */
		bitset_set_range(&map->set, map->end + 1 - map->start,
				 (unsigned)(map->real_end - map->end));
}

/*
 * One bit.
 */

static bool inside(const struct map *map, uint64_t arg)
{
	return arg >= map->start && arg <= map->end;
}

__attribute__((cold))
static int outside(const struct map *map, int code, uint64_t arg)
{
	if (map->description)
		com_err(0, map->base_error + code, "#%llu for %s",
			(unsigned long long)arg, map->description);
	else
		com_err(0, map->base_error + code, "#%llu",
			(unsigned long long)arg);
	return 0;
}

int ext2fs_test_generic_bmap(ext2fs_generic_bitmap bitmap, __u64 arg)
{
	struct map *map = ours(bitmap);

	if (!map) {
		REAL(ext2fs_test_generic_bmap);
		return real(bitmap, arg);
	}
	if (!inside(map, arg))
		return outside(map, EXT2FS_TEST_ERROR, arg);
	return bitset_test(&map->set, arg - map->start);
}

int ext2fs_mark_generic_bmap(ext2fs_generic_bitmap bitmap, __u64 arg)
{
	struct map *map = ours(bitmap);

	if (!map) {
		REAL(ext2fs_mark_generic_bmap);
		return real(bitmap, arg);
	}
	if (!inside(map, arg))
		return outside(map, EXT2FS_MARK_ERROR, arg);
	return bitset_set(&map->set, arg - map->start);
}

int ext2fs_unmark_generic_bmap(ext2fs_generic_bitmap bitmap, __u64 arg)
{
	struct map *map = ours(bitmap);

	if (!map) {
		REAL(ext2fs_unmark_generic_bmap);
		return real(bitmap, arg);
	}
	if (!inside(map, arg))
		return outside(map, EXT2FS_UNMARK_ERROR, arg);
	arg -= map->start;
	/* A tree also answers "was set" for a clear bit before a set one. */
	return bitset_clear(&map->set, arg) || bitset_test(&map->set, arg + 1);
}

/* The 32-bit interface, of which pass 5 uses two for the padding. */
static void warn_narrow(const struct map *map, const char *function)
{
	if (map->description)
		com_err(0, EXT2_ET_MAGIC_GENERIC_BITMAP,
			"called %s with 64-bit bitmap for %s", function,
			map->description);
	else
		com_err(0, EXT2_ET_MAGIC_GENERIC_BITMAP,
			"called %s with 64-bit bitmap", function);
}

int ext2fs_test_generic_bitmap(ext2fs_generic_bitmap bitmap, blk_t arg)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_test_generic_bitmap);

	if (!map)
		return real(bitmap, arg);
	warn_narrow(map, __func__);
	return ext2fs_test_generic_bmap(bitmap, arg);
}

int ext2fs_mark_generic_bitmap(ext2fs_generic_bitmap bitmap, __u32 arg)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_mark_generic_bitmap);

	if (!map)
		return real(bitmap, arg);
	warn_narrow(map, __func__);
	return ext2fs_mark_generic_bmap(bitmap, arg);
}

int ext2fs_unmark_generic_bitmap(ext2fs_generic_bitmap bitmap, blk_t arg)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_unmark_generic_bitmap);

	if (!map)
		return real(bitmap, arg);
	warn_narrow(map, __func__);
	return ext2fs_unmark_generic_bmap(bitmap, arg);
}

/*
 * Ranges.
 */

/* The last bit of none is the one before the first, in the library too. */
static bool range_inside(const struct map *map, uint64_t block, unsigned num,
			 errcode_t code)
{
	REAL(ext2fs_warn_bitmap);

	if (inside(map, block) && block + num - 1 <= map->end)
		return true;
	real(code, (unsigned long)block, map->description);
	return false;
}

int ext2fs_test_block_bitmap_range2(ext2fs_block_bitmap bitmap, blk64_t block,
				    unsigned int num)
{
	struct map *map = ours(bitmap);
	uint64_t first;
	REAL(ext2fs_test_block_bitmap_range2);

	if (!map)
		return real(bitmap, block, num);
	if (num == 1)
		return !ext2fs_test_generic_bmap(bitmap, block);
	if (!range_inside(map, block, num, EXT2_ET_BAD_BLOCK_TEST))
		return EINVAL;
	if (!num)
		return 1;
	first = block - map->start;
	return bitset_first_set(&map->set, first, first + num - 1) ==
	       UINT64_MAX;
}

void ext2fs_mark_block_bitmap_range2(ext2fs_block_bitmap bitmap, blk64_t block,
				     unsigned int num)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_mark_block_bitmap_range2);

	if (!map)
		real(bitmap, block, num);
	else if (range_inside(map, block, num, EXT2_ET_BAD_BLOCK_MARK))
		bitset_set_range(&map->set, block - map->start, num);
}

void ext2fs_unmark_block_bitmap_range2(ext2fs_block_bitmap bitmap,
				       blk64_t block, unsigned int num)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_unmark_block_bitmap_range2);

	if (!map)
		real(bitmap, block, num);
	else if (range_inside(map, block, num, EXT2_ET_BAD_BLOCK_UNMARK))
		bitset_clear_range(&map->set, block - map->start, num);
}

errcode_t ext2fs_set_generic_bmap_range(ext2fs_generic_bitmap bitmap,
					__u64 start, unsigned int num,
					void *in)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_set_generic_bmap_range);

	if (!map)
		return real(bitmap, start, num, in);
	/* A tree keeps what was set. */
	bitset_add_bytes(&map->set, start - map->start, num, in);
	return 0;
}

errcode_t ext2fs_get_generic_bmap_range(ext2fs_generic_bitmap bitmap,
					__u64 start, unsigned int num,
					void *out)
{
	struct map *map = ours(bitmap);
	REAL(ext2fs_get_generic_bmap_range);

	if (!map)
		return real(bitmap, start, num, out);
	/* A tree with nothing in it leaves the buffer as it is. */
	if (!bitset_is_empty(&map->set))
		bitset_get_bytes(&map->set, start - map->start, num, out);
	return 0;
}

/* Common to both searches. */
static bool search_inside(const struct map *map, uint64_t start, uint64_t end)
{
	if (start >= map->start && end <= map->end && start <= end)
		return true;
	outside(map, EXT2FS_TEST_ERROR, start);
	return false;
}

errcode_t ext2fs_find_first_zero_generic_bmap(ext2fs_generic_bitmap bitmap,
					      __u64 start, __u64 end,
					      __u64 *out)
{
	struct map *map = ours(bitmap);
	uint64_t found;
	REAL(ext2fs_find_first_zero_generic_bmap);

	if (!map)
		return real(bitmap, start, end, out);
	if (!search_inside(map, start, end))
		return EINVAL;
	/* A tree with nothing in it finds nothing, not even a clear bit. */
	if (bitset_is_empty(&map->set))
		return ENOENT;
	found = bitset_first_clear(&map->set, start - map->start,
				   end - map->start);
	if (found == UINT64_MAX)
		return ENOENT;
	*out = found + map->start;
	return 0;
}

errcode_t ext2fs_find_first_set_generic_bmap(ext2fs_generic_bitmap bitmap,
					     __u64 start, __u64 end,
					     __u64 *out)
{
	struct map *map = ours(bitmap);
	uint64_t found;
	REAL(ext2fs_find_first_set_generic_bmap);

	if (!map)
		return real(bitmap, start, end, out);
	if (!search_inside(map, start, end))
		return EINVAL;
	if (bitset_is_empty(&map->set))
		return ENOENT;
	found = bitset_first_set(&map->set, start - map->start,
				 end - map->start);
	if (found == UINT64_MAX)
		return ENOENT;
	*out = found + map->start;
	return 0;
}
