/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Compares our walk over indirect blocks with libext2fs's, on random trees with
 * errors, and with callbacks that change numbers or end the walk.  Callbacks,
 * reads and writes must be the same, in the same order, and so must the result.
 */
#include <endian.h>
#include <stdio.h>

#include <ext2fs/ext2fs.h>

#include "unit.h"
#include "indirect.h"
#include "interpose.h"
#include "trial.h"

#define BLOCK 1024u
#define NUMBERS (BLOCK / 4)
#define FIRST 100u		/* existing blocks: FIRST..FIRST + STORED - 1 */
#define STORED 24u
#define EVENTS 60000u		/* recorded of one walk */

enum what { CALL, READ, WRITE, WRITE_INODE };

/* The calls of the walk, in order. */
struct event {
	enum what what;			/* no padding: compared as a whole */
	int offset;
	uint64_t block;
	int64_t count;
	uint64_t ref_block;
};

struct run {
	struct event event[EVENTS];
	unsigned events;
	uint32_t blocks[STORED][NUMBERS];	/* as on disk */
	struct ext2_inode inode;
	errcode_t err;
	uint64_t random;
};

static struct run before, run[2], *now;
static ext2_filsys fs;
/* One in this many calls changes a number, ends the walk or returns an error,
 * and one in this many reads and writes fails; 0: none. */
static unsigned change, end, error, fail;

static bool once_in(unsigned n)
{
	return n && !number(&now->random, n);
}

static void note(enum what what, uint64_t block, int64_t count,
		 uint64_t ref_block, int offset)
{
	struct event *e;

	assert_true(now->events < EVENTS);
	e = &now->event[now->events++];
	memset(e, 0, sizeof(*e));
	e->what = what;
	e->block = block;
	e->count = count;
	e->ref_block = ref_block;
	e->offset = offset;
}

/* Mostly an existing block, otherwise the first or last of the
 * filesystem, what is beside them, or any number. */
static uint32_t some_block(uint64_t *random)
{
	const uint32_t ends[] = {
		fs->super->s_first_data_block, fs->super->s_first_data_block - 1,
		fs->super->s_blocks_count - 1, fs->super->s_blocks_count
	};

	if (number(random, 20))
		return FIRST + (uint32_t)number(random, STORED);
	if (!number(random, 4))
		return ends[number(random, 4)];
	return number(random, 3) ? (uint32_t)number(random, 20000) :
	       (uint32_t)number(random, UINT32_MAX);
}

static errcode_t read_block(io_channel io, unsigned long block, int count,
			    void *data)
{
	(void)io;
	assert_int_equal(count, 1);
	note(READ, block, 0, 0, 0);
	if (once_in(fail))
		return EXT2_ET_SHORT_READ;
	if (block >= FIRST && block < FIRST + STORED)
		memcpy(data, now->blocks[block - FIRST], BLOCK);
	else
		memset(data, 0, BLOCK);
	return 0;
}

static errcode_t write_block(io_channel io, unsigned long block, int count,
			     const void *data)
{
	(void)io;
	assert_int_equal(count, 1);
	note(WRITE, block, 0, 0, 0);
	if (once_in(fail))
		return EXT2_ET_SHORT_WRITE;
	if (block >= FIRST && block < FIRST + STORED)
		memcpy(now->blocks[block - FIRST], data, BLOCK);
	return 0;
}

static struct struct_io_manager memory_manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER, .name = "memory",
	.read_blk = read_block, .write_blk = write_block
};

static errcode_t read_inode(ext2_filsys f, ext2_ino_t ino,
			    struct ext2_inode *inode)
{
	(void)f, (void)ino;
	*inode = now->inode;
	return 0;
}

static errcode_t write_inode(ext2_filsys f, ext2_ino_t ino,
			     struct ext2_inode *inode)
{
	(void)f;
	note(WRITE_INODE, ino, 0, 0, 0);
	if (once_in(fail))
		return EXT2_ET_SHORT_WRITE;
	now->inode = *inode;
	return 0;
}

static int callback(ext2_filsys f, blk64_t *block, e2_blkcnt_t count,
		    blk64_t ref_block, int offset, void *data)
{
	int flags = 0;

	assert_ptr_equal(f, fs);
	assert_ptr_equal(data, &change);
	note(CALL, *block, count, ref_block, offset);
	if (once_in(change)) {
		flags |= BLOCK_CHANGED;
		if (once_in(2))
			*block = once_in(3) ? 0 : some_block(&now->random);
	}
	if (once_in(end))
		flags |= BLOCK_ABORT;
	if (once_in(error))
		flags |= BLOCK_ERROR;
	return flags;
}

static void make_block(uint32_t *block, uint64_t *random)
{
	unsigned used = (unsigned)number(random, 5), i;

	memset(block, 0, BLOCK);
	while (used--) {
		i = number(random, 3) ? (unsigned)number(random, NUMBERS) :
		    number(random, 2) ? NUMBERS - 1 : 0;
		block[i] = htole32(some_block(random));
	}
	for (i = 0; !number(random, 6) && i < NUMBERS; i++)
		block[i] = htole32(some_block(random));
}

static void make_inode(struct ext2_inode *inode, uint64_t *random)
{
	unsigned i;

	memset(inode, 0, sizeof(*inode));
	inode->i_mode = LINUX_S_IFREG | 0644;
	for (i = 0; i < EXT2_N_BLOCKS; i++)
		if (number(random, 3))
			inode->i_block[i] = some_block(random);
	inode->osd1.hurd1.h_i_translator = number(random, 2) ?
					   some_block(random) : 0;
	if (!number(random, 50))
		inode->i_flags |= EXT4_INLINE_DATA_FL;
	if (!number(random, 50))
		inode->i_flags |= EXT4_EXTENTS_FL;
}

static void prepare(uint64_t *random)
{
	static const unsigned often[] = { 0, 0, 0, 400, 40, 3 };
	unsigned i;

	for (i = 0; i < STORED; i++)
		make_block(before.blocks[i], random);
	make_inode(&before.inode, random);
	before.random = number(random, UINT32_MAX);
	change = often[number(random, 6)];
	end = often[number(random, 5)];
	error = often[number(random, 5)];
	fail = often[number(random, 5)];
	fs->super->s_creator_os = number(random, 20) ? EXT2_OS_LINUX :
				  EXT2_OS_HURD;
}

static void compare(void)
{
	assert_int_equal(run[0].events, run[1].events);
	assert_memory_equal(run[0].event, run[1].event,
			    run[0].events * sizeof(run[0].event[0]));
	assert_int_equal(run[0].err, run[1].err);
	assert_memory_equal(run[0].blocks, run[1].blocks,
			    sizeof(run[0].blocks));
	assert_memory_equal(&run[0].inode, &run[1].inode,
			    sizeof(run[0].inode));
	assert_true(run[0].random == run[1].random);
}

static void walk_both(int flags, char *buf)
{
	REAL(ext2fs_block_iterate3);

	for (now = run; now < run + 2; now++) {
		now->events = 0;
		memcpy(now->blocks, before.blocks, sizeof(now->blocks));
		now->inode = before.inode;
		now->random = before.random;
		now->err = now == run ?
			   indirect_iterate(fs, 12, flags, buf, callback,
					    &change) :
			   real(fs, 12, flags, buf, callback, &change);
	}
}

TEST(as_the_library)
{
	static char buf[3 * BLOCK];
	uint64_t random = 1, long_walks = 0;
	unsigned trial;

	for (trial = 0; trial < 20000; trial++) {
		prepare(&random);
		walk_both(0, number(&random, 10) ? buf : NULL);
		compare();
		long_walks += run[0].events > 50;
	}
	assert_uint_in_range(long_walks, 1000, trial);
}

/* Walks with these flags are left to libext2fs. */
TEST(with_flags)
{
	static const int flags[] = {
		BLOCK_FLAG_HOLE, BLOCK_FLAG_DATA_ONLY, BLOCK_FLAG_READ_ONLY,
		BLOCK_FLAG_DEPTH_TRAVERSE, BLOCK_FLAG_NO_LARGE
	};
	static char buf[3 * BLOCK];
	uint64_t random = 2;
	unsigned trial;

	for (trial = 0; trial < 500; trial++) {
		prepare(&random);
		/* Otherwise there would be a callback for each of 16 million
		 * holes. */
		before.inode.i_block[EXT2_TIND_BLOCK] = 0;
		before.inode.i_block[EXT2_DIND_BLOCK] = 0;
		walk_both(flags[trial % 5], buf);
		compare();
	}
}

static io_manager manager_before;

FIXTURE(make_fs)
{
	struct ext2_super_block sb;

	memset(&sb, 0, sizeof(sb));
	ext2fs_blocks_count_set(&sb, 10000);
	sb.s_first_data_block = 1;
	if (ext2fs_initialize("test", EXT2_FLAG_64BITS, &sb, test_io_manager,
			      &fs) || fs->blocksize != BLOCK)
		return -1;
	manager_before = fs->io->manager;
	fs->io->manager = &memory_manager;
	fs->read_inode = read_inode;
	fs->write_inode = write_inode;
	indirect_begin();
	return 0;
}

FIXTURE(end_fs)
{
	fs->io->manager = manager_before;
	ext2fs_free(fs);
	return 0;
}

UNIT_MAIN(make_fs, end_fs)
