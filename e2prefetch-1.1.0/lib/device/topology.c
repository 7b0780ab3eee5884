/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which disks are below a device or file.  Knows sysfs and mountinfo
 * only: it opens no device and measures nothing, so its answer is a starting
 * point.  policy.c decides what follows from it.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sysfile.h"
#include "topology.h"

/* Maximum number of block devices visited below one: 64 disks, each through a
 * partition, a crypt layer and a mapping, and some more.  Further ones are
 * ignored, so that the walk ends on any tree, even on one with a cycle. */
#define MAX_NODES 320

/* Maximum bytes per posix_fadvise() if the device does not report it: the
 * kernel's VM_READAHEAD_PAGES. */
#define DEFAULT_READAHEAD (128u << 10)
#define LEAST_READAHEAD (64u << 10)
#define MOST_READAHEAD (1u << 30)

struct node {
	unsigned major, minor;
	bool data;			/* reads go there: it is not a spare */
};

/* The devices found so far; those before `done` have been visited.  A device is
 * entered only once, so that the walk ends. */
struct walk {
	const char *sysroot;
	struct e2pf_topology *topo;
	unsigned nodes, done;
	bool incomplete;		/* something could not be followed */
	struct node node[MAX_NODES];
	unsigned leaf_node[E2PF_MAX_LEAVES];
	uint64_t leaf_wwid[E2PF_MAX_LEAVES];	/* 0: none */
};

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static void add_node(struct walk *w, unsigned major, unsigned minor, bool data)
{
	unsigned i;

	for (i = 0; i < w->nodes; i++) {
		if (w->node[i].major == major && w->node[i].minor == minor) {
			w->node[i].data |= data;
			return;
		}
	}
	if (w->nodes == MAX_NODES)
		return;
	w->node[w->nodes++] = (struct node) { major, minor, data };
}

/* Read the `dev` file of the device directory `dir`/`name`.  Returns 0 or
 * -1. */
static int read_dev(const char *dir, const char *name, unsigned *major,
		    unsigned *minor)
{
	char path[PATH_MAX], text[32];

	if (e2pf_path(path, sizeof(path), "%s/%s", dir, name) ||
	    e2pf_read_text(path, "dev", text, sizeof(text)) < 0)
		return -1;
	return e2pf_parse_dev(text, major, minor);
}

/* The real directory of a block device below /sys/devices; `dir` has PATH_MAX
 * bytes.  Returns 0 or -1. */
static int device_dir(const char *sysroot, unsigned major, unsigned minor,
		      char *dir)
{
	char link[PATH_MAX];

	/* The dot at the end refuses anything but a directory. */
	if (e2pf_path(link, sizeof(link), "%s/sys/dev/block/%u:%u/.", sysroot,
		      major, minor) || !realpath(link, dir))
		return -1;
	return 0;
}

/* Replace a partition's directory by that of its disk.  Returns true if it was
 * a partition. */
static bool whole_disk(char *dir)
{
	char *slash = strrchr(dir, '/');

	if (!slash || slash == dir || !e2pf_exists(dir, "partition"))
		return false;
	*slash = '\0';
	return true;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint64_t hash_bytes(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	uint64_t hash = 14695981039346656037u;		/* FNV-1a */

	while (len--)
		hash = (hash ^ *p++) * 1099511628211u;
	return hash ? hash : 1;
}

/*
 * A hash of the NAA or EUI-64 identifier of the logical unit in SCSI's device
 * identification page; 0 when it has none.  The page also has identifiers of
 * the target port, which differ from path to path.
 */
static uint64_t page83_wwid(const char *dir)
{
	unsigned char page[512];
	int len, at;

	len = e2pf_read_bytes(dir, "device/vpd_pg83", (char *)page,
			      sizeof(page));
	for (at = 4; at + 4 <= len; at += 4 + page[at + 3]) {
		unsigned association = page[at + 1] >> 4 & 3;
		unsigned type = page[at + 1] & 15;

		if (at + 4 + page[at + 3] > len)
			break;
		if (association == 0 && (type == 2 || type == 3) &&
		    page[at + 3])
			return hash_bytes(page + at + 4, page[at + 3]);
	}
	return 0;
}

/* An identifier that is the same for all paths to one disk; 0 when there is
 * none. */
static uint64_t disk_wwid(const char *dir)
{
	char text[256];

	if (e2pf_read_text(dir, "device/wwid", text, sizeof(text)) > 0 ||
	    e2pf_read_text(dir, "wwid", text, sizeof(text)) > 0)
		return hash_bytes(text, strlen(text));
	return page83_wwid(dir);
}

/*
 * Is the disk's rotational flag meaningless?  True for devices that pass
 * requests on to another machine, a hypervisor or a program.
 */
static bool is_virtual(const char *dir)
{
	static const char *const names[] = {
		"vd", "xvd", "loop", "nbd", "rbd", "zd", "drbd", "ubd",
		"ublkb", "dm-", "md", "vnbd", "rnbd",
	};
	static const char *const makers[] = {
		"QEMU", "VMware", "VBOX", "Msft", "Virtual", "Google",
		"Amazon", "Nutanix",
	};
	const char *name = last_component(dir);
	char model[64], vendor[64];
	size_t i;

	if (strstr(dir, "/virtio") || strstr(dir, "/vbd-"))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (starts_with(name, names[i]))
			return true;
	e2pf_read_text(dir, "device/vendor", vendor, sizeof(vendor));
	e2pf_read_text(dir, "device/model", model, sizeof(model));
	for (i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
		if (starts_with(vendor, makers[i]) ||
		    starts_with(model, makers[i]))
			return true;
	return false;
}

/* The USB interface above the disk is named BUS-PORT:CONFIG.INTERFACE, and the
 * driver bound to it tells whether commands are queued. */
static bool usb_driver_is_uas(const char *dir)
{
	char up[PATH_MAX], link[PATH_MAX], target[PATH_MAX];
	char *slash;
	ssize_t n;

	if (e2pf_path(up, sizeof(up), "%s", dir))
		return false;
	while ((slash = strrchr(up, '/')) && slash != up) {
		if (isdigit((unsigned char)slash[1]) && strchr(slash, '-') &&
		    strchr(slash, ':') &&
		    !e2pf_path(link, sizeof(link), "%s/driver", up)) {
			n = readlink(link, target, sizeof(target) - 1);
			if (n > 0) {
				target[n] = '\0';
				return !strcmp(last_component(target), "uas");
			}
		}
		*slash = '\0';
	}
	return false;
}

/* Is one of the path's components "usb" followed by a number? */
static bool on_usb(const char *dir)
{
	const char *p = dir;

	while ((p = strstr(p, "/usb"))) {
		p += 4;
		if (isdigit((unsigned char)*p))
			return true;
	}
	return false;
}

/*
 * Does the disk's transport take one request at a time?  True for USB storage
 * without UAS, SD and MMC without a command queue, and a SATA disk without NCQ.
 */
static bool takes_one_request(const char *dir)
{
	const char *name = last_component(dir);
	uint64_t value;

	if (!e2pf_read_u64(dir, "device/queue_depth", &value) &&
	    value == 1)
		return true;
	if (starts_with(name, "mmcblk"))
		return e2pf_read_u64(dir, "device/cmdq_en", &value) ||
			value != 1;
	if (starts_with(name, "mspblk") || starts_with(name, "fd"))
		return true;
	return on_usb(dir) && !usb_driver_is_uas(dir);
}

/* Add a leaf; NULL when it is known already or there is no room.  `node` is its
 * index in the walk. */
static struct e2pf_leaf *add_leaf(struct walk *w, const char *name,
				  unsigned node, uint64_t wwid)
{
	struct e2pf_topology *topo = w->topo;
	struct e2pf_leaf *leaf;
	unsigned i;

	for (i = 0; wwid && i < topo->leaves; i++) {
		if (w->leaf_wwid[i] == wwid) {
			w->node[w->leaf_node[i]].data |= w->node[node].data;
			return NULL;
		}
	}
	if (topo->leaves == E2PF_MAX_LEAVES)
		return NULL;
	w->leaf_node[topo->leaves] = node;
	w->leaf_wwid[topo->leaves] = wwid;
	leaf = &topo->leaf[topo->leaves++];
	snprintf(leaf->name, sizeof(leaf->name), "%.31s", name);
	return leaf;
}

static void add_disk(struct walk *w, const char *dir, unsigned node)
{
	struct e2pf_leaf *leaf;
	uint64_t flag;
	bool is_virt = is_virtual(dir);

	leaf = add_leaf(w, last_component(dir), node,
			is_virt ? 0 : disk_wwid(dir));
	if (!leaf)
		return;
	leaf->one_request = takes_one_request(dir);
	leaf->rotational = true;
	if (e2pf_read_u64(dir, "queue/rotational", &flag) || flag > 1)
		w->incomplete = true;
	else
		leaf->rotational = flag;
	if (is_virt) {
		w->topo->virtual_disk = true;
		w->topo->declared_spindle |= leaf->rotational;
	}
}

/*
 * Does an array read from this member?  md lists spares, failed disks and
 * journals among the slaves, and reads from a write-mostly mirror last.
 */
static bool member_is_read(const char *dir, const char *slave)
{
	char path[PATH_MAX], state[128];

	if (e2pf_path(path, sizeof(path), "%s/md/dev-%s", dir, slave) ||
	    e2pf_read_text(path, "state", state, sizeof(state)) < 0)
		return true;
	return strstr(state, "in_sync") && !strstr(state, "write_mostly") &&
		!strstr(state, "faulty");
}

/*
 * Enter what is in the `slaves` folder of the device at `dir`; of the paths of
 * a multipath device only the first by name.  Returns true if there was
 * anything.
 */
static bool add_slaves(struct walk *w, const char *dir, bool data)
{
	unsigned major, minor, path_major = 0, path_minor = 0;
	char path[PATH_MAX], uuid[64], first[NAME_MAX + 1] = "";
	bool multipath, any = false;
	struct dirent *entry;
	DIR *slaves;

	if (e2pf_path(path, sizeof(path), "%s/slaves", dir))
		return false;
	slaves = opendir(path);
	if (!slaves)
		return false;
	multipath = e2pf_read_text(dir, "dm/uuid", uuid, sizeof(uuid)) > 0 &&
		starts_with(uuid, "mpath-");
	while ((entry = readdir(slaves))) {
		if (entry->d_name[0] == '.')
			continue;
		any = true;
		if (w->nodes == MAX_NODES)
			break;
		if (read_dev(path, entry->d_name, &major, &minor)) {
			w->incomplete |= !multipath;
		} else if (!multipath) {
			add_node(w, major, minor, data &&
				 member_is_read(dir, entry->d_name));
		} else if (!*first || strverscmp(entry->d_name, first) < 0) {
			snprintf(first, sizeof(first), "%s", entry->d_name);
			path_major = major;
			path_minor = minor;
		}
	}
	closedir(slaves);
	if (multipath && any) {
		if (*first)
			add_node(w, path_major, path_minor, data);
		else
			w->incomplete = true;
	}
	return any;
}

/*
 * The block device of a name in /dev.  Below a sysroot there are no device
 * nodes: there a link, as in /dev/mapper, names the device, and sysfs has its
 * number.  Returns 0 or -1.
 */
static int named_device(const char *sysroot, const char *name,
			unsigned *major, unsigned *minor)
{
	char path[PATH_MAX], target[PATH_MAX], *p;
	struct stat st;
	ssize_t n;

	if (!starts_with(name, "/dev/"))
		return -1;
	if (!*sysroot && !stat(name, &st) && S_ISBLK(st.st_mode)) {
		*major = major(st.st_rdev);
		*minor = minor(st.st_rdev);
		return 0;
	}
	if (e2pf_path(path, sizeof(path), "%s%s", sysroot, name))
		return -1;
	n = readlink(path, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		name = last_component(target);
	} else {
		name += strlen("/dev/");
	}
	if (e2pf_path(path, sizeof(path), "%s/sys/class/block/", sysroot) ||
	    e2pf_path(target, sizeof(target), "%s", name))
		return -1;
	/* In sysfs a name such as cciss/c0d0 has a ! for the slash. */
	for (p = target; *p; p++)
		if (*p == '/')
			*p = '!';
	return read_dev(path, target, major, minor);
}

/* Where the file of an image is stored: on a device, or in memory. */
enum backing {
	BACKING_UNKNOWN,
	BACKING_DEVICE,
	BACKING_MEMORY
};

static enum backing mount_backing(const char *sysroot,
				  const struct e2pf_mount *mount,
				  unsigned *major, unsigned *minor)
{
	if (!strcmp(mount->fstype, "tmpfs") ||
	    !strcmp(mount->fstype, "ramfs") ||
	    !strcmp(mount->fstype, "devtmpfs"))
		return BACKING_MEMORY;
	if (mount->major) {
		*major = mount->major;
		*minor = mount->minor;
		return BACKING_DEVICE;
	}
	/* The source is trusted only for these filesystems: a FUSE mount may
	 * name any device it likes. */
	if (!strcmp(mount->fstype, "btrfs") ||
	    !strcmp(mount->fstype, "bcachefs"))
		return named_device(sysroot, mount->source, major, minor) ?
			BACKING_UNKNOWN : BACKING_DEVICE;
	return BACKING_UNKNOWN;
}

/*
 * What holds the filesystem with this st_dev.  The st_dev of a btrfs subvolume
 * is not in mountinfo; if all mounted btrfs have the same source, the file must
 * be on that.  An overlay invents numbers too; if there is one, nothing is
 * certain.
 */
static enum backing fs_backing(const char *sysroot, unsigned *major,
			       unsigned *minor)
{
	unsigned btrfs_major = 0, btrfs_minor = 0, maj, min;
	enum backing found = BACKING_UNKNOWN;
	bool match = false, btrfs = false, certain = true;
	struct e2pf_lines lines;
	struct e2pf_mount mount;
	char *line;

	if (*major)
		return BACKING_DEVICE;
	if (e2pf_lines_open(&lines, sysroot, "proc/self/mountinfo"))
		return BACKING_UNKNOWN;
	while (!match && (line = e2pf_lines_next(&lines))) {
		if (e2pf_parse_mount(line, &mount))
			continue;
		match = !mount.major && mount.minor == *minor;
		if (match)
			found = mount_backing(sysroot, &mount, major, minor);
		if (!strcmp(mount.fstype, "overlay"))
			certain = false;
		if (strcmp(mount.fstype, "btrfs"))
			continue;
		if (named_device(sysroot, mount.source, &maj, &min) ||
		    (btrfs && (maj != btrfs_major || min != btrfs_minor))) {
			certain = false;
			continue;
		}
		btrfs = true;
		btrfs_major = maj;
		btrfs_minor = min;
	}
	e2pf_lines_close(&lines);
	if (match || !btrfs || !certain)
		return found;
	*major = btrfs_major;
	*minor = btrfs_minor;
	return BACKING_DEVICE;
}

/* What holds the file of a path, judging by the mount point above it; of
 * equally long mount points the last one counts, which covers the others. */
static enum backing path_backing(const char *sysroot, const char *file,
				 unsigned *major, unsigned *minor)
{
	enum backing found = BACKING_UNKNOWN;
	struct e2pf_lines lines;
	struct e2pf_mount mount;
	size_t len, longest = 0;
	char *line;

	if (e2pf_lines_open(&lines, sysroot, "proc/self/mountinfo"))
		return BACKING_UNKNOWN;
	while ((line = e2pf_lines_next(&lines))) {
		if (e2pf_parse_mount(line, &mount) ||
		    !e2pf_path_below(file, mount.mount_point))
			continue;
		len = strlen(mount.mount_point);
		if (len < longest)
			continue;
		longest = len;
		found = mount_backing(sysroot, &mount, major, minor);
	}
	e2pf_lines_close(&lines);
	return found;
}

/*
 * What holds a loop device's backing file.  The path in sysfs is the one the
 * file had when the loop device was set up.  On the machine itself stat() is
 * tried first, because mountinfo does not list btrfs subvolumes.
 */
static enum backing file_backing(const char *sysroot, const char *file,
				 unsigned *major, unsigned *minor)
{
	enum backing found;
	struct stat st;

	if (!named_device(sysroot, file, major, minor))
		return BACKING_DEVICE;
	if (!*sysroot && !stat(file, &st) && S_ISREG(st.st_mode)) {
		*major = major(st.st_dev);
		*minor = minor(st.st_dev);
		found = fs_backing(sysroot, major, minor);
		if (found != BACKING_UNKNOWN)
			return found;
	}
	return path_backing(sysroot, file, major, minor);
}

/* Follow a loop device to its file.  Returns false if nothing is known but the
 * loop device itself. */
static bool follow_loop(struct walk *w, const char *dir, unsigned node)
{
	struct e2pf_leaf *leaf;
	char file[PATH_MAX];
	unsigned major, minor;

	if (e2pf_read_text(dir, "loop/backing_file", file, sizeof(file)) <= 0)
		return false;
	switch (file_backing(w->sysroot, file, &major, &minor)) {
	case BACKING_DEVICE:
		if (!major)
			return false;
		add_node(w, major, minor, w->node[node].data);
		return true;
	case BACKING_MEMORY:
		leaf = add_leaf(w, last_component(dir), node, 0);
		if (leaf)
			leaf->rotational = leaf->one_request = false;
		return true;
	default:
		return false;
	}
}

static void visit_node(struct walk *w, unsigned index)
{
	struct node *node = &w->node[index];
	unsigned major, minor;
	char dir[PATH_MAX];

	if (device_dir(w->sysroot, node->major, node->minor, dir)) {
		w->incomplete = true;
		return;
	}
	if (whole_disk(dir)) {
		if (e2pf_exists(dir, "partition") ||
		    read_dev(dir, ".", &major, &minor))
			w->incomplete = true;
		else
			add_node(w, major, minor, node->data);
		return;
	}
	if (add_slaves(w, dir, node->data))
		return;
	if (!follow_loop(w, dir, index))
		add_disk(w, dir, index);
}

/*
 * The most bytes that one POSIX_FADV_WILLNEED reads: the kernel takes the
 * larger of the readahead window and the largest request
 * (force_page_cache_readahead in mm/readahead.c), in whole pages.
 */
static unsigned read_max_readahead(const char *sysroot, unsigned major,
				   unsigned minor)
{
	uint64_t window = 0, request = 0, bytes;
	long page = sysconf(_SC_PAGESIZE);
	char dir[PATH_MAX];

	if (!device_dir(sysroot, major, minor, dir)) {
		whole_disk(dir);
		if (e2pf_read_u64(dir, "queue/read_ahead_kb", &window))
			e2pf_read_u64(dir, "bdi/read_ahead_kb", &window);
		e2pf_read_u64(dir, "queue/max_sectors_kb", &request);
	} else if (!e2pf_path(dir, sizeof(dir), "%s/sys/class/bdi/%u:%u",
			      sysroot, major, minor)) {
		e2pf_read_u64(dir, "read_ahead_kb", &window);
	}
	if (request > window)
		window = request;
	if (!window)
		return DEFAULT_READAHEAD;
	bytes = window > MOST_READAHEAD / 1024 ? MOST_READAHEAD :
		window * 1024;
	if (page > 0)
		bytes -= bytes % (uint64_t)page;
	return bytes < LEAST_READAHEAD ? LEAST_READAHEAD : (unsigned)bytes;
}

/* Enter the device or file itself. */
static void add_top(struct walk *w, const struct stat *st)
{
	unsigned major, minor;
	struct e2pf_leaf *leaf;

	if (S_ISBLK(st->st_mode)) {
		major = major(st->st_rdev);
		minor = minor(st->st_rdev);
	} else if (S_ISREG(st->st_mode)) {
		major = major(st->st_dev);
		minor = minor(st->st_dev);
	} else {
		return;
	}
	w->topo->max_readahead = read_max_readahead(w->sysroot, major, minor);
	if (S_ISBLK(st->st_mode)) {
		add_node(w, major, minor, true);
		return;
	}
	switch (fs_backing(w->sysroot, &major, &minor)) {
	case BACKING_DEVICE:
		add_node(w, major, minor, true);
		break;
	case BACKING_MEMORY:
		/* A node stands for it, although there is no device. */
		add_node(w, 0, minor, true);
		w->done = 1;
		leaf = add_leaf(w, "tmpfs", 0, 0);
		leaf->rotational = leaf->one_request = false;
		break;
	default:
		break;
	}
}

/* Sort the leaves by name: readdir returns them in no order. */
static void sort_leaves(struct e2pf_topology *topo)
{
	unsigned i, j;

	for (i = 1; i < topo->leaves; i++) {
		struct e2pf_leaf leaf = topo->leaf[i];

		for (j = i; j > 0; j--) {
			if (strverscmp(topo->leaf[j - 1].name, leaf.name) <= 0)
				break;
			topo->leaf[j] = topo->leaf[j - 1];
		}
		topo->leaf[j] = leaf;
	}
}

static void count_leaves(struct walk *w)
{
	struct e2pf_topology *topo = w->topo;
	unsigned i, data_flash = 0;

	topo->one_request = topo->leaves > 0;
	for (i = 0; i < topo->leaves; i++) {
		bool data = w->node[w->leaf_node[i]].data;

		topo->spindles += topo->leaf[i].rotational;
		topo->data_spindles += topo->leaf[i].rotational && data;
		data_flash += !topo->leaf[i].rotational && data;
		topo->one_request &= topo->leaf[i].one_request;
	}
	topo->known = topo->leaves > 0 && !w->incomplete;
	topo->flash = data_flash && !topo->data_spindles;
}

void e2pf_topology_probe(const char *sysroot, const struct stat *st,
			 struct e2pf_topology *topo)
{
	struct walk w = { .sysroot = sysroot, .topo = topo };

	memset(topo, 0, sizeof(*topo));
	topo->max_readahead = DEFAULT_READAHEAD;
	add_top(&w, st);
	while (w.done < w.nodes)
		visit_node(&w, w.done++);
	count_leaves(&w);
	sort_leaves(topo);
}
