/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Opens a filesystem. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands.h"
#include "btrfs/walk.h"

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
#define WALK_CLASSES (1u << EXT4_INODES | 1u << EXT4_DIRS | \
		      1u << EXT4_XATTRS | 1u << EXT4_SYMLINKS)

static errcode_t open_ext4(const struct options *o, const struct target *target,
			   struct pf_session **session)
{
	/* The session looks at it as long as the program runs. */
	ext2_filsys fs = NULL;
	const struct pf_options options = { .sampled = target->mounted };
	const struct ext4_source_options what = {
		.classes = o->classes ? o->classes :
			   target->mounted ? WALK_CLASSES : EXT4_ALL_CLASSES,
		.guarded = true,
		.page = target->mounted ? (uint32_t)sysconf(_SC_PAGESIZE) : 0,
		.below = target->directory,
		.below_count = target->whole && !target->follow ? 0 :
			       target->directories,
		.follow = target->follow ? ext2fs_dirhash : NULL
	};
	errcode_t err;

	err = open_filesystem(target->device, &fs);
	if (err || !fs)
		return err;
	return ext4_session_open(fs, target->device, 0, &o->settings, &options,
				 &what,
				 session);
}

void close_ext4(struct pf_session *session)
{
	ext2_filsys fs = ext4_session_of(session)->fs;

	pf_session_free(session);
	if (fs)
		ext2fs_free(fs);
}

/* Open the directory in a mount of its own, if the kernel has that (Linux 5.2): the
 * command may unmount the filesystem meanwhile.  Returns a descriptor; or -1. */
static int open_apart(const char *path)
{
	const int how = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int tree = -1, fd;

#ifdef SYS_open_tree
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, path, O_CLOEXEC | 1u /* clone */);
#endif
	if (tree < 0)
		return open(path, how);
	fd = openat(tree, ".", how);
	close(tree);
	return fd;
}

static int open_btrfs(const struct options *o, const struct target *target,
		      struct pf_session **session)
{
	int fd = open_apart(target->device);
	const char *why = strerror(errno);

	*session = NULL;
	if (fd >= 0) {
		*session = bt_walk_open(fd, target->device, !o->one_filesystem,
					&o->settings, &why);
		close(fd);
	}
	if (*session)
		return 0;
	report(o, target->device, why);
	return EXIT_OPERATIONAL;
}

int open_session(const struct options *o, const struct target *target,
		 struct pf_session **session)
{
	errcode_t err;

	if (target->btrfs)
		return open_btrfs(o, target, session);
	err = open_ext4(o, target, session);
	return err ? fail(o, target->device, err) : 0;
}
