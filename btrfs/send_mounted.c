/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The ioctls of a mounted btrfs, and direct reads of its devices. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/btrfs.h>

#include "format.h"
#include "send_items.h"
#include "send_mounted.h"

int bt_mounted_search(const struct bt_mounted *fs, uint64_t tree,
		      const struct bt_range *keys,
		      bt_item_sink sink, void *ctx)
{
	const struct bt_key *first = &keys->first;
	const struct bt_key *last = sink ? &keys->last : first;
	/* An item's header is longer than in a leaf. */
	size_t size = 2 * (size_t)fs->map.super.nodesize;
	struct btrfs_ioctl_search_args_v2 *args = malloc(sizeof(*args) + size);
	int err;

	if (!args)
		return ENOMEM;
	memset(args, 0, sizeof(*args));
	args->key.tree_id = tree;
	args->key.min_objectid = first->objectid;
	args->key.min_type = first->type;
	args->key.min_offset = first->offset;
	args->key.max_objectid = last->objectid;
	args->key.max_type = last->type;
	args->key.max_offset = last->offset;
	args->key.max_transid = UINT64_MAX;
	args->key.nr_items = sink ? UINT32_MAX : 1;
	args->buf_size = size;
	err = ioctl(fs->fd, BTRFS_IOC_TREE_SEARCH_V2, args) ? errno : 0;
	if (!err && sink)
		bt_items_found(args->buf, size, args->key.nr_items, sink,
			       ctx);
	free(args);
	return err;
}

uint64_t bt_mounted_tree_of(int fd)
{
	struct btrfs_ioctl_ino_lookup_args args;

	memset(&args, 0, sizeof(args));
	args.objectid = BTRFS_FIRST_FREE_OBJECTID;
	return ioctl(fd, BTRFS_IOC_INO_LOOKUP, &args) ? 0 : args.treeid;
}

struct found_root {
	const struct bt_super *super;
	struct bt_ptr *root;
};

/* The last of several items is the newest. */
static void accept_root(void *ctx, const struct bt_item *item)
{
	const struct found_root *f = ctx;
	struct bt_ptr root;

	if (bt_plan_root(f->super, item, &root))
		*f->root = root;
}

int bt_mounted_root(const struct bt_mounted *fs, uint64_t tree,
		    struct bt_ptr *root)
{
	const struct bt_range keys = {
		{ tree, 0, BTRFS_ROOT_ITEM_KEY },
		{ tree, UINT64_MAX, BTRFS_ROOT_ITEM_KEY }
	};
	struct found_root f = { &fs->map.super, root };
	int err;

	*root = (struct bt_ptr) { .owner = 0 };
	err = bt_mounted_search(fs, BTRFS_ROOT_TREE_OBJECTID, &keys,
				accept_root, &f);
	if (!err && (!tree || root->owner != tree))
		err = ENOENT;
	return err;
}

uint64_t bt_mounted_bytes_read(void)
{
	struct rusage used;

	/* In units of 512 bytes; 0 if the kernel has no task I/O accounting. */
	return getrusage(RUSAGE_THREAD, &used) ? 0 :
	       (uint64_t)used.ru_inblock * 512;
}

static int read_direct(void *ctx, const struct pf_ref *ref, void *bytes)
{
	const struct bt_mounted *fs = ctx;

	return pread(fs->device[ref->device], bytes, ref->length,
		     (off_t)ref->offset) == (ssize_t)ref->length ? 0 : EIO;
}

const char *bt_mounted_open_devices(struct bt_mounted *fs)
{
	const char *why = "cannot open a device of the filesystem";
	struct btrfs_ioctl_dev_info_args one;
	struct stat st;
	uint64_t id;
	int fd;

	for (id = 0; id <= fs->max_id && id <= UINT16_MAX &&
		     fs->map.devices < PF_MAX_DEVICES; id++) {
		memset(&one, 0, sizeof(one));
		one.devid = id;
		if (ioctl(fs->fd, BTRFS_IOC_DEV_INFO, &one))
			continue;
		one.path[sizeof(one.path) - 1] = '\0';
		/* In a container the name may be anything's. */
		fd = stat((char *)one.path, &st) || !S_ISBLK(st.st_mode) ? -1 :
		     open((char *)one.path, O_RDONLY | O_DIRECT | O_CLOEXEC |
			  O_NOCTTY);
		if (fd < 0)
			continue;
		why = bt_chunk_map_add_device(&fs->map, fd);
		if (why) {
			close(fd);
			break;
		}
		fs->device[fs->map.devices - 1] = fd;
	}
	if (fs->map.devices)
		bt_chunk_map_make(&fs->map, read_direct, fs);
	return fs->map.devices ? NULL : why;
}

/* A file handle without a parent: inode, tree and generation; generation 0 matches
 * any. */
#define HANDLE_BYTES 20
#define HANDLE_TYPE 0x4d

int bt_mounted_open_file(const struct bt_mounted *fs, uint64_t tree,
			 uint64_t inode)
{
	union {
		struct file_handle head;
		uint8_t bytes[sizeof(struct file_handle) + HANDLE_BYTES];
	} handle;
	struct stat st;
	char path[32];
	int path_fd, fd;

	memset(&handle, 0, sizeof(handle));
	handle.head.handle_bytes = HANDLE_BYTES;
	handle.head.handle_type = HANDLE_TYPE;
	memcpy(handle.head.f_handle, &inode, 8);
	memcpy(handle.head.f_handle + 8, &tree, 8);
	/* Opening a device file may have effects; O_PATH does not. */
	path_fd = open_by_handle_at(fs->fd, &handle.head, O_PATH | O_CLOEXEC);
	if (path_fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = !fstat(path_fd, &st) && S_ISREG(st.st_mode) ?
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	close(path_fd);
	return fd;
}

const char *bt_mounted_open(struct bt_mounted *fs, int fd, bool leaf)
{
	struct bt_super *super = &fs->map.super;
	struct btrfs_ioctl_fs_info_args info;
	struct bt_ptr root;
	struct stat st;

	memset(&info, 0, sizeof(info));
	fs->inode = fstat(fd, &st) ? 0 : st.st_ino;
	fs->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	ioctl(fs->fd, BTRFS_IOC_FS_INFO, &info);
	/* Used to check the root's address before a superblock is read. */
	super->nodesize = info.nodesize;
	super->sectorsize = info.sectorsize;
	fs->max_id = info.max_id;
	fs->counts_bytes = !access("/proc/self/io", F_OK);
	if (!info.sectorsize ||
	    bt_mounted_root(fs, bt_mounted_tree_of(fd), &root))
		return "cannot search the trees (needs CAP_SYS_ADMIN and Linux 3.16)";
	return root.level || leaf ? NULL : "the subvolume is a single leaf";
}

void bt_mounted_close(struct bt_mounted *fs)
{
	unsigned i;

	for (i = 0; i < fs->map.devices; i++)
		close(fs->device[i]);
	if (fs->fd > 0)
		close(fs->fd);
	bt_chunk_map_free(&fs->map);
}
