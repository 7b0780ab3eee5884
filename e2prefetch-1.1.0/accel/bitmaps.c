/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations on our maps (bits, ranges and searches), which replace libext2fs's
 * red-black trees.
 *
 * There is a stand-in for every function of libext2fs 1.46.2 to 1.47.4 that
 * looks into a map and that e2fsck calls; calls for other maps are passed on.
 * e2fsck does not resize or compare maps, so those functions have none.
 *
 * Callers see the behaviour of a red-black tree, including its peculiarities:
 * each has a comment beginning with "A tree".  No call fails that could not
 * fail in a tree.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <string.h>

#include "bitmaps.h"
#include "interpose.h"
#include "map.h"
#include "map_kind.h"

/*
 * The end of a map.
 */

errcode_t ext2fs_fudge_generic_bmap_end(ext2fs_generic_bitmap bitmap,
					errcode_t neq, __u64 end, __u64 *oend)
{
	struct map *map = map_of(bitmap);
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
	struct map *map = map_of(bitmap);
	REAL(ext2fs_get_generic_bmap_start);

	return map ? map->start : real(bitmap);
}

__u64 ext2fs_get_generic_bmap_end(ext2fs_generic_bitmap bitmap)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_get_generic_bmap_end);

	return map ? map->end : real(bitmap);
}

void ext2fs_set_generic_bmap_padding(ext2fs_generic_bitmap bitmap)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_set_generic_bmap_padding);

	if (!map)
		real(bitmap);
	else
		/* libext2fs's count is 32 bits wide. */
		bitset_set_range(&map->set, map->end + 1 - map->start,
				 (unsigned)(map->real_end - map->end));
}

/*
 * Single bits.
 */

/* Every number that is inside has a bit in the set, which is made for the
 * larger of the two ends a map may have. */
static inline bool inside(const struct map *map, uint64_t arg)
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

/*
 * A check makes millions of these two calls.  Everything but the common case is
 * in separate functions, so that the common case saves and restores no
 * registers.
 */

__attribute__((noinline, cold))
static int test_otherwise(ext2fs_generic_bitmap bitmap, uint64_t arg)
{
	const struct map *map = map_of(bitmap);
	REAL(ext2fs_test_generic_bmap);

	return map ? outside(map, EXT2FS_TEST_ERROR, arg) : real(bitmap, arg);
}

int ext2fs_test_generic_bmap(ext2fs_generic_bitmap bitmap, __u64 arg)
{
	const struct map *map = map_of(bitmap);

	if (!map || !inside(map, arg))
		return test_otherwise(bitmap, arg);
	return bitset_test_inside(&map->set, arg - map->start);
}

__attribute__((noinline, cold))
static int mark_otherwise(ext2fs_generic_bitmap bitmap, uint64_t arg)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_mark_generic_bmap);

	if (!map)
		return real(bitmap, arg);
	if (!inside(map, arg))
		return outside(map, EXT2FS_MARK_ERROR, arg);
	return bitset_set(&map->set, arg - map->start);
}

int ext2fs_mark_generic_bmap(ext2fs_generic_bitmap bitmap, __u64 arg)
{
	struct map *map = map_of(bitmap);

	if (!map || !inside(map, arg) ||
	    !bitset_is_own(&map->set, arg - map->start))
		return mark_otherwise(bitmap, arg);
	return bitset_set_own(&map->set, arg - map->start);
}

int ext2fs_unmark_generic_bmap(ext2fs_generic_bitmap bitmap, __u64 arg)
{
	struct map *map = map_of(bitmap);

	if (!map) {
		REAL(ext2fs_unmark_generic_bmap);
		return real(bitmap, arg);
	}
	if (!inside(map, arg))
		return outside(map, EXT2FS_UNMARK_ERROR, arg);
	arg -= map->start;
	/* A tree also answers "was set" for a clear bit right before a set
	 * one. */
	return bitset_clear(&map->set, arg) || bitset_test(&map->set, arg + 1);
}

/* The 32-bit interface; pass 5 uses two of its functions for the padding. */
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
	struct map *map = map_of(bitmap);
	REAL(ext2fs_test_generic_bitmap);

	if (!map)
		return real(bitmap, arg);
	warn_narrow(map, __func__);
	return ext2fs_test_generic_bmap(bitmap, arg);
}

int ext2fs_mark_generic_bitmap(ext2fs_generic_bitmap bitmap, __u32 arg)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_mark_generic_bitmap);

	if (!map)
		return real(bitmap, arg);
	warn_narrow(map, __func__);
	return ext2fs_mark_generic_bmap(bitmap, arg);
}

int ext2fs_unmark_generic_bitmap(ext2fs_generic_bitmap bitmap, blk_t arg)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_unmark_generic_bitmap);

	if (!map)
		return real(bitmap, arg);
	warn_narrow(map, __func__);
	return ext2fs_unmark_generic_bmap(bitmap, arg);
}

/*
 * Ranges.
 */

/* With num 0 the last bit is the one before the first, as in libext2fs. */
static inline bool range_inside(const struct map *map, uint64_t block,
				unsigned num)
{
	return inside(map, block) && block + num - 1 <= map->end;
}

__attribute__((noinline, cold))
static void warn_range(const struct map *map, uint64_t block, errcode_t code)
{
	REAL(ext2fs_warn_bitmap);

	real(code, (unsigned long)block, map->description);
}

__attribute__((noinline))
static int test_range_otherwise(ext2fs_block_bitmap bitmap, uint64_t block, unsigned num)
{
	struct map *map = map_of(bitmap);
	uint64_t first;
	REAL(ext2fs_test_block_bitmap_range2);

	if (!map)
		return real(bitmap, block, num);
	if (num == 1)
		return !ext2fs_test_generic_bmap(bitmap, block);
	if (!range_inside(map, block, num)) {
		warn_range(map, block, EXT2_ET_BAD_BLOCK_TEST);
		return EINVAL;
	}
	if (!num)
		return 1;
	first = block - map->start;
	return bitset_first_set(&map->set, first, first + num - 1) ==
	       UINT64_MAX;
}

int ext2fs_test_block_bitmap_range2(ext2fs_block_bitmap bitmap, blk64_t block,
				    unsigned int num)
{
	const struct map *map = map_of(bitmap);
	uint64_t first, last;

	if (map && num && range_inside(map, block, num)) {
		first = block - map->start;
		last = first + num - 1;
		if (bitset_is_word(first, last))
			return bitset_word_is_clear(&map->set, first, last);
	}
	return test_range_otherwise(bitmap, block, num);
}

__attribute__((noinline))
static void mark_range_otherwise(ext2fs_block_bitmap bitmap, uint64_t block,
				 unsigned num)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_mark_block_bitmap_range2);

	if (!map)
		real(bitmap, block, num);
	else if (range_inside(map, block, num))
		bitset_set_range(&map->set, block - map->start, num);
	else
		warn_range(map, block, EXT2_ET_BAD_BLOCK_MARK);
}

void ext2fs_mark_block_bitmap_range2(ext2fs_block_bitmap bitmap, blk64_t block,
				     unsigned int num)
{
	struct map *map = map_of(bitmap);
	uint64_t first, last;

	if (map && num && range_inside(map, block, num)) {
		first = block - map->start;
		last = first + num - 1;
		if (bitset_is_word(first, last) &&
		    bitset_is_own(&map->set, first)) {
			bitset_set_own_word(&map->set, first, last);
			return;
		}
	}
	mark_range_otherwise(bitmap, block, num);
}

void ext2fs_unmark_block_bitmap_range2(ext2fs_block_bitmap bitmap,
				       blk64_t block, unsigned int num)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_unmark_block_bitmap_range2);

	if (!map)
		real(bitmap, block, num);
	else if (range_inside(map, block, num))
		bitset_clear_range(&map->set, block - map->start, num);
	else
		warn_range(map, block, EXT2_ET_BAD_BLOCK_UNMARK);
}

errcode_t ext2fs_set_generic_bmap_range(ext2fs_generic_bitmap bitmap,
					__u64 start, unsigned int num,
					void *in)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_set_generic_bmap_range);

	if (!map)
		return real(bitmap, start, num, in);
	/* A tree keeps bits that were already set. */
	bitset_add_bytes(&map->set, start - map->start, num, in);
	return 0;
}

errcode_t ext2fs_get_generic_bmap_range(ext2fs_generic_bitmap bitmap,
					__u64 start, unsigned int num,
					void *out)
{
	struct map *map = map_of(bitmap);
	REAL(ext2fs_get_generic_bmap_range);

	if (!map)
		return real(bitmap, start, num, out);
	/* An empty tree leaves the buffer unchanged. */
	if (!bitset_is_empty(&map->set))
		bitset_get_bytes(&map->set, start - map->start, num, out);
	return 0;
}

/* The check of arguments common to both searches. */
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
	struct map *map = map_of(bitmap);
	uint64_t found;
	REAL(ext2fs_find_first_zero_generic_bmap);

	if (!map)
		return real(bitmap, start, end, out);
	if (!search_inside(map, start, end))
		return EINVAL;
	/* An empty tree finds nothing, not even a clear bit. */
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
	struct map *map = map_of(bitmap);
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

#ifdef __x86_64__
__attribute__((target("popcnt")))
static unsigned count_bits(const unsigned char *bytes, unsigned len)
{
	unsigned long long word;
	unsigned count = 0;

	for (; len >= sizeof(word); bytes += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		count += (unsigned)__builtin_popcountll(word);
	}
	word = 0;
	memcpy(&word, bytes, len);
	return count + (unsigned)__builtin_popcountll(word);
}
#endif

/* Pass 5 counts the bits of every bitmap on the disk. */
unsigned int ext2fs_bitcount(const void *addr, unsigned int nbytes)
{
	REAL(ext2fs_bitcount);

#ifdef __x86_64__
	if (map_kind_is_ours() && __builtin_cpu_supports("popcnt"))
		return count_bits(addr, nbytes);
#endif
	return real(addr, nbytes);
}
