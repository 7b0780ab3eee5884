/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which disks are below a device or file, and how many threads read from
 * them in which order.  Knows sysfs only: it opens no device and measures
 * nothing.
 */
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

/* Threads wait for the device more than they compute: even with one processor,
 * two of them overlap parsing with reading.  More than the most keep no device
 * busier: each has many requests in flight. */
#define FLASH_THREADS_LEAST 2u
#define FLASH_THREADS_MOST 16u

/* More elevator passes at a time than this gain no more than a queue does. */
#define HEAD_THREADS_MOST 32u

/* The devices found so far; those before `done` have been visited.  A device is
 * entered only once, so that the walk ends. */
struct walk {
	const char *sysroot;
	struct e2pf_topology *topo;
	unsigned nodes, done;
	bool incomplete;		/* something could not be followed */
	struct {
		unsigned major, minor;
	} node[MAX_NODES];
};

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static void add_node(struct walk *w, unsigned major, unsigned minor)
{
	unsigned i;

	for (i = 0; i < w->nodes; i++)
		if (w->node[i].major == major && w->node[i].minor == minor)
			return;
	if (w->nodes == MAX_NODES)
		return;
	w->node[w->nodes].major = major;
	w->node[w->nodes++].minor = minor;
}

/* Enter the device whose directory is `dir`/`name`. */
static void add_named(struct walk *w, const char *dir, const char *name)
{
	char path[PATH_MAX], text[32];
	unsigned major, minor;

	if (e2pf_path(path, sizeof(path), "%s/%s", dir, name) ||
	    e2pf_read_text(path, "dev", text, sizeof(text)) < 0 ||
	    e2pf_parse_dev(text, &major, &minor))
		w->incomplete = true;
	else
		add_node(w, major, minor);
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

/* Is the disk on USB, and bound to a driver that does not queue commands?  The
 * interface above it is named BUS-PORT:CONFIG.INTERFACE. */
static bool is_plain_usb(const char *dir)
{
	char up[PATH_MAX], link[PATH_MAX], target[PATH_MAX];
	char *slash;
	ssize_t n;

	if (!strstr(dir, "/usb") || e2pf_path(up, sizeof(up), "%s", dir))
		return false;
	while ((slash = strrchr(up, '/')) && slash != up) {
		if (isdigit((unsigned char)slash[1]) && strchr(slash, '-') &&
		    strchr(slash, ':') &&
		    !e2pf_path(link, sizeof(link), "%s/driver", up)) {
			n = readlink(link, target, sizeof(target) - 1);
			target[n > 0 ? n : 0] = '\0';
			return n > 0 && strcmp(last_component(target), "uas");
		}
		*slash = '\0';
	}
	return true;
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
	return is_plain_usb(dir);
}

static void add_disk(struct walk *w, const char *dir)
{
	struct e2pf_topology *topo = w->topo;
	struct e2pf_leaf *leaf;
	uint64_t flag = 1;

	if (topo->leaves == E2PF_MAX_LEAVES)
		return;
	leaf = &topo->leaf[topo->leaves++];
	snprintf(leaf->name, sizeof(leaf->name), "%.31s", last_component(dir));
	leaf->one_request = takes_one_request(dir);
	if (e2pf_read_u64(dir, "queue/rotational", &flag) || flag > 1)
		w->incomplete = true;
	leaf->rotational = flag;
	topo->virtual_disk |= is_virtual(dir);
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
static bool add_slaves(struct walk *w, const char *dir)
{
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
		if (!multipath && member_is_read(dir, entry->d_name))
			add_named(w, path, entry->d_name);
		else if (multipath && (!*first || strverscmp(entry->d_name,
							    first) < 0))
			snprintf(first, sizeof(first), "%s", entry->d_name);
	}
	closedir(slaves);
	if (multipath && any)
		add_named(w, path, first);
	return any;
}

static void visit_node(struct walk *w, unsigned index)
{
	char dir[PATH_MAX];

	if (device_dir(w->sysroot, w->node[index].major,
		       w->node[index].minor, dir))
		w->incomplete = true;
	else if (!whole_disk(dir)) {
		if (!add_slaves(w, dir))
			add_disk(w, dir);
	} else if (e2pf_exists(dir, "partition"))
		w->incomplete = true;
	else
		add_named(w, dir, ".");
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

static int by_leaf(const void *a, const void *b)
{
	const struct e2pf_leaf *x = a, *y = b;

	return strverscmp(x->name, y->name);
}

void e2pf_topology_probe(const char *sysroot, const struct stat *st,
			 struct e2pf_topology *topo)
{
	bool block = S_ISBLK(st->st_mode);
	dev_t dev = block ? st->st_rdev : st->st_dev;
	struct walk w = { .sysroot = sysroot, .topo = topo };
	unsigned i;

	memset(topo, 0, sizeof(*topo));
	topo->max_readahead = DEFAULT_READAHEAD;
	if (!block && !S_ISREG(st->st_mode))
		return;
	topo->max_readahead = read_max_readahead(sysroot, major(dev),
						 minor(dev));
	/* The filesystem of a file may have no device, or several. */
	if (major(dev))
		add_node(&w, major(dev), minor(dev));
	while (w.done < w.nodes)
		visit_node(&w, w.done++);
	topo->one_request = topo->leaves > 0;
	for (i = 0; i < topo->leaves; i++) {
		topo->spindles += topo->leaf[i].rotational;
		topo->one_request &= topo->leaf[i].one_request;
	}
	topo->known = topo->leaves > 0 && !w.incomplete;
	qsort(topo->leaf, topo->leaves, sizeof(*topo->leaf), by_leaf);
}

static unsigned within(unsigned least, unsigned n, unsigned most)
{
	return n < least ? least : n > most ? most : n;
}

/*
 * Reported of real devices: threads in the checker's order make a USB disk three
 * times as slow, and gain 15-20 % on flash; three spindles can serve about three
 * passes.  Flash that takes one request at a time gains from larger requests,
 * as a rotational disk does.  A virtual disk declared rotational may be a
 * single spindle, or any number of disks with a spindle among them.
 */
void e2pf_policy_choose(const struct e2pf_topology *topo, unsigned processors,
			struct e2pf_policy *policy)
{
	unsigned heads = topo->spindles ? topo->spindles : topo->leaves;

	policy->threads = within(FLASH_THREADS_LEAST, processors,
				 FLASH_THREADS_MOST);
	policy->head_threads = 1;
	policy->has_head = true;
	/* A physical disk declared rotational is; all others are measured. */
	policy->probe = !topo->known || topo->virtual_disk || !topo->spindles;
	if (!topo->known || (topo->virtual_disk && topo->spindles))
		return;
	policy->has_head = topo->spindles || topo->one_request;
	if (policy->has_head)
		policy->head_threads = within(1, heads, HEAD_THREADS_MOST);
}
