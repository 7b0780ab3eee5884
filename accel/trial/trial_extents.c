/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares our extent handles with libext2fs's own.  On a few made-up inodes,
 * sound and damaged, both kinds get the same moves, queries and changes in any
 * order; they must return the same results and leave the same inode.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <ext2fs/ext2fs.h>
#include <ext2fs/ext3_extents.h>
#include <stdint.h>
#include <string.h>

#include "extents.h"
#include "real.h"
#include "trial.h"

#define BLOCK 1024u
#define BLOCKS 10000u
#define FILES 64u
#define STEPS 12u
#define FILE_INODE 12u

/* One handle, and the results it has returned so far. */
struct extents_run {
	ext2_extent_handle_t handle;
	struct ext2_inode inode;
	uint64_t said;
};

static struct extents_run *now;

static void say(uint64_t value)
{
	now->said = (now->said ^ value) * UINT64_C(1099511628211) + 1;
}

static void say_bytes(const void *bytes, size_t size)
{
	const unsigned char *p = bytes;

	while (size--)
		say(*p++);
}

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
	say(ino);
	say_bytes(inode->i_block, sizeof(inode->i_block));
	return 0;
}

static struct ext2fs_extent some_extent(uint64_t *random)
{
	return (struct ext2fs_extent){
		.e_lblk = number(random, 64), .e_pblk = number(random, BLOCKS),
		.e_len = (__u32)number(random, 16),
		.e_flags = number(random, 4) ? EXT2_EXTENT_FLAGS_LEAF :
			   EXT2_EXTENT_FLAGS_LEAF | EXT2_EXTENT_FLAGS_UNINIT
	};
}

/* Mostly a sound extent root inside the inode; some have an invalid header or
 * claim a deeper tree. */
static void make_file(struct ext2_inode *inode, uint64_t *random)
{
	struct ext3_extent_header *eh = (void *)inode->i_block;
	struct ext3_extent *ex = EXT_FIRST_EXTENT(eh);
	unsigned i;

	memset(inode, 0, sizeof(*inode));
	inode->i_mode = LINUX_S_IFREG | 0644;
	inode->i_flags = number(random, 16) ? EXT4_EXTENTS_FL : 0;
	inode->i_size = (__u32)number(random, BLOCKS) * BLOCK;
	eh->eh_magic = ext2fs_cpu_to_le16(EXT3_EXT_MAGIC);
	eh->eh_entries = ext2fs_cpu_to_le16((__u16)number(random, 6));
	eh->eh_max = ext2fs_cpu_to_le16(4);
	if (!number(random, 12))
		eh->eh_max = ext2fs_cpu_to_le16((__u16)number(random, 7));
	if (!number(random, 24))
		eh->eh_depth = ext2fs_cpu_to_le16(1);
	for (i = 0; i < 4; i++) {
		ex[i].ee_block = ext2fs_cpu_to_le32(
			i * 16 + (__u32)number(random, 4));
		ex[i].ee_len = ext2fs_cpu_to_le16(
			(__u16)(number(random, 12) + 32768 *
				!number(random, 4)));
		ex[i].ee_start = ext2fs_cpu_to_le32(
			(__u32)number(random, UINT32_MAX));
		ex[i].ee_start_hi = ext2fs_cpu_to_le16(
			(__u16)number(random, 3));
	}
}

static void ask(uint64_t *random)
{
	struct ext2_extent_info info;
	struct ext2fs_extent extent;
	int way = (int)number(random, 16);
	errcode_t err = ext2fs_extent_get(now->handle, way, &extent);

	say((uint64_t)err);
	if (!err) {
		say(extent.e_lblk);
		say(extent.e_pblk);
		say(extent.e_len);
		say(extent.e_flags);
	}
	say((uint64_t)ext2fs_extent_get_info(now->handle, &info));
	say_bytes(&info, sizeof(info));
	say(ext2fs_max_extent_depth(now->handle));
}

static errcode_t change(uint64_t *random)
{
	struct ext2fs_extent extent = some_extent(random);

	switch (number(random, 5)) {
	case 0:
		return ext2fs_extent_replace(now->handle, 0, &extent);
	case 1:
		return ext2fs_extent_insert(now->handle,
				EXT2_EXTENT_INSERT_NOSPLIT |
				(int)number(random, 2), &extent);
	case 2:
		return ext2fs_extent_delete(now->handle, 0);
	case 3:
		return ext2fs_extent_fix_parents(now->handle);
	default:
		return ext2fs_extent_goto(now->handle, extent.e_lblk);
	}
}

/* The run ends with its only change: what libext2fs's handles do after a failed
 * change may depend on uninitialised memory. */
static void live(uint64_t random)
{
	unsigned steps = (unsigned)number(&random, STEPS);

	while (steps--)
		ask(&random);
	say((uint64_t)change(&random));
	say_bytes(&now->inode, sizeof(now->inode));
}

static bool same(const struct extents_run *a, const struct extents_run *b)
{
	return a->said == b->said &&
	       !memcmp(&a->inode, &b->inode, sizeof(a->inode));
}

static void run(ext2_filsys fs, struct extents_run *one, bool ours,
		uint64_t random)
{
	errcode_t err;
	REAL(ext2fs_extent_open2);

	now = one;
	err = (ours ? extents_open : real)(fs, FILE_INODE, &one->inode,
					   &one->handle);
	say((uint64_t)err);
	if (err)
		return;
	live(random);
	ext2fs_extent_free(one->handle);
}

bool trial_extents_agree(void)
{
	struct extents_run one[2];
	struct ext2_super_block sb;
	struct struct_ext2_filsys fs;
	uint64_t random = 1;
	unsigned i;

	memset(&sb, 0, sizeof(sb));
	ext2fs_blocks_count_set(&sb, BLOCKS);
	sb.s_first_data_block = 1;
	sb.s_inodes_count = 2 * FILE_INODE;
	sb.s_rev_level = EXT2_DYNAMIC_REV;
	memset(&fs, 0, sizeof(fs));
	fs.magic = EXT2_ET_MAGIC_EXT2FS_FILSYS;
	fs.super = &sb;
	fs.blocksize = BLOCK;
	fs.flags = EXT2_FLAG_64BITS | EXT2_FLAG_RW;
	fs.read_inode = read_inode;
	fs.write_inode = write_inode;
	for (i = 0; i < FILES; i++) {
		memset(one, 0, sizeof(one));
		make_file(&one[0].inode, &random);
		one[1].inode = one[0].inode;
		run(&fs, &one[0], false, random);
		run(&fs, &one[1], true, random);
		if (!same(&one[0], &one[1]))
			return false;
	}
	return true;
}
