/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Programs that walk a tree of 20,000 directories, simulated: find, rsync, fts of large
 * directories, fd with 16 threads, one that leaves out half, one that follows no order.
 * A reader fetches one batch after the other, and each of the two takes its time on a
 * modelled network volume, so the figures are always the same.
 */
#include <ext2fs/ext2fs.h>

#include "ext4/walk.h"
#include "unit.h"

#define DIRECTORIES 20000u
#define FANOUT 10u
#define FILES 50u			/* in each directory */
#define THREADS 16u
#define PER_BLOCK 16u			/* inodes */
#define PART 16u			/* blocks of a table that are read together */
#define WINDOW (12u << 20)
#define PORTION (4u << 20)

/* Nanoseconds: of the program for a directory, of a request, of a byte; and until a read
 * of the program returns. */
#define DIRECTORY_NS 400000u
#define REQUEST_NS 333333u
#define BYTE_NS 8u
#define LATENCY_NS 1000000u

static const struct ext4_geometry geo = {
	.inodes = 100000000, .block_size = 4096, .inode_size = 256,
	.feature_compat = EXT2_FEATURE_COMPAT_DIR_INDEX,
	.hash_version = EXT2_HASH_HALF_MD4_UNSIGNED
};

/* The tree, in which K is a child of (K - 1) / FANOUT. */
static struct {
	char name[16];
	uint32_t hash;
	unsigned child[FANOUT], children;
	bool read;			/* ahead */
} dir[DIRECTORIES];

/* The simulation. */
static struct {
	struct ext4_walk *walk;
	unsigned order[DIRECTORIES], orders;	/* in which the program opens them */
	unsigned batch[DIRECTORIES], in_batch, next;
	uint64_t taken;			/* batches */
	uint64_t reader, program;	/* their clocks, ns */
	unsigned hits, read;
} sim;

static uint32_t inode_of(unsigned k)
{
	return EXT2_ROOT_INO + k * (FILES + 1);
}

static int by_hash(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return dir[*x].hash < dir[*y].hash ? -1 : dir[*x].hash > dir[*y].hash;
}

static int by_name(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return strcmp(dir[*x].name, dir[*y].name);
}

static int by_inode(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

FIXTURE(make_tree)
{
	ext2_dirhash_t hash;
	unsigned k, parent;

	for (k = 0; k < DIRECTORIES; k++) {
		snprintf(dir[k].name, sizeof(dir[k].name), "%05u",
			 k * 7919u % 100000u);
		assert_int_equal(ext2fs_dirhash(geo.hash_version, dir[k].name, 5,
						geo.hash_seed, &hash, NULL), 0);
		dir[k].hash = hash;
		parent = (k - 1) / FANOUT;
		if (k)
			dir[parent].child[dir[parent].children++] = k;
	}
	return 0;
}

static void sort_tree(int (*compare)(const void *, const void *))
{
	unsigned k;

	for (k = 0; k < DIRECTORIES; k++) {
		dir[k].read = false;
		qsort(dir[k].child, dir[k].children, sizeof(unsigned), compare);
	}
	sim.orders = 0;
}

/* Depth first; of the children only each `step`-th is entered. */
static void descend(unsigned k, unsigned step)
{
	unsigned i;

	sim.order[sim.orders++] = k;
	for (i = 0; i < dir[k].children; i += step)
		descend(dir[k].child[i], step);
}

static void choose(void *ctx, uint32_t directory)
{
	(void)ctx;
	sim.batch[sim.in_batch++] = (directory - EXT2_ROOT_INO) / (FILES + 1);
}

/* Read a directory of a batch: its block, the tables, and its names. */
static void read_directory(unsigned k)
{
	uint64_t block;
	unsigned i;

	if (!ext4_walk_takes(sim.walk, inode_of(k)))
		return;
	dir[k].read = true;
	sim.read++;
	ext4_walk_admit(sim.walk, inode_of(k), 10000000 + k, 1);
	sim.reader += REQUEST_NS;
	for (i = 0; i <= FILES; i += PER_BLOCK) {
		block = (inode_of(k) + i) / PER_BLOCK / PART * PART;
		if (ext4_walk_admit(sim.walk, inode_of(k), block, PART))
			sim.reader += (uint64_t)BYTE_NS * PART * geo.block_size;
	}
	for (i = 0; i < dir[k].children; i++) {
		const struct ext4_entry entry = {
			.ino = inode_of(dir[k].child[i]), .directory = true,
			.name = dir[dir[k].child[i]].name, .length = 5
		};

		ext4_walk_add(sim.walk, inode_of(k), &entry);
	}
}

/* Returns false if there is nothing to read. */
static bool step_reader(void)
{
	bool more;

	if (sim.next < sim.in_batch) {
		read_directory(sim.batch[sim.next++]);
		return true;
	}
	if (ext4_walk_batches(sim.walk, &more) == sim.taken)
		return false;
	sim.in_batch = sim.next = 0;
	ext4_walk_next(sim.walk, choose, NULL);
	sim.taken++;
	sim.reader += LATENCY_NS;
	return true;
}

/* With those it is in, if it is not known. */
static void open_directory(unsigned k)
{
	uint32_t path[16];
	unsigned n = 0;

	do {
		path[n++] = inode_of(k);
		k = (k - 1) / FANOUT;
	} while (path[n - 1] != inode_of(0) &&
		 !ext4_walk_knows(sim.walk, path[n - 1]));
	ext4_walk_open(sim.walk, path, n);
}

static void step_program(unsigned k)
{
	sim.program += DIRECTORY_NS;
	if (dir[k].read) {
		sim.hits++;
	} else {
		sim.program += LATENCY_NS;
		sim.reader += REQUEST_NS;
	}
	open_directory(k);
}

/* Returns the time in per cent of the time alone. */
static unsigned simulate(uint64_t window)
{
	const uint32_t root = EXT2_ROOT_INO;
	unsigned i = 0, percent;

	sim.walk = ext4_walk_new(&geo, ext2fs_dirhash, window, PORTION, &root, 1);
	assert_non_null(sim.walk);
	sim.in_batch = sim.next = sim.hits = sim.read = 0;
	sim.taken = sim.reader = sim.program = 0;
	while (i < sim.orders) {
		if (sim.reader <= sim.program && step_reader())
			continue;
		if (sim.reader < sim.program)
			sim.reader = sim.program;
		step_program(sim.order[i++]);
	}
	ext4_walk_free(sim.walk);
	percent = (unsigned)(sim.program / ((DIRECTORY_NS + LATENCY_NS) *
					    (uint64_t)sim.orders / 100));
	print_message("%u %% of the time, %u of %u read before they were opened, %u "
		      "read\n", percent, sim.hits, sim.orders, sim.read);
	return percent;
}

static void is_followed(int (*order)(const void *, const void *), unsigned step,
			uint64_t window, unsigned percent)
{
	sort_tree(order);
	descend(0, step);
	assert_uint_in_range(simulate(window), 0, percent);
}

/* The device alone takes a third of the time. */
TEST(find)
{
	is_followed(by_hash, 1, WINDOW, 35);
}

TEST(rsync)
{
	is_followed(by_name, 1, WINDOW, 37);
}

TEST(fts_of_large_directories)
{
	is_followed(by_inode, 1, WINDOW, 37);
}

TEST(small_window)
{
	is_followed(by_hash, 1, 4 << 20, 38);
	is_followed(by_name, 1, 1 << 20, 56);
}

TEST(large_window)
{
	is_followed(by_hash, 1, 800 << 20, 34);
	is_followed(by_name, 1, 800 << 20, 36);
}

/* Three of five directories are left out, with all in them: hardly anything that is read
 * is of use. */
TEST(left_out)
{
	is_followed(by_hash, 3, WINDOW, 100);
}

/* Each thread has subtrees of its own. */
TEST(fd_with_16_threads)
{
	static unsigned of[THREADS][DIRECTORIES], count[THREADS];
	unsigned i, t, left = 1;

	sort_tree(by_hash);
	descend(0, 1);
	memset(count, 0, sizeof(count));
	for (i = 1, t = 0; i < sim.orders; i++) {
		t += sim.order[i] > FANOUT && sim.order[i] <= FANOUT * (FANOUT + 1);
		of[t % THREADS][count[t % THREADS]++] = sim.order[i];
	}
	for (i = 0, sim.orders = 1; left; i++)
		for (t = left = 0; t < THREADS; t++)
			if (i < count[t]) {
				sim.order[sim.orders++] = of[t][i];
				left = 1;
			}
	assert_int_equal(sim.orders, DIRECTORIES);
	assert_uint_in_range(simulate(WINDOW), 0, 42);
}

/* Reading ends soon: it would only delay the program. */
TEST(no_order)
{
	unsigned i, j, k;
	uint64_t random = 1;

	sort_tree(by_hash);
	descend(0, 1);
	for (i = DIRECTORIES - 1; i > 1; i--) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		j = 1 + (unsigned)(random >> 33) % i;
		k = sim.order[i];
		sim.order[i] = sim.order[j];
		sim.order[j] = k;
	}
	assert_uint_in_range(simulate(WINDOW), 0, 101);
	assert_true(sim.read < DIRECTORIES / 4);
}

/* It opens directories that are not below the first one: reading goes on.  If it is not
 * known where they are, that ends. */
TEST(elsewhere)
{
	const uint32_t root = 5;
	uint32_t path[2] = { 0, 6 };
	bool more;
	unsigned i;

	sim.walk = ext4_walk_new(&geo, ext2fs_dirhash, WINDOW, PORTION, &root, 1);
	assert_non_null(sim.walk);
	for (i = 0; i < 3000; i++) {
		path[0] = 100000 + i;
		ext4_walk_open(sim.walk, path, 2);
	}
	assert_int_equal(ext4_walk_batches(sim.walk, &more), 1);
	assert_true(more);
	assert_false(ext4_walk_is_over(sim.walk));
	for (i = 0; i < 3000; i++) {
		path[0] = 100000 + i;
		ext4_walk_open(sim.walk, path, 1);
	}
	assert_true(ext4_walk_is_over(sim.walk));
	ext4_walk_batches(sim.walk, &more);
	assert_false(more);
	ext4_walk_free(sim.walk);
}

/* Opens of the root, which is elsewhere, too. */
TEST(root_is_elsewhere)
{
	const uint32_t below = 5, root = EXT2_ROOT_INO;
	unsigned i;

	sim.walk = ext4_walk_new(&geo, ext2fs_dirhash, WINDOW, PORTION, &below, 1);
	assert_non_null(sim.walk);
	for (i = 0; i < 3000; i++)
		ext4_walk_open(sim.walk, &root, 1);
	assert_false(ext4_walk_is_over(sim.walk));
	ext4_walk_free(sim.walk);
}

/* As many directories are known as fit into three windows. */
TEST(many_directories)
{
	const uint32_t root = 5, window = 48 * 100;
	struct ext4_entry entry = { .name = "x", .length = 1 };
	unsigned i;

	sim.walk = ext4_walk_new(&geo, ext2fs_dirhash, window, window, &root, 1);
	assert_non_null(sim.walk);
	for (i = 0; i < 200; i++) {
		entry.ino = 100 + i;
		ext4_walk_add(sim.walk, root, &entry);
	}
	assert_true(ext4_walk_knows(sim.walk, 100 + 98));
	assert_false(ext4_walk_knows(sim.walk, 100 + 99));
	ext4_walk_free(sim.walk);
}

/* Directories of a path are added to the one that is known, and read first. */
TEST(path)
{
	const uint32_t path[] = { 9, 8, 5 };
	const uint32_t root = 5;
	bool more;

	sim.walk = ext4_walk_new(&geo, ext2fs_dirhash, WINDOW, PORTION, &root, 1);
	assert_non_null(sim.walk);
	assert_int_equal(ext4_walk_batches(sim.walk, &more), 1);
	sim.in_batch = 0;
	assert_true(ext4_walk_open(sim.walk, path, COUNT(path)));
	assert_true(ext4_walk_knows(sim.walk, 8) && ext4_walk_knows(sim.walk, 9));
	ext4_walk_next(sim.walk, choose, NULL);
	assert_int_equal(sim.in_batch, 3);
	ext4_walk_free(sim.walk);
}

/* Numbers from the disk: a directory in itself, one in two, and one that nobody asked
 * about. */
TEST(hostile_tree)
{
	struct ext4_entry entry = { .ino = 5, .name = "x", .length = 1 };
	const uint32_t roots[] = { 5, 0, UINT32_MAX, 5, 6 };
	bool more;

	sim.walk = ext4_walk_new(&geo, ext2fs_dirhash, WINDOW, PORTION, roots,
				 COUNT(roots));
	assert_non_null(sim.walk);
	assert_int_equal(ext4_walk_batches(sim.walk, &more), 1);
	sim.in_batch = 0;
	ext4_walk_next(sim.walk, choose, NULL);
	assert_int_equal(sim.in_batch, 1);
	assert_true(ext4_walk_takes(sim.walk, 5));
	assert_false(ext4_walk_takes(sim.walk, 5));
	assert_false(ext4_walk_takes(sim.walk, 77));
	assert_false(ext4_walk_add(sim.walk, 5, &entry));
	entry.ino = 6;
	assert_false(ext4_walk_add(sim.walk, 5, &entry));
	entry.ino = 7;
	assert_true(ext4_walk_add(sim.walk, 5, &entry));
	assert_false(ext4_walk_add(sim.walk, 77, &entry));
	assert_false(ext4_walk_admit(sim.walk, 77, 1, 1));
	assert_false(ext4_walk_admit(sim.walk, 7, 1, 1));
	assert_true(ext4_walk_admit(sim.walk, 5, 1, 1));
	assert_false(ext4_walk_admit(sim.walk, 5, 1, 1));
	ext4_walk_free(sim.walk);
}

UNIT_MAIN(make_tree, NULL)
