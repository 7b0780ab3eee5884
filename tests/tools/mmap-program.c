// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * A program of libext2fs, linked with libe2mmap alone, that chooses the mmap I/O manager:
 *
 *	mmap-program unix|mmap IMAGE
 *
 * Reads all blocks, changes an inode and the label, and reads again.  Prints sums of
 * what it read, and on standard error the manager of the channel.
 */
#include <ext2fs/ext2fs.h>
#include <stdio.h>
#include <string.h>

#include "lib/mmap_io.h"

/* As e2fsck reads inode tables. */
#define AT_ONCE 8

static uint32_t sum_of(ext2_filsys fs)
{
	uint32_t sum = 0;
	static char blocks[AT_ONCE * 65536];
	blk64_t at;

	for (at = 0; at < ext2fs_blocks_count(fs->super); at += AT_ONCE) {
		if (io_channel_read_blk64(fs->io, at, AT_ONCE, blocks))
			printf("%llu cannot be read\n", (unsigned long long)at);
		else
			sum = ext2fs_crc32c_le(sum, (void *)blocks,
					       AT_ONCE * fs->blocksize);
	}
	return sum;
}

int main(int argc, char **argv)
{
	io_manager manager = unix_io_manager;
	struct ext2_inode root;
	ext2_filsys fs;

	if (argc > 2 && !strcmp(argv[1], "mmap"))
		manager = e2mmap_io_manager;
	if (argc < 3 || ext2fs_open2(argv[2], NULL, EXT2_FLAG_RW, 0, 0, manager, &fs))
		return 1;
	fprintf(stderr, "%s\n", e2mmap_why_not(fs->io) ? "unix" : "mmap");
	printf("%08x\n", sum_of(fs));
	if (ext2fs_read_inode(fs, EXT2_ROOT_INO, &root))
		return 1;
	root.i_mtime++;
	if (ext2fs_write_inode(fs, EXT2_ROOT_INO, &root))
		return 1;
	memcpy(fs->super->s_volume_name, "mapped", 6);
	ext2fs_mark_super_dirty(fs);
	if (ext2fs_flush(fs))
		return 1;
	printf("%08x\n", sum_of(fs));
	return ext2fs_close_free(&fs) != 0;
}
