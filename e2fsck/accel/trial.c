/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The work of the self-test: uses a bitmap of blocks through libext2fs's public
 * functions, and walks over the blocks of made-up files.  Keeps what each function
 * answers, the callbacks, reads and writes, and what they leave behind.
 *
 * It calls no inline function of libext2fs on bitmaps: without optimization such a call
 * refers to the library, which no preload library is linked with.
 */
#include "interposers.h"

/*
 * Bitmaps.
 */

#define STEPS 240u
#define AREA_STEPS 20u
#define LAST (TRIAL_BLOCKS - 1)
#define MAX_COPIED 4160u		/* more than a chunk of bitset.c */

/* Where the bitmap is changed for a while: small ones take a chunk from one of its
 * forms to another and back, large ones cross nodes. */
struct area {
	uint64_t first, count;
};

static struct area new_area(struct trial *t)
{
	static const uint64_t counts[] = { 70, 300, 5000, 400000,
					    LAST };
	struct area a = { .count = counts[trial_number(&t->random, 5)] };

	a.first = 1 + trial_number(&t->random, LAST - a.count + 1);
	return a;
}

/* Bits of a range as they are on the disk: to compare them, or to read them. */
static void use_bytes(struct trial *t, ext2fs_block_bitmap bitmap, uint64_t at,
		      bool in)
{
	uint64_t word[MAX_COPIED / 64] = { 0 };
	unsigned max = trial_number(&t->random, 4) ? 200 : MAX_COPIED;
	unsigned count = (unsigned)trial_number(&t->random, max) + 1, i;
	bool striped = !trial_number(&t->random, 8);

	if (at > LAST - count)
		at = LAST - count;
	for (i = 0; in && i < (count + 63) / 64; i++)
		word[i] = striped ? UINT64_C(0x5555555555555555) :
			  ext2fs_cpu_to_le64(trial_number(&t->random, UINT32_MAX) <<
					     trial_number(&t->random, 64));
	trial_record(t, (uint64_t)(in ?
		ext2fs_set_block_bitmap_range2(bitmap, at, count, word) :
		ext2fs_get_block_bitmap_range2(bitmap, at, count, word)));
	trial_record_bytes(t, word, sizeof(word));
	trial_record(t, ext2fs_bitcount(word, (count + 7) / 8));
}

static void use_range(ext2fs_block_bitmap bitmap, uint64_t at, uint64_t count,
		      bool set)
{
	if (count > LAST - at + 1)
		count = LAST - at + 1;
	if (set)
		ext2fs_mark_block_bitmap_range2(bitmap, at, (unsigned)count);
	else
		ext2fs_unmark_block_bitmap_range2(bitmap, at, (unsigned)count);
}

static void search(struct trial *t, ext2fs_block_bitmap bitmap, uint64_t at,
		   uint64_t end)
{
	blk64_t found = 0;

	trial_record(t, (uint64_t)ext2fs_find_first_set_generic_bmap(bitmap, at, end,
								     &found));
	trial_record(t, (uint64_t)ext2fs_find_first_zero_generic_bmap(bitmap, at, end,
								      &found));
	trial_record(t, found);
}

/* Pass 5 replaces a bitmap of the filesystem with a copy, whose end it moves. */
static void replace(struct trial *t, ext2fs_block_bitmap *bitmap)
{
	ext2fs_generic_bitmap other = NULL;
	blk64_t end = LAST;

	trial_record(t, (uint64_t)ext2fs_copy_bitmap(*bitmap, &other));
	if (!other)
		return;
	ext2fs_free_block_bitmap(*bitmap);
	*bitmap = other;
	search(t, other, 1, LAST);
	ext2fs_fudge_block_bitmap_end2(other, LAST - 9, &end);
	ext2fs_set_bitmap_padding(other);
	/* The bits behind the end are in a word of bits before it. */
	trial_record(t, !!ext2fs_test_generic_bmap(other, LAST - 9));
	trial_record(t, !!ext2fs_test_generic_bmap(other, LAST - 8));
	trial_record(t, !!ext2fs_mark_generic_bmap(other, LAST - 8));
	ext2fs_fudge_block_bitmap_end2(other, end, NULL);
}

static void make_random_call(struct trial *t, ext2fs_block_bitmap *bitmap,
			     struct area a)
{
	uint64_t at = a.first + trial_number(&t->random, a.count), kind;
	uint64_t n = 1 + trial_number(&t->random, trial_number(&t->random, 4) ? 20 :
				a.count);

	kind = trial_number(&t->random, 10);
	if (kind < 3)
		trial_record(t, !!ext2fs_mark_generic_bmap(*bitmap, at));
	else if (kind < 4)
		trial_record(t, !!ext2fs_unmark_generic_bmap(*bitmap, at));
	else if (kind < 6)
		use_range(*bitmap, at, n, kind & 1);
	else if (kind < 8)
		use_bytes(t, *bitmap, at, kind & 1);
	else if (kind < 9)
		search(t, *bitmap, at, at + n < LAST ? at + n : LAST);
	else
		trial_record(t, (uint64_t)ext2fs_test_block_bitmap_range2(*bitmap,
						a.first, (unsigned)n));
	trial_record(t, !!ext2fs_test_generic_bmap(*bitmap, at));
}

void trial_bitmaps(struct trial *t, ext2_filsys fs)
{
	ext2fs_block_bitmap bitmap;
	struct area a = { 1, 1 };
	unsigned i;

	if (ext2fs_allocate_block_bitmap(fs, "trial", &bitmap))
		return;
	for (i = 0; i < STEPS; i++) {
		if (i % AREA_STEPS == 0)
			a = new_area(t);
		make_random_call(t, &bitmap, a);
		if (i % (4 * AREA_STEPS) == 3 * AREA_STEPS)
			replace(t, &bitmap);
		if (i == STEPS / 2)
			ext2fs_clear_block_bitmap(bitmap);
	}
	ext2fs_free_block_bitmap(bitmap);
}

/*
 * Walks.
 */

#define NUMBERS (TRIAL_BLOCK / sizeof(__u32))
#define FIRST 100u		/* first of the stored blocks */
#define STORED 16u
#define FILES 24u
#define FILE_INODE 12u

/* The file that is walked over. */
static struct {
	__u32 block[STORED][NUMBERS];
	struct ext2_inode inode;
} file;

static struct trial *now;
static unsigned change, end, fail;	/* one call in this many; 0: none */

static bool once_in(unsigned n)
{
	return n && !trial_number(&now->random, n);
}

static void record_call(uint64_t what, uint64_t a, uint64_t b)
{
	trial_record(now, what);
	trial_record(now, a);
	trial_record(now, b);
}

static bool is_stored(uint64_t block)
{
	return block >= FIRST && block < FIRST + STORED;
}

static errcode_t read_block(io_channel io, unsigned long block, int count,
			    void *data)
{
	(void)io;
	record_call(1, block, (uint64_t)count);
	if (once_in(fail))
		return EXT2_ET_SHORT_READ;
	memset(data, 0, TRIAL_BLOCK);
	if (is_stored(block))
		memcpy(data, file.block[block - FIRST], TRIAL_BLOCK);
	return 0;
}

static errcode_t write_block(io_channel io, unsigned long block, int count,
			     const void *data)
{
	(void)io;
	record_call(2, block, (uint64_t)count);
	if (once_in(fail))
		return EXT2_ET_SHORT_WRITE;
	if (is_stored(block))
		memcpy(file.block[block - FIRST], data, TRIAL_BLOCK);
	return 0;
}

static errcode_t read_inode(ext2_filsys fs, ext2_ino_t ino,
			    struct ext2_inode *inode)
{
	(void)fs;
	(void)ino;
	*inode = file.inode;
	return 0;
}

static errcode_t write_inode(ext2_filsys fs, ext2_ino_t ino,
			     struct ext2_inode *inode)
{
	(void)fs;
	record_call(3, ino, 0);
	if (once_in(fail))
		return EXT2_ET_SHORT_WRITE;
	file.inode = *inode;
	return 0;
}

static int callback(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
		    blk64_t ref_block, int ref_offset, void *data)
{
	int flags = 0;

	(void)fs;
	(void)data;
	record_call(4, *block, (uint64_t)count);
	record_call(5, ref_block, (uint64_t)ref_offset);
	if (once_in(change)) {
		flags |= BLOCK_CHANGED;
		*block = once_in(3) ? 0 : FIRST + trial_number(&now->random, STORED);
	}
	if (once_in(end))
		flags |= BLOCK_ABORT;
	return flags;
}

/* Mostly a stored block, else any number, which may lie outside the
 * filesystem. */
static __u32 some_block(void)
{
	return once_in(8) ? (__u32)trial_number(&now->random, 2 * TRIAL_BLOCKS) :
	       FIRST + (__u32)trial_number(&now->random, STORED);
}

static void make_file(void)
{
	unsigned i, used;

	memset(&file, 0, sizeof(file));
	for (i = 0; i < STORED; i++)
		for (used = (unsigned)trial_number(&now->random, 4); used--; )
			file.block[i][trial_number(&now->random, NUMBERS)] =
				ext2fs_cpu_to_le32(some_block());
	file.inode.i_mode = LINUX_S_IFREG | 0644;
	for (i = 0; i < EXT2_N_BLOCKS; i++)
		if (!once_in(3))
			file.inode.i_block[i] = some_block();
}

void trial_walks(struct trial *t, ext2_filsys fs, iterate_fn *iterate)
{
	static struct struct_io_manager manager = {
		.magic = EXT2_ET_MAGIC_IO_MANAGER, .name = "walk",
		.read_blk = read_block, .write_blk = write_block,
	};
	static char buf[3 * TRIAL_BLOCK];
	struct struct_io_channel io = {
		.magic = EXT2_ET_MAGIC_IO_CHANNEL, .manager = &manager,
		.block_size = TRIAL_BLOCK,
	};
	unsigned i;

	now = t;
	fs->io = &io;
	fs->read_inode = read_inode;
	fs->write_inode = write_inode;
	for (i = 0; i < FILES; i++) {
		make_file();
		change = i % 3 == 1 ? 10 : 0;
		end = i % 5 == 2 ? 60 : 0;
		fail = i % 7 == 3 ? 30 : 0;
		trial_record(t, (uint64_t)iterate(fs, FILE_INODE, 0, buf,
						  callback, NULL));
		trial_record_bytes(t, &file, sizeof(file));
	}
}
