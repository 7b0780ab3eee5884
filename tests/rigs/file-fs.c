/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* See file-fs.h. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <ext2fs/ext2fs.h>

#include "file-fs.h"

int file_fs(const char *path, unsigned blocks)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	struct ext2_super_block sb;
	ext2_filsys fs;
	dgrp_t g;

	if (fd < 0 || ftruncate(fd, blocks * 1024L) || close(fd))
		return -1;
	memset(&sb, 0, sizeof(sb));
	ext2fs_blocks_count_set(&sb, blocks);
	sb.s_first_data_block = 1;
	sb.s_rev_level = EXT2_DYNAMIC_REV;
	if (ext2fs_initialize(path, EXT2_FLAG_64BITS, &sb, unix_io_manager,
			      &fs) || ext2fs_allocate_tables(fs))
		return -1;
	for (g = 0; g < fs->group_desc_count; g++)
		ext2fs_bg_itable_unused_set(fs, g, 0);
	if (ext2fs_mkdir(fs, EXT2_ROOT_INO, EXT2_ROOT_INO, 0))
		return -1;
	return ext2fs_close_free(&fs) ? -1 : 0;
}

int file_fs_evict(const char *path)
{
	int fd = open(path, O_RDONLY);

	return fd < 0 || fsync(fd) ||
	       posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) || close(fd) ? -1 : 0;
}
