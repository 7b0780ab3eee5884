/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides which filesystems are read for the paths of the command line: a device or
 * an image is one itself; a directory belongs to one that is mounted, and what is
 * mounted below it belongs to a walk of it, too.  The device of a mounted filesystem
 * is the one whose number stat(2) reports, whatever its name.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <linux/magic.h>

#include "lib/array.h"
#include "commands.h"

static struct target *add_target(struct targets *all, const char *device)
{
	struct target *t;

	if (!e2pf_have_room((void **)&all->item, &all->room, all->count, 1,
			    sizeof(*t)))
		return NULL;
	t = &all->item[all->count];
	*t = (struct target) { .device = strdup(device) };
	all->count += !!t->device;
	return t->device ? t : NULL;
}

/* The filesystem on the device of this number, if it was added already. */
static struct target *find_target(const struct targets *all, dev_t number)
{
	unsigned i;

	for (i = 0; i < all->count; i++)
		if (all->item[i].number == number && !all->item[i].btrfs)
			return &all->item[i];
	return NULL;
}

/* Does a path lie below a directory?  Both are absolute. */
static bool is_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	n -= n && directory[n - 1] == '/';
	return !strncmp(path, directory, n) && path[n] == '/' && path[n + 1];
}

/* The node of a block device with this number, or NULL: a container may have none.
 * People know the names of mapped devices, whose nodes in /dev only have a number.
 * Deeper directories are not searched: /dev/shm is anybody's. */
static char *find_device(dev_t number)
{
	glob_t found = { .gl_pathc = 0 };
	char *name = NULL;
	struct stat st;
	size_t i;

	glob("/dev/mapper/*", GLOB_NOSORT, NULL, &found);
	glob("/dev/*", GLOB_NOSORT | GLOB_APPEND, NULL, &found);
	for (i = 0; i < found.gl_pathc && !name; i++)
		if (!stat(found.gl_pathv[i], &st) && S_ISBLK(st.st_mode) &&
		    st.st_rdev == number)
			name = strdup(found.gl_pathv[i]);
	globfree(&found);
	return name;
}

/* Inode 2 is the root of the filesystem. */
static int add_directory(const struct options *o, struct target *t, uint64_t inode)
{
	uint32_t *directory;

	t->mounted = true;
	if (inode == EXT2_ROOT_INO)
		t->whole = true;
	directory = reallocarray(t->directory, t->directories + 1, sizeof(*directory));
	if (!directory)
		return fail(o, t->device, ENOMEM);
	t->directory = directory;
	directory[t->directories++] = (uint32_t)inode;
	return 0;
}

/* A btrfs is read through its directory, whose subvolume has a number of its own. */
static int add_btrfs(const struct options *o, struct targets *all, const char *path)
{
	struct target *t = add_target(all, path);

	if (!t)
		return fail(o, path, ENOMEM);
	t->btrfs = t->mounted = true;
	return 0;
}

/* Add the filesystem that this directory lies on. */
static int add_mounted(const struct options *o, struct targets *all,
		       const char *path, const struct stat *st)
{
	struct target *t = find_target(all, st->st_dev);
	struct statfs fs = { .f_type = 0 };
	char *name, text[64];

	if (t)
		return add_directory(o, t, st->st_ino);
	if (!statfs(path, &fs) && (uint32_t)fs.f_type == BTRFS_SUPER_MAGIC)
		return add_btrfs(o, all, path);
	if (fs.f_type != EXT4_SUPER_MAGIC) {
		report(o, path, "not ext2/3/4 or btrfs: not prefetched");
		return EXIT_OPERATIONAL;
	}
	name = find_device(st->st_dev);
	if (!name) {
		snprintf(text, sizeof(text), "no device node for %u:%u in /dev",
			 major(st->st_dev), minor(st->st_dev));
		report(o, path, text);
		return EXIT_OPERATIONAL;
	}
	t = add_target(all, name);
	free(name);
	if (!t)
		return fail(o, path, ENOMEM);
	t->number = st->st_dev;
	t->path = strdup(path);
	return add_directory(o, t, st->st_ino);
}

/* Others below the directory, as far as they are of these types.  Files can be mount
 * points, too. */
static int add_below(const struct options *o, struct targets *all, const char *real)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char line[PATH_MAX * 2 + 4096];	/* longer options are cut off */
	struct mntent one;
	struct stat st;
	int status = 0;

	while (mounts && getmntent_r(mounts, &one, line, sizeof(line))) {
		if (!is_below(one.mnt_dir, real) ||
		    (strncmp(one.mnt_type, "ext", 3) && strcmp(one.mnt_type, "btrfs")) ||
		    stat(one.mnt_dir, &st) || !S_ISDIR(st.st_mode))
			continue;
		status |= add_mounted(o, all, one.mnt_dir, &st);
	}
	if (mounts)
		endmntent(mounts);
	return status;
}

/* A device or an image.  One that cannot be seen is reported when it is opened. */
static int add_named(const struct options *o, struct targets *all, const char *path,
		     const struct stat *st)
{
	struct target *t;
	int mounted = 0;

	if (st && S_ISBLK(st->st_mode)) {
		ext2fs_check_if_mounted(path, &mounted);
		t = find_target(all, st->st_rdev);
	} else {
		t = NULL;
	}
	if (!t)
		t = add_target(all, path);
	if (!t)
		return fail(o, path, ENOMEM);
	t->number = st && S_ISBLK(st->st_mode) ? st->st_rdev : 0;
	t->mounted |= mounted & EXT2_MF_MOUNTED;
	t->whole = true;
	return 0;
}

static int add_path(const struct options *o, struct targets *all,
		    const char *path)
{
	struct stat st;
	char *real;
	int status;

	if (stat(path, &st))
		return add_named(o, all, path, NULL);
	if (!S_ISDIR(st.st_mode))
		return add_named(o, all, path, &st);
	real = realpath(path, NULL);
	if (!real)
		return fail(o, path, errno);
	status = add_mounted(o, all, path, &st);
	if (!o->one_filesystem)
		status |= add_below(o, all, real);
	free(real);
	return status;
}

int find_targets(const struct options *o, struct targets *all)
{
	unsigned i;
	int status = 0;

	for (i = 0; i < o->paths; i++)
		status |= add_path(o, all, o->path[i]);
	return status;
}
