/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares our walk over indirect blocks with libext2fs's own.  On a few
 * made-up files, sound and damaged, with callbacks that change block numbers,
 * end the walk or fail, both must make the same callbacks, reads and writes in
 * the same order.
 */
#include <stdint.h>
#include <string.h>

#include "indirect.h"
#include "interpose.h"
#include "trial.h"

#define BLOCK 1024u
#define NUMBERS (BLOCK / sizeof(__u32))
#define FIRST 100u		/* first of the stored blocks */
#define STORED 16u
#define BLOCKS 10000u
#define FILES 24u
#define FILE_INODE 12u

/* A file, and a record of what a walk over it has done so far. */
struct walk_run {
	__u32 block[STORED][NUMBERS];
	struct ext2_inode inode;
	uint64_t random;
	uint64_t events;	/* hash of all events, in their order */
	uint64_t count;
	errcode_t err;
};

static struct walk_run *now;
static unsigned change, end, fail;	/* one call in this many; 0: none */

static bool once_in(unsigned n)
{
	return n && !number(&now->random, n);
}

static void note(uint64_t what, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const uint64_t value[] = { what, a, b, c, d };
	size_t i;

	for (i = 0; i < sizeof(value) / sizeof(value[0]); i++)
		now->events = (now->events ^ value[i]) *
			      UINT64_C(1099511628211) + 1;
	now->count++;
}

static bool is_stored(uint64_t block)
{
	return block >= FIRST && block < FIRST + STORED;
}

static errcode_t read_block(io_channel io, unsigned long block, int count,
			    void *data)
{
	(void)io;
	note(1, block, (uint64_t)count, 0, 0);
	if (once_in(fail))
		return EXT2_ET_SHORT_READ;
	memset(data, 0, BLOCK);
	if (is_stored(block))
		memcpy(data, now->block[block - FIRST], BLOCK);
	return 0;
}

static errcode_t write_block(io_channel io, unsigned long block, int count,
			     const void *data)
{
	(void)io;
	note(2, block, (uint64_t)count, 0, 0);
	if (once_in(fail))
		return EXT2_ET_SHORT_WRITE;
	if (is_stored(block))
		memcpy(now->block[block - FIRST], data, BLOCK);
	return 0;
}

static struct struct_io_manager manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER, .name = "walk",
	.read_blk = read_block, .write_blk = write_block,
};

static errcode_t read_inode(ext2_filsys fs, ext2_ino_t ino,
			    struct ext2_inode *inode)
{
	(void)fs;
	(void)ino;
	*inode = now->inode;
	return 0;
}

static errcode_t write_inode(ext2_filsys fs, ext2_ino_t ino,
			     struct ext2_inode *inode)
{
	(void)fs;
	note(3, ino, 0, 0, 0);
	if (once_in(fail))
		return EXT2_ET_SHORT_WRITE;
	now->inode = *inode;
	return 0;
}

static int callback(ext2_filsys fs, blk64_t *block, e2_blkcnt_t count,
		    blk64_t ref_block, int ref_offset, void *data)
{
	int flags = 0;

	(void)fs;
	(void)data;
	note(4, *block, (uint64_t)count, ref_block, (uint64_t)ref_offset);
	if (once_in(change)) {
		flags |= BLOCK_CHANGED;
		*block = once_in(3) ? 0 : FIRST + number(&now->random, STORED);
	}
	if (once_in(end))
		flags |= BLOCK_ABORT;
	return flags;
}

/* Mostly a stored block, else any number, which may lie outside the
 * filesystem. */
static __u32 some_block(uint64_t *random)
{
	return number(random, 8) ? FIRST + (__u32)number(random, STORED) :
	       (__u32)number(random, 2 * BLOCKS);
}

static void make_file(struct walk_run *run, uint64_t *random)
{
	unsigned i, used;

	memset(run, 0, sizeof(*run));
	for (i = 0; i < STORED; i++)
		for (used = (unsigned)number(random, 4); used--; )
			run->block[i][number(random, NUMBERS)] =
				ext2fs_cpu_to_le32(some_block(random));
	run->inode.i_mode = LINUX_S_IFREG | 0644;
	for (i = 0; i < EXT2_N_BLOCKS; i++)
		if (number(random, 3))
			run->inode.i_block[i] = some_block(random);
	run->random = number(random, UINT32_MAX);
}

static bool same(const struct walk_run *a, const struct walk_run *b)
{
	return a->events == b->events && a->count == b->count &&
	       a->err == b->err && a->random == b->random &&
	       !memcmp(a->block, b->block, sizeof(a->block)) &&
	       !memcmp(&a->inode, &b->inode, sizeof(a->inode));
}

static bool walk_agrees(ext2_filsys fs, const struct walk_run *file)
{
	static struct walk_run run[2];
	static char buf[3 * BLOCK];
	REAL(ext2fs_block_iterate3);

	run[0] = run[1] = *file;
	now = &run[0];
	now->err = real(fs, FILE_INODE, 0, buf, callback, NULL);
	now = &run[1];
	now->err = indirect_iterate(fs, FILE_INODE, 0, buf, callback, NULL);
	return same(&run[0], &run[1]);
}

bool trial_walks_agree(void)
{
	static struct walk_run file;
	struct ext2_super_block sb;
	struct struct_io_channel io;
	struct struct_ext2_filsys fs;
	uint64_t random = 1;
	unsigned i;

	memset(&sb, 0, sizeof(sb));
	ext2fs_blocks_count_set(&sb, BLOCKS);
	sb.s_first_data_block = 1;
	sb.s_rev_level = EXT2_DYNAMIC_REV;
	memset(&io, 0, sizeof(io));
	io.magic = EXT2_ET_MAGIC_IO_CHANNEL;
	io.manager = &manager;
	io.block_size = BLOCK;
	memset(&fs, 0, sizeof(fs));
	fs.magic = EXT2_ET_MAGIC_EXT2FS_FILSYS;
	fs.super = &sb;
	fs.io = &io;
	fs.blocksize = BLOCK;
	fs.flags = EXT2_FLAG_64BITS | EXT2_FLAG_RW;
	fs.read_inode = read_inode;
	fs.write_inode = write_inode;
	indirect_begin();
	for (i = 0; i < FILES; i++) {
		make_file(&file, &random);
		change = i % 3 == 1 ? 10 : 0;
		end = i % 5 == 2 ? 60 : 0;
		fail = i % 7 == 3 ? 30 : 0;
		if (!walk_agrees(&fs, &file))
			return false;
	}
	return true;
}
