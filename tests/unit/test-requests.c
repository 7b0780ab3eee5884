/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The requests that a check makes with the engine, for each kind of device and each
 * image of sim-images.h, compared with fixtures/requests.txt: their number, their
 * bytes, and the sweeps they are made in (fake-device.h).  Device and clock are
 * simulated, and the checker goes on when the worker sleeps.
 *
 * An intended change is recorded with `make -C tests requests-table'.
 */
#include <inttypes.h>
#include <stdio.h>

#include "unit.h"
#include "device/spindle.h"
#include "fake-device.h"
#include "fake-threads.h"
#include "sim-images.h"

#define BLOCK 4096u
#define US 1000u

/* Computing of the checker, ns: for a block of inodes, a block of a tree or a
 * directory, and a bitmap. */
#define TABLE_NS 32000u
#define BLOCK_NS 20000u
#define BITMAP_NS 50000u

/* The declared and the measured side of a device: ns of a read alone, and of one in a
 * queue. */
static const struct kind {
	const char *name;
	struct e2pf_topology topo;
	uint64_t lone, deep;
} kinds[] = {
	{ "disk", { .devices = 1, .disks = 1, .spindles = 1 }, 10000 * US,
	  4000 * US },
	{ "flash", { .devices = 1, .disks = 1 }, 100 * US, 20 * US },
	{ "network", { .devices = 1, .disks = 1 }, 700 * US, 333 * US },
};

/*
 * A check of an image.
 */

struct run {
	struct sim_image *im;
	struct fake_device dev;
	struct e2pf_device *device;
	struct e2pf_engine *e;
};

static void check_reads(struct run *r, uint64_t block, uint32_t count,
			uint64_t ns)
{
	static char buf[64 * BLOCK];
	struct e2pf_read read = {
		.offset = block * BLOCK, .length = count * BLOCK
	};

	assert_true(read.length <= sizeof(buf));
	e2pf_engine_before_read(r->e, &read);
	fake_threads_settle();
	r->device->ops->read(r->device, buf, read.offset,
			     (uint32_t)read.length);
	e2pf_engine_after_read(r->e, &read);
	fake_advance(&r->dev, ns);
	fake_threads_settle();
}

static void pass1(struct run *r)
{
	const struct steps *walk = &r->im->walk;
	const struct step *s;

	e2pf_engine_stage(r->e, E2PF_EXT4_PASS1);
	for (s = walk->step; s < walk->step + walk->count; s++) {
		e2pf_ext4_at_group(r->e, s->group);
		fake_threads_settle();
		check_reads(r, s->block, s->count, s->count > 1 ?
			    s->count * TABLE_NS : BLOCK_NS);
	}
}

static void put_wanted(struct run *r)
{
	struct e2pf_ext4 *ext4 = r->im->fs.ext4;
	uint64_t first, i, n = e2pf_ext4_list_wants(ext4, r->e, &first);
	uint64_t *block = calloc(n + 1, sizeof(*block));

	assert_non_null(block);
	for (i = 0; i < n; i++)
		block[i] = r->im->dirs.step[first + i].block;
	e2pf_ext4_list_put(ext4, r->e, block, n);
	fake_threads_settle();
	free(block);
}

static void pass2(struct run *r)
{
	const struct steps *dirs = &r->im->dirs;
	size_t i;

	e2pf_engine_stage(r->e, E2PF_EXT4_PASS2);
	e2pf_ext4_list_begin(r->im->fs.ext4, r->e, dirs->count);
	fake_threads_settle();
	for (i = 0; i < dirs->count; i++) {
		put_wanted(r);
		e2pf_ext4_list_at(r->im->fs.ext4, r->e, i);
		fake_threads_settle();
		check_reads(r, dirs->step[i].block, 1, BLOCK_NS);
	}
	e2pf_ext4_list_end(r->im->fs.ext4, r->e);
	fake_threads_settle();
}

static void pass5(struct run *r)
{
	const struct tiny_fs *fs = &r->im->fs;
	uint32_t g;

	e2pf_engine_stage(r->e, E2PF_EXT4_PASS5);
	for (g = 0; g < fs->geo.groups; g++) {
		check_reads(r, fs->groups[g].block_bitmap, 1, BITMAP_NS);
		check_reads(r, fs->groups[g].inode_bitmap, 1, BITMAP_NS);
	}
}

static void check_btrfs(struct run *r)
{
	const struct steps *walk = &r->im->walk;
	size_t i;

	for (i = 0; i < walk->count; i++)
		check_reads(r, walk->step[i].block, 1, BLOCK_NS);
}

/* A device is measured in the middle of nodes of 16 KiB, as mkfs.btrfs makes them:
 * those of the image have 4. */
static void sample_longer(struct e2pf_source *source, uint64_t index,
			  e2pf_sink sink, void *ctx)
{
	const struct e2pf_ref ref = {
		.offset = source->bytes[0] / source->samples * index,
		.length = 4 * BLOCK
	};

	sink(ctx, &ref);
}

static struct e2pf_source *source_of(struct run *r)
{
	static struct e2pf_source_ops ops;
	struct e2pf_source *source = &r->im->btrfs.source;

	if (r->im->fs.groups)
		return tiny_source(&r->im->fs, E2PF_ALL_CLASSES);
	ops = *source->ops;
	ops.sample = sample_longer;
	source->ops = &ops;
	return source;
}

static void start(struct run *r, const struct kind *kind)
{
	const struct e2pf_policy policy = e2pf_policy_choose(&kind->topo, 1,
							    false);
	/* btrfs check drops the page cache of its device. */
	const struct e2pf_engine_config cfg = {
		.threads = policy.threads, .seek_threads = policy.seek_threads,
		.seeks = policy.seeks,
		.measure = policy.measure, .has_checker = true,
		.budget = r->im->budget, .drain = !r->im->fs.groups
	};

	r->dev.miss_ns = kind->lone;
	r->dev.ask_ns = kind->deep;
	r->e = e2pf_engine_new(source_of(r), &r->device);
	assert_non_null(r->e);
	assert_int_equal(e2pf_engine_start(r->e, &cfg), 0);
	fake_threads_settle();
}

#define ROW 128u

/* A row of the table: the device's requests, their bytes and their sweeps, and the
 * bytes that the engine looked at, cached or not. */
static void make_row(char row[ROW], const struct kind *kind,
		     struct sim_image *im)
{
	struct run r = { .im = im, .device = &r.dev.dev };
	struct e2pf_engine_stats stats;

	fake_threads_reset();
	fake_new_unrecorded(&r.dev, im->bytes, im->size, BLOCK);
	start(&r, kind);
	if (im->fs.groups) {
		pass1(&r);
		pass2(&r);
		pass5(&r);
	} else {
		check_btrfs(&r);
	}
	assert_true(e2pf_engine_stop(r.e, -1));
	e2pf_engine_get_stats(r.e, 1000, &stats);
	e2pf_engine_free(r.e);
	snprintf(row, ROW, "%-8s %-10s %8" PRIu64 " %10" PRIu64 " %6" PRIu64
		 " %10" PRIu64 "\n", kind->name, im->name, r.dev.reached,
		 r.dev.reached_blocks * BLOCK, r.dev.sweeps,
		 stats.planned_bytes);
	fake_free(&r.dev);
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
	struct sim_image im;

	for (i = 0; sim_image_names[i]; i++) {
		sim_image_make(&im, sim_image_names[i]);
		for (k = 0; k < COUNT(kinds); k++) {
			make_row(row, &kinds[k], &im);
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
		sim_image_free(&im);
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
