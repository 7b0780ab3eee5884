/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our handles of extents compared with libext2fs's own, on two identical
 * filesystems: random inodes, sound and damaged, and random moves, queries and
 * changes, some of them made without the handle.  Results, inodes, growing
 * trees and blocks in use must be equal after each step.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <ext2fs/ext2fs.h>
#include <ext2fs/ext3_extents.h>

#include "extents.h"
#include "real.h"
#include "trial.h"

#define BLOCK 1024u
#define BLOCKS 1024u
#define FILE_INODE 12u
#define FILES 4000u
#define STEPS 12u

/* One of the two: its filesystem, in memory, and its handle. */
struct side {
	unsigned char disk[BLOCKS * BLOCK];
	ext2_filsys fs;
	struct ext2_inode inode;
	ext2_extent_handle_t handle;
	bool ours;
};

static struct side side[2], *now;

/*
 * The filesystem.
 */

static errcode_t disk_open(const char *name, int flags, io_channel *channel);
static errcode_t disk_close(io_channel io);
static errcode_t disk_set_blksize(io_channel io, int size);
static errcode_t disk_read64(io_channel io, unsigned long long block,
			     int count, void *data);
static errcode_t disk_write64(io_channel io, unsigned long long block,
			      int count, const void *data);
static errcode_t disk_flush(io_channel io);

static errcode_t disk_read(io_channel io, unsigned long block, int count,
			   void *data)
{
	return disk_read64(io, block, count, data);
}

static errcode_t disk_write(io_channel io, unsigned long block, int count,
			    const void *data)
{
	return disk_write64(io, block, count, data);
}

static struct struct_io_manager manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER, .name = "memory",
	.open = disk_open, .close = disk_close,
	.set_blksize = disk_set_blksize, .flush = disk_flush,
	.read_blk = disk_read, .write_blk = disk_write,
	.read_blk64 = disk_read64, .write_blk64 = disk_write64,
};

static errcode_t disk_open(const char *name, int flags, io_channel *channel)
{
	struct struct_io_channel *io = calloc(1, sizeof(*io));

	(void)flags;
	assert_non_null(io);
	io->name = strdup(name);
	io->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	io->manager = &manager;
	io->block_size = BLOCK;
	io->refcount = 1;
	*channel = io;
	return 0;
}

static errcode_t disk_close(io_channel io)
{
	free(io->name);
	free(io);
	return 0;
}

static errcode_t disk_set_blksize(io_channel io, int size)
{
	io->block_size = size;
	return 0;
}

static unsigned char *place(unsigned long long block, int count, size_t *len)
{
	*len = count < 0 ? (size_t)-count : (size_t)count * BLOCK;
	return block < BLOCKS && *len <= (BLOCKS - block) * BLOCK ?
	       now->disk + block * BLOCK : NULL;
}

static errcode_t disk_read64(io_channel io, unsigned long long block,
			     int count, void *data)
{
	size_t len;
	const unsigned char *from = place(block, count, &len);

	(void)io;
	if (!from)
		return EXT2_ET_SHORT_READ;
	memcpy(data, from, len);
	return 0;
}

static errcode_t disk_write64(io_channel io, unsigned long long block,
			      int count, const void *data)
{
	size_t len;
	unsigned char *to = place(block, count, &len);

	(void)io;
	if (!to)
		return EXT2_ET_SHORT_WRITE;
	memcpy(to, data, len);
	return 0;
}

static errcode_t disk_flush(io_channel io)
{
	(void)io;
	return 0;
}

static void make_filesystem(struct side *s)
{
	struct ext2_super_block sb;

	now = s;
	memset(&sb, 0, sizeof(sb));
	ext2fs_blocks_count_set(&sb, BLOCKS);
	sb.s_first_data_block = 1;
	sb.s_inodes_count = 64;
	sb.s_rev_level = EXT2_DYNAMIC_REV;
	sb.s_inode_size = 128;
	ext2fs_set_feature_extents(&sb);
	assert_int_equal(ext2fs_initialize("extents", EXT2_FLAG_64BITS, &sb,
					   &manager, &s->fs), 0);
	s->fs->now = 1;
	assert_int_equal(ext2fs_allocate_tables(s->fs), 0);
	memset(s->fs->super->s_uuid, 7, sizeof(s->fs->super->s_uuid));
}

static int make(void **state)
{
	(void)state;
	make_filesystem(&side[0]);
	make_filesystem(&side[1]);
	side[1].ours = true;
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	now = &side[0];
	ext2fs_free(side[0].fs);
	now = &side[1];
	ext2fs_free(side[1].fs);
	return 0;
}

/*
 * Files.
 */

static void make_file(struct ext2_inode *inode, uint64_t *random)
{
	struct ext3_extent_header *eh = (void *)inode->i_block;
	struct ext3_extent *ex = EXT_FIRST_EXTENT(eh);
	unsigned i;

	memset(inode, 0, sizeof(*inode));
	inode->i_mode = LINUX_S_IFREG | 0644;
	inode->i_flags = number(random, 20) ? EXT4_EXTENTS_FL : 0;
	inode->i_size = (__u32)number(random, UINT32_MAX);
	inode->i_size_high = (__u32)number(random, 3);
	if (!number(random, 20))
		return;		/* a file without blocks has no header */
	eh->eh_magic = ext2fs_cpu_to_le16((__u16)(EXT3_EXT_MAGIC +
						  !number(random, 30)));
	eh->eh_entries = ext2fs_cpu_to_le16((__u16)number(random, 6));
	eh->eh_max = ext2fs_cpu_to_le16(4);
	if (!number(random, 12))
		eh->eh_max = ext2fs_cpu_to_le16((__u16)number(random, 7));
	if (!number(random, 24))
		eh->eh_depth = ext2fs_cpu_to_le16((__u16)number(random, 3));
	for (i = 0; i < 4; i++) {
		ex[i].ee_block = ext2fs_cpu_to_le32(i * 16 +
						    (__u32)number(random, 4));
		ex[i].ee_len = ext2fs_cpu_to_le16((__u16)
			(number(random, 12) + 32768 * !number(random, 4)));
		ex[i].ee_start = ext2fs_cpu_to_le32((__u32)
			number(random, number(random, 4) ? BLOCKS :
			       UINT32_MAX));
		ex[i].ee_start_hi = ext2fs_cpu_to_le16((__u16)
			(number(random, 6) ? 0 : number(random, 65536)));
	}
}

/*
 * Steps.  The result of each is kept for the comparison.
 */

struct given {
	errcode_t err, info_err;
	struct ext2fs_extent extent;
	struct ext2_extent_info info;
	size_t depth;
};

static void ask(struct given *given, uint64_t *random)
{
	given->err = ext2fs_extent_get(now->handle, (int)number(random, 16),
				       &given->extent);
}

static void change(struct given *given, uint64_t *random)
{
	struct ext2fs_extent extent = {
		.e_lblk = number(random, 100), .e_pblk = number(random, BLOCKS),
		.e_len = (__u32)number(random, 16),
		.e_flags = number(random, 4) ? 0 : EXT2_EXTENT_FLAGS_UNINIT
	};

	extent.e_flags |= EXT2_EXTENT_FLAGS_LEAF;
	switch (number(random, 7)) {
	case 0:
		given->err = ext2fs_extent_replace(now->handle, 0, &extent);
		break;
	case 1:
		given->err = ext2fs_extent_insert(now->handle,
				(int)number(random, 4), &extent);
		break;
	case 2:
		given->err = ext2fs_extent_delete(now->handle,
				(int)number(random, 2));
		break;
	case 3:
		given->err = ext2fs_extent_fix_parents(now->handle);
		break;
	case 4:
		given->err = ext2fs_extent_goto2(now->handle,
				(int)number(random, 2), extent.e_lblk);
		break;
	case 5:
		given->err = ext2fs_extent_node_split(now->handle);
		break;
	default:
		given->err = ext2fs_extent_goto(now->handle, extent.e_lblk);
	}
}

/* Change the inode directly, as e2fsck may. */
static void change_behind(uint64_t *random)
{
	struct ext3_extent_header *eh = (void *)now->inode.i_block;
	struct ext3_extent *ex = EXT_FIRST_EXTENT(eh);

	switch (number(random, 3)) {
	case 0:
		now->inode.i_size = (__u32)number(random, UINT32_MAX);
		break;
	case 1:
		ex[number(random, 4)].ee_len =
			ext2fs_cpu_to_le16((__u16)number(random, 9));
		break;
	default:
		/* libext2fs does not check this again. */
		eh->eh_entries = ext2fs_cpu_to_le16((__u16)number(random, 5));
	}
}

enum kinds { QUESTIONS = 0, CHANGES = 1, BEHIND = 2 };

/* After a change that failed or made the tree deeper, libext2fs reads
 * uninitialized memory when the handle is used again.  So such a change is the
 * last step, except for a query of the position. */
static void step(struct given *given, unsigned kinds, unsigned left,
		 uint64_t *random)
{
	memset(given, 0, sizeof(*given));
	if (left == 1 && (kinds & CHANGES))
		change(given, random);
	else if (left == 0 && (kinds & CHANGES))
		given->err = ext2fs_extent_get(now->handle,
					       EXT2_EXTENT_CURRENT,
					       &given->extent);
	else if (!number(random, 6) && (kinds & BEHIND))
		change_behind(random);
	else
		ask(given, random);
	given->info_err = ext2fs_extent_get_info(now->handle, &given->info);
	given->depth = ext2fs_max_extent_depth(now->handle);
}

static void assert_same(const struct given given[2])
{
	assert_memory_equal(&given[0], &given[1], sizeof(given[0]));
	assert_memory_equal(&side[0].inode, &side[1].inode,
			    sizeof(side[0].inode));
}

static void assert_same_disks(void)
{
	blk64_t b;

	assert_memory_equal(side[0].disk, side[1].disk, sizeof(side[0].disk));
	for (b = 1; b < BLOCKS; b++)
		assert_int_equal(
			!!ext2fs_test_block_bitmap2(side[0].fs->block_map, b),
			!!ext2fs_test_block_bitmap2(side[1].fs->block_map, b));
}

static errcode_t open_side(struct side *s)
{
	REAL(ext2fs_extent_open2);

	now = s;
	return (s->ours ? ext2fs_extent_open2 : real)(s->fs, FILE_INODE,
						      &s->inode, &s->handle);
}

/* The steps are the same on both sides. */
static void live(unsigned kinds, uint64_t *random)
{
	struct given given[2];
	uint64_t before;
	unsigned left = (unsigned)number(random, STEPS) + 2, s;

	while (left--) {
		before = *random;
		for (s = 0; s < 2; s++) {
			now = &side[s];
			*random = before;
			step(&given[s], kinds, left, random);
		}
		assert_same(given);
	}
}

static unsigned run(unsigned kinds, uint64_t seed)
{
	unsigned file, ours = 0, s;
	uint64_t random = seed;
	errcode_t err[2];

	for (file = 0; file < FILES; file++) {
		make_file(&side[0].inode, &random);
		side[1].inode = side[0].inode;
		for (s = 0; s < 2; s++)
			err[s] = open_side(&side[s]);
		assert_int_equal(err[0], err[1]);
		assert_memory_equal(&side[0].inode, &side[1].inode,
				    sizeof(side[0].inode));
		if (err[0])
			continue;
		assert_false(extents_are_ours(side[0].handle));
		ours += extents_are_ours(side[1].handle);
		live(kinds, &random);
		for (s = 0; s < 2; s++) {
			now = &side[s];
			ext2fs_extent_free(side[s].handle);
		}
	}
	assert_same_disks();
	return ours;
}

/* Handles are libext2fs's before they are asked for, and always for libext2fs
 * itself. */
static void only_the_programs(void **state)
{
	(void)state;
	memset(&side[1].inode, 0, sizeof(side[1].inode));
	side[1].inode.i_flags = EXT4_EXTENTS_FL;
	/* The first open creates a missing header. */
	assert_int_equal(open_side(&side[1]), 0);
	assert_false(extents_are_ours(side[1].handle));
	ext2fs_extent_free(side[1].handle);
	assert_int_equal(open_side(&side[1]), 0);
	assert_false(extents_are_ours(side[1].handle));
	ext2fs_extent_free(side[1].handle);
	extents_begin();
	assert_int_equal(open_side(&side[1]), 0);
	assert_true(extents_are_ours(side[1].handle));
	ext2fs_extent_free(side[1].handle);
	ext2fs_extent_free(NULL);
}

static void questions(void **state)
{
	(void)state;
	assert_uint_in_range(run(QUESTIONS, 1), FILES / 2, FILES);
}

static void questions_while_the_inode_changes(void **state)
{
	(void)state;
	run(BEHIND, 2);
}

static void changes(void **state)
{
	(void)state;
	run(CHANGES, 3);
}

static void changes_while_the_inode_changes(void **state)
{
	(void)state;
	run(CHANGES | BEHIND, 4);
}

/* What set_bmap does with impossible extents depends on the contents of memory,
 * so only possible ones are used. */
static void make_sound_file(struct ext2_inode *inode, uint64_t *random)
{
	struct ext3_extent_header *eh = (void *)inode->i_block;
	struct ext3_extent *ex = EXT_FIRST_EXTENT(eh);
	unsigned i, n = 1 + (unsigned)number(random, 4);

	memset(inode, 0, sizeof(*inode));
	inode->i_mode = LINUX_S_IFREG | 0644;
	inode->i_flags = EXT4_EXTENTS_FL;
	inode->i_size = 100 * BLOCK;
	eh->eh_magic = ext2fs_cpu_to_le16(EXT3_EXT_MAGIC);
	eh->eh_entries = ext2fs_cpu_to_le16((__u16)n);
	eh->eh_max = ext2fs_cpu_to_le16(4);
	for (i = 0; i < n; i++) {
		ex[i].ee_block = ext2fs_cpu_to_le32(i * 16);
		ex[i].ee_len = ext2fs_cpu_to_le16((__u16)
			(1 + number(random, 12)));
		ex[i].ee_start = ext2fs_cpu_to_le32((__u32)
			number(random, BLOCKS - 16));
	}
}

static void blocks_are_set(void **state)
{
	uint64_t random = 5, before, logical, physical;
	struct given given[2];
	unsigned file, s;

	(void)state;
	for (file = 0; file < FILES; file++) {
		make_sound_file(&side[0].inode, &random);
		side[1].inode = side[0].inode;
		logical = number(&random, 80);
		physical = number(&random, 3) ? 1 + number(&random, 900) : 0;
		before = random;
		for (s = 0; s < 2; s++) {
			random = before;
			memset(&given[s], 0, sizeof(given[s]));
			assert_int_equal(open_side(&side[s]), 0);
			ask(&given[s], &random);
			given[s].err = ext2fs_extent_set_bmap(side[s].handle,
					logical, physical,
					(int)number(&random, 2));
			given[s].info_err = ext2fs_extent_get_info(
					side[s].handle, &given[s].info);
			ext2fs_extent_free(side[s].handle);
		}
		assert_same(given);
	}
	assert_same_disks();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_programs),
		cmocka_unit_test(questions),
		cmocka_unit_test(questions_while_the_inode_changes),
		cmocka_unit_test(changes),
		cmocka_unit_test(changes_while_the_inode_changes),
		cmocka_unit_test(blocks_are_set),
	};

	initialize_ext2_error_table();
	return cmocka_run_group_tests(tests, make, unmake);
}
