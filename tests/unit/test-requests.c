/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The requests that a check makes with the engine, for each model of
 * bench/models and each image of sim-images.h, compared with
 * fixtures/requests.txt: their number, their bytes, and the sweeps they are
 * made in (sim-device.h).  Nothing is timed: device, clock and threads are
 * simulated.
 *
 * Figures may differ by 5 %.  A change that is meant is recorded with
 * `make -C tests requests-table'.
 */
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>

#include "unit.h"
#include "device/topology.h"
#include "sim-device.h"
#include "sim-images.h"

#define MODELS "../bench/models"
#define THREADS 2u
#define PERCENT 5u

/* Computing of the checker, ns: for a block of inodes, a block of a tree or a
 * directory, and a bitmap. */
#define TABLE_NS 32000u
#define BLOCK_NS 20000u
#define BITMAP_NS 50000u

struct row {
	uint64_t requests, bytes, sweeps;	/* of the device */
	uint64_t planned;	/* bytes that the engine looked at, cached or
				   not */
};

/*
 * A check of an image.
 */

struct run {
	struct sim_image *im;
	struct sim_device dev;
	struct e2pf_device *device;
	struct e2pf_source *source;
	struct e2pf_engine_config cfg;
	struct e2pf_engine *e;
	struct e2pf_engine_stats stats;
};

static void check_reads(struct run *r, uint64_t block, uint32_t count,
			uint64_t ns)
{
	struct e2pf_read read = {
		.offset = block * SIM_PAGE, .length = count * SIM_PAGE
	};
	char *buf = malloc(read.length);

	if (!buf)
		abort();
	e2pf_engine_before_read(r->e, &read);
	r->device->ops->read(r->device, buf, read.offset,
			     (uint32_t)read.length);
	e2pf_engine_after_read(r->e, &read);
	free(buf);
	sim_compute(ns);
}

static void pass1(struct run *r)
{
	const struct steps *walk = &r->im->walk;
	const struct step *s;

	e2pf_engine_stage(r->e, E2PF_EXT4_PASS1);
	for (s = walk->step; s < walk->step + walk->count; s++) {
		e2pf_ext4_at_group(r->e, s->group);
		check_reads(r, s->block, s->count, s->count > 1 ?
			    s->count * TABLE_NS : BLOCK_NS);
	}
}

static void put_wanted(struct run *r)
{
	struct e2pf_ext4 *ext4 = r->im->fs.ext4;
	uint64_t first, block;
	uint64_t n = e2pf_ext4_list_wants(ext4, r->e, &first);

	for (; n; n--) {
		block = r->im->dirs.step[first++].block;
		e2pf_ext4_list_put(ext4, r->e, &block, 1);
	}
}

static void pass2(struct run *r)
{
	const struct steps *dirs = &r->im->dirs;
	size_t i;

	e2pf_engine_stage(r->e, E2PF_EXT4_PASS2);
	e2pf_ext4_list_begin(r->im->fs.ext4, r->e, dirs->count);
	for (i = 0; i < dirs->count; i++) {
		put_wanted(r);
		e2pf_ext4_list_at(r->im->fs.ext4, r->e, i);
		check_reads(r, dirs->step[i].block, 1, BLOCK_NS);
	}
	e2pf_ext4_list_end(r->im->fs.ext4, r->e);
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

static void check(void *arg)
{
	struct run *r = arg;

	r->e = e2pf_engine_new(r->source, &r->device);
	assert_non_null(r->e);
	assert_int_equal(e2pf_engine_start(r->e, &r->cfg), 0);
	if (r->im->fs.groups) {
		pass1(r);
		pass2(r);
		pass5(r);
	} else {
		check_btrfs(r);
	}
	assert_true(e2pf_engine_stop(r->e, -1));
	e2pf_engine_get_stats(r->e, &r->stats);
	e2pf_engine_free(r->e);
}

/* As the session chooses.  Network volumes and arrays behind a virtual disk are
 * measured; USB disks and SD cards are known to have no queue. */
static void choose(struct e2pf_engine_config *cfg, const struct dm_params *p)
{
	struct e2pf_topology topo = {
		.devices = 1, .disks = (unsigned)p->spindles,
		.spindles = p->rotational ? (unsigned)p->spindles : 0,
		.virtual_disk = p->kind == DM_NETWORK || p->layout == DM_RAID6
	};
	struct e2pf_policy policy;

	topo.disk[0].one_request = p->kind == DM_DISK ? p->queue_depth == 1 :
							p->channels == 1;
	policy = e2pf_policy_choose(&topo);
	cfg->threads = THREADS;
	cfg->head_threads = policy.heads < THREADS ? policy.heads : THREADS;
	cfg->has_head = policy.has_head;
	cfg->measure = policy.measure;
}

static struct row run(const struct dm_params *p, struct sim_image *im)
{
	struct run r = {
		.im = im, .device = &r.dev.dev,
		.source = im->fs.groups ?
			tiny_source(&im->fs, E2PF_ALL_CLASSES) :
			&im->btrfs.source,
		/* btrfs check drops the page cache of its device. */
		.cfg = {
			.paced = true, .budget = im->budget,
			.settle = !im->fs.groups
		}
	};
	struct row row;

	/* The budget is half of the memory. */
	sim_device_new(&r.dev, p, im->bytes, im->size, 2 * im->budget);
	choose(&r.cfg, p);
	sim_run(&r.dev.events, check, &r);
	row = (struct row) {
		.requests = r.dev.requests, .bytes = r.dev.bytes,
		.sweeps = r.dev.sweeps, .planned = r.stats.planned_bytes
	};
	sim_device_free(&r.dev);
	return row;
}

/*
 * Models: bench/models/NAME.conf, lines `KEY = VALUE # COMMENT'.
 */

#define NAME 64u

static const char *path_to(const char *folder, const char *file)
{
	static char path[4096];
	const char *srcdir = getenv("srcdir");

	snprintf(path, sizeof(path), "%s/%s/%s", srcdir ? srcdir : ".",
		 folder, file);
	return path;
}

static FILE *open_or_die(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		abort();
	}
	return f;
}

static void read_model(struct dm_params *p, const char *path)
{
	FILE *f = open_or_die(path);
	char line[256], key[32], value[NAME], text[128];

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %31[a-z_] = %63[^ #\t\n]", key, value) < 2 ||
		    !strcmp(key, "about"))
			continue;
		if (!strcmp(key, "like")) {
			snprintf(text, sizeof(text), "%s.conf", value);
			read_model(p, path_to(MODELS, text));
			continue;
		}
		snprintf(text, sizeof(text), "%s=%s", key, value);
		if (dm_params_set(p, text))
			abort();
	}
	fclose(f);
}

struct models {
	unsigned count;
	char name[32][NAME];
	struct dm_params params[32];
};

static struct models models;

static void read_models(void)
{
	glob_t found;
	char *name;

	if (glob(path_to(MODELS, "*.conf"), 0, NULL, &found))
		abort();
	for (; models.count < found.gl_pathc; models.count++) {
		struct dm_params *p = &models.params[models.count];

		if (models.count == 32)
			abort();
		name = found.gl_pathv[models.count];
		dm_params_default(p);
		read_model(p, name);
		if (dm_params_problem(p))
			abort();
		name = strrchr(name, '/') + 1;
		snprintf(models.name[models.count], NAME, "%.*s",
			 (int)strcspn(name, "."), name);
	}
	globfree(&found);
}

/*
 * The table.
 */

#define FIGURES "%8" PRIu64 " %10" PRIu64 " %6" PRIu64 " %10" PRIu64 "\n"
#define READ_FIGURES "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64

/* Of ten or more, one does not matter. */
static bool is_near(uint64_t a, uint64_t b)
{
	uint64_t off = a > b ? a - b : b - a;

	return off * 100 <= b * PERCENT || (off == 1 && b >= 10);
}

/* The next row of the recorded table; one without names at its end. */
static struct row next_row(FILE *f, char model[NAME], char image[NAME])
{
	struct row r = { .requests = 0 };
	char line[256];

	model[0] = image[0] = '\0';
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%63[^# ] %63s " READ_FIGURES, model, image,
			   &r.requests, &r.bytes, &r.sweeps, &r.planned) == 6)
			break;
	return r;
}

/* Does the next row have this name, and about these figures? */
static bool is_recorded(FILE *f, const char *model, const char *image,
			const struct row *row)
{
	char of[NAME], on[NAME];
	struct row old = next_row(f, of, on);

	if (!strcmp(of, model) && !strcmp(on, image) &&
	    is_near(row->requests, old.requests) &&
	    is_near(row->bytes, old.bytes) &&
	    is_near(row->sweeps, old.sweeps) &&
	    is_near(row->planned, old.planned))
		return true;
	print_message("requests, bytes, sweeps, planned\n"
		      "now  %-16s %-10s " FIGURES "then %-16s %-10s " FIGURES,
		      model, image, row->requests, row->bytes, row->sweeps,
		      row->planned, of, on, old.requests, old.bytes,
		      old.sweeps, old.planned);
	return false;
}

/* Print the table, or compare it with a recorded one; returns how many rows
 * differ. */
static unsigned make_table(FILE *recorded)
{
	unsigned different = 0, i, m;
	struct sim_image im;
	struct row row;

	for (i = 0; sim_image_names[i]; i++) {
		sim_image_make(&im, sim_image_names[i]);
		for (m = 0; m < models.count; m++) {
			row = run(&models.params[m], &im);
			if (recorded)
				different += !is_recorded(recorded,
							  models.name[m],
							  im.name, &row);
			else
				printf("%-16s %-10s " FIGURES,
				       models.name[m], im.name, row.requests,
				       row.bytes, row.sweeps, row.planned);
		}
		sim_image_free(&im);
	}
	return different;
}

TEST(test_rows_are_as_recorded)
{
	FILE *f = open_or_die(path_to("fixtures", "requests.txt"));
	char model[NAME], image[NAME];
	unsigned different = make_table(f);

	next_row(f, model, image);
	fclose(f);
	if (different)
		print_message("If all of this is meant: make -C tests "
			      "requests-table\n");
	assert_int_equal(different, 0);
	assert_string_equal(model, "");
}

TEST(test_a_run_repeats_itself)
{
	struct sim_image im;
	struct row a, b;

	sim_image_make(&im, "aged");
	a = run(&models.params[0], &im);
	b = run(&models.params[0], &im);
	sim_image_free(&im);
	assert_memory_equal(&a, &b, sizeof(a));
}

UNIT_TESTS

int main(int argc, char **argv)
{
	read_models();
	if (argc == 1)
		return UNIT_RUN(NULL, NULL);
	if (argc > 2 || strcmp(argv[1], "--table"))
		return 2;
	puts("# A check with the engine, simulated (unit/test-requests.c).  "
	     "Made by\n# `make -C tests requests-table'.  `planned' is what "
	     "the engine looked at,\n# cached or not.\n"
	     "# model          image "
	     "     requests      bytes sweeps    planned");
	return (int)make_table(NULL);
}
