// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Puts one file of many fragments into a filesystem that mke2fs has just made:
 *
 *	mkfragments IMAGE COUNT LENGTH DISTANCE [SEED [FILES]]
 *
 * COUNT extents of LENGTH blocks.  DISTANCE blocks are between the beginnings
 * of two; with a SEED other than 0 lengths and distances are random with these
 * means, and the file has the fragments in random order.  FILES files claim the
 * same blocks.  Only metadata is written.  What is made shows how much memory a
 * check needs.
 */
#include <ext2fs/ext2fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


struct fragment {
	blk64_t block;
	unsigned length;
};

static uint64_t state;

__attribute__((noreturn))
static void die(const char *what, errcode_t err)
{
	fprintf(stderr, "mkfragments: %s: %s\n", what, error_message(err));
	exit(1);
}

static uint64_t rnd(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) +
		UINT64_C(1442695040888963407);
	return (state >> 20) % below;
}

/* `mean`, or a random number of that mean. */
static uint64_t about(uint64_t mean)
{
	return state ? 1 + rnd(2 * mean - 1) : mean;
}

/* Take fragments from one end of the device to the other, but not what is in
 * use. */
static size_t place(ext2_filsys fs, struct fragment *f, size_t count,
		    uint64_t length, uint64_t distance)
{
	/* Not at the beginning of groups, where metadata is. */
	blk64_t at = fs->super->s_first_data_block + distance + distance / 2;
	blk64_t end, used;
	size_t n = 0;

	for (; n < count; at += about(distance)) {
		end = at + about(length);
		if (end >= ext2fs_blocks_count(fs->super))
			break;
		if (!ext2fs_find_first_set_block_bitmap2(fs->block_map, at,
							 end, &used)) {
			if (used == at)
				continue;
			end = used;
		}
		f[n].block = at;
		f[n++].length = (unsigned)(end - at);
		ext2fs_block_alloc_stats_range(fs, at, (blk_t)(end - at), 1);
		if (end > at + distance)
			at = end - distance;
	}
	return n;
}

static void shuffle(struct fragment *f, size_t n)
{
	while (n > 1) {
		size_t other = rnd(n--);
		struct fragment swapped = f[n];

		f[n] = f[other];
		f[other] = swapped;
	}
}

/* An entry of a block of the tree: an extent or an index entry. */
struct entry {
	uint64_t logical, block;
	unsigned length;		/* 0: an index entry */
};

static void store(unsigned char *node, unsigned slots, unsigned depth,
		  const struct entry *e, unsigned n)
{
	struct ext3_extent_header *h = (void *)node;
	unsigned i;

	*h = (struct ext3_extent_header) {
		.eh_magic = ext2fs_cpu_to_le16(EXT3_EXT_MAGIC),
		.eh_entries = ext2fs_cpu_to_le16((__u16)n),
		.eh_max = ext2fs_cpu_to_le16((__u16)slots),
		.eh_depth = ext2fs_cpu_to_le16((__u16)depth)
	};
	for (i = 0; i < n; i++) {
		__u32 low = ext2fs_cpu_to_le32((__u32)e[i].block);
		__u16 high = ext2fs_cpu_to_le16((__u16)(e[i].block >> 32));
		__u32 logical = ext2fs_cpu_to_le32((__u32)e[i].logical);

		if (depth)
			((struct ext3_extent_idx *)(h + 1))[i] =
				(struct ext3_extent_idx){ logical, low, high,
							  0 };
		else
			((struct ext3_extent *)(h + 1))[i] =
				(struct ext3_extent){ logical,
					ext2fs_cpu_to_le16((__u16)e[i].length),
					high, low };
	}
}

/* Write a level of the tree, and make the entries of the one above of it.
 * Returns their number. */
static size_t write_level(ext2_filsys fs, struct entry *e, size_t n,
			  unsigned depth, blk64_t *goal)
{
	unsigned slots = (fs->blocksize - 12) / 12;
	unsigned char *buf = calloc(1, fs->blocksize);
	size_t from, above = 0;
	errcode_t err;

	if (!buf)
		die("no memory", EXT2_ET_NO_MEMORY);
	for (from = 0; from < n; from += slots) {
		size_t part = n - from < slots ? n - from : slots;

		err = ext2fs_new_block2(fs, *goal, NULL, goal);
		if (err)
			die("no block for the tree", err);
		ext2fs_block_alloc_stats2(fs, *goal, 1);
		memset(buf, 0, fs->blocksize);
		store(buf, slots, depth, e + from, (unsigned)part);
		err = io_channel_write_blk64(fs->io, *goal, 1, buf);
		if (err)
			die("cannot write", err);
		e[above++] = (struct entry){ e[from].logical, *goal, 0 };
	}
	free(buf);
	return above;
}

static void write_file(ext2_filsys fs, const struct fragment *f, size_t n,
		       unsigned number)
{
	struct entry *e = calloc(n + 1, sizeof(*e));
	char name[32];
	struct ext2_inode inode;
	uint64_t logical = 0, blocks = 0;
	blk64_t goal = fs->super->s_first_data_block;
	unsigned depth = 0;
	ext2_ino_t ino;
	errcode_t err;
	size_t i;

	if (!e)
		die("no memory", EXT2_ET_NO_MEMORY);
	for (i = 0; i < n; i++) {
		e[i] = (struct entry){ logical, f[i].block, f[i].length };
		logical += f[i].length;
	}
	blocks = logical;
	for (; n > 4; depth++) {
		n = write_level(fs, e, n, depth, &goal);
		blocks += n;
	}
	memset(&inode, 0, sizeof(inode));
	inode.i_mode = LINUX_S_IFREG | 0644;
	inode.i_links_count = 1;
	inode.i_flags = EXT4_EXTENTS_FL;
	inode.i_atime = inode.i_ctime = inode.i_mtime = 1;
	ext2fs_inode_size_set(fs, &inode, logical * fs->blocksize);
	ext2fs_iblk_set(fs, &inode, blocks);
	store((unsigned char *)inode.i_block, 4, depth, e, (unsigned)n);
	snprintf(name, sizeof(name), "fragments%u", number);
	err = ext2fs_new_inode(fs, EXT2_ROOT_INO, LINUX_S_IFREG, NULL, &ino);
	if (!err)
		err = ext2fs_write_new_inode(fs, ino, &inode);
	if (!err)
		err = ext2fs_link(fs, EXT2_ROOT_INO, name, ino,
				  EXT2_FT_REG_FILE);
	if (err)
		die("cannot make the file", err);
	ext2fs_inode_alloc_stats2(fs, ino, 1, 0);
	free(e);
}

int main(int argc, char **argv)
{
	struct fragment *f;
	ext2_filsys fs;
	errcode_t err;
	unsigned files, i;
	size_t n;

	if (argc < 5 || argc > 7) {
		fprintf(stderr, "usage: mkfragments IMAGE COUNT LENGTH "
			"DISTANCE [SEED [FILES]]\n");
		return 2;
	}
	initialize_ext2_error_table();
	err = ext2fs_open(argv[1], EXT2_FLAG_RW | EXT2_FLAG_64BITS, 0, 0,
			  unix_io_manager, &fs);
	if (!err)
		err = ext2fs_read_bitmaps(fs);
	if (err)
		die(argv[1], err);
	n = strtoul(argv[2], NULL, 10);
	f = calloc(n, sizeof(*f));
	if (!f)
		die("no memory", EXT2_ET_NO_MEMORY);
	state = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
	files = argc > 6 ? (unsigned)strtoul(argv[6], NULL, 10) : 1;
	n = place(fs, f, n, strtoul(argv[3], NULL, 10),
		  strtoul(argv[4], NULL, 10));
	if (state)
		shuffle(f, n);
	for (i = 0; i < files; i++)
		write_file(fs, f, n, i);
	free(f);
	err = ext2fs_close_free(&fs);
	if (err)
		die("cannot write", err);
	return 0;
}
