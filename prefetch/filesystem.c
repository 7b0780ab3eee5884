/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Opens a filesystem, and reports why it cannot be opened. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "commands.h"

int fail(const struct options *o, errcode_t err)
{
	bool none = err == EXT2_ET_BAD_MAGIC || err == EXT2_ET_SHORT_READ;

	fprintf(stderr, "e2prefetch: %s: %s%s%s\n", o->device, none ?
		"no ext2, ext3 or ext4 filesystem found (" : "",
		error_message(err), none ? ")" : "");
	return EXIT_OPERATIONAL;
}

/* With the superblock that the options name. */
static errcode_t try_open(const struct options *o, ext2_filsys *fs)
{
	char io_options[64];
	unsigned size = o->superblock ? EXT2_MIN_BLOCK_SIZE : 0;
	errcode_t err;

	snprintf(io_options, sizeof(io_options), "offset=%" PRIu64, o->offset);
	/* As e2fsck -b does: the block size of a backup superblock is found by
	 * trying each size. */
	do {
		err = ext2fs_open2(o->device, o->offset ? io_options : NULL,
				   EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP |
				   EXT2_FLAG_SOFTSUPP_FEATURES,
				   o->superblock, size, unix_io_manager, fs);
		size *= 2;
	} while (err == EXT2_ET_BAD_MAGIC && o->superblock &&
		 size <= EXT2_MAX_BLOCK_SIZE);
	return err;
}

/* libext2fs writes only the words of a superblock that have changed, one by one: who
 * reads it meanwhile, beside tune2fs, may find the checksum of before. */
#define RETRIES 3
#define PAUSE_NS 10000000

static errcode_t open_filesystem(const struct options *o, ext2_filsys *fs)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	unsigned retries = 0;
	struct stat st;
	errcode_t err;

	/* Opening a FIFO would wait for a writer, opening a tape winds it. */
	if (!stat(o->device, &st) && !S_ISBLK(st.st_mode) &&
	    !S_ISREG(st.st_mode))
		return ENOTBLK;
	while ((err = try_open(o, fs)) == EXT2_ET_SB_CSUM_INVALID &&
	       retries++ < RETRIES)
		nanosleep(&pause, NULL);
	return err;
}

errcode_t open_session(const struct options *o, struct e2pf_session **session,
		       unsigned *block_size)
{
	/* The session looks at it as long as the program runs. */
	static ext2_filsys fs;
	errcode_t err = open_filesystem(o, &fs);

	if (err)
		return err;
	if (block_size)
		*block_size = fs->blocksize;
	err = e2pf_open(fs, o->device, o->offset, &o->settings, session);
	if (!err)
		e2pf_ext4_of(*session)->ext4->classes = o->classes;
	return err;
}
