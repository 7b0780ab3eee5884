/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides which filesystems are read for the paths of the command line: a device or
 * an image is one itself; a folder belongs to one that is mounted, and what is
 * mounted below it belongs to a walk of it, too.  The device of a mounted filesystem
 * is the one whose number stat(2) reports; names in /proc and /sys only tell where
 * to look for it.
 */
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <linux/magic.h>

#include "array.h"
#include "commands.h"
#include "device/sysfile.h"

/* A line of /proc/self/mounts; options of more bytes are cut off. */
#define MOUNT_LINE (PATH_MAX * 2 + 4096)

static int no_memory(const char *path)
{
	fprintf(stderr, "e2prefetch: %s: %s\n", path, strerror(ENOMEM));
	return EXIT_OPERATIONAL;
}

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
		if (all->item[i].number == number)
			return &all->item[i];
	return NULL;
}

static bool is_device(const char *name, dev_t number)
{
	struct stat st;

	return !stat(name, &st) && S_ISBLK(st.st_mode) && st.st_rdev == number;
}

/* Does a path lie below a folder?  Both are absolute. */
static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	n -= n && folder[n - 1] == '/';
	return !strncmp(path, folder, n) && path[n] == '/' && path[n + 1];
}

/* The filesystem that is mounted where this path lies. */
struct mounted {
	char type[32], source[PATH_MAX];
};

static void find_mount(const char *real, struct mounted *m)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char line[MOUNT_LINE];
	struct mntent one;
	size_t n, best = 0;

	snprintf(m->type, sizeof(m->type), "another filesystem");
	*m->source = '\0';
	while (mounts && getmntent_r(mounts, &one, line, sizeof(line))) {
		n = strlen(one.mnt_dir);
		/* Of two mounts in one place the later covers the other. */
		if (n < best || (strcmp(real, one.mnt_dir) &&
				 !is_below(real, one.mnt_dir)))
			continue;
		best = n;
		snprintf(m->type, sizeof(m->type), "%s", one.mnt_type);
		snprintf(m->source, sizeof(m->source), "%s", one.mnt_fsname);
	}
	if (mounts)
		endmntent(mounts);
}

/* The node of a block device with this number.  The one that was mounted has the
 * name that people know; the other is the kernel's.  A container may have
 * neither. */
static bool find_device(dev_t number, const char *source, char *name, size_t size)
{
	char dir[64], text[1024];
	const char *at;

	if (is_device(source, number))
		return snprintf(name, size, "%s", source) < (int)size;
	e2pf_path(dir, sizeof(dir), "/sys/dev/block/%u:%u", major(number),
		  minor(number));
	e2pf_read_text(dir, "uevent", text, sizeof(text));
	at = strstr(text, "DEVNAME=");
	at = at ? at + strlen("DEVNAME=") : "";
	snprintf(name, size, "/dev/%.*s", (int)strcspn(at, "\n"), at);
	return is_device(name, number);
}

static int say_no_node(const char *path, dev_t number, const char *name)
{
	fprintf(stderr, "e2prefetch: %s: there is no node here for its device "
		"%u:%u (%s); a container must be given one\n", path, major(number),
		minor(number), name[strlen("/dev/")] ? name : "unknown");
	return EXIT_OPERATIONAL;
}

/* Inode 2 is the root of the filesystem. */
static int add_folder(struct target *t, uint64_t inode)
{
	uint32_t *folder;

	t->mounted = true;
	if (inode == EXT2_ROOT_INO)
		t->whole = true;
	folder = reallocarray(t->folder, t->folders + 1, sizeof(*folder));
	if (!folder)
		return no_memory(t->device);
	t->folder = folder;
	folder[t->folders++] = (uint32_t)inode;
	return 0;
}

/* Add the filesystem that this folder lies on. */
static int add_mounted(struct targets *all, const char *path, const char *real,
		       const struct stat *st)
{
	struct target *t = find_target(all, st->st_dev);
	char name[PATH_MAX];
	struct mounted m;
	struct statfs fs;

	if (t)
		return add_folder(t, st->st_ino);
	find_mount(real, &m);
	if (statfs(path, &fs) || fs.f_type != EXT4_SUPER_MAGIC) {
		fprintf(stderr, "e2prefetch: %s: on %s; only ext2, ext3 and ext4 "
			"are read ahead\n", path, m.type);
		return EXIT_OPERATIONAL;
	}
	if (!find_device(st->st_dev, m.source, name, sizeof(name)))
		return say_no_node(path, st->st_dev, name);
	t = add_target(all, name);
	if (!t)
		return no_memory(path);
	t->number = st->st_dev;
	return add_folder(t, st->st_ino);
}

/* Others below the folder, as far as they are of these types.  Files can be mount
 * points, too. */
static int add_below(struct targets *all, const char *real)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char line[MOUNT_LINE];
	struct mntent one;
	struct stat st;
	int status = 0;

	while (mounts && getmntent_r(mounts, &one, line, sizeof(line))) {
		if (!is_below(one.mnt_dir, real) ||
		    strncmp(one.mnt_type, "ext", 3) ||
		    stat(one.mnt_dir, &st) || !S_ISDIR(st.st_mode))
			continue;
		status |= add_mounted(all, one.mnt_dir, one.mnt_dir, &st);
	}
	if (mounts)
		endmntent(mounts);
	return status;
}

/* A device or an image.  One that cannot be seen is reported when it is opened. */
static int add_named(struct targets *all, const char *path, const struct stat *st)
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
		return no_memory(path);
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
		return add_named(all, path, NULL);
	if (!S_ISDIR(st.st_mode))
		return add_named(all, path, &st);
	real = realpath(path, NULL);
	if (!real)
		return no_memory(path);
	status = add_mounted(all, path, real, &st);
	if (!o->one_filesystem)
		status |= add_below(all, real);
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
