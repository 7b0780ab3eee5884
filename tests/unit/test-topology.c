/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The disks below a device or file, and what follows for the order of reads, on
 * small trees of what sysfs holds; the limits between a seek-bound device and one
 * that does not, and what follows for the threads.
 */
#include <sys/sysmacros.h>

#include "unit.h"
#include "recorded-tree.h"
#include "prefetch/spindle.h"

/* The device with this number is called so; all devices are in one directory. */
#define DEVICE(number, name) \
	"sys/dev/block/" number " -> ../../devices/" name "\n"
#define FILE_OF(name, file, text) "sys/devices/" name "/" file ": " text "\n"
#define DISK_ON(bus, number, name, rotational) \
	FILE_OF(bus "/" name, "queue/rotational", rotational) \
	"sys/devices/" name " -> " bus "/" name "\n" DEVICE(number, name) \
	FILE_OF(name, "queue/read_ahead_kb", "128") \
	FILE_OF(name, "queue/max_sectors_kb", "512")
#define DISK(number, name, rotational) DISK_ON("ata1", number, name, rotational)
/* The page of SCSI with its speed in two bytes. */
#define SPEED(name, rpm) FILE_OF(name, "device/vpd_pgb1", "^\xb1^<" rpm "^^")
#define PART(number, disk, name) DEVICE(number, disk "/" name) \
	FILE_OF(disk "/" name, "partition", "1")
#define SLAVE(name, of) \
	"sys/devices/" name "/slaves/" of " -> ../../" of "\n"
#define SLAVE_PART(name, disk, part) \
	"sys/devices/" name "/slaves/" part " -> ../../" disk "/" part "\n"

/* Bits of what is expected. */
enum { KNOWN = 1, UNSURE = 2, SEEK_BOUND = 4, MEASURE = 8 };
#define UNKNOWN (SEEK_BOUND | MEASURE)
#define ROTATES (KNOWN | SEEK_BOUND)
#define FLASH (KNOWN | MEASURE)
#define GUESS (KNOWN | UNSURE | SEEK_BOUND | MEASURE)

/*
 * The disks as one text: names separated by blanks, each with a slash, then r
 * if it is rotational.
 */
static const struct machine {
	const char *name, *tree;
	char type;			/* b: block device, f: file on it */
	unsigned major, minor;
	const char *disks;
	unsigned expected, spindles, readahead;	/* KiB */
} machines[] = {
	{ "a disk", DISK("8:0", "sda", "1"), 'b', 8, 0, "sda/r", ROTATES, 1,
	  512 },
	{ "a file on a partition", DISK("8:0", "sda", "1") PART("8:1", "sda", "sda1"),
	  'f', 8, 1, "sda/r", ROTATES, 1, 512 },
	{ "flash", DISK("259:0", "nvme0n1", "0"), 'b', 259, 0, "nvme0n1/",
	  FLASH, 1, 512 },
	{ "a mirror of partitions, with a spare and a failed disk",
	  DISK("8:0", "sda", "1") PART("8:1", "sda", "sda1")
	  DISK("8:16", "sdb", "1") PART("8:17", "sdb", "sdb1")
	  DISK("8:32", "sdc", "1") DISK("8:48", "sdd", "1")
	  DEVICE("9:0", "md0") SLAVE_PART("md0", "sdb", "sdb1")
	  SLAVE_PART("md0", "sda", "sda1") SLAVE("md0", "sdc")
	  SLAVE("md0", "sdd") FILE_OF("md0", "queue/read_ahead_kb", "8192")
	  FILE_OF("md0", "md/dev-sda1/state", "in_sync")
	  FILE_OF("md0", "md/dev-sdc/state", "spare")
	  FILE_OF("md0", "md/dev-sdd/state", "faulty,in_sync"),
	  'b', 9, 0, "sda/r sdb/r", ROTATES, 2, 8192 },
	{ "a write-mostly mirror",
	  DISK("8:0", "sda", "0") DISK("8:16", "sdb", "1")
	  DEVICE("9:0", "md0") SLAVE("md0", "sda") SLAVE("md0", "sdb")
	  FILE_OF("md0", "md/dev-sda/state", "in_sync")
	  FILE_OF("md0", "md/dev-sdb/state", "in_sync,write_mostly"),
	  'b', 9, 0, "sda/", FLASH, 1, 128 },
	{ "two volumes of one disk, below a third",
	  DISK("8:0", "sda", "1") DEVICE("253:0", "dm-0")
	  DEVICE("253:1", "dm-1") DEVICE("253:2", "dm-2")
	  SLAVE("dm-0", "sda") SLAVE("dm-1", "sda") SLAVE("dm-2", "dm-0")
	  SLAVE("dm-2", "dm-1"), 'b', 253, 2, "sda/r", ROTATES, 1, 128 },
	{ "paths to one disk",
	  DISK("8:0", "sda", "1") DEVICE("253:0", "dm-0")
	  DISK("8:16", "sdb", "1") SLAVE("dm-0", "sda") SLAVE("dm-0", "sdb")
	  FILE_OF("dm-0", "dm/uuid", "mpath-36"), 'b', 253, 0, "*", ROTATES,
	  1, 128 },
	{ "a cache on flash", DISK("8:0", "sda", "1") DISK("8:16", "sdb", "0")
	  DEVICE("252:0", "bcache0") SLAVE("bcache0", "sda")
	  SLAVE("bcache0", "sdb"), 'b', 252, 0, "sda/r sdb/", ROTATES, 1,
	  128 },
	{ "a SAS disk", DISK_ON("host0/end_device-0:0", "8:0", "sda", "1"),
	  'b', 8, 0, "sda/r", ROTATES, 1, 512 },
	{ "a disk behind a controller, which says its speed",
	  DISK_ON("host0/target0:2:0", "8:0", "sda", "1")
	  SPEED("sda", "\x1c\x20"), 'b', 8, 0, "sda/r", ROTATES, 1, 512 },
	{ "or says nothing", DISK_ON("host0/target0:2:0", "8:0", "sda", "1"),
	  'b', 8, 0, "sda/r", GUESS, 1, 512 },
	{ "a SATA disk that does not know its speed", DISK("8:0", "sda", "1")
	  SPEED("sda", "^^"), 'b', 8, 0, "sda/r", GUESS, 1, 512 },
	{ "or says that it is flash", DISK("8:0", "sda", "1")
	  SPEED("sda", "^\x01"), 'b', 8, 0, "sda/r", GUESS, 1, 512 },
	{ "a page that is cut short", DISK("8:0", "sda", "1")
	  FILE_OF("sda", "device/vpd_pgb1", "^\xb1^<\x1c"), 'b', 8, 0, "sda/r",
	  ROTATES, 1, 512 },
	{ "a virtual one that says a speed", DISK("8:0", "sda", "1")
	  FILE_OF("sda", "device/vendor", "VMware") SPEED("sda", "\x1c\x20"),
	  'b', 8, 0, "sda/r", GUESS, 1, 512 },
	{ "USB flash behind a bridge, which says that it rotates",
	  DISK_ON("usb2/2-1", "8:0", "sda", "1"), 'b', 8, 0, "sda/r", GUESS, 1,
	  512 },
	{ "even its speed", DISK_ON("usb2/2-1", "8:0", "sda", "1")
	  SPEED("sda", "\x1c\x20"), 'b', 8, 0, "sda/r", GUESS, 1, 512 },
	{ "an array with it", DISK("8:0", "sda", "1")
	  DISK_ON("usb2/2-1", "8:16", "sdb", "1") DEVICE("9:0", "md0")
	  SLAVE("md0", "sda") SLAVE("md0", "sdb"), 'b', 9, 0, "sda/r sdb/r",
	  GUESS, 1, 128 },
	{ "two USB sticks", DISK("8:0", "sda", "0") DISK("8:16", "sdb", "0")
	  DEVICE("9:0", "md0") SLAVE("md0", "sda") SLAVE("md0", "sdb"),
	  'b', 9, 0, "sda/ sdb/", FLASH, 2, 128 },
	{ "an SD card", DISK("179:0", "mmcblk0", "0"), 'b', 179, 0,
	  "mmcblk0/", FLASH, 1, 512 },
	{ "a disk of the hypervisor, by its name", DISK_ON("virtio1", "254:0",
	  "vda", "1"), 'b', 254, 0, "vda/r", GUESS, 1, 512 },
	{ "by its bus", DEVICE("8:0", "virtio2/sda")
	  FILE_OF("virtio2/sda", "queue/rotational", "1"), 'b', 8, 0, "sda/r",
	  GUESS, 1, 128 },
	{ "by its vendor", DISK("8:0", "sda", "1")
	  FILE_OF("sda", "device/vendor", "QEMU    "), 'b', 8, 0, "sda/r",
	  GUESS, 1, 512 },
	{ "by its model", DISK("8:0", "sda", "1")
	  FILE_OF("sda", "device/model", "VBOX HARDDISK"), 'b', 8, 0, "sda/r",
	  GUESS, 1, 512 },
	{ "a file on several devices", "sys/class/bdi/0:45/read_ahead_kb: 256",
	  'f', 0, 45, "", UNKNOWN, 1, 256 },
	{ "nothing", "sys/empty: 1", 'b', 8, 0, "", UNKNOWN, 1, 128 },
	{ "a terminal", DISK("8:0", "sda", "1"), 'c', 8, 0, "", UNKNOWN, 1,
	  128 },
	/* Trees that no kernel makes. */
	{ "a cycle", DEVICE("253:0", "dm-0") DEVICE("253:1", "dm-1")
	  SLAVE("dm-0", "dm-1") SLAVE("dm-1", "dm-0"), 'b', 253, 0, "",
	  UNKNOWN, 1, 128 },
	{ "a slave that leads nowhere", DEVICE("253:0", "dm-0")
	  SLAVE("dm-0", "sdx") DISK("8:0", "sda", "1") SLAVE("dm-0", "sda"),
	  'b', 253, 0, "sda/r", UNKNOWN, 1, 128 },
	{ "a device that is a file", "sys/dev/block/8:0: x", 'b', 8, 0, "",
	  UNKNOWN, 1, 128 },
	{ "no number", DISK("8:0", "sda", "yes"), 'b', 8, 0, "sda/r",
	  UNKNOWN, 1, 512 },
	{ "a large number", DISK("8:0", "sda", "2"), 'b', 8, 0, "sda/r",
	  UNKNOWN, 1, 512 },
	{ "too much readahead", DEVICE("8:0", "ata1/sda")
	  FILE_OF("ata1/sda", "queue/rotational", "1")
	  FILE_OF("ata1/sda", "queue/read_ahead_kb", "18446744073709551615"),
	  'b', 8, 0, "sda/r", ROTATES, 1, 1 << 20 },
	{ "too little", DEVICE("8:0", "ata1/sda")
	  FILE_OF("ata1/sda", "queue/rotational", "1")
	  FILE_OF("ata1/sda", "queue/read_ahead_kb", "1"), 'b', 8, 0, "sda/r",
	  ROTATES, 1, 64 },
};

static unsigned add(char type, unsigned major, unsigned minor,
		    struct pf_topology *topo)
{
	struct stat st = { .st_mode = type == 'b' ? S_IFBLK :
				      type == 'c' ? S_IFCHR : S_IFREG };

	if (type == 'f')
		st.st_dev = makedev(major, minor);
	else
		st.st_rdev = makedev(major, minor);
	return pf_topology_add(tree_root, &st, topo);
}

static void name_disks(const struct pf_topology *topo, char *text,
			size_t size)
{
	size_t at = 0;
	unsigned i;

	text[0] = '\0';
	for (i = 0; i < topo->disks && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s/%s",
				       i ? " " : "", topo->disk[i].name,
				       topo->disk[i].rotational ? "r" : "");
}

TEST(each_machine)
{
	const struct machine *m;
	char text[256];
	bool guess, seek_bound;
	size_t i;

	for (i = 0; i < COUNT(machines); i++) {
		struct pf_topology topo = { .disks = 0 };
		unsigned readahead, found;

		m = &machines[i];
		print_message("%s\n", m->name);
		tree_make(m->tree);
		readahead = add(m->type, m->major, m->minor, &topo);
		tree_remove();
		name_disks(&topo, text, sizeof(text));
		/* Any of several paths. */
		if (*m->disks == '*')
			assert_int_equal(topo.disks, 1);
		else
			assert_string_equal(text, m->disks);
		seek_bound = pf_spindle_is_declared_seek_bound(&topo, &guess);
		found = (topo.disks && !topo.incomplete ? KNOWN : 0) |
			(topo.unsure ? UNSURE : 0) |
			(seek_bound ? SEEK_BOUND : 0) |
			(guess ? MEASURE : 0);
		assert_int_equal(found, m->expected);
		assert_int_equal(pf_spindle_count_declared(&topo), m->spindles);
		assert_int_equal(readahead, m->readahead * 1024);
	}
}

/* A disk counts once, and the others' readahead is their own. */
TEST(several_devices)
{
	struct pf_topology topo = { .disks = 0 };
	char text[64];
	bool guess;

	tree_make(DISK("8:0", "sda", "1") PART("8:1", "sda", "sda1")
		  DISK("8:16", "sdb", "1") DISK_ON("virtio1", "254:0", "vda", "1"));
	add('b', 8, 16, &topo);
	add('b', 8, 0, &topo);
	add('b', 8, 1, &topo);
	name_disks(&topo, text, sizeof(text));
	assert_string_equal(text, "sda/r sdb/r");
	assert_int_equal(pf_spindle_count_declared(&topo), 2);
	/* Each device may have a spindle of its own. */
	add('b', 254, 0, &topo);
	assert_int_equal(pf_spindle_count_declared(&topo), 4);
	pf_spindle_is_declared_seek_bound(&topo, &guess);
	assert_true(guess);
	tree_remove();
}

/* An array of `disks`, each behind `layers`. */
static void make_array(unsigned disks, unsigned layers)
{
	char line[256];
	unsigned i, k;

	tree_make(DEVICE("9:0", "md0"));
	for (i = 0; i < disks; i++) {
		snprintf(line, sizeof(line), "sys/devices/md0/slaves/%u-0 -> "
			 "../../%u-0", i, i);
		tree_add(line);
		for (k = 0; k < layers; k++) {
			snprintf(line, sizeof(line), "sys/devices/%u-%u/slaves/"
				 "%u-%u -> ../../%u-%u", i, k, i, k + 1, i,
				 k + 1);
			tree_add(line);
		}
		snprintf(line, sizeof(line), "sys/devices/%u-%u/queue/"
			 "rotational: 1", i, layers);
		tree_add(line);
	}
}

/* The walk ends whatever the number of disks and layers. */
TEST(large_trees)
{
	static const struct {
		unsigned disks, layers, listed;
		bool incomplete;
	} trees[] = {
		{ 100, 0, PF_MAX_DISKS, false }, { 1, 10, 1, false },
		{ 1, 20, 0, true }, { 60, 4, 60, false }, { 90, 9, 0, true }
	};
	size_t i;

	for (i = 0; i < COUNT(trees); i++) {
		struct pf_topology topo = { .disks = 0 };

		make_array(trees[i].disks, trees[i].layers);
		add('b', 9, 0, &topo);
		tree_remove();
		assert_int_equal(topo.incomplete, trees[i].incomplete);
		if (trees[i].listed)
			assert_int_equal(topo.disks, trees[i].listed);
		assert_int_equal(topo.spindles, topo.disks);
	}
}

/* A sysroot of the greatest length leaves no room for anything below. */
TEST(long_sysroot)
{
	struct pf_topology topo = { .disks = 0 };
	struct stat st = { .st_mode = S_IFBLK };
	char *root = malloc(2 * PATH_MAX);

	assert_non_null(root);
	memset(root, '/', 2 * PATH_MAX - 1);
	root[2 * PATH_MAX - 1] = '\0';
	pf_topology_add(root, &st, &topo);
	root[PATH_MAX - 20] = '\0';
	pf_topology_add(root, &st, &topo);
	free(root);
	assert_true(topo.incomplete && !topo.disks);
}

/*
 * The single-spindle detector.
 */

#define US UINT64_C(1000)

TEST(limits)
{
	assert_true(pf_spindle_is_measured_seek_bound(2000 * US, 1200 * US));
	assert_false(pf_spindle_is_measured_seek_bound(2000 * US - 1,
						       1200 * US));
	assert_false(pf_spindle_is_measured_seek_bound(2000 * US,
						       1200 * US - 1));
}

/* Disks that are known, or, with 0, nothing known of a device. */
static struct pf_topology made(unsigned disks, unsigned spindles)
{
	return (struct pf_topology) {
		.devices = 1, .disks = disks, .spindles = spindles
	};
}

TEST(threads)
{
	static const struct {
		unsigned disks, spindles, wanted;
		bool seek_bound;
		unsigned threads, seek_threads;
		bool single;
	} rows[] = {
		{ 1, 1, 0, true, 2, 1, true },
		{ 3, 3, 0, true, 2, 2, false },
		{ 2, 1, 0, true, 2, 1, true },
		{ 1, 0, 0, false, 2, 1, false },
		{ 0, 0, 0, true, 2, 1, true },
		{ 1, 1, 5, true, 5, 5, true },
	};
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		struct pf_topology topo = made(rows[i].disks, rows[i].spindles);
		bool guess;
		bool seek_bound = pf_spindle_is_declared_seek_bound(&topo,
								    &guess);

		assert_int_equal(seek_bound, rows[i].seek_bound);
		assert_int_equal(guess, !rows[i].spindles);
		assert_int_equal(pf_spindle_choose_threads(&topo, false,
							   rows[i].wanted),
				 rows[i].threads);
		assert_int_equal(pf_spindle_choose_threads(&topo, true,
							   rows[i].wanted),
				 rows[i].seek_threads);
		assert_int_equal(pf_spindle_is_single(&topo, seek_bound),
				 rows[i].single);
	}
}

UNIT_MAIN(NULL, NULL)
