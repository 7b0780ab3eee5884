/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Walks over the blocks of made-up files, and keeps the callbacks, reads and
 * writes, and what they leave behind.
 */
#include "standins.h"

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

static void note(uint64_t what, uint64_t a, uint64_t b)
{
	trial_keep(now, what);
	trial_keep(now, a);
	trial_keep(now, b);
}

static bool is_stored(uint64_t block)
{
	return block >= FIRST && block < FIRST + STORED;
}

static errcode_t read_block(io_channel io, unsigned long block, int count,
			    void *data)
{
	(void)io;
	note(1, block, (uint64_t)count);
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
	note(2, block, (uint64_t)count);
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
	note(3, ino, 0);
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
	note(4, *block, (uint64_t)count);
	note(5, ref_block, (uint64_t)ref_offset);
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
		trial_keep(t, (uint64_t)iterate(fs, FILE_INODE, 0, buf,
						callback, NULL));
		trial_keep_bytes(t, &file, sizeof(file));
	}
}
