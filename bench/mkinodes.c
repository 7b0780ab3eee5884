// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * Fills a fresh ext4 image with tens of millions of files in minutes: computes
 * inode tables, directories and extent tree blocks and writes them through
 * libext2fs, a block group's table at a time, where the kernel would make one
 * file after the other.  Or adds a file of millions of fragments, to show how much
 * memory a check needs.  Blocks of files are allocated and never written.  The
 * same arguments make the same image.  `images' formats the image.
 *
 * Inodes are used in sequence: each directory is followed by its files.
 * Directories form a tree in which K is the child of (K - 1) / FANOUT; K = 0 is
 * the root, which has no files.  So every inode number an entry needs can be
 * computed.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <ext2fs/ext3_extents.h>

#define FANOUT		10
#define NAME_MAX_LEN	24
#define ROOT_EXTENTS	4	/* as many as fit into an inode */
#define MAX_WRAPS	16
#define MADE_AT		1700000000	/* every timestamp */

struct image {
	ext2_filsys fs;
	uint64_t random;
	/* The arguments. */
	uint64_t dirs, files, blocks, every, extents;
	uint64_t first, end;	/* inodes in use, `end' not included */
	/* A run of free blocks; [from, next) are allocated. */
	blk64_t from, next, stop;
	unsigned int wraps;	/* times the end of the image was reached */
	uint64_t trees, leaves;
	char *table;		/* one group's inodes, in disk format */
	char *block;
};

/* Vigna's xorshift64*, as in mkfiles. */
static uint64_t rnd(struct image *im, uint64_t below)
{
	im->random ^= im->random >> 12;
	im->random ^= im->random << 25;
	im->random ^= im->random >> 27;
	return (im->random * 2685821657736338717ULL >> 16) % below;
}

static void must(errcode_t error, const char *what)
{
	if (error)
		errx(1, "%s: %s", what, error_message(error));
}

/* Mark the blocks allocated from the run as in use. */
static void mark_run_used(struct image *im)
{
	if (im->next > im->from)
		ext2fs_block_alloc_stats_range(im->fs, im->from,
					       (blk_t)(im->next - im->from),
					       +1);
	im->from = im->next;
}

/* Find the next run of free blocks from @goal on. */
static void next_stretch(struct image *im, blk64_t goal)
{
	blk64_t last = ext2fs_blocks_count(im->fs->super) - 1;

	mark_run_used(im);
	/* The last groups may be full; then wrap around to earlier ones. */
	while (goal > last ||
	       ext2fs_find_first_zero_block_bitmap2(im->fs->block_map, goal,
						    last, &im->from)) {
		if (im->wraps++ == MAX_WRAPS)
			errx(1, "no space left: the image is too small");
		goal = im->fs->super->s_first_data_block;
	}
	if (ext2fs_find_first_set_block_bitmap2(im->fs->block_map, im->from,
						last, &im->stop))
		im->stop = last + 1;
	im->next = im->from;
}

/* Allocate @count contiguous blocks. */
static blk64_t claim_blocks(struct image *im, uint64_t count)
{
	while (im->stop - im->next < count)
		next_stretch(im, im->stop);
	im->next += count;
	return im->next - count;
}

static ext2_ino_t dir_inode(const struct image *im, uint64_t dir)
{
	return dir ? (ext2_ino_t)(im->first + (dir - 1) * (im->files + 1)) :
		EXT2_ROOT_INO;
}

static uint64_t first_child(uint64_t dir)
{
	return dir * FANOUT + 1;
}

static uint64_t children(const struct image *im, uint64_t dir)
{
	uint64_t first = first_child(dir);

	return first >= im->dirs ? 0 :
		im->dirs - first < FANOUT ? im->dirs - first : FANOUT;
}

/*
 * Directory blocks.  ext2fs_write_dir_block4() swaps bytes where necessary and
 * adds the checksum.
 */

struct listing {
	char *block;
	unsigned int used, last, end;
};

static void add_entry(struct listing *l, ext2_ino_t inode, const char *name,
		      int type)
{
	struct ext2_dir_entry *entry = (void *)(l->block + l->used);
	unsigned int length = (unsigned int)strlen(name);
	unsigned int size = (8 + length + 3) & ~3U;

	if (size > l->end - l->used)
		errx(1, "a directory does not fit into its block");
	entry->inode = inode;
	ext2fs_dirent_set_name_len(entry, (int)length);
	ext2fs_dirent_set_file_type(entry, type);
	memcpy(entry->name, name, length);
	entry->rec_len = (__u16)size;
	l->last = l->used;
	l->used += size;
}

static void write_directory(struct image *im, uint64_t dir, blk64_t block)
{
	struct listing l = { .block = im->block, .end = im->fs->blocksize };
	ext2_ino_t self = dir_inode(im, dir);
	struct ext2_dir_entry *entry;
	char name[NAME_MAX_LEN];
	uint64_t i;

	memset(im->block, 0, im->fs->blocksize);
	if (ext2fs_has_feature_metadata_csum(im->fs->super)) {
		l.end -= (unsigned int)sizeof(struct ext2_dir_entry_tail);
		ext2fs_initialize_dirent_tail(im->fs, EXT2_DIRENT_TAIL(
			im->block, im->fs->blocksize));
	}
	add_entry(&l, self, ".", EXT2_FT_DIR);
	add_entry(&l, dir_inode(im, dir ? (dir - 1) / FANOUT : 0), "..",
		  EXT2_FT_DIR);
	if (!dir)
		add_entry(&l, EXT2_GOOD_OLD_FIRST_INO, "lost+found",
			  EXT2_FT_DIR);
	for (i = 0; i < children(im, dir); i++) {
		snprintf(name, sizeof(name), "d%08llu",
			 (unsigned long long)(first_child(dir) + i) % 100000000);
		add_entry(&l, dir_inode(im, first_child(dir) + i), name,
			  EXT2_FT_DIR);
	}
	for (i = 0; dir && i < im->files; i++) {
		snprintf(name, sizeof(name), "file-%05u.%03u",
			 (unsigned int)i % 100000,
			 (unsigned int)rnd(im, 1000));
		add_entry(&l, self + 1 + (ext2_ino_t)i, name,
			  EXT2_FT_REG_FILE);
	}
	entry = (void *)(im->block + l.last);
	entry->rec_len = (__u16)(l.end - l.last);
	must(ext2fs_write_dir_block4(im->fs, block, im->block, 0, self),
	     "writing a directory");
}

/* Extent trees, in disk byte order. */

static void extent_header(struct ext3_extent_header *h, uint64_t entries,
			  uint64_t max, unsigned int depth)
{
	h->eh_magic = ext2fs_cpu_to_le16(EXT3_EXT_MAGIC);
	h->eh_entries = ext2fs_cpu_to_le16((__u16)entries);
	h->eh_max = ext2fs_cpu_to_le16((__u16)max);
	h->eh_depth = ext2fs_cpu_to_le16((__u16)depth);
}

static void set_extent(struct ext3_extent *e, uint64_t logical,
		       uint64_t length, blk64_t block)
{
	e->ee_block = ext2fs_cpu_to_le32((__u32)logical);
	e->ee_len = ext2fs_cpu_to_le16((__u16)length);
	e->ee_start = ext2fs_cpu_to_le32((__u32)block);
	e->ee_start_hi = ext2fs_cpu_to_le16((__u16)(block >> 32));
}

static void set_index(struct ext3_extent_idx *index, uint64_t logical,
		      blk64_t block)
{
	index->ei_block = ext2fs_cpu_to_le32((__u32)logical);
	index->ei_leaf = ext2fs_cpu_to_le32((__u32)block);
	index->ei_leaf_hi = ext2fs_cpu_to_le16((__u16)(block >> 32));
}

static uint64_t leaf_capacity(const struct image *im)
{
	return (im->fs->blocksize - sizeof(struct ext3_extent_header)) /
		sizeof(struct ext3_extent);
}

/*
 * A file of @extents extents of one block.  They cannot be merged, because each
 * is followed by a hole.  Returns the number of blocks it takes.
 */
static uint64_t fragmented_file(struct image *im, ext2_ino_t inode,
				struct ext2_inode_large *raw,
				uint64_t extents)
{
	struct ext3_extent_header *root = (void *)raw->i_block;
	struct ext3_extent_idx *index = (void *)(root + 1);
	uint64_t per_leaf = leaf_capacity(im), done, n, i, leaves = 0;

	for (done = 0; done < extents; done += n, leaves++, index++) {
		struct ext3_extent_header *h = (void *)im->block;
		struct ext3_extent *e = (void *)(h + 1);
		blk64_t leaf, data;

		n = extents - done < per_leaf ? extents - done : per_leaf;
		leaf = claim_blocks(im, 1);
		data = claim_blocks(im, n);
		memset(im->block, 0, im->fs->blocksize);
		extent_header(h, n, per_leaf, 0);
		for (i = 0; i < n; i++)
			set_extent(&e[i], 2 * (done + i), 1, data + i);
		must(ext2fs_extent_block_csum_set(im->fs, inode, h),
		     "a checksum");
		must(io_channel_write_blk64(im->fs->io, leaf, 1, im->block),
		     "writing an extent tree");
		set_index(index, 2 * done, leaf);
	}
	extent_header(root, leaves, ROOT_EXTENTS, 1);
	im->trees++;
	im->leaves += leaves;
	return extents + leaves;
}

static void one_extent(struct ext2_inode_large *raw, blk64_t block,
		       uint64_t length)
{
	struct ext3_extent_header *root = (void *)raw->i_block;

	extent_header(root, 1, ROOT_EXTENTS, 0);
	set_extent((void *)(root + 1), 0, length, block);
}

/* Inodes, in disk byte order. */

static void fill_inode(const struct image *im, struct ext2_inode_large *raw,
		       unsigned int mode, uint64_t links, uint64_t size,
		       uint64_t blocks)
{
	__u32 now = ext2fs_cpu_to_le32(MADE_AT);

	raw->i_mode = ext2fs_cpu_to_le16((__u16)mode);
	raw->i_links_count = ext2fs_cpu_to_le16((__u16)links);
	raw->i_size = ext2fs_cpu_to_le32((__u32)size);
	raw->i_blocks = ext2fs_cpu_to_le32((__u32)(blocks *
						   (im->fs->blocksize / 512)));
	raw->i_flags = ext2fs_cpu_to_le32(EXT4_EXTENTS_FL);
	raw->i_atime = raw->i_ctime = raw->i_mtime = now;
	if (EXT2_INODE_SIZE(im->fs->super) > EXT2_GOOD_OLD_INODE_SIZE) {
		raw->i_extra_isize = ext2fs_cpu_to_le16(
			sizeof(*raw) - EXT2_GOOD_OLD_INODE_SIZE);
		raw->i_crtime = now;
	}
}

static void make_directory(struct image *im, uint64_t dir,
			   struct ext2_inode_large *raw)
{
	blk64_t block = claim_blocks(im, 1);

	one_extent(raw, block, 1);
	fill_inode(im, raw, LINUX_S_IFDIR | 0755, 2 + children(im, dir),
		   im->fs->blocksize, 1);
	write_directory(im, dir, block);
}

static void make_file(struct image *im, ext2_ino_t inode,
		      struct ext2_inode_large *raw)
{
	uint64_t n, blocks, fraction;

	if (im->every && inode % im->every == 0) {
		/* The cube of a fraction gives a long tail, as in mkfiles. */
		fraction = rnd(im, 1000);
		n = ROOT_EXTENTS + 1 + (im->extents - ROOT_EXTENTS - 1) *
			(fraction * fraction / 1000 * fraction / 1000) / 1000;
		blocks = fragmented_file(im, inode, raw, n);
		fill_inode(im, raw, LINUX_S_IFREG | 0644, 1,
			   (2 * n - 1) * im->fs->blocksize, blocks);
		return;
	}
	n = 1 + rnd(im, im->blocks);
	one_extent(raw, claim_blocks(im, n), n);
	fill_inode(im, raw, LINUX_S_IFREG | 0644, 1, n * im->fs->blocksize, n);
}

/* Returns true if it is a directory. */
static int make_inode(struct image *im, ext2_ino_t inode,
		      struct ext2_inode_large *raw)
{
	uint64_t at = inode - im->first;
	int is_dir = at % (im->files + 1) == 0;

	memset(raw, 0, EXT2_INODE_SIZE(im->fs->super));
	if (is_dir)
		make_directory(im, 1 + at / (im->files + 1), raw);
	else
		make_file(im, inode, raw);
	must(ext2fs_inode_csum_set(im->fs, inode, raw), "a checksum");
	return is_dir;
}

/* Block groups. */

/* Mark inodes @from to @end, @end not included, of @group as in use. */
static void account_group(struct image *im, dgrp_t group, uint64_t from,
			  uint64_t end, uint64_t dirs)
{
	ext2_filsys fs = im->fs;
	uint64_t per = EXT2_INODES_PER_GROUP(fs->super), n = end - from, i;

	for (i = from; i < end; i++)
		ext2fs_fast_mark_inode_bitmap2(fs->inode_map, (ext2_ino_t)i);
	ext2fs_bg_flags_clear(fs, group, EXT2_BG_INODE_UNINIT);
	ext2fs_bg_free_inodes_count_set(fs, group, (__u32)
		(ext2fs_bg_free_inodes_count(fs, group) - n));
	ext2fs_bg_used_dirs_count_set(fs, group, (__u32)
		(ext2fs_bg_used_dirs_count(fs, group) + dirs));
	if (ext2fs_has_group_desc_csum(fs))
		ext2fs_bg_itable_unused_set(fs, group, (__u32)
			((uint64_t)(group + 1) * per + 1 - end));
	ext2fs_group_desc_csum_set(fs, group);
	fs->super->s_free_inodes_count -= (__u32)n;
}

static void fill_group(struct image *im, dgrp_t group)
{
	ext2_filsys fs = im->fs;
	uint64_t per = EXT2_INODES_PER_GROUP(fs->super), from, end, i;
	uint64_t size = EXT2_INODE_SIZE(fs->super), dirs = 0, base;
	blk64_t table = ext2fs_inode_table_loc(fs, group), first;
	int blocks;

	base = from = (uint64_t)group * per + 1;
	end = from + per < im->end ? from + per : im->end;
	blocks = (int)(((end - from) * size + fs->blocksize - 1) /
		       fs->blocksize);
	memset(im->table, 0, per * size);
	/* A few inodes of the first group are already in use. */
	if (from < im->first)
		must(io_channel_read_blk64(fs->io, table, blocks, im->table),
		     "reading an inode table");
	first = ext2fs_group_first_block2(fs, group);
	if (im->next < first)
		next_stretch(im, first);
	from = from < im->first ? im->first : from;
	for (i = from; i < end; i++)
		dirs += (uint64_t)make_inode(im, (ext2_ino_t)i, (void *)
			(im->table + (i - base) * size));
	must(io_channel_write_blk64(fs->io, table, blocks, im->table),
	     "writing an inode table");
	account_group(im, group, from, end, dirs);
}

static void fill_root(struct image *im)
{
	struct ext2_inode raw;
	blk64_t block;

	must(ext2fs_bmap2(im->fs, EXT2_ROOT_INO, NULL, NULL, 0, 0, NULL,
			  &block), "the root directory");
	must(ext2fs_read_inode(im->fs, EXT2_ROOT_INO, &raw), "its inode");
	raw.i_links_count = (__u16)(3 + children(im, 0));
	must(ext2fs_write_inode(im->fs, EXT2_ROOT_INO, &raw), "its inode");
	write_directory(im, 0, block);
}

static uint64_t number(const char *text, uint64_t min, uint64_t max)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 10);

	if (end == text || *end || v < min || v > max)
		errx(2, "%s: must be a number from %llu to %llu", text,
		     (unsigned long long)min, (unsigned long long)max);
	return v;
}

__attribute__((noreturn))
static void usage(void)
{
	errx(2, "usage: mkinodes IMAGE files SEED DIRS FILES BLOCKS EVERY EXTENTS\n"
	     "       mkinodes IMAGE fragments COUNT LENGTH DISTANCE [SEED "
	     "[FILES]]\n"
	     "DIRS directories of FILES files of 1 to BLOCKS blocks; each "
	     "EVERY-th\nfile (0: none) has a tree of 5 to EXTENTS extents "
	     "instead.\n"
	     "FILES files that claim the same COUNT fragments of LENGTH blocks, "
	     "which begin\nDISTANCE blocks apart; with a SEED other than 0 these "
	     "are means, and the file\nhas its fragments in random order.");
}

/* The sizes must suit the image. */
static void prepare(struct image *im, const char *path)
{
	ext2_filsys fs = im->fs;

	/* The one before it is lost+found's. */
	im->first = EXT2_FIRST_INODE(fs->super) + 1;
	im->end = im->first + (im->dirs - 1) * (im->files + 1);
	if (im->end - 1 > fs->super->s_inodes_count)
		errx(1, "%s has room for %u inodes; %llu are needed", path,
		     fs->super->s_inodes_count,
		     (unsigned long long)im->end - 1);
	if (!ext2fs_has_feature_filetype(fs->super) ||
	    !ext2fs_has_feature_extents(fs->super))
		errx(1, "%s: not ext4", path);
	im->table = calloc(EXT2_INODES_PER_GROUP(fs->super),
			   EXT2_INODE_SIZE(fs->super));
	if (!im->table)
		err(1, NULL);
	if (im->extents > ROOT_EXTENTS * leaf_capacity(im))
		errx(2, "at most %llu extents per file", (unsigned long long)
		     (ROOT_EXTENTS * leaf_capacity(im)));
}

/* SEED DIRS FILES BLOCKS EVERY EXTENTS */
static void make_files(struct image *im, const char *path, int argc, char **argv)
{
	dgrp_t group, last;

	if (argc != 6)
		usage();
	im->random = number(argv[0], 0, UINT32_MAX) * 2654435761UL +
		88172645463325252ULL;
	im->dirs = 1 + number(argv[1], 1, UINT32_MAX);
	im->files = number(argv[2], 1, 99999);
	im->blocks = number(argv[3], 1, 32768);
	im->every = number(argv[4], 0, UINT32_MAX);
	im->extents = number(argv[5], ROOT_EXTENTS + 1, UINT16_MAX);
	if (im->dirs * (im->files + 1) > UINT32_MAX)
		errx(2, "too many inodes for ext4");
	prepare(im, path);
	fill_root(im);
	last = ext2fs_group_of_ino(im->fs, (ext2_ino_t)(im->end - 1));
	for (group = 0; group <= last; group++)
		fill_group(im, group);
	mark_run_used(im);
	ext2fs_mark_super_dirty(im->fs);
	ext2fs_mark_bb_dirty(im->fs);
	ext2fs_mark_ib_dirty(im->fs);
	free(im->table);
	printf("%llu inodes, %llu directories, %llu files with trees of "
	       "%llu leaves\n", (unsigned long long)(im->end - im->first),
	       (unsigned long long)(im->dirs - 1),
	       (unsigned long long)im->trees, (unsigned long long)im->leaves);
}

/*
 * A file of fragments.
 */

struct fragment {
	blk64_t block;
	unsigned int length;
};

/* `mean`, or a random number of that mean. */
static uint64_t vary_number(struct image *im, uint64_t mean)
{
	return im->random ? 1 + rnd(im, 2 * mean - 1) : mean;
}

/* Take fragments from one end of the device to the other, but not what is in
 * use. */
static size_t choose_fragments(struct image *im, struct fragment *f,
			       size_t count, uint64_t length, uint64_t distance)
{
	/* Skip the beginning of groups, where metadata is. */
	blk64_t at = im->fs->super->s_first_data_block + distance +
		distance / 2;
	blk64_t end, used;
	size_t n = 0;

	for (; n < count; at += vary_number(im, distance)) {
		end = at + vary_number(im, length);
		if (end >= ext2fs_blocks_count(im->fs->super))
			break;
		if (!ext2fs_find_first_set_block_bitmap2(im->fs->block_map, at,
							 end, &used)) {
			if (used == at)
				continue;
			end = used;
		}
		f[n].block = at;
		f[n++].length = (unsigned int)(end - at);
		ext2fs_block_alloc_stats_range(im->fs, at, (blk_t)(end - at), 1);
		if (end > at + distance)
			at = end - distance;
	}
	return n;
}

static void shuffle(struct image *im, struct fragment *f, size_t n)
{
	while (n > 1) {
		size_t other = rnd(im, n--);
		struct fragment swapped = f[n];

		f[n] = f[other];
		f[other] = swapped;
	}
}

/* An entry of a block of the tree: an extent, or an index entry of length 0. */
struct entry {
	uint64_t logical;
	struct fragment at;
};

static void store(struct ext3_extent_header *h, uint64_t slots,
		  unsigned int depth, const struct entry *e, uint64_t n)
{
	struct ext3_extent *extent = (void *)(h + 1);
	struct ext3_extent_idx *index = (void *)(h + 1);
	uint64_t i;

	extent_header(h, n, slots, depth);
	for (i = 0; i < n; i++)
		if (depth)
			set_index(&index[i], e[i].logical, e[i].at.block);
		else
			set_extent(&extent[i], e[i].logical, e[i].at.length,
				   e[i].at.block);
}

/* Write a level of the tree, and make the entries of the one above of it.
 * Returns their number. */
static uint64_t write_level(struct image *im, struct entry *e, uint64_t n,
			    unsigned int depth, blk64_t *goal)
{
	uint64_t slots = leaf_capacity(im), from, above = 0;

	for (from = 0; from < n; from += slots) {
		must(ext2fs_new_block2(im->fs, *goal, NULL, goal),
		     "no block for the tree");
		ext2fs_block_alloc_stats2(im->fs, *goal, 1);
		memset(im->block, 0, im->fs->blocksize);
		store((void *)im->block, slots, depth, e + from,
		      n - from < slots ? n - from : slots);
		must(io_channel_write_blk64(im->fs->io, *goal, 1, im->block),
		     "writing an extent tree");
		e[above++] = (struct entry){ e[from].logical, { *goal, 0 } };
	}
	return above;
}

static void write_fragments(struct image *im, const struct fragment *f,
			    uint64_t n, unsigned int number_of_file)
{
	struct entry *e = calloc(n + 1, sizeof(*e));
	struct ext2_inode inode = { .i_mode = LINUX_S_IFREG | 0644 };
	uint64_t logical = 0, blocks, i;
	blk64_t goal = im->fs->super->s_first_data_block;
	char name[NAME_MAX_LEN];
	unsigned int depth = 0;
	ext2_ino_t ino;

	if (!e)
		err(1, NULL);
	for (i = 0; i < n; i++) {
		e[i] = (struct entry){ logical, f[i] };
		logical += f[i].length;
	}
	for (blocks = logical; n > ROOT_EXTENTS; blocks += n)
		n = write_level(im, e, n, depth++, &goal);
	inode.i_links_count = 1;
	inode.i_flags = EXT4_EXTENTS_FL;
	inode.i_atime = inode.i_ctime = inode.i_mtime = 1;
	ext2fs_inode_size_set(im->fs, &inode, logical * im->fs->blocksize);
	ext2fs_iblk_set(im->fs, &inode, blocks);
	store((void *)inode.i_block, ROOT_EXTENTS, depth, e, n);
	snprintf(name, sizeof(name), "fragments%u", number_of_file);
	must(ext2fs_new_inode(im->fs, EXT2_ROOT_INO, LINUX_S_IFREG, NULL, &ino),
	     name);
	must(ext2fs_write_new_inode(im->fs, ino, &inode), name);
	must(ext2fs_link(im->fs, EXT2_ROOT_INO, name, ino, EXT2_FT_REG_FILE),
	     name);
	ext2fs_inode_alloc_stats2(im->fs, ino, 1, 0);
	free(e);
}

/* COUNT LENGTH DISTANCE [SEED [FILES]] */
static void make_fragments(struct image *im, int argc, char **argv)
{
	struct fragment *f;
	unsigned int i;
	uint64_t count, files;

	if (argc < 3 || argc > 5)
		usage();
	count = number(argv[0], 1, UINT32_MAX);
	im->random = argc > 3 ? number(argv[3], 0, UINT32_MAX) : 0;
	files = argc > 4 ? number(argv[4], 1, 100) : 1;
	f = calloc(count, sizeof(*f));
	if (!f)
		err(1, NULL);
	count = choose_fragments(im, f, count,
				 number(argv[1], 1, UINT16_MAX / 2),
				 number(argv[2], 1, UINT32_MAX));
	if (im->random)
		shuffle(im, f, count);
	for (i = 0; i < files; i++)
		write_fragments(im, f, count, i);
	free(f);
}

int main(int argc, char **argv)
{
	struct image im = { .from = 0 };

	if (argc < 3)
		usage();
	add_error_table(&et_ext2_error_table);
	must(ext2fs_open(argv[1], EXT2_FLAG_RW | EXT2_FLAG_64BITS |
			 EXT2_FLAG_EXCLUSIVE, 0, 0, unix_io_manager, &im.fs),
	     argv[1]);
	must(ext2fs_read_bitmaps(im.fs), argv[1]);
	im.block = malloc(im.fs->blocksize);
	if (!im.block)
		err(1, NULL);
	if (!strcmp(argv[2], "files"))
		make_files(&im, argv[1], argc - 3, argv + 3);
	else if (!strcmp(argv[2], "fragments"))
		make_fragments(&im, argc - 3, argv + 3);
	else
		usage();
	free(im.block);
	must(ext2fs_close_free(&im.fs), argv[1]);
	return 0;
}
