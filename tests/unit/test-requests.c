/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The requests that a check makes with the engine, for each kind of device and each of
 * some images, compared with fixtures/requests.txt: their number, their
 * bytes, and the sweeps they are made in (fake-device.h).  Device and clock are
 * simulated, and the checker goes on when the worker sleeps.
 *
 * An intended change is recorded with `make -C tests requests-table'.
 */
#include <inttypes.h>
#include <stdio.h>

#include "unit.h"
#include "lib/array.h"
#include "prefetch/spindle.h"
#include "fake-device.h"
#include "fake-threads.h"
#include "tiny-fs.h"

#define BLOCK 4096u
#define US 1000u

/* Computing of the checker, ns: for a block of inodes, a block of a tree or a
 * directory, and a bitmap. */
#define TABLE_NS 32000u
#define BLOCK_NS 20000u
#define BITMAP_NS 50000u

/* The declared and the measured side of a device: ns of a read alone, and of one in a
 * queue; and the number of requests that pass at once before it is as long. */
static const struct kind {
	const char *name;
	struct pf_topology topo;
	uint64_t latency_qd1, latency_qd8, burst;
} kinds[] = {
	{ "disk", { .devices = 1, .disks = 1, .spindles = 1 }, 10000 * US,
	  4000 * US, 0 },
	{ "flash", { .devices = 1, .disks = 1 }, 100 * US, 20 * US, 0 },
	{ "network", { .devices = 1, .disks = 1 }, 700 * US, 333 * US, 0 },
	{ "burst", { .devices = 1, .disks = 1 }, 700 * US, 333 * US, 300 },
};

/*
 * The images: made up, the same on every machine.  Those with names of bench/images are
 * like these, but small: what lies between two blocks is shorter.
 */

/* What each group has that is in use. */
static const struct recipe {
	const char *name;
	uint32_t groups, blocks, inodes;	/* of a group */
	uint32_t every;		/* one group in `every` has inodes */
	unsigned used;		/* inodes, the first ones of the table; among
				   them: */
	unsigned dirs, files, attrs;	/* directories; files with a tree, and
					   with an attribute block */
	unsigned deep;		/* one file in `deep` has a tree of two
				   levels */
	unsigned gap;		/* blocks between one in four of these and the
				   one before it, at most */
	/* Bitmaps and tables of FLEX groups lie side by side, and so do their
	 * directories: in `area` blocks, a prime number, in the order of
	 * inodes; or in another one, each `step` blocks after the last. */
	unsigned area, step;	/* 0: no flex groups */
	unsigned budget;	/* MiB that may be ahead of the checker */
} recipes[] = {
	{ "fresh", 64, 4096, 1024, .every = 1, .used = 512, .dirs = 40,
	  .files = 4, .deep = 99, .gap = 2, .area = 641, .step = 1,
	  .budget = 64 },
	{ "aged", 16, 16384, 16384, .every = 1, .used = 14000, .dirs = 100,
	  .files = 150, .attrs = 30, .deep = 8, .gap = 60, .area = 3203,
	  .step = 1979, .budget = 64 },
	{ "no-flex", 64, 4096, 512, .every = 1, .used = 300, .dirs = 10,
	  .files = 24, .deep = 6, .gap = 120, .budget = 64 },
	{ "bitmaps", 4096, 64, 256, .every = 16, .used = 20, .dirs = 1,
	  .files = 1, .deep = 99, .gap = 4, .area = 17, .step = 1,
	  .budget = 128 },
	{ "tiny", 4, 2048, 256, .every = 1, .used = 100, .dirs = 5,
	  .files = 5, .deep = 99, .gap = 8, .budget = 64 },
};

#define FLEX 16u
#define FAR_GAP 50u

/* Reads of the checker. */
struct steps {
	struct step {
		uint64_t block;
		uint64_t order;		/* by which they are sorted */
		uint32_t count;
		uint32_t group;		/* that the inode scan is in */
	} *step;
	size_t count, room;
};

/* The one that is checked. */
static const struct recipe *recipe;
static struct {
	struct tiny_fs fs;
	/* In the order of the checker: pass 1 and pass 2. */
	struct steps walk, dirs;
	uint64_t *next_free, *dirs_at;	/* blocks, of groups and of flex
					   groups */
	uint64_t late;			/* of steps that the checker takes at
					   the end of a group: their order */
	uint64_t random;
} im;

static uint32_t below(uint32_t n)
{
	im.random = im.random * UINT64_C(6364136223846793005) + 1;
	return (uint32_t)(im.random >> 33) % n;
}

#define ORDER_BITS 20

/* Later ones come after others; those with the same order, as they are. */
static void add_step(struct steps *s, uint64_t block, uint32_t count,
		     uint32_t group, uint64_t later)
{
	assert_true(e2pf_have_room((void **)&s->step, &s->room, s->count, 1,
				   sizeof(*s->step)));
	s->step[s->count] = (struct step){
		block, later << ORDER_BITS | s->count, count, group
	};
	s->count++;
}

static int by_order(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return E2PF_COMPARE(x->order, y->order);
}

static void sort_steps(struct steps *s, size_t from)
{
	qsort(s->step + from, s->count - from, sizeof(*s->step), by_order);
}

/* Is the n-th of all inodes one of `these', which are spread evenly? */
static bool is_one_of(unsigned these, unsigned n)
{
	return n * these / recipe->used != (n + 1) * these / recipe->used;
}

static uint64_t new_block(uint32_t group)
{
	const unsigned gap = recipe->gap;
	uint64_t *next;

	/* Some are in one of the next groups. */
	if (gap >= FAR_GAP && !below(4))
		group = (group + below(4)) % recipe->groups;
	next = &im.next_free[group];
	*next += 1 + below(below(4) ? 8 % (gap + 1) + 1 : gap);
	return *next - 1;
}

/* The same with a step of the scan. */
static uint64_t new_tree_block(uint32_t group)
{
	uint64_t block = new_block(group);

	add_step(&im.walk, block, 1, group, im.late);
	return block;
}

static void make_extents(uint32_t ino, uint32_t group, bool deep)
{
	uint64_t top = 0, leaf[8], data = 1;
	unsigned i, leaves = deep ? 8 : 1;

	if (deep)
		top = new_tree_block(group);
	for (i = 0; i < leaves; i++) {
		leaf[i] = new_tree_block(group);
		tiny_node(&im.fs, leaf[i], 0, &data, 1);
	}
	if (deep)
		tiny_node(&im.fs, top, 1, leaf, leaves);
	tiny_inode(&im.fs, ino, LINUX_S_IFREG, deep ? 2 : 1,
		   deep ? &top : leaf, 1);
}

/* Like the kernel, in the first of the flex groups, behind the tables. */
static uint64_t directory_block(uint32_t group, unsigned n)
{
	uint32_t number = group % FLEX * recipe->dirs +
			  n * recipe->dirs / recipe->used;

	if (!recipe->area)
		return new_block(group);
	return im.dirs_at[group / FLEX] + number * recipe->step % recipe->area;
}

static void make_inode(uint32_t group, unsigned n, unsigned *trees)
{
	uint32_t ino = group * recipe->inodes + n + 1;
	uint64_t block = 1, attr = 0;

	if (is_one_of(recipe->dirs, n)) {
		block = directory_block(group, n);
		tiny_inode(&im.fs, ino, LINUX_S_IFDIR, 0, &block, 1);
		add_step(&im.dirs, block, 1, group, block);
		return;
	}
	tiny_inode(&im.fs, ino, LINUX_S_IFREG, 0, &block, 1);
	im.late = 0;
	if (is_one_of(recipe->attrs, n)) {
		attr = im.late = new_block(group);
		add_step(&im.walk, attr, 1, group, im.late);
	}
	if (is_one_of(recipe->files, n))
		make_extents(ino, group, ++*trees % recipe->deep == 0);
	tiny_inode_at(&im.fs, ino)->i_file_acl = htole32((uint32_t)attr);
}

/* As the inode scan: eight blocks of the table, and then what their inodes
 * refer to; but inodes with an attribute block when the group is over, in the
 * order of these. */
#define SCAN_BLOCKS 8u

static void make_group(uint32_t group)
{
	const unsigned per_block = BLOCK / sizeof(struct ext2_inode);
	const unsigned at_once = SCAN_BLOCKS * per_block;
	unsigned n, trees = 0, left;
	size_t from = im.walk.count;

	for (n = 0; n < recipe->used; n++) {
		left = (recipe->used - n + per_block - 1) / per_block;
		if (n % at_once == 0)
			add_step(&im.walk, im.fs.groups[group].inode_table +
				 n / per_block,
				 left < SCAN_BLOCKS ? left : SCAN_BLOCKS,
				 group, 0);
		make_inode(group, n, &trees);
	}
	sort_steps(&im.walk, from);
}

static void lay_out_groups(void)
{
	uint64_t table = recipe->inodes * sizeof(struct ext2_inode) / BLOCK;
	struct ext4_group *group = im.fs.groups;
	uint64_t first;
	uint32_t g, n;

	for (g = 0; g < recipe->groups; g++) {
		group[g].inodes_in_use = g % recipe->every ? 0 : recipe->used;
		im.next_free[g] = tiny_free_block(&im.fs, g);
		if (!recipe->area)
			continue;
		n = g % FLEX;
		first = (uint64_t)(g - n) * recipe->blocks + 1;
		group[g].block_bitmap = first + n;
		group[g].inode_bitmap = first + FLEX + n;
		group[g].inode_table = first + 2 * FLEX + n * table;
		im.dirs_at[g / FLEX] = first + (2 + table) * FLEX;
		im.next_free[g] = n ? (uint64_t)g * recipe->blocks :
				      im.dirs_at[g / FLEX] + recipe->area;
	}
}

static void make_image(void)
{
	const uint32_t groups = recipe->groups, every = recipe->every;
	uint32_t g;

	memset(&im, 0, sizeof(im));
	im.random = 1;
	tiny_new(&im.fs, groups, recipe->blocks, recipe->inodes, BLOCK);
	im.next_free = calloc(groups, sizeof(*im.next_free));
	im.dirs_at = calloc(groups, sizeof(*im.dirs_at));
	if (!im.next_free || !im.dirs_at)
		abort();
	lay_out_groups();
	for (g = 0; g < groups; g += every)
		make_group(g);
	for (g = 0; g < groups; g += every)
		assert_true(im.next_free[g] <=
			    (uint64_t)(g + every) * recipe->blocks);
	/* Pass 2 is in the order of blocks. */
	sort_steps(&im.dirs, 0);
}

static void free_image(void)
{
	free(im.next_free);
	free(im.dirs_at);
	free(im.walk.step);
	free(im.dirs.step);
	tiny_free(&im.fs);
}

/*
 * A check of an image.
 */

static struct fake_device dev;
static struct pf_device *device = &dev.dev;
static struct pf_engine *engine;

static void check_reads(uint64_t block, uint32_t count, uint64_t ns)
{
	static char buf[64 * BLOCK];
	struct pf_read read = {
		.offset = block * BLOCK, .length = count * BLOCK
	};

	assert_true(read.length <= sizeof(buf));
	pf_engine_before_read(engine, &read);
	fake_threads_settle();
	device->ops->read(device, buf, read.offset, (uint32_t)read.length);
	pf_engine_after_read(engine, &read);
	fake_advance(&dev, ns);
	fake_threads_settle();
}

static void pass1(void)
{
	const struct steps *walk = &im.walk;
	const struct step *s;

	pf_engine_begin_stage(engine, EXT4_PASS1);
	for (s = walk->step; s < walk->step + walk->count; s++) {
		pf_engine_report_position(engine, EXT4_PHASE_TABLES, s->group);
		fake_threads_settle();
		check_reads(s->block, s->count, s->count > 1 ?
			    s->count * TABLE_NS : BLOCK_NS);
	}
}

static void put_wanted(uint64_t reached)
{
	struct ext4_source *ext4 = im.fs.ext4;
	uint64_t first, i, *block;
	uint64_t n = ext4_source_list_count_wanted(ext4, engine, reached,
						   &first);

	block = calloc(n + 1, sizeof(*block));
	assert_non_null(block);
	for (i = 0; i < n; i++)
		block[i] = im.dirs.step[first + i].block;
	ext4_source_list_add(ext4, engine, block, n);
	fake_threads_settle();
	free(block);
}

static void pass2(void)
{
	const struct steps *dirs = &im.dirs;
	size_t i;

	pf_engine_begin_stage(engine, EXT4_PASS2);
	ext4_source_list_begin(im.fs.ext4, engine, dirs->count, EXT4_DIRS);
	fake_threads_settle();
	for (i = 0; i < dirs->count; i++) {
		put_wanted(i ? i - 1 : 0);
		pf_engine_report_position(engine, EXT4_PHASE_LIST, i);
		fake_threads_settle();
		check_reads(dirs->step[i].block, 1, BLOCK_NS);
	}
	ext4_source_list_end(im.fs.ext4, engine);
	fake_threads_settle();
}

static void pass5(void)
{
	const struct tiny_fs *fs = &im.fs;
	uint32_t g;

	pf_engine_begin_stage(engine, EXT4_PASS5);
	for (g = 0; g < fs->geo.groups; g++) {
		check_reads(fs->groups[g].block_bitmap, 1, BITMAP_NS);
		check_reads(fs->groups[g].inode_bitmap, 1, BITMAP_NS);
	}
}

static void start(const struct kind *kind)
{
	struct pf_options options = {
		.threads = 1, .seek_threads = 1, .has_checker = true,
		.budget = (uint64_t)recipe->budget << 20
	};

	options.seek_bound = pf_spindle_is_declared_seek_bound(&kind->topo,
							       &options.measure);
	dev.miss_ns = kind->latency_qd1;
	dev.ask_ns = kind->latency_qd8;
	dev.burst = kind->burst;
	engine = pf_engine_new(tiny_source(&im.fs, EXT4_ALL_CLASSES),
			       &device);
	assert_non_null(engine);
	assert_int_equal(pf_engine_start(engine, &options), 0);
	fake_threads_settle();
}

#define ROW 128u

/* A row of the table: the device's requests, their bytes and their sweeps, and the
 * bytes that the engine looked at, cached or not. */
static void make_row(char row[ROW], const struct kind *kind)
{
	struct pf_engine_stats stats;

	fake_threads_reset();
	fake_new_unrecorded(&dev, im.fs.image, im.fs.size, BLOCK);
	start(kind);
	pass1();
	pass2();
	pass5();
	assert_true(pf_engine_stop(engine, -1));
	pf_engine_get_stats(engine, 1000, &stats);
	pf_engine_free(engine);
	snprintf(row, ROW, "%-8s %-10s %8" PRIu64 " %10" PRIu64 " %6" PRIu64
		 " %10" PRIu64 "\n", kind->name, recipe->name, dev.reached,
		 dev.reached_blocks * BLOCK, dev.sweeps, stats.planned_bytes);
	fake_free(&dev);
}

/* The next row of the recorded table; empty at its end. */
static void next_row(FILE *f, char row[ROW])
{
	do
		*row = '\0';
	while (fgets(row, ROW, f) && *row == '#');
}

/* Print the table, or compare it with a recorded one; returns how many rows
 * differ. */
static unsigned make_table(FILE *recorded)
{
	char row[ROW], old[ROW];
	unsigned different = 0, i, k;

	for (i = 0; i < COUNT(recipes); i++) {
		recipe = &recipes[i];
		make_image();
		for (k = 0; k < COUNT(kinds); k++) {
			make_row(row, &kinds[k]);
			if (!recorded) {
				fputs(row, stdout);
				continue;
			}
			next_row(recorded, old);
			if (!strcmp(row, old))
				continue;
			print_message("now  %sthen %s", row, old);
			different++;
		}
		free_image();
	}
	return different;
}

TEST(test_rows_are_as_recorded)
{
	const char *srcdir = getenv("srcdir");
	char path[4096], row[ROW];
	FILE *f;

	snprintf(path, sizeof(path), "%s/fixtures/requests.txt",
		 srcdir ? srcdir : ".");
	f = fopen(path, "r");
	assert_non_null(f);
	if (make_table(f))
		fail_msg("If all of this is meant: make -C tests requests-table");
	next_row(f, row);
	assert_string_equal(row, "");
	fclose(f);
}

UNIT_TESTS

int main(int argc, char **argv)
{
	if (argc == 1)
		return unit_run(NULL, NULL);
	if (argc > 2 || strcmp(argv[1], "--table"))
		return 2;
	puts("# A check with the engine, simulated (unit/test-requests.c).  Made by\n"
	     "# `make -C tests requests-table'.  `planned' is what the engine "
	     "looked at,\n# cached or not.\n"
	     "# kind   image      requests      bytes sweeps    planned");
	return (int)make_table(NULL);
}
