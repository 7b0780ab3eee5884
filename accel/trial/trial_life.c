/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a filesystem in memory.  Does once what e2fsck makes libext2fs do
 * with the maps of a filesystem (create, fill, search, copy, write and read
 * them), and keeps the result of each step.
 */
#include <stdlib.h>
#include <string.h>

#include "bitmaps.h"
#include "trial.h"

#define BLOCK 1024u
#define PER_GROUP 256u
#define GROUPS 3u
#define BLOCKS (GROUPS * PER_GROUP - 100u)	/* the last group is short */
#define INODES 96u

#define DISK_BYTES (BLOCKS * BLOCK)

/* The last block of a map with several nodes of chunks; a part of it in which
 * every other block is more runs than a list has. */
#define LARGE 9000000u
#define LARGE_PART 4160u

static unsigned char *disk;
static struct trial_life *now;

static void keep(struct trial_life *life, unsigned long long value)
{
	if (life->results < TRIAL_RESULTS)
		life->result[life->results++] = value;
}

static void keep_bytes(struct trial_life *life, const void *bytes, size_t len)
{
	unsigned long long sum = 14695981039346656037u, word;
	size_t i;

	for (i = 0; i < len; i += sizeof(word)) {
		word = 0;
		memcpy(&word, (const char *)bytes + i,
		       len - i < sizeof(word) ? len - i : sizeof(word));
		sum = (sum ^ word) * 1099511628211u;
		sum ^= sum >> 32;
	}
	keep(life, sum);
}

/*
 * An I/O manager with one channel, whose device is the array `disk`, so that
 * written data can be read back.
 */

static struct struct_io_channel disk_channel;

static errcode_t disk_open(const char *name, int flags, io_channel *channel)
{
	(void)name;
	(void)flags;
	*channel = &disk_channel;
	return 0;
}

static errcode_t disk_set_blksize(io_channel io, int size)
{
	io->block_size = size;
	return 0;
}

static errcode_t disk_nothing(io_channel io)
{
	(void)io;
	return 0;
}

/* Address of `count` blocks, or of -count bytes if it is negative; NULL if they
 * are not inside the disk. */
static unsigned char *place(io_channel io, unsigned long block, int count,
			    size_t *len)
{
	unsigned long long at = (unsigned long long)block *
				(unsigned)io->block_size;

	*len = count < 0 ? (size_t)-count :
			   (size_t)count * (unsigned)io->block_size;
	return at <= DISK_BYTES && *len <= DISK_BYTES - at ? disk + at :
								 NULL;
}

static errcode_t disk_read(io_channel io, unsigned long block, int count,
			   void *data)
{
	size_t len;
	const unsigned char *from = place(io, block, count, &len);

	if (!from)
		return EXT2_ET_SHORT_READ;
	memcpy(data, from, len);
	return 0;
}

static errcode_t disk_write(io_channel io, unsigned long block, int count,
			    const void *data)
{
	size_t len;
	unsigned char *to = place(io, block, count, &len);

	if (!to)
		return EXT2_ET_SHORT_WRITE;
	keep(now, block);
	keep_bytes(now, data, len);
	memcpy(to, data, len);
	return 0;
}

/* libext2fs uses these where there are none for 64 bits. */
static struct struct_io_manager disk_manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER, .name = "memory",
	.open = disk_open, .close = disk_nothing, .flush = disk_nothing,
	.set_blksize = disk_set_blksize,
	.read_blk = disk_read, .write_blk = disk_write,
};

static struct struct_io_channel disk_channel = {
	.magic = EXT2_ET_MAGIC_IO_CHANNEL, .manager = &disk_manager,
	.name = "trial", .block_size = BLOCK, .refcount = 1,
};

/*
 * The steps.  They call no inline function of libext2fs on maps: a build
 * without optimization would refer to the library, which no module is linked
 * with.
 */

/* Every bit of a map, as e2fsck sees it. */
static void keep_maps(struct trial_life *life, ext2_filsys fs)
{
	unsigned char bits[BLOCKS] = { 0 };
	unsigned i;

	for (i = 1; i < BLOCKS; i++)
		bits[i] = !!ext2fs_test_generic_bmap(fs->block_map, i);
	keep_bytes(life, bits, BLOCKS);
	memset(bits, 0, sizeof(bits));
	for (i = 1; i <= INODES; i++)
		bits[i] = !!ext2fs_test_generic_bmap(fs->inode_map, i);
	keep_bytes(life, bits, INODES + 1);
}

static ext2_filsys make(void)
{
	struct ext2_super_block sb;
	ext2_filsys fs;

	memset(&sb, 0, sizeof(sb));
	ext2fs_blocks_count_set(&sb, BLOCKS);
	sb.s_blocks_per_group = PER_GROUP;
	sb.s_inodes_count = INODES;
	sb.s_first_data_block = 1;
	sb.s_rev_level = EXT2_DYNAMIC_REV;
	sb.s_inode_size = 256;
	ext2fs_set_feature_metadata_csum(&sb);
	sb.s_checksum_type = EXT2_CRC32C_CHKSUM;
	if (ext2fs_initialize("trial", EXT2_FLAG_64BITS, &sb, &disk_manager,
			      &fs))
		return NULL;
	fs->now = 1;
	ext2fs_init_csum_seed(fs);
	return fs;
}

/* What mke2fs does, and e2fsck when it rebuilds a group. */
static void lay_out(struct trial_life *life, ext2_filsys fs)
{
	dgrp_t group;

	for (group = 0; group < fs->group_desc_count; group++)
		keep(life, (unsigned)ext2fs_reserve_super_and_bgd(fs, group,
							fs->block_map));
	keep(life, (unsigned long)ext2fs_allocate_tables(fs));
	keep_maps(life, fs);
}

static void take_inodes(struct trial_life *life, ext2_filsys fs)
{
	ext2_ino_t ino = 0;
	unsigned i;

	for (i = 0; i < 40; i++) {
		keep(life, (unsigned long)ext2fs_new_inode(fs, 2, 0100644,
							   NULL, &ino));
		keep(life, ino);
		if (ino)
			ext2fs_inode_alloc_stats2(fs, ino, 1, i & 1);
		if (ino && i % 5 == 4)
			ext2fs_inode_alloc_stats2(fs, ino, -1, 0);
	}
}

static void take_blocks(struct trial_life *life, ext2_filsys fs)
{
	blk64_t block = 0, length = 0;
	unsigned i;

	for (i = 0; i < 40; i++) {
		block = 0;
		keep(life, (unsigned long)ext2fs_new_block2(fs, i * 16, NULL,
							    &block));
		keep(life, block);
		if (block)
			ext2fs_block_alloc_stats2(fs, block, 1);
		if (block && i % 5 == 4)
			ext2fs_block_alloc_stats2(fs, block, -1);
	}
	for (i = 1; i < 60; i += 7) {
		block = 0;
		keep(life, (unsigned long)ext2fs_get_free_blocks2(fs, i * 10,
						BLOCKS - 1, (int)i, NULL,
						&block));
		keep(life, block);
		if (block)
			ext2fs_block_alloc_stats_range(fs, block, i, 1);
		if (block && i % 3 == 1)
			ext2fs_block_alloc_stats_range(fs, block, i / 2, -1);
		keep(life, (unsigned long)ext2fs_new_range(fs, 0, i * 9, i,
						NULL, &block, &length));
		keep(life, block);
		keep(life, length);
	}
	keep_maps(life, fs);
}

/* Pass 5 replaces a map of the filesystem with a copy like this. */
static void copy_maps(struct trial_life *life, ext2_filsys fs)
{
	ext2fs_generic_bitmap copy = NULL;
	unsigned char bytes[PER_GROUP / 8];
	blk64_t end = 0;
	unsigned i;

	keep(life, (unsigned long)ext2fs_copy_bitmap(fs->block_map, &copy));
	if (!copy)
		return;
	keep(life, (unsigned long)ext2fs_fudge_block_bitmap_end2(copy,
			GROUPS * PER_GROUP, &end));
	keep(life, end);
	ext2fs_fudge_block_bitmap_end2(copy, end, NULL);
	ext2fs_set_bitmap_padding(copy);
	for (i = 0; i < GROUPS; i++) {
		memset(bytes, 0, sizeof(bytes));
		keep(life, (unsigned long)ext2fs_get_block_bitmap_range2(copy,
				1 + i * PER_GROUP, PER_GROUP, bytes));
		keep_bytes(life, bytes, sizeof(bytes));
		keep(life, (unsigned long)ext2fs_set_block_bitmap_range2(copy,
				1 + i * PER_GROUP, PER_GROUP, bytes));
	}
	ext2fs_clear_block_bitmap(copy);
	for (i = 1; i < BLOCKS; i++)
		if (ext2fs_test_generic_bmap(copy, i))
			keep(life, i);
	ext2fs_free_block_bitmap(copy);
}

/* Every hash of a large map's content, and what a search finds in it. */
static void keep_large(struct trial_life *life, ext2fs_block_bitmap map,
		       blk64_t start, unsigned count)
{
	static unsigned char bytes[LARGE_PART / 8];
	blk64_t found = 0;

	memset(bytes, 0, sizeof(bytes));
	keep(life, (unsigned long)ext2fs_get_block_bitmap_range2(map, start,
						count, bytes));
	keep_bytes(life, bytes, sizeof(bytes));
	keep(life, (unsigned long)ext2fs_find_first_set_generic_bmap(map,
					start + count, LARGE, &found));
	keep(life, found);
	keep(life, (unsigned long)ext2fs_find_first_zero_generic_bmap(map,
					start, LARGE, &found));
	keep(life, found);
}

/* A map that is large enough for each of the forms of bitset.c, taken from each
 * form to the next and back. */
static void change_forms(struct trial_life *life, ext2_filsys fs)
{
	static unsigned char stripes[LARGE_PART / 8];
	ext2fs_block_bitmap map = NULL;
	ext2fs_generic_bitmap copy = NULL;
	const blk64_t start = 1 + 65536;

	memset(stripes, 0x55, sizeof(stripes));
	if (ext2fs_copy_bitmap(fs->block_map, &map))
		return;
	keep(life, (unsigned long)ext2fs_resize_block_bitmap2(LARGE,
						LARGE + 1000, map));
	keep_large(life, map, 1, LARGE_PART);
	/* One run, in a chunk, in a node, and beyond both; then holes. */
	ext2fs_mark_block_bitmap_range2(map, 1000, 60000);
	ext2fs_mark_block_bitmap_range2(map, 60000, 5000000);
	keep_large(life, map, start, LARGE_PART);
	ext2fs_unmark_block_bitmap_range2(map, 900, 4000000);
	keep(life, (unsigned)ext2fs_unmark_generic_bmap(map, start + 1));
	/* A list, bits, and a list again. */
	ext2fs_set_block_bitmap_range2(map, start, 64, stripes);
	keep_large(life, map, start, LARGE_PART);
	ext2fs_set_block_bitmap_range2(map, start, LARGE_PART, stripes);
	keep_large(life, map, start, LARGE_PART);
	keep(life, (unsigned)ext2fs_test_generic_bmap(map, start + 1));
	keep(life, (unsigned)ext2fs_mark_generic_bmap(map, start + 1));
	keep(life, (unsigned)ext2fs_test_block_bitmap_range2(map, start + 1, 2));
	keep(life, (unsigned long)ext2fs_copy_bitmap(map, &copy));
	ext2fs_unmark_block_bitmap_range2(map, start, LARGE_PART - 20);
	keep_large(life, map, start, LARGE_PART);
	/* Full, and clear. */
	ext2fs_mark_block_bitmap_range2(map, 2, LARGE - 2);
	keep_large(life, map, start, LARGE_PART);
	ext2fs_clear_block_bitmap(map);
	keep_large(life, map, start, LARGE_PART);
	ext2fs_free_block_bitmap(map);
	if (copy) {
		keep_large(life, copy, start, LARGE_PART);
		ext2fs_free_block_bitmap(copy);
	}
}

/* Link counts use maps of inodes inside the library. */
static void count_links(struct trial_life *life, ext2_filsys fs)
{
	ext2_icount_t counts = NULL;
	__u16 count;
	ext2_ino_t ino;

	keep(life, (unsigned long)ext2fs_create_icount2(fs,
			EXT2_ICOUNT_OPT_INCREMENT, 8, NULL, &counts));
	if (!counts)
		return;
	for (ino = 1; ino <= INODES; ino += 3) {
		ext2fs_icount_store(counts, ino, (__u16)(ino % 4));
		ext2fs_icount_increment(counts, ino + ino % 2, NULL);
		if (ino % 4 > 1)
			ext2fs_icount_decrement(counts, ino, NULL);
	}
	for (ino = 1; ino <= INODES; ino++) {
		count = 0;
		ext2fs_icount_fetch(counts, ino, &count);
		keep(life, count);
	}
	ext2fs_free_icount(counts);
}

static void note_bad_blocks(struct trial_life *life, ext2_filsys fs)
{
	ext2_badblocks_list bad;

	if (ext2fs_badblocks_list_create(&bad, 2))
		return;
	ext2fs_badblocks_list_add(bad, BLOCKS - 3);
	ext2fs_badblocks_list_add(bad, BLOCKS - 7);
	keep(life, (unsigned long)ext2fs_update_bb_inode(fs, bad));
	ext2fs_badblocks_list_free(bad);
}

static void write_and_read(struct trial_life *life, ext2_filsys fs)
{
	dgrp_t group;
	unsigned i;

	keep(life, (unsigned long)ext2fs_set_gdt_csum(fs));
	for (group = 0; group < fs->group_desc_count; group++)
		keep(life, ext2fs_bg_checksum(fs, group));
	keep(life, (unsigned long)ext2fs_check_desc(fs));
	keep(life, (unsigned long)ext2fs_write_bitmaps(fs));
	ext2fs_free_block_bitmap(fs->block_map);
	ext2fs_free_inode_bitmap(fs->inode_map);
	fs->block_map = NULL;
	fs->inode_map = NULL;
	keep(life, (unsigned long)ext2fs_read_bitmaps(fs));
	for (i = 0; i < 40; i++)
		keep(life, ext2fs_bitcount(disk + i * BLOCK + i, BLOCK - i));
	if (fs->block_map && fs->inode_map)
		keep_maps(life, fs);
	else
		life->results = 0;
}

static bool live(struct trial_life *life)
{
	ext2_filsys fs = make();

	if (!fs)
		return false;
	life->known = !bitmaps_are_ours() && bitmaps_layout_is_known(fs);
	change_forms(life, fs);
	lay_out(life, fs);
	take_inodes(life, fs);
	take_blocks(life, fs);
	copy_maps(life, fs);
	count_links(life, fs);
	note_bad_blocks(life, fs);
	write_and_read(life, fs);
	ext2fs_free(fs);
	return life->results && life->results < TRIAL_RESULTS;
}

bool trial_live(struct trial_life *life)
{
	bool lived;

	memset(life, 0, sizeof(*life));
	now = life;
	disk = calloc(1, DISK_BYTES);
	lived = disk && live(life);
	free(disk);
	disk = NULL;
	return lived;
}
