/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Compact bitmaps in place of libext2fs's red-black trees.
 *
 * libext2fs reaches every operation on a bitmap through a table of functions, one table
 * for each kind of bitmap, to which the bitmap points.  In that of the trees the function
 * that makes one is replaced, so every tree that is made from then on is one of ours,
 * whoever makes it and however the library is linked.  Checks of arguments, messages,
 * clusters and the ends of a bitmap remain libext2fs's own.
 *
 * Callers see the behaviour of a tree, including its peculiarities: each has a
 * comment beginning with "A tree".
 *
 * Source: lib/ext2fs/bmap64.h, gen_bitmap64.c and blkmap64_rb.c of e2fsprogs
 * 1.46.2 to 1.47.4.
 */
#include <dlfcn.h>
#include <errno.h>
#include <libintl.h>
#include <stdlib.h>
#include <string.h>

#include "bitset.h"
#include "preload/interpose.h"
#include "interposers.h"

/* A bitmap, as libext2fs knows it. */
struct bitmap {
	errcode_t magic;
	ext2_filsys fs;
	const struct operations *operations;
	int flags;
	__u64 start, end, real_end;
	int cluster_bits;
	char *description;
	void *private;
	errcode_t base_error;
};

/* The table.  Bits are numbered like the blocks, clusters or inodes. */
struct operations {
	int type;
	errcode_t (*make)(ext2_filsys fs, struct bitmap *bitmap);
	void (*free)(struct bitmap *bitmap);
	errcode_t (*copy)(struct bitmap *from, struct bitmap *to);
	errcode_t (*resize)(struct bitmap *bitmap, __u64 end, __u64 real_end);
	int (*mark)(struct bitmap *bitmap, __u64 bit);
	int (*unmark)(struct bitmap *bitmap, __u64 bit);
	int (*test)(struct bitmap *bitmap, __u64 bit);
	void (*mark_range)(struct bitmap *bitmap, __u64 start, unsigned count);
	void (*unmark_range)(struct bitmap *bitmap, __u64 start, unsigned count);
	int (*range_is_clear)(struct bitmap *bitmap, __u64 start, unsigned count);
	errcode_t (*set_bytes)(struct bitmap *bitmap, __u64 start, size_t count,
			       void *in);
	errcode_t (*get_bytes)(struct bitmap *bitmap, __u64 start, size_t count,
			       void *out);
	void (*clear)(struct bitmap *bitmap);
	void (*print_statistics)(struct bitmap *bitmap);
	errcode_t (*first_clear)(struct bitmap *bitmap, __u64 start, __u64 end,
				 __u64 *found);
	errcode_t (*first_set)(struct bitmap *bitmap, __u64 start, __u64 end,
			       __u64 *found);
};

static struct operations *trees;	/* libext2fs's table; NULL: not known */
static struct operations stock;		/* what was in it */
static struct bitset *claims;		/* blocks that several files claim */

/* The watcher, which is told of such blocks. */
static struct {
	void (*claimed)(void *ctx);	/* NULL: nobody */
	void *ctx;
} watch;

/* e2fsck tells its bitmaps apart only by their descriptions, which it
 * translates. */
static bool is_of_claims(const char *description)
{
	return description && !strcmp(description, dgettext("e2fsprogs",
						"multiply claimed block map"));
}

bool bitmaps_have_claims(void)
{
	return claims;
}

void bitmaps_watch_claims(void (*claimed)(void *ctx), void *ctx)
{
	watch.claimed = claimed;
	watch.ctx = ctx;
}

/*
 * The operations.
 */

static uint64_t bits_of(uint64_t start, uint64_t end, uint64_t real_end)
{
	if (real_end > end)
		end = real_end;
	return end < start ? 0 : end - start + (end - start < UINT64_MAX);
}

static void free_bitmap(struct bitmap *bitmap)
{
	struct bitset *s = bitmap->private;

	if (s == claims)
		claims = NULL;
	bitset_free(s);
	free(s);
}

static errcode_t copy(struct bitmap *from, struct bitmap *to)
{
	struct bitset *s = malloc(sizeof(*s));

	if (!s || !bitset_copy(from->private, s)) {
		free(s);
		return EXT2_ET_NO_MEMORY;
	}
	to->private = s;
	return 0;
}

/* e2fsck calls it for no bitmap. */
static errcode_t resize(struct bitmap *bitmap, __u64 end, __u64 real_end)
{
	(void)bitmap;
	(void)end;
	(void)real_end;
	return EXT2_ET_OP_NOT_SUPPORTED;
}

static int mark(struct bitmap *bitmap, __u64 bit)
{
	return bitset_set(bitmap->private, bit - bitmap->start);
}

static int unmark(struct bitmap *bitmap, __u64 bit)
{
	bit -= bitmap->start;
	/* A tree also answers "was set" for a clear bit right before a set
	 * one. */
	return bitset_clear(bitmap->private, bit) ||
	       bitset_test(bitmap->private, bit + 1);
}

static int test(struct bitmap *bitmap, __u64 bit)
{
	bool is_set = bitset_test(bitmap->private, bit - bitmap->start);

	if (is_set && bitmap->private == claims && watch.claimed)
		watch.claimed(watch.ctx);
	return is_set;
}

static void mark_range(struct bitmap *bitmap, __u64 start, unsigned count)
{
	bitset_change(bitmap->private, start - bitmap->start, count, true);
}

static void unmark_range(struct bitmap *bitmap, __u64 start, unsigned count)
{
	bitset_change(bitmap->private, start - bitmap->start, count, false);
}

static int range_is_clear(struct bitmap *bitmap, __u64 start, unsigned count)
{
	start -= bitmap->start;
	return !count || bitset_first(bitmap->private, start, start + count - 1,
				      true) == UINT64_MAX;
}

/* A tree keeps bits that were already set. */
static errcode_t set_bytes(struct bitmap *bitmap, __u64 start, size_t count,
			   void *in)
{
	bitset_add_bytes(bitmap->private, start - bitmap->start, count, in);
	return 0;
}

static errcode_t get_bytes(struct bitmap *bitmap, __u64 start, size_t count,
			   void *out)
{
	/* An empty tree leaves the buffer unchanged. */
	if (!bitset_is_empty(bitmap->private))
		bitset_get_bytes(bitmap->private, start - bitmap->start, count,
				 out);
	return 0;
}

static void clear(struct bitmap *bitmap)
{
	bitset_clear_all(bitmap->private);
}

static errcode_t search(const struct bitmap *bitmap, uint64_t start,
			uint64_t end, bool value, __u64 *out)
{
	uint64_t found;

	if (start > end)
		return EINVAL;
	/* An empty tree finds nothing, not even a clear bit. */
	if (bitset_is_empty(bitmap->private))
		return ENOENT;
	found = bitset_first(bitmap->private, start - bitmap->start,
			     end - bitmap->start, value);
	if (found == UINT64_MAX)
		return ENOENT;
	*out = found + bitmap->start;
	return 0;
}

static errcode_t first_clear(struct bitmap *bitmap, __u64 start, __u64 end,
			     __u64 *found)
{
	return search(bitmap, start, end, false, found);
}

static errcode_t first_set(struct bitmap *bitmap, __u64 start, __u64 end,
			   __u64 *found)
{
	return search(bitmap, start, end, true, found);
}

static const struct operations ours = {
	.type = EXT2FS_BMAP64_RBTREE,
	.free = free_bitmap, .copy = copy, .resize = resize,
	.mark = mark, .unmark = unmark, .test = test,
	.mark_range = mark_range, .unmark_range = unmark_range,
	.range_is_clear = range_is_clear,
	.set_bytes = set_bytes, .get_bytes = get_bytes,
	.clear = clear, .first_clear = first_clear, .first_set = first_set,
};

/* A bitmap of more bits than any filesystem has remains a tree: the undo manager's
 * has 2^64 - 1, and the table of a set grows with their number. */
#define MAX_BITS (UINT64_C(1) << 40)

/* Runs instead of the function that makes a tree.  Bitmaps that libext2fs makes
 * with it get our table; older ones, and those of others, keep theirs. */
static errcode_t make(ext2_filsys fs, struct bitmap *bitmap)
{
	uint64_t bits = bits_of(bitmap->start, bitmap->end, bitmap->real_end);
	struct bitset *s;

	if (bits > MAX_BITS)
		return stock.make(fs, bitmap);
	s = malloc(sizeof(*s));
	if (!s || !bitset_init(s, bits)) {
		free(s);
		return EXT2_ET_NO_MEMORY;
	}
	bitmap->private = s;
	bitmap->operations = &ours;
	if (is_of_claims(bitmap->description))
		claims = s;
	return 0;
}

/*
 * Replacing that function.
 */

static struct operations *table(void)
{
	return dlsym(RTLD_NEXT, "ext2fs_blkmap64_rbtree");
}

/* Does a bitmap that libext2fs has made look as expected? */
static bool is_bitmap(const struct bitmap *bitmap, ext2_filsys fs)
{
	uint64_t start = fs->super->s_first_data_block;

	return bitmap->magic == EXT2_ET_MAGIC_BLOCK_BITMAP64 &&
	       bitmap->fs == fs &&
	       bitmap->operations == table() && bitmap->start == start &&
	       bitmap->end == ext2fs_blocks_count(fs->super) - 1 &&
	       bitmap->real_end == (uint64_t)fs->super->s_clusters_per_group *
				fs->group_desc_count - 1 + start &&
	       !bitmap->cluster_bits && !strcmp(bitmap->description, "layout") &&
	       bitmap->private && bitmap->base_error == EXT2_ET_BAD_BLOCK_MARK;
}

bool bitmaps_layout_is_known(ext2_filsys fs)
{
	int type = fs->default_bitmap_type;
	ext2fs_block_bitmap bitmap;
	bool known;

	if (!table() || table()->type != EXT2FS_BMAP64_RBTREE)
		return false;
	fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	known = !ext2fs_allocate_block_bitmap(fs, "layout", &bitmap);
	fs->default_bitmap_type = type;
	if (known) {
		known = is_bitmap((const struct bitmap *)bitmap, fs);
		ext2fs_free_block_bitmap(bitmap);
	}
	return known;
}

void bitmaps_begin(void)
{
	if (!trees) {
		trees = table();
		stock = *trees;
	}
	trees->make = make;
}

void bitmaps_end(void)
{
	if (trees)
		trees->make = stock.make;
}

bool bitmaps_are_ours(void)
{
	return trees && trees->make == make;
}

__attribute__((noinline))
static int test_by_library(ext2fs_generic_bitmap bitmap, __u64 bit)
{
	REAL(ext2fs_test_generic_bmap);

	return real(bitmap, bit);
}

/* Bypasses libext2fs's wrapper for our bitmaps, except those of clusters.  Most bits are in
 * the word that the set has loaded.  (A 32-bit bitmap, which e2fsck does not use, has
 * integers at the offset of our table pointer.) */
int ext2fs_test_generic_bmap(ext2fs_generic_bitmap generic, __u64 bit)
{
	struct bitmap *bitmap = (struct bitmap *)generic;
	const struct bitset *s;
	bool is_set;

	if (!bitmap || bitmap->operations != &ours || bitmap->cluster_bits ||
	    bit < bitmap->start || bit > bitmap->end)
		return test_by_library(generic, bit);
	s = bitmap->private;
	if ((bit - bitmap->start) / 64 == s->word_at) {
		is_set = s->word >> (bit - bitmap->start) % 64 & 1;
		if (!is_set || s != claims)
			return is_set;
	}
	return test(bitmap, bit);
}

/* Pass 5 counts the bits of every bitmap on the disk. */
unsigned int ext2fs_bitcount(const void *addr, unsigned int nbytes)
{
	const unsigned char *bytes = addr;
	uint64_t word;
	unsigned count = 0;
	REAL(ext2fs_bitcount);

	if (!bitmaps_are_ours())
		return real(addr, nbytes);
	for (; nbytes >= sizeof(word); nbytes -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		bytes += sizeof(word);
		count += node_count_ones(word);
	}
	word = 0;
	memcpy(&word, bytes, nbytes);
	return count + node_count_ones(word);
}
