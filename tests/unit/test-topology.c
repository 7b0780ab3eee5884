/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detection of spindles, on recorded machines.  Each field of the result is
 * compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/sysmacros.h>
#include <cmocka.h>

#include "recorded-tree.h"
#include "device/topology.h"

#define PROCESSORS 6
#define KIB 1024u

/*
 * The expected leaves as one text: names separated by blanks, each with a
 * slash, then r if it is rotational and 1 if it takes one request at a time.
 */
struct expected {
	const char *tree;
	char type;			/* b: block device, f: file on it */
	unsigned major, minor;
	const char *leaves;
	bool known, virtual_disk, one_request;
	unsigned spindles, threads;
	bool has_head;
	unsigned max_readahead;		/* KiB */
};

#define KNOWN true
#define UNKNOWN false
#define VIRTUAL true
#define REAL false
#define ONE true
#define QUEUE false
#define HEAD true
#define FLASH false

static const struct expected table[] = {
	/* One disk. */
	{ "sata", 'b', 8, 0, "sda/r", KNOWN, REAL, QUEUE, 1, 1, HEAD, 1280 },
	{ "sata", 'b', 8, 1, "sda/r", KNOWN, REAL, QUEUE, 1, 1, HEAD, 1280 },
	{ "sata", 'f', 8, 1, "sda/r", KNOWN, REAL, QUEUE, 1, 1, HEAD, 1280 },
	{ "nvme", 'b', 259, 0, "nvme0n1/", KNOWN, REAL, QUEUE, 0,
	  PROCESSORS, FLASH, 512 },
	{ "nvme", 'b', 259, 1, "nvme0n1/", KNOWN, REAL, QUEUE, 0,
	  PROCESSORS, FLASH, 512 },
	/* Arrays. */
	{ "raid1", 'b', 9, 0, "sda/r sdb/r sdc/r", KNOWN, REAL, QUEUE, 3, 3,
	  HEAD, 1280 },
	{ "raid1", 'b', 259, 0, "sda/r sdb/r sdc/r", KNOWN, REAL, QUEUE, 3,
	  3, HEAD, 1280 },
	{ "raid6", 'b', 9, 127, "sda/r sdb/r sdc/r sdd/r sde/r sdf/r",
	  KNOWN, REAL, QUEUE, 6, 6, HEAD, 8192 },
	{ "mirror-write-mostly", 'b', 9, 1, "sda/", KNOWN, REAL, QUEUE,
	  0, PROCESSORS, FLASH, 1280 },
	/* Layers on one disk. */
	{ "luks-lvm", 'b', 253, 1, "sda/r", KNOWN, REAL, QUEUE, 1, 1, HEAD,
	  1280 },
	{ "luks-lvm", 'b', 253, 2, "sda/r", KNOWN, REAL, QUEUE, 1, 1, HEAD,
	  1280 },
	{ "luks-lvm", 'f', 253, 1, "sda/r", KNOWN, REAL, QUEUE, 1, 1, HEAD,
	  1280 },
	{ "multipath", 'b', 253, 0, "sdb/r", KNOWN, REAL, QUEUE, 1, 1, HEAD,
	  1280 },
	{ "multipath", 'b', 253, 1, "sdb/r", KNOWN, REAL, QUEUE, 1, 1, HEAD,
	  1280 },
	{ "bcache", 'b', 252, 0, "sda/r sdb/", KNOWN, REAL, QUEUE, 1, 1,
	  HEAD, 1280 },
	{ "zram", 'b', 253, 0, "zram0/", KNOWN, REAL, QUEUE, 0, PROCESSORS,
	  FLASH, 128 },
	/* No queue. */
	{ "usb-disk", 'b', 8, 16, "sdb/r1", KNOWN, REAL, ONE, 1, 1, HEAD,
	  128 },
	{ "usb-disk", 'b', 8, 17, "sdb/r1", KNOWN, REAL, ONE, 1, 1, HEAD,
	  128 },
	{ "usb-stick-1", 'b', 8, 16, "sdb/r1", KNOWN, REAL, ONE, 1, 1,
	  HEAD, 128 },
	{ "usb-stick-0", 'b', 8, 16, "sdb/1", KNOWN, REAL, ONE, 0, 1, HEAD,
	  128 },
	{ "usb-uas", 'b', 8, 16, "sdb/r", KNOWN, REAL, QUEUE, 1, 1, HEAD,
	  512 },
	{ "sd-card", 'b', 179, 0, "mmcblk0/1", KNOWN, REAL, ONE, 0, 1,
	  HEAD, 512 },
	{ "sd-card", 'b', 179, 1, "mmcblk0/1", KNOWN, REAL, ONE, 0, 1,
	  HEAD, 512 },
	{ "emmc-cqe", 'b', 179, 0, "mmcblk0/", KNOWN, REAL, QUEUE, 0,
	  PROCESSORS, FLASH, 512 },
	/* Disks whose rotational flag means nothing. */
	{ "virtio", 'b', 254, 0, "vda/r", KNOWN, VIRTUAL, QUEUE, 1, 1,
	  HEAD, 8192 },
	{ "virtio", 'b', 254, 1, "vda/r", KNOWN, VIRTUAL, QUEUE, 1, 1,
	  HEAD, 8192 },
	{ "virtio", 'f', 254, 1, "vda/r", KNOWN, VIRTUAL, QUEUE, 1, 1,
	  HEAD, 8192 },
	{ "virtio-lvm", 'b', 253, 0, "vda/r vdb/r", KNOWN, VIRTUAL, QUEUE, 2, 1, HEAD, 1280 },
	{ "virtio-two-partitions", 'b', 253, 0, "vda/r", KNOWN, VIRTUAL, QUEUE,
	  1, 1, HEAD, 128 },
	{ "qemu-sata", 'b', 8, 0, "sda/r", KNOWN, VIRTUAL, QUEUE, 1, 1,
	  HEAD, 1280 },
	/* Loop devices, by the path of their file. */
	{ "loop-ext4", 'b', 7, 0, "loop0/", KNOWN, VIRTUAL, QUEUE,
	  0, PROCESSORS, FLASH, 1280 },
	{ "loop-ext4", 'b', 7, 1, "loop1/r", KNOWN, VIRTUAL, QUEUE,
	  1, 1, HEAD, 1280 },
	{ "loop-ext4", 'b', 7, 2, "loop2/r", KNOWN, VIRTUAL, QUEUE,
	  1, 1, HEAD, 1280 },
	{ "loop-fuse", 'b', 7, 0, "loop0/r", KNOWN, VIRTUAL, QUEUE, 1, 1,
	  HEAD, 1280 },
	{ "loop-fuse", 'b', 7, 1, "loop1/", KNOWN, VIRTUAL, QUEUE, 0,
	  PROCESSORS, FLASH, 1280 },
	{ "loop-fuse", 'b', 7, 2, "loop2/r", KNOWN, VIRTUAL, QUEUE,
	  1, 1, HEAD, 1280 },
	{ "loop-fuse", 'b', 7, 3, "loop3/r", KNOWN, VIRTUAL, QUEUE, 1, 1,
	  HEAD, 1280 },
	{ "loop-fuse", 'b', 7, 4, "loop4/r", KNOWN, VIRTUAL, QUEUE, 1, 1,
	  HEAD, 1280 },
	/* Files on filesystems whose st_dev is not a device. */
	{ "loop-fuse", 'f', 0, 45, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD,
	  256 },
	{ "loop-fuse", 'f', 0, 46, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "btrfs", 'f', 0, 31, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "btrfs", 'f', 0, 99, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "btrfs", 'f', 0, 40, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "btrfs", 'f', 0, 41, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "btrfs-overlay", 'f', 0, 31, "", UNKNOWN, REAL, QUEUE,
	  0, 1, HEAD, 128 },
	{ "btrfs-overlay", 'f', 0, 50, "", UNKNOWN, REAL, QUEUE, 0, 1,
	  HEAD, 128 },
	{ "btrfs-overlay", 'f', 0, 99, "", UNKNOWN, REAL, QUEUE, 0, 1,
	  HEAD, 128 },
	{ "btrfs-two", 'f', 0, 32, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "btrfs-two", 'f', 0, 99, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD,
	  128 },
	/* Nothing can be determined. */
	{ "empty", 'b', 8, 0, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "empty", 'f', 8, 1, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "empty", 'f', 0, 31, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "empty", 'c', 8, 0, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "sata", 'c', 8, 0, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	/* Trees that no kernel makes. */
	{ "hostile-loop", 'b', 253, 0, "", UNKNOWN, REAL, QUEUE, 0, 1,
	  HEAD, 1280 },
	{ "hostile-loop-disk", 'b', 253, 0, "sda/r", KNOWN, REAL, QUEUE, 1,
	  1, HEAD, 1280 },
	{ "hostile-loop-files", 'b', 7, 0, "loop0/r", KNOWN, VIRTUAL, QUEUE,
	  1, 1, HEAD, 1280 },
	{ "hostile-orphan", 'b', 8, 1, "", UNKNOWN, REAL, QUEUE, 0, 1,
	  HEAD, 128 },
	{ "hostile-orphan", 'b', 8, 17, "", UNKNOWN, REAL, QUEUE, 0, 1,
	  HEAD, 128 },
	{ "hostile-values", 'b', 1, 0, "ram0/r", UNKNOWN, REAL, QUEUE, 1, 1,
	  HEAD, 128 },
	{ "hostile-values", 'b', 1, 1, "ram1/r", UNKNOWN, REAL, QUEUE, 1, 1,
	  HEAD, 1 << 20 },
	{ "hostile-values", 'b', 1, 2, "ram2/r", UNKNOWN, REAL, QUEUE, 1, 1,
	  HEAD, 64 },
	{ "hostile-values", 'b', 1, 3, "ram3/r", UNKNOWN, REAL, QUEUE, 1, 1,
	  HEAD, 128 },
	{ "hostile-values", 'b', 1, 9, "", UNKNOWN, REAL, QUEUE, 0, 1,
	  HEAD, 128 },
	{ "hostile-values", 'b', 1, 10, "", UNKNOWN, REAL, QUEUE, 0, 1,
	  HEAD, 128 },
	{ "hostile-slave", 'b', 9, 0, "sda/r", UNKNOWN, REAL, QUEUE, 1, 1,
	  HEAD, 1280 },
	{ "floppy", 'b', 2, 0, "fd0/r", KNOWN, REAL, QUEUE, 1, 1, HEAD, 128 },
	{ "btrfs-slash", 'f', 0, 31, "", UNKNOWN, REAL, QUEUE, 0, 1, HEAD, 128 },
	{ "btrfs-slash", 'b', 7, 0, "loop0/r", KNOWN, VIRTUAL, QUEUE,
	  1, 1, HEAD, 128 },
	{ "md-no-state", 'b', 9, 0, "sda/r", KNOWN, REAL, QUEUE, 1, 1,
	  HEAD, 128 },
	{ "hostile-multipath", 'b', 253, 0, "", UNKNOWN, REAL, QUEUE, 0, 1,
	  HEAD, 128 },
	{ "hostile-page83", 'b', 9, 0, "sda/r sdb/r", KNOWN, REAL, QUEUE, 2,
	  2, HEAD, 128 },
	{ "hostile-loop-mount", 'b', 7, 0, "loop0/r", KNOWN, VIRTUAL, QUEUE, 1, 1, HEAD, 128 },
	{ "hostile-number", 'b', 9, 0, "", UNKNOWN, REAL, QUEUE, 0, 1,
	  HEAD, 128 },
	{ "hostile-mountinfo", 'f', 0, 31, "", UNKNOWN, REAL, QUEUE, 0, 1,
	  HEAD, 128 },
};

static void probe(char type, unsigned major, unsigned minor,
		  struct e2pf_topology *topo)
{
	struct stat st = { .st_mode = 0 };

	memset(topo, 0xa5, sizeof(*topo));
	st.st_mode = type == 'b' ? S_IFBLK : type == 'c' ? S_IFCHR : S_IFREG;
	if (type == 'f')
		st.st_dev = makedev(major, minor);
	else
		st.st_rdev = makedev(major, minor);
	e2pf_topology_probe(tree_root, &st, topo);
}

/* The policy for this topology. */
static struct e2pf_policy policy_of(const struct e2pf_topology *topo)
{
	struct e2pf_policy policy;

	e2pf_policy_choose(topo, PROCESSORS, &policy);
	return policy;
}

static bool has_head(const struct e2pf_topology *topo)
{
	return policy_of(topo).has_head;
}

static unsigned threads(const struct e2pf_topology *topo)
{
	struct e2pf_policy policy = policy_of(topo);

	return policy.has_head ? policy.head_threads : policy.threads;
}

static void leaves_text(const struct e2pf_topology *topo, char *text,
			size_t size)
{
	size_t at = 0;
	unsigned i;

	text[0] = '\0';
	for (i = 0; i < topo->leaves && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%s/%s%s",
				       i ? " " : "", topo->leaf[i].name,
				       topo->leaf[i].rotational ? "r" : "",
				       topo->leaf[i].one_request ? "1" : "");
}

static void test_machine(void **state)
{
	const struct expected *e = *state;
	struct e2pf_topology topo;
	char text[4096];

	tree_make("topology-trees.txt", e->tree);
	probe(e->type, e->major, e->minor, &topo);
	leaves_text(&topo, text, sizeof(text));
	tree_remove();
	assert_string_equal(text, e->leaves);
	assert_int_equal(topo.known, e->known);
	assert_int_equal(topo.virtual_disk, e->virtual_disk);
	assert_int_equal(topo.one_request, e->one_request);
	assert_int_equal(topo.spindles, e->spindles);
	assert_int_equal(threads(&topo), e->threads);
	assert_int_equal(has_head(&topo), e->has_head);
	assert_int_equal(topo.max_readahead, e->max_readahead * KIB);
}

static void add(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void add(const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	tree_add(line);
}

/* The walk over an array ends whatever the number of members, and returns as
 * many as fit. */
static void test_many_slaves(void **state)
{
	struct e2pf_topology topo;
	unsigned i;

	(void)state;
	tree_begin();
	add("sys/dev/block/9:0 -> ../../devices/virtual/block/md0");
	for (i = 0; i < 10000; i++) {
		/* Only the first members have a device. */
		add("sys/devices/virtual/block/md0/slaves/s%u/dev\t%u:%u", i,
		    100 + i / 256, i % 256);
		if (i >= 1000)
			continue;
		add("sys/dev/block/%u:%u -> ../../devices/pci/s%u",
		    100 + i / 256, i % 256, i);
		add("sys/devices/pci/s%u/queue/rotational\t1", i);
	}
	probe('b', 9, 0, &topo);
	tree_remove();
	assert_true(topo.leaves <= E2PF_MAX_LEAVES);
	assert_int_equal(topo.spindles, topo.leaves);
	assert_true(threads(&topo) >= 1 && threads(&topo) <= 32);
	assert_true(has_head(&topo));
}

/* An array of more disks than there are leaves: the number is bounded. */
static void test_large_array(void **state)
{
	struct e2pf_topology topo;
	unsigned i;

	(void)state;
	tree_begin();
	add("sys/dev/block/9:0 -> ../../devices/virtual/block/md0");
	for (i = 0; i < 100; i++) {
		add("sys/devices/virtual/block/md0/slaves/sd%u/dev\t65:%u", i,
		    i);
		add("sys/dev/block/65:%u -> ../../devices/pci/sd%u", i, i);
		add("sys/devices/pci/sd%u/queue/rotational\t1", i);
	}
	probe('b', 9, 0, &topo);
	tree_remove();
	assert_true(topo.known);
	assert_int_equal(topo.leaves, E2PF_MAX_LEAVES);
	assert_int_equal(topo.spindles, E2PF_MAX_LEAVES);
	assert_int_equal(threads(&topo), 32);
	assert_true(has_head(&topo));
}

/* Each member is a partition and leads to another device, so that there is not
 * enough room for all. */
static void test_many_partitions(void **state)
{
	struct e2pf_topology topo;
	unsigned i;

	(void)state;
	tree_begin();
	add("sys/dev/block/9:0 -> ../../devices/virtual/block/md0");
	for (i = 0; i < 400; i++) {
		add("sys/devices/virtual/block/md0/slaves/s%u/dev\t%u:%u", i,
		    100 + i / 200, i % 200);
		add("sys/dev/block/%u:%u -> ../../devices/pci/d%u/p", 100 +
		    i / 200, i % 200, i);
		add("sys/devices/pci/d%u/p/partition\t1", i);
		add("sys/devices/pci/d%u/dev\t%u:%u", i, 200 + i / 200,
		    i % 200);
	}
	probe('b', 9, 0, &topo);
	tree_remove();
	assert_int_equal(topo.leaves, 0);
	assert_false(topo.known);
	assert_int_equal(threads(&topo), 1);
}

/* A chain of 1,000 layers also ends. */
static void test_deep_chain(void **state)
{
	struct e2pf_topology topo;
	unsigned i;

	(void)state;
	tree_begin();
	for (i = 0; i < 1000; i++) {
		add("sys/dev/block/253:%u -> ../../devices/virtual/block/dm-%u",
		    i, i);
		add("sys/devices/virtual/block/dm-%u/slaves/dm-%u/dev\t253:%u",
		    i, i + 1, i + 1);
	}
	probe('b', 253, 0, &topo);
	tree_remove();
	assert_int_equal(topo.leaves, 0);
	assert_false(topo.known);
	assert_int_equal(threads(&topo), 1);
	assert_true(has_head(&topo));
}

/* A sysroot of the greatest length leaves no room for anything below. */
static void test_long_sysroot(void **state)
{
	struct stat st = { .st_mode = S_IFBLK };
	struct e2pf_topology topo;
	char *root = malloc(2 * PATH_MAX);

	(void)state;
	assert_non_null(root);
	memset(root, '/', 2 * PATH_MAX - 1);
	root[2 * PATH_MAX - 1] = '\0';
	e2pf_topology_probe(root, &st, &topo);
	root[PATH_MAX - 20] = '\0';
	e2pf_topology_probe(root, &st, &topo);
	free(root);
	assert_false(topo.known);
	assert_int_equal(threads(&topo), 1);
}

/* Flash has a thread for each processor: at least two, to overlap reading and
 * parsing, and at most as many as keep a device busy. */
static void test_processors(void **state)
{
	static const unsigned threads[][2] = {
		{ 0, 2 }, { 1, 2 }, { 5, 5 }, { 16, 16 }, { 1000, 16 }
	};
	struct e2pf_topology topo;
	struct e2pf_policy policy;
	size_t i;

	(void)state;
	tree_make("topology-trees.txt", "nvme");
	probe('b', 259, 0, &topo);
	tree_remove();
	for (i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		e2pf_policy_choose(&topo, threads[i][0], &policy);
		assert_int_equal(policy.threads, threads[i][1]);
		assert_false(policy.has_head);
		assert_true(policy.probe);
	}
}

#define MACHINES (sizeof(table) / sizeof(table[0]))

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(test_many_slaves),
		cmocka_unit_test(test_large_array),
		cmocka_unit_test(test_many_partitions),
		cmocka_unit_test(test_deep_chain),
		cmocka_unit_test(test_long_sysroot),
		cmocka_unit_test(test_processors),
	};
	const size_t n_others = sizeof(others) / sizeof(others[0]);
	struct CMUnitTest tests[MACHINES + sizeof(others) / sizeof(others[0])];
	static char names[MACHINES][64];
	size_t i;

	memset(tests, 0, sizeof(tests));
	for (i = 0; i < MACHINES; i++) {
		snprintf(names[i], sizeof(names[i]), "%s %c %u:%u",
			 table[i].tree, table[i].type, table[i].major,
			 table[i].minor);
		tests[i].name = names[i];
		tests[i].test_func = test_machine;
		tests[i].initial_state = (void *)&table[i];
	}
	for (i = 0; i < n_others; i++)
		tests[MACHINES + i] = others[i];
	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
