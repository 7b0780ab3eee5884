/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Opens a filesystem, and reports why it cannot be opened. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"

/* The group that may read a device which this user may not. */
static void print_readers(const char *device, errcode_t err)
{
	const struct group *group = NULL;
	struct stat st;

	if ((err != EACCES && err != EPERM) || stat(device, &st))
		return;
	if (st.st_mode & S_IRGRP)
		group = getgrgid(st.st_gid);
	if (err == EPERM)
		fputs(": a container must be allowed to read it", stderr);
	else if (group && strcmp(group->gr_name, "root"))
		fprintf(stderr, ": to read it, be in the group %s or "
			"have CAP_DAC_READ_SEARCH", group->gr_name);
	else
		fputs(": to read it, have CAP_DAC_READ_SEARCH", stderr);
}

int fail(const char *device, errcode_t err)
{
	bool none = err == EXT2_ET_BAD_MAGIC || err == EXT2_ET_SHORT_READ;

	fprintf(stderr, "e2prefetch: %s: %s%s%s", device, none ?
		"no ext2, ext3 or ext4 filesystem found (" : "",
		error_message(err), none ? ")" : "");
	print_readers(device, err);
	fputc('\n', stderr);
	return EXIT_OPERATIONAL;
}

/* Open the device by a descriptor that the user's command does not inherit, and with
 * which the kernel reads only the blocks that are asked for: a table of inodes that
 * the kernel is initializing may lie next to the group descriptors.  Some versions of
 * libext2fs leave the descriptor open when they fail.  A superblock that is being
 * written, beside tune2fs for example, may still have its old checksum. */
static errcode_t open_filesystem(const char *device, ext2_filsys *fs)
{
	char number[16];
	struct stat st;
	errcode_t err;
	int fd;

	/* Opening a FIFO would wait for a writer, opening a tape winds it. */
	if (!stat(device, &st) && !S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode))
		return ENOTBLK;
	fd = open(device, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	snprintf(number, sizeof(number), "%d", fd);
	err = ext2fs_open2(number, NULL, EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP |
			   EXT2_FLAG_SOFTSUPP_FEATURES |
			   EXT2_FLAG_IGNORE_CSUM_ERRORS, 0, 0,
			   unixfd_io_manager, fs);
	if (err)
		close(fd);
	return err;
}

/* The classes that a walk of a mounted filesystem reads: all but bitmaps and blocks
 * that lead to the contents of files. */
#define WALK_CLASSES (1u << E2PF_INODES | 1u << E2PF_DIRS | \
		      1u << E2PF_XATTRS | 1u << E2PF_SYMLINKS)

errcode_t open_session(const struct options *o, const struct target *target,
		       struct e2pf_session **session)
{
	/* The session looks at it as long as the program runs. */
	ext2_filsys fs = NULL;
	const struct pf_options options = { .sampled = target->mounted };
	const struct e2pf_ext4_options what = {
		.classes = o->classes ? o->classes :
			   target->mounted ? WALK_CLASSES : E2PF_ALL_CLASSES,
		.guarded = true,
		.page = target->mounted ? (uint32_t)sysconf(_SC_PAGESIZE) : 0,
		.below = target->directory,
		.below_count = target->whole ? 0 : target->directories
	};
	errcode_t err;

	err = open_filesystem(target->device, &fs);
	if (err || !fs)
		return err;
	return e2pf_open(fs, target->device, 0, &o->settings, &options, &what,
			 session);
}
