/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a filesystem, and reports why it cannot be opened. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "filesystem.h"

int fail(const struct options *o, errcode_t err)
{
	fprintf(stderr, "e2prefetch: %s: %s\n", o->device, error_message(err));
	return EXIT_OPERATIONAL;
}

errcode_t open_filesystem(const struct options *o, ext2_filsys *fs)
{
	char io_options[64];
	unsigned size = o->block_size;
	struct stat st;
	errcode_t err;

	/* Opening a FIFO would wait for a writer, opening a tape winds it. */
	if (!stat(o->device, &st) && !S_ISBLK(st.st_mode) &&
	    !S_ISREG(st.st_mode))
		return ENOTBLK;
	snprintf(io_options, sizeof(io_options), "offset=%" PRIu64, o->offset);
	/* As e2fsck -b does: the block size of a backup superblock is found by
	 * trying each size. */
	if (!size && o->superblock)
		size = EXT2_MIN_BLOCK_SIZE;
	do {
		err = ext2fs_open2(o->device, o->offset ? io_options : NULL,
				   EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP |
				   EXT2_FLAG_SOFTSUPP_FEATURES,
				   o->superblock, size, unix_io_manager, fs);
		size *= 2;
	} while (err == EXT2_ET_BAD_MAGIC && o->superblock &&
		 !o->block_size && size <= EXT2_MAX_BLOCK_SIZE);
	return err;
}

uint64_t table_bytes(ext2_filsys fs)
{
	bool told = ext2fs_has_group_desc_csum(fs);
	uint64_t inodes = 0;
	dgrp_t g;

	for (g = 0; g < fs->group_desc_count; g++) {
		uint64_t unused = told ? ext2fs_bg_itable_unused(fs, g) : 0;

		if (told && ext2fs_bg_flags_test(fs, g, EXT2_BG_INODE_UNINIT))
			continue;
		if (unused < fs->super->s_inodes_per_group)
			inodes += fs->super->s_inodes_per_group - unused;
	}
	return inodes * EXT2_INODE_SIZE(fs->super);
}
