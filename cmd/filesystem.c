/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Opens a filesystem, and reports why it cannot be opened. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands.h"
#include "btrfs/walk.h"

void report(const struct options *o, const char *name, const char *text)
{
	fprintf(stderr, "e2prefetch: %s: %s\n", name, text);
	if (o->settings.log)
		pf_report_to_syslog(name, text);
}

/* The group of the device's node is of no help: who may not write to the device may not
 * see what of it is cached. */
static const char *hint(const char *device, errcode_t err)
{
	struct stat st;

	if (stat(device, &st) || !S_ISBLK(st.st_mode))
		return "";
	return err == EACCES ? ": run e2prefetch PATH as root first; then your command "
			       "finds it cached" :
	       err == EPERM ? ": the container or the unit's DevicePolicy= must allow "
			      "this device" : "";
}

int fail(const struct options *o, const char *device, errcode_t err)
{
	bool none = err == EXT2_ET_BAD_MAGIC || err == EXT2_ET_SHORT_READ;
	char text[256];

	snprintf(text, sizeof(text), "%s%s%s%s", none ?
		 "not an ext2/3/4 filesystem (" : "",
		 error_message(err), none ? ")" : "", hint(device, err));
	report(o, device, text);
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

uint32_t parent_directory(const struct target *target, uint32_t directory)
{
	ext2_filsys fs = ext4_session_of(target->session)->fs;
	ext2_ino_t parent = 0;

	if (!fs || ext2fs_lookup(fs, directory, "..", 2, NULL, &parent) ||
	    parent > fs->super->s_inodes_count)
		return 0;
	return parent;
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
