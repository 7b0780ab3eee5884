/* SPDX-License-Identifier: LGPL-2.1-or-later */
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

#include "btrfs/chunk_map.h"
#include "btrfs/format.h"
#include "mounted.h"

/* The maximum number of devices that are read. */
#define DEVICES_MOST 64u

/* Direct reads begin and end at a multiple of this, which suits every disk. */
#define DIRECT 4096u

struct e2pf_mounted {
	int fd;				/* a directory of the filesystem */
	struct e2pf_btrfs_super super;
	bool counts_bytes;
	unsigned count;
	int device[DEVICES_MOST];
	uint8_t node_fsid[DEVICES_MOST][E2PF_BTRFS_UUID];
	struct e2pf_btrfs_device known[DEVICES_MOST];
	struct e2pf_chunk_map map;
};

const size_t e2pf_mounted_room = sizeof(struct btrfs_ioctl_search_args_v2);

int e2pf_mounted_search(const struct e2pf_mounted *fs, uint64_t tree,
			const struct e2pf_btrfs_key *first,
			const struct e2pf_btrfs_key *last, uint32_t most,
			void *room, size_t size, const void **found,
			size_t *bytes, uint32_t *count)
{
	struct btrfs_ioctl_search_args_v2 *args = room;

	memset(args, 0, sizeof(*args));
	args->key.tree_id = tree;
	args->key.min_objectid = first->objectid;
	args->key.min_type = first->type;
	args->key.min_offset = first->offset;
	args->key.max_objectid = last->objectid;
	args->key.max_type = last->type;
	args->key.max_offset = last->offset;
	args->key.max_transid = UINT64_MAX;
	args->key.nr_items = most;
	args->buf_size = *bytes = size - sizeof(*args);
	*found = args->buf;
	*count = 0;
	if (ioctl(fs->fd, BTRFS_IOC_TREE_SEARCH_V2, args))
		return errno;
	*count = args->key.nr_items;
	return 0;
}

uint64_t e2pf_mounted_tree_of(int fd)
{
	struct btrfs_ioctl_ino_lookup_args args;

	memset(&args, 0, sizeof(args));
	args.objectid = BT_FIRST_FREE_OBJECTID;
	return ioctl(fd, BTRFS_IOC_INO_LOOKUP, &args) ? 0 : args.treeid;
}

struct found_root {
	const struct e2pf_mounted *fs;
	struct e2pf_btrfs_ptr *root;
	bool found;
};

static void take_root(void *ctx, const struct e2pf_btrfs_item *item)
{
	struct found_root *f = ctx;

	/* If there are several items, the last one is the newest. */
	if (e2pf_btrfs_plan_root(&f->fs->super, item, f->root))
		f->found = true;
}

bool e2pf_mounted_root(const struct e2pf_mounted *fs, uint64_t tree,
		       struct e2pf_btrfs_ptr *root)
{
	struct e2pf_btrfs_key first = { tree, 0, BT_ROOT_ITEM_KEY };
	struct e2pf_btrfs_key last = { tree, UINT64_MAX, BT_ROOT_ITEM_KEY };
	struct found_root f = { .fs = fs, .root = root };
	uint64_t room[512];
	const void *found;
	uint32_t count;
	size_t bytes;

	if (e2pf_mounted_search(fs, BT_ROOT_TREE_OBJECTID, &first, &last,
				4, room, sizeof(room), &found, &bytes, &count))
		return false;
	e2pf_btrfs_plan_found(found, bytes, count, take_root, &f);
	return f.found && root->owner == tree;
}

/*
 * Devices.
 */

uint64_t e2pf_mounted_bytes_read(void)
{
	struct rusage used;

	/* In units of 512 bytes; 0 if the kernel has no task I/O accounting. */
	return getrusage(RUSAGE_THREAD, &used) ? 0 :
	       (uint64_t)used.ru_inblock * 512;
}

bool e2pf_mounted_counts_bytes(const struct e2pf_mounted *fs)
{
	return fs->counts_bytes;
}

static const char *take_device(struct e2pf_mounted *fs, int fd)
{
	struct e2pf_btrfs_super super;
	uint64_t offset = e2pf_btrfs_super_offset(0);
	uint8_t *bytes = aligned_alloc(DIRECT, E2PF_BTRFS_SUPER_BYTES);
	const char *why = "a superblock cannot be read";
	unsigned n = fs->count;

	if (!bytes)
		return "no memory";
	if (pread(fd, bytes, E2PF_BTRFS_SUPER_BYTES, (off_t)offset) ==
	    (ssize_t)E2PF_BTRFS_SUPER_BYTES)
		switch (e2pf_btrfs_plan_super(bytes, offset, &super)) {
		case E2PF_BTRFS_OK:
			why = NULL;
			break;
		case E2PF_BTRFS_UNKNOWN:
			why = e2pf_btrfs_unknown_format(bytes);
			break;
		default:
			break;
		}
	free(bytes);
	if (why)
		return why;
	if (!n)
		fs->super = super;
	memcpy(fs->node_fsid[n], super.node_fsid, E2PF_BTRFS_UUID);
	memcpy(fs->known[n].uuid, super.device_uuid, E2PF_BTRFS_UUID);
	fs->known[n].devid = super.devid;
	fs->device[n] = fd;
	fs->count++;
	return NULL;
}

/* Open the devices that are present; missing ones are left out. */
static const char *open_devices(struct e2pf_mounted *fs)
{
	const char *why = "no device of the filesystem can be opened";
	struct btrfs_ioctl_fs_info_args all;
	struct btrfs_ioctl_dev_info_args *one;
	uint64_t id, before = e2pf_mounted_bytes_read();
	int fd;

	memset(&all, 0, sizeof(all));
	if (ioctl(fs->fd, BTRFS_IOC_FS_INFO, &all))
		return "the kernel does not list the filesystem's devices";
	one = malloc(sizeof(*one));
	if (!one)
		return "no memory";
	for (id = 0; id <= all.max_id && id <= UINT16_MAX &&
		     fs->count < DEVICES_MOST; id++) {
		memset(one, 0, sizeof(*one));
		one->devid = id;
		if (ioctl(fs->fd, BTRFS_IOC_DEV_INFO, one))
			continue;
		one->path[sizeof(one->path) - 1] = '\0';
		fd = open((char *)one->path, O_RDONLY | O_DIRECT | O_CLOEXEC |
			  O_NOCTTY);
		if (fd < 0)
			continue;
		why = take_device(fs, fd);
		if (!why)
			continue;
		close(fd);
		break;
	}
	free(one);
	fs->counts_bytes = e2pf_mounted_bytes_read() > before;
	return fs->count ? NULL : why;
}

/*
 * Where tree blocks lie.
 */

bool e2pf_mounted_place(const struct e2pf_mounted *fs, uint64_t logical,
			unsigned *device, uint64_t *offset)
{
	struct e2pf_btrfs_extent part[E2PF_BTRFS_PARTS];

	if (!e2pf_chunk_map_find(&fs->map, logical, part))
		return false;
	*device = part[0].device;
	*offset = part[0].offset;
	return true;
}

uint64_t e2pf_mounted_slots(const struct e2pf_mounted *fs)
{
	return fs->map.slots;
}

uint64_t e2pf_mounted_slot(const struct e2pf_mounted *fs, uint64_t logical)
{
	bool aligned;

	return e2pf_chunk_map_slot(&fs->map, logical, &aligned);
}

bool e2pf_mounted_read(void *ctx, const struct e2pf_btrfs_ptr *ptr,
		       void *block)
{
	struct e2pf_mounted *fs = ctx;
	struct e2pf_btrfs_extent part[E2PF_BTRFS_PARTS];
	unsigned n = e2pf_chunk_map_find(&fs->map, ptr->logical, part), i;
	uint8_t *at = block;

	for (i = 0; i < n; i++) {
		if (pread(fs->device[part[i].device], at, part[i].length,
			  (off_t)part[i].offset) != (ssize_t)part[i].length)
			return false;
		at += part[i].length;
	}
	return n && e2pf_btrfs_fits(&fs->super, ptr, block) &&
	       !memcmp(e2pf_btrfs_node_fsid(block),
		       fs->node_fsid[part[0].device], E2PF_BTRFS_UUID);
}

/*
 * Files.
 */

/* A file handle without a parent: inode, tree and generation, where generation
 * 0 matches any. */
#define HANDLE_BYTES 20
#define HANDLE_TYPE 0x4d

int e2pf_mounted_open_file(const struct e2pf_mounted *fs, uint64_t tree,
			   uint64_t inode)
{
	union {
		struct file_handle head;
		uint8_t bytes[sizeof(struct file_handle) + HANDLE_BYTES];
	} handle;
	uint32_t any = 0;
	struct stat st;
	char path[32];
	int place, fd;

	memset(&handle, 0, sizeof(handle));
	handle.head.handle_bytes = HANDLE_BYTES;
	handle.head.handle_type = HANDLE_TYPE;
	memcpy(handle.head.f_handle, &inode, 8);
	memcpy(handle.head.f_handle + 8, &tree, 8);
	memcpy(handle.head.f_handle + 16, &any, 4);
	/* Opening a device file may have effects.  O_PATH does not, so check
	 * the type first. */
	place = open_by_handle_at(fs->fd, &handle.head, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = !fstat(place, &st) && S_ISREG(st.st_mode) ?
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	close(place);
	return fd;
}

/*
 * Opening and closing.
 */

static const char *reason(int err)
{
	switch (err) {
	case EPERM:
	case EACCES:
		return "searching the trees needs CAP_SYS_ADMIN";
	case ENOTTY:
	case EOPNOTSUPP:
	case ENOSYS:
		return "the kernel has no tree search ioctl";
	default:
		return "the trees cannot be searched";
	}
}

/* Search for anything in the root tree, to find out whether searches work. */
static int try_search(const struct e2pf_mounted *fs)
{
	struct e2pf_btrfs_key first = E2PF_BTRFS_FIRST_KEY;
	struct e2pf_btrfs_key last = E2PF_BTRFS_LAST_KEY;
	uint64_t room[512];
	const void *found;
	uint32_t count;
	size_t bytes;

	return e2pf_mounted_search(fs, BT_ROOT_TREE_OBJECTID, &first, &last,
				   1, room, sizeof(room), &found, &bytes,
				   &count);
}

struct e2pf_mounted *e2pf_mounted_open(int fd, const char **why)
{
	struct e2pf_mounted *fs = calloc(1, sizeof(*fs));
	int err;

	*why = "no memory";
	if (!fs)
		return NULL;
	fs->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	err = fs->fd < 0 ? errno : try_search(fs);
	*why = err ? reason(err) : open_devices(fs);
	if (!*why) {
		e2pf_chunk_map_read(&fs->map, &fs->super, fs->known, fs->count,
				    e2pf_mounted_read, fs);
		return fs;
	}
	e2pf_mounted_close(fs);
	return NULL;
}

void e2pf_mounted_close(struct e2pf_mounted *fs)
{
	unsigned i;

	if (!fs)
		return;
	e2pf_chunk_map_free(&fs->map);
	for (i = 0; i < fs->count; i++)
		close(fs->device[i]);
	if (fs->fd >= 0)
		close(fs->fd);
	free(fs);
}

const struct e2pf_btrfs_super *e2pf_mounted_super(
		const struct e2pf_mounted *fs)
{
	return &fs->super;
}

unsigned e2pf_mounted_devices(const struct e2pf_mounted *fs)
{
	return fs->count;
}

int e2pf_mounted_device(const struct e2pf_mounted *fs, unsigned device)
{
	return fs->device[device];
}
