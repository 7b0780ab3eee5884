/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Decides which disks are below a device or file.  Knows sysfs only: it opens no
 * device and measures nothing.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device.h"
#include "lib/sysfile.h"
#include "topology.h"

/* Layers, and devices visited below one: 64 disks, each through a partition, a
 * crypt layer and a mapping, and some more.  The search ends on any tree, even on
 * one with a cycle. */
#define MAX_DEPTH 12
#define MAX_VISITS 320

#define MIN_READAHEAD (64u << 10)
#define MAX_READAHEAD (1u << 30)

struct search {
	struct pf_topology *topo;
	unsigned visits;
};

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Replace a partition's directory by that of its disk. */
static void whole_disk(char *dir)
{
	char *slash = strrchr(dir, '/');
	uint64_t number;

	if (slash && slash != dir && !e2pf_read_u64(dir, "partition", &number))
		*slash = '\0';
}

/* Revolutions per minute in page B1 of SCSI: 0 is not known, 1 is flash. */
#define MIN_RPM 0x401

/*
 * Is this a physical disk whose rotational flag can be believed?  It reports its speed;
 * where Linux before 5.18 does not show that, it is a SATA or SAS disk.  A bridge from
 * USB, a hypervisor, a network and a program declare flash to be rotational, too.
 */
static bool is_known(const char *dir)
{
	static const char *const begins[] = {
		"QEMU", "VMware", "VBOX", "Msft", "Virtual", "Google",
		"Amazon", "Nutanix",
	};
	char model[64], vendor[64], page[7];
	int length = e2pf_read_bytes(dir, "device/vpd_pgb1", page, sizeof(page));
	size_t i, n;

	e2pf_read_text(dir, "device/vendor", vendor, sizeof(vendor));
	e2pf_read_text(dir, "device/model", model, sizeof(model));
	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		n = strlen(begins[i]);
		if (!strncmp(vendor, begins[i], n) ||
		    !strncmp(model, begins[i], n))
			return false;
	}
	if (strstr(dir, "/usb"))
		return false;
	if (length < 6)
		return strstr(dir, "/ata") || strstr(dir, "/end_device-");
	return (unsigned char)page[4] * 256 + (unsigned char)page[5] >= MIN_RPM;
}

static void add_disk(struct pf_topology *topo, const char *dir)
{
	struct pf_disk disk;
	uint64_t flag = 1;
	unsigned i;

	snprintf(disk.name, sizeof(disk.name), "%.31s", last_component(dir));
	for (i = 0; i < topo->disks; i++)
		if (!strcmp(topo->disk[i].name, disk.name))
			return;
	if (i == PF_MAX_DISKS)
		return;
	if (e2pf_read_u64(dir, "queue/rotational", &flag) || flag > 1)
		topo->incomplete = true;
	disk.rotational = flag;
	topo->spindles += disk.rotational;
	topo->unsure |= disk.rotational && !is_known(dir);
	topo->disk[topo->disks++] = disk;
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

static void visit_device(struct search *s, char *dir, unsigned depth);

/* Visit the entries of the `slaves` directory of the device at `dir`, but one path
 * of a multipath device.  Returns true if there was an entry. */
static bool visit_slaves(struct search *s, const char *dir, unsigned depth)
{
	char path[PATH_MAX], slave[PATH_MAX], uuid[8];
	bool multipath, any = false;
	struct dirent *entry;
	DIR *slaves;

	e2pf_read_text(dir, "dm/uuid", uuid, sizeof(uuid));
	multipath = !strncmp(uuid, "mpath-", 6);
	if (e2pf_path(path, sizeof(path), "%s/slaves", dir))
		return false;
	slaves = opendir(path);
	while (slaves && !(multipath && any) && (entry = readdir(slaves))) {
		if (entry->d_name[0] == '.')
			continue;
		any = true;
		if (!member_is_read(dir, entry->d_name))
			continue;
		if (e2pf_path(path, sizeof(path), "%s/slaves/%s", dir,
			      entry->d_name) || !realpath(path, slave))
			s->topo->incomplete = true;
		else
			visit_device(s, slave, depth + 1);
	}
	if (slaves)
		closedir(slaves);
	return any;
}

/* `dir` is a real path, of PATH_MAX bytes. */
static void visit_device(struct search *s, char *dir, unsigned depth)
{
	whole_disk(dir);
	if (depth == MAX_DEPTH || s->visits++ >= MAX_VISITS)
		s->topo->incomplete = true;
	else if (!visit_slaves(s, dir, depth))
		add_disk(s->topo, dir);
}

/*
 * The most bytes that one POSIX_FADV_WILLNEED reads: the kernel takes the
 * larger of the readahead window and the largest request
 * (force_page_cache_readahead in mm/readahead.c), in whole pages.  `dir` is that
 * of a device, or in /sys/class/bdi.
 */
static unsigned read_max_readahead(const char *dir)
{
	static const char *const names[] = {
		"queue/read_ahead_kb", "queue/max_sectors_kb",
		"bdi/read_ahead_kb", "read_ahead_kb"
	};
	long page = sysconf(_SC_PAGESIZE);
	uint64_t max = 0, kib, bytes;
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!e2pf_read_u64(dir, names[i], &kib) && kib > max)
			max = kib;
	if (!max)
		return PF_READAHEAD;
	bytes = max > MAX_READAHEAD / 1024 ? MAX_READAHEAD : max * 1024;
	if (page > 0)
		bytes -= bytes % (uint64_t)page;
	return bytes < MIN_READAHEAD ? MIN_READAHEAD : (unsigned)bytes;
}

static int by_name(const void *a, const void *b)
{
	const struct pf_disk *x = a, *y = b;

	return strverscmp(x->name, y->name);
}

/* Returns its maximum readahead. */
static unsigned add_device(const char *sysroot, dev_t dev, struct search *s)
{
	char link[PATH_MAX], dir[PATH_MAX];

	/* The dot at the end refuses anything but a directory. */
	if (!e2pf_path(link, sizeof(link), "%s/sys/dev/block/%u:%u/.", sysroot,
		       major(dev), minor(dev)) && realpath(link, dir)) {
		visit_device(s, dir, 0);
		return read_max_readahead(dir);
	}
	/* The filesystem of a file may have no device, or several. */
	s->topo->incomplete = true;
	return e2pf_path(dir, sizeof(dir), "%s/sys/class/bdi/%u:%u", sysroot,
			 major(dev), minor(dev)) ?
	       PF_READAHEAD : read_max_readahead(dir);
}

unsigned pf_topology_add(const char *sysroot, const struct stat *st,
			 struct pf_topology *topo)
{
	unsigned max = PF_READAHEAD;
	struct search s = { .topo = topo };

	if (S_ISBLK(st->st_mode) || S_ISREG(st->st_mode))
		max = add_device(sysroot, S_ISBLK(st->st_mode) ?
				 st->st_rdev : st->st_dev, &s);
	else
		topo->incomplete = true;
	qsort(topo->disk, topo->disks, sizeof(*topo->disk), by_name);
	topo->devices++;
	return max;
}

/* Fields of /sys/block/DISK/stat, counted from 0 (Documentation/block/stat.rst). */
#define IN_FLIGHT 8
#define BUSY_MS 9

bool pf_topology_count(const char *sysroot, const struct pf_topology *topo,
		       uint64_t *busy_ns, uint64_t *in_flight)
{
	char dir[PATH_MAX], text[512], *rest, *word;
	uint64_t value;
	unsigned i, field;

	*busy_ns = *in_flight = 0;
	for (i = 0; i < topo->disks; i++) {
		if (e2pf_path(dir, sizeof(dir), "%s/sys/block/%s", sysroot,
			      topo->disk[i].name) ||
		    e2pf_read_text(dir, "stat", text, sizeof(text)) < 0)
			return false;
		rest = text;
		for (field = 0; field <= BUSY_MS && (word = strsep(&rest, " "));) {
			if (!*word)
				continue;
			if (e2pf_parse_u64(word, &value))
				return false;
			if (field == IN_FLIGHT)
				*in_flight += value;
			if (field++ == BUSY_MS)
				*busy_ns += value * 1000000u;
		}
		if (field <= BUSY_MS)
			return false;
	}
	return topo->disks && !topo->incomplete;
}
