/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a filesystem is opened, and what is said when it cannot be. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <inttypes.h>
#include <stdio.h>

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
	errcode_t err;

	snprintf(io_options, sizeof(io_options), "offset=%" PRIu64, o->offset);
	/* As e2fsck -b does: a backup's block size is found by trying. */
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
