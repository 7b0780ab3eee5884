/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Compares our walk over indirect blocks with libext2fs's, on the random files of the
 * self-test, which records callbacks, reads, writes and results.  Added to these are
 * numbers at the ends of the filesystem, blocks without holes, callbacks that return
 * errors, and files whose walk is left to libext2fs.
 */
#include <ext2fs/ext2fs.h>

#include "unit.h"
#include "preload/interpose.h"
#include "e2fsck/accel/interposers.h"

#define NUMBERS (TRIAL_BLOCK / sizeof(__u32))

static ext2_filsys fs;
static iterate_fn *iterate;	/* that of the run: ours, or libext2fs's */
static int walk_flags;
static uint64_t sequence;	/* of the run, apart from that of the trial */
static uint64_t files;		/* the same for each read of an inode */
/* One in this many calls changes a number or returns an error; 0: none. */
static unsigned change, error;
static unsigned long calls;

/* Those of the trial. */
static struct struct_io_manager *trial_manager;
static errcode_t (*trial_read_inode)(ext2_filsys, ext2_ino_t,
				     struct ext2_inode *);
static block_fn *trial_callback;

static bool once_in(unsigned n)
{
	return n && !trial_number(&sequence, n);
}

/* The first or last of the filesystem, or what is beside them. */
static uint32_t an_end(uint64_t *from)
{
	const uint32_t ends[] = {
		fs->super->s_first_data_block, fs->super->s_first_data_block - 1,
		fs->super->s_blocks_count - 1, fs->super->s_blocks_count
	};

	return ends[trial_number(from, COUNT(ends))];
}

static errcode_t read_block(io_channel io, unsigned long block, int count,
			    void *data)
{
	errcode_t err = trial_manager->read_blk(io, block, count, data);
	__u32 *numbers = data;
	unsigned full = once_in(50) ? NUMBERS : 0, i;

	if (once_in(4))
		numbers[once_in(2) ? 0 : NUMBERS - 1] =
			ext2fs_cpu_to_le32(an_end(&sequence));
	for (i = 0; i < full; i++)
		numbers[i] = ext2fs_cpu_to_le32(100 + i % 16);
	return err;
}

static errcode_t read_inode(ext2_filsys f, ext2_ino_t ino,
			    struct ext2_inode *inode)
{
	uint64_t r = files;

	trial_read_inode(f, ino, inode);
	if (!trial_number(&r, 2))
		inode->i_block[trial_number(&r, EXT2_N_BLOCKS)] = an_end(&r);
	inode->osd1.hurd1.h_i_translator = trial_number(&r, 2) ? 100 : 0;
	if (!trial_number(&r, 50))
		inode->i_flags |= EXT4_INLINE_DATA_FL;
	if (!trial_number(&r, 50))
		inode->i_flags |= EXT4_EXTENTS_FL;
	/* Otherwise there would be a callback for each of 16 million holes. */
	if (walk_flags) {
		inode->i_block[EXT2_TIND_BLOCK] = 0;
		inode->i_block[EXT2_DIND_BLOCK] = 0;
	}
	return trial_number(&r, 50) ? 0 : EXT2_ET_SHORT_READ;
}

static int callback(ext2_filsys f, blk64_t *block, e2_blkcnt_t count,
		    blk64_t ref_block, int offset, void *data)
{
	int flags = trial_callback(f, block, count, ref_block, offset, NULL);

	assert_ptr_equal(f, fs);
	assert_ptr_equal(data, &change);
	calls++;
	if (once_in(change)) {
		flags |= BLOCK_CHANGED;
		if (once_in(2))
			*block = an_end(&sequence);
	}
	return once_in(error) ? flags | BLOCK_ERROR : flags;
}

/* The walk over a file of the trial. */
static errcode_t walk(ext2_filsys f, ext2_ino_t ino, int flags, char *buf,
		      block_fn *func, void *data)
{
	static const unsigned often[] = { 0, 0, 0, 400, 40, 3 };
	static struct struct_io_manager manager;

	(void)flags, (void)data;
	if (fs->io->manager != &manager) {
		trial_manager = fs->io->manager;
		manager = *trial_manager;
		manager.read_blk = read_block;
		fs->io->manager = &manager;
		trial_read_inode = fs->read_inode;
		fs->read_inode = read_inode;
	}
	trial_callback = func;
	files = trial_number(&sequence, UINT32_MAX);
	change = often[trial_number(&sequence, 6)];
	error = often[trial_number(&sequence, 5)];
	fs->super->s_creator_os = trial_number(&sequence, 20) ? EXT2_OS_LINUX :
				  EXT2_OS_HURD;
	return iterate(f, ino, walk_flags, trial_number(&sequence, 10) ? buf : NULL,
		       callback, &change);
}

static void compare(unsigned trials)
{
	struct { struct trial t; uint64_t sequence; } run[2];
	struct struct_io_channel *io = fs->io;
	unsigned i, way;
	REAL(ext2fs_block_iterate3);

	for (i = 0; i < trials; i++) {
		for (way = 0; way < 2; way++) {
			run[way].t = (struct trial) { .random = i };
			sequence = i;
			iterate = way ? real : indirect_iterate;
			trial_walks(&run[way].t, fs, walk);
			run[way].sequence = sequence;
		}
		assert_memory_equal(&run[0], &run[1], sizeof(run[0]));
	}
	fs->io = io;
}

TEST(as_the_library)
{
	compare(800);
	assert_true(calls > 1000000);
}

/* Walks with these flags are left to libext2fs. */
TEST(with_flags)
{
	static const int flags[] = {
		BLOCK_FLAG_HOLE, BLOCK_FLAG_DATA_ONLY, BLOCK_FLAG_READ_ONLY,
		BLOCK_FLAG_DEPTH_TRAVERSE, BLOCK_FLAG_NO_LARGE
	};
	unsigned i;

	for (i = 0; i < COUNT(flags); i++) {
		walk_flags = flags[i];
		compare(4);
	}
}

FIXTURE(make_fs)
{
	struct ext2_super_block sb;

	memset(&sb, 0, sizeof(sb));
	ext2fs_blocks_count_set(&sb, TRIAL_BLOCKS);
	sb.s_first_data_block = 1;
	indirect_begin();
	return ext2fs_initialize("test", EXT2_FLAG_64BITS, &sb, test_io_manager,
				 &fs) || fs->blocksize != TRIAL_BLOCK;
}

FIXTURE(end_fs)
{
	ext2fs_free(fs);
	return 0;
}

UNIT_MAIN(make_fs, end_fs)
