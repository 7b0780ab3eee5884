/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The bitmaps that replace libext2fs's red-black trees, compared with such trees by
 * the self-test's random operations: the answers must be the same.
 */
#include <ext2fs/ext2fs.h>

#include "unit.h"
#include "e2fsck/accel/bitset.h"
#include "e2fsck/accel/interposers.h"

static ext2_filsys fs;
static struct trial seen[2], *now = seen;	/* with their trees, and ours */

/* A message of libext2fs is an answer, too. */
static void keep_message(const char *who, errcode_t code, const char *format,
			 va_list args)
{
	(void)who, (void)format, (void)args;
	trial_record(now, (uint64_t)code);
}

/* Of TRIAL_BLOCKS blocks or clusters. */
static void make_fs(unsigned cluster_bits)
{
	struct ext2_super_block sb;

	memset(&sb, 0, sizeof(sb));
	ext2fs_blocks_count_set(&sb, (blk64_t)TRIAL_BLOCKS << cluster_bits);
	sb.s_first_data_block = cluster_bits ? 0 : 1;
	if (cluster_bits) {
		sb.s_rev_level = EXT2_DYNAMIC_REV;
		sb.s_inodes_count = 8192;
		ext2fs_set_feature_bigalloc(&sb);
		sb.s_log_block_size = 2;
		sb.s_log_cluster_size = 2 + cluster_bits;
	}
	set_com_err_hook(keep_message);
	assert_int_equal(ext2fs_initialize("test", EXT2_FLAG_64BITS, &sb,
					   test_io_manager, &fs), 0);
	fs->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
}

/* From now on libext2fs's trees are ours, or its own. */
static void use(bool ours)
{
	if (ours)
		bitmaps_begin();
	else
		bitmaps_end();
}

/* Whose bitmaps are in force must not change while there are any. */
static void free_fs(void)
{
	use(false);
	ext2fs_free(fs);
}

static void as_trees(unsigned trials)
{
	unsigned i, ours;

	for (i = 0; i < trials; i++) {
		for (ours = 0; ours < 2; ours++) {
			use(ours);
			now = &seen[ours];
			*now = (struct trial) { .random = i };
			trial_bitmaps(now, fs);
		}
		if (memcmp(&seen[0], &seen[1], sizeof(seen[0])))
			fail_msg("trial %u", i);
	}
}

TEST(bitmaps)
{
	make_fs(0);
	as_trees(800);
	free_fs();
}

TEST(clusters)
{
	ext2fs_block_bitmap bitmap;
	uint64_t content[2] = { 0, 0 };
	unsigned i, ours;

	make_fs(4);
	as_trees(200);
	/* The bitmap of blocks becomes one of clusters. */
	for (ours = 0; ours < 2; ours++) {
		use(ours);
		assert_int_equal(ext2fs_allocate_subcluster_bitmap(fs, "s",
								   &bitmap), 0);
		for (i = 3; i < TRIAL_BLOCKS; i += i / 7 + 1)
			ext2fs_mark_block_bitmap_range2(bitmap, i, i / 50 + 1);
		assert_int_equal(ext2fs_convert_subcluster_bitmap(fs, &bitmap), 0);
		for (i = 0; i < 2 * TRIAL_BLOCKS; i += 16)
			content[ours] = content[ours] * 31 + (uint64_t)
				!!ext2fs_test_block_bitmap2(bitmap, i);
		ext2fs_free_block_bitmap(bitmap);
	}
	assert_true(content[0] == content[1] && content[0]);
	free_fs();
}

/* Neither table of libext2fs's is the bitmap's. */
static bool is_ours(int type)
{
	ext2fs_block_bitmap m;
	const void *table;

	fs->default_bitmap_type = type;
	assert_int_equal(ext2fs_allocate_block_bitmap(fs, "a", &m), 0);
	table = ((const void **)m)[2];
	ext2fs_free_block_bitmap(m);
	return table != dlsym(RTLD_NEXT, "ext2fs_blkmap64_rbtree") &&
	       table != dlsym(RTLD_NEXT, "ext2fs_blkmap64_bitarray");
}

/* A bitmap other than a tree is made as before. */
TEST(when_not)
{
	use(false);
	make_fs(0);
	assert_false(bitmaps_are_ours());
	fs->default_bitmap_type = EXT2FS_BMAP64_BITARRAY;
	assert_true(bitmaps_layout_is_known(fs));
	assert_int_equal(fs->default_bitmap_type, EXT2FS_BMAP64_BITARRAY);
	assert_false(is_ours(EXT2FS_BMAP64_RBTREE));
	use(true);
	assert_true(bitmaps_are_ours());
	assert_false(bitmaps_layout_is_known(fs));
	assert_true(is_ours(EXT2FS_BMAP64_RBTREE));
	assert_false(is_ours(EXT2FS_BMAP64_BITARRAY));
	/* A tree if few inodes are directories. */
	assert_true(is_ours(EXT2FS_BMAP64_AUTODIR));
	ext2fs_bg_used_dirs_count_set(fs, 0,
				      fs->super->s_inodes_count / 320 + 1);
	assert_false(is_ours(EXT2FS_BMAP64_AUTODIR));
	free_fs();
}

static void count_claimed(void *ctx)
{
	++*(unsigned *)ctx;
}

/* The bitmap of blocks that several files claim is known by its description.  Its
 * watcher is told only of the blocks in it that e2fsck asks for: a check asks for
 * each block of each file. */
TEST(claims)
{
	ext2fs_block_bitmap bitmap, other;
	unsigned told = 0, i;

	use(false);
	make_fs(0);
	use(true);
	assert_false(bitmaps_have_claims());
	assert_int_equal(ext2fs_allocate_block_bitmap(fs, "other", &other), 0);
	assert_false(bitmaps_have_claims());
	assert_int_equal(ext2fs_allocate_block_bitmap(fs,
			"multiply claimed block map", &bitmap), 0);
	assert_true(bitmaps_have_claims());
	ext2fs_mark_block_bitmap2(bitmap, 700);
	ext2fs_mark_block_bitmap2(other, 701);
	assert_true(ext2fs_test_block_bitmap2(bitmap, 700));
	assert_int_equal(told, 0);
	bitmaps_watch_claims(count_claimed, &told);
	for (i = 1; i < 8192; i++) {
		assert_int_equal(!!ext2fs_test_block_bitmap2(bitmap, i), i == 700);
		assert_int_equal(told, i >= 700);
		ext2fs_test_block_bitmap2(other, i);
	}
	assert_int_equal(told, 1);
	assert_true(ext2fs_test_block_bitmap2(bitmap, 700));
	assert_int_equal(told, 2);
	bitmaps_watch_claims(NULL, NULL);
	assert_true(ext2fs_test_block_bitmap2(bitmap, 700));
	assert_int_equal(told, 2);
	ext2fs_free_block_bitmap(bitmap);
	assert_false(bitmaps_have_claims());
	ext2fs_free_block_bitmap(other);
	free_fs();
}

UNIT_MAIN(NULL, NULL)
