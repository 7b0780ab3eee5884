/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The reads of the engine in each phase: inode tables, which may lie side by side, and
 * the checker's position in them; directory blocks by the checker's list; and bitmaps.
 * Device and clock are simulated.
 */
#include <limits.h>

#include "unit.h"
#include "engine-rig.h"

#define GROUPS 320u
#define FLEX 16u

/* Block bitmaps, inode bitmaps and tables of 16 groups each lie side by side
 * in the first of them. */
static void lay_out_flex(const struct ext4_geometry *geo,
			 struct ext4_group *groups)
{
	uint32_t blocks = geo->inodes_per_group * geo->inode_size /
			  geo->block_size, g;

	for (g = 0; g < geo->groups; g++) {
		uint64_t base = geo->first_data_block + 1 +
				(uint64_t)(g / FLEX * FLEX) *
				geo->blocks_per_group;

		groups[g].block_bitmap = base + g % FLEX;
		groups[g].inode_bitmap = base + FLEX + g % FLEX;
		groups[g].inode_table = base + 2 * FLEX + g % FLEX * blocks;
		groups[g].inodes_in_use = geo->inodes_per_group;
	}
}

/* A flex group's bitmaps and tables are 160 KiB in one piece, and the device takes 128 at
 * a time: two requests, and few more where a stripe ends in between.  Where it is
 * seek-bound, bitmaps that take a fifth of a total budget are brought in the same
 * sweep. */
static const struct {
	unsigned workers;
	bool seek_bound, has_checker;
} by_pieces[] = {
	{ 1, false, true }, { 4, false, true }, { 7, false, true },
	{ 1, true, true }, { 1, true, false }
};

RIG_TESTS(requests_by_pieces, COUNT(by_pieces),
	  rig_set_up(r, GROUPS, by_pieces[way].workers))
{
	uint64_t last = 0;
	uint32_t g;
	size_t i;

	lay_out_flex(&r->fs.geo, r->fs.groups);
	r->options.seek_bound = by_pieces[way].seek_bound;
	r->options.has_checker = by_pieces[way].has_checker;
	if (!r->options.has_checker)
		r->options.budget = 5 * 2 * GROUPS * BS + GROUPS * TABLE_BLOCKS * BS / 4;
	rig_run(r);
	for (g = 0; g < GROUPS; g++) {
		assert_int_equal(rig_table_asked(r, g), 1);
		assert_int_equal(rig_asked(r, r->fs.groups[g].block_bitmap), 1);
		assert_int_equal(rig_asked(r, r->fs.groups[g].inode_bitmap), 1);
	}
	assert_uint_in_range(r->dev.requests, 2 * GROUPS / FLEX,
			     2 * GROUPS / FLEX + 4 * by_pieces[way].workers);
	for (i = 0; i < r->dev.events && !r->options.has_checker; i++)
		if (r->dev.event[i].op == FAKE_WILLNEED) {
			assert_true(r->dev.event[i].block >= last);
			last = r->dev.event[i].block;
		}
}

static void keep_table(void *ctx, const struct pf_ref *ref)
{
	if (ref->parse)
		*(struct pf_ref *)ctx = *ref;
}

/* Pieces end with what is in use of a table, and with the reference. */
TEST(pieces_of_a_table)
{
	const struct pf_options options = { .budget = UINT64_MAX };
	const uint32_t max = 64 << 10, used = max + 4096;
	struct pf_source *source;
	struct pf_ref ref = { .length = 0 };
	struct tiny_fs fs;

	tiny_new(&fs, 1, 2048, 4096, 1024);
	fs.groups[0].inodes_in_use = used / fs.geo.inode_size;
	source = tiny_source(&fs, EXT4_ALL_CLASSES);
	source->ops->begin(source, &options, false);
	source->ops->seed(source, EXT4_PHASE_TABLES, 0, keep_table, &ref);
	assert_int_equal(ref.length, used);
	assert_int_equal(source->ops->piece(source, &ref, 0), max);
	assert_int_equal(source->ops->piece(source, &ref, max), 4096);
	ref.length = max + 8192;
	assert_int_equal(source->ops->piece(source, &ref, max), 4096);
	ref.length = max + 1024;
	assert_int_equal(source->ops->piece(source, &ref, max), 1024);
	tiny_free(&fs);
}

/* A progress report counts the part of the allocated inodes that is passed. */
TEST(position_in_the_tables)
{
	static const uint32_t allocated[] = { 16, 0, 8, 0 };
	struct ext4_progress progress = { .passed = 1 };
	struct tiny_fs fs;
	unsigned g;

	tiny_new(&fs, 4, 512, 16, 1024);
	for (g = 0; g < 4; g++)
		fs.groups[g].inodes_allocated = allocated[g];
	tiny_source(&fs, EXT4_ALL_CLASSES);
	ext4_source_get_progress(fs.ext4, &progress);
	assert_int_equal(progress.inodes, 24);
	assert_int_equal(progress.passed_inodes, 16);
	progress = (struct ext4_progress) { .passed = 4 };
	ext4_source_get_progress(fs.ext4, &progress);
	assert_int_equal(progress.passed_inodes, 24);
	tiny_free(&fs);
}

/* Between the request of a table and its parsing the checker has moved it. */
TEST(table_moved)
{
	static const struct ext4_group moved[] = {
		{ .inode_table = 0, .inodes_in_use = 16 },
		{ .inode_table = 600, .inodes_in_use = 16 },
		{ .inode_table = 100, .inodes_in_use = 16 },
		{ .inode_table = 515, .inodes_in_use = 8 }
	};
	struct pf_ref ref = { .length = 0 }, found = ref;
	struct pf_source *source;
	struct tiny_fs fs;
	uint64_t block;
	unsigned i;

	tiny_new(&fs, 4, 512, 16, 1024);
	block = tiny_free_block(&fs, 1);
	tiny_inode(&fs, 17, LINUX_S_IFDIR, 1, &block, 1);
	source = tiny_source(&fs, EXT4_ALL_CLASSES);
	source->ops->seed(source, EXT4_PHASE_TABLES, 1, keep_table, &ref);
	assert_int_equal(ref.offset, fs.groups[1].inode_table * 1024);
	assert_int_equal(source->ops->piece(source, &ref, 0), 2048);
	for (i = 0; i < COUNT(moved); i++) {
		fs.groups[1] = moved[i];
		assert_int_equal(source->ops->piece(source, &ref, 0), 0);
		source->ops->parse(source, &ref, 0, fs.image + ref.offset, 2048,
				   keep_table, &found);
		assert_int_equal(found.length, 0);
	}
	tiny_free(&fs);
}

/*
 * Directories, and bitmaps.
 */

#define DIRECTORIES 50u

/* In pass 1 directory blocks get half of the budget; the list brings all of
 * them. */
RIG_TEST(directories_by_the_list, 1, 1)
{
	uint64_t dir[DIRECTORIES], first = 7, at = tiny_free_block(&r->fs, 0);
	uint32_t i;

	for (i = 0; i < DIRECTORIES; i++) {
		dir[i] = at + 10 + 2 * i;
		tiny_inode(&r->fs, 12 + i, LINUX_S_IFDIR, 0, &dir[i], 1);
	}
	r->options.budget = 40 * BS;
	rig_settle(r);
	/* The two bitmaps count against that half too. */
	assert_uint_in_range(rig_asked_of(r, dir, DIRECTORIES), 18, 19);
	assert_int_equal(ext4_source_list_count_wanted(r->fs.ext4, r->e, 0,
						       &first),
			 0);
	ext4_source_list_begin(r->fs.ext4, r->e, DIRECTORIES, EXT4_DIRS);
	assert_int_equal(ext4_source_list_count_wanted(r->fs.ext4, r->e, 0, &first),
			 DIRECTORIES);
	assert_int_equal(first, 0);
	ext4_source_list_add(r->fs.ext4, r->e, dir, 20);
	assert_int_equal(ext4_source_list_count_wanted(r->fs.ext4, r->e, 0,
						       &first),
			 DIRECTORIES - 20);
	assert_int_equal(first, 20);
	ext4_source_list_add(r->fs.ext4, r->e, dir + 20, DIRECTORIES - 20);
	assert_int_equal(ext4_source_list_count_wanted(r->fs.ext4, r->e, 0,
						       &first),
			 0);
	for (i = 0; i < DIRECTORIES; i++) {
		fake_threads_settle();
		pf_engine_report_position(r->e, EXT4_PHASE_LIST, i);
		rig_checker_reads(r, dir[i], 1);
	}
	for (i = 0; i < DIRECTORIES; i++)
		assert_int_equal(rig_asked(r, dir[i]), 1);
	assert_int_equal(r->dev.missing_read, 0);
}

static bool touches(const struct fake_event *ev, uint64_t block)
{
	return ev->op == FAKE_WILLNEED && ev->block <= block &&
	       block < ev->block + ev->count;
}

static const struct {
	uint32_t groups;
	unsigned workers;
	bool block_order, has_checker;
} read_once[] = {
	{ 10, 1, false, false }, { 10, 3, false, false },
	{ 10, 1, false, true }, { 10, 3, false, true }, { 10, 1, true, false },
	{ 10, 1, true, true }, { 10, 2, true, false }, { 2, 8, false, true },
	{ 1, 1, false, true }, { 1, 5, true, true },
};

/* Each block once; no directory before the last table, and those in block order. */
RIG_TESTS(all_read_once, COUNT(read_once),
	  rig_set_up(r, read_once[way].groups, read_once[way].workers))
{
	const struct fake_event *ev = r->dev.event;
	size_t i, table = 0, dir = SIZE_MAX;
	uint64_t block[10];
	uint32_t g;

	rig_make_directories(r);
	r->options.seek_bound = read_once[way].block_order;
	r->options.has_checker = read_once[way].has_checker;
	rig_run(r);
	rig_assert_all_asked_once(r);
	assert_false(rig_stats(r).gave_up);
	assert_int_equal(rig_stats(r).threads, read_once[way].workers);
	for (g = 0; g < read_once[way].groups; g++)
		block[g] = tiny_free_block(&r->fs, g) + 10;
	for (i = 0; i < r->dev.events; i++)
		for (g = 0; g < read_once[way].groups; g++) {
			if (touches(&ev[i], r->fs.groups[g].inode_table))
				table = i;
			if (i < dir && touches(&ev[i], block[g]))
				dir = i;
		}
	assert_true(table < dir);
	/* Bitmaps may be among them. */
	for (g = 0; read_once[way].workers == 1 && g < read_once[way].groups;
	     dir++) {
		assert_true(dir < r->dev.events);
		if (touches(&ev[dir], block[g]))
			g++;
	}
}

/* A long list with few missing blocks: more ranges of it, of 50 entries, than are told
 * apart, and few bytes.  Bitmaps that take more than an eighth of the budget come
 * last. */
RIG_TEST(list_of_many_ranges, 16, 1)
{
	enum { PARTS = 100, PART = 320 };
	static uint64_t list[PARTS * PART];
	uint64_t first;
	unsigned i;

	r->options.budget = 200 * BS;
	r->classes = 1u << EXT4_DIRS | 1u << EXT4_BITMAPS;
	for (i = 0; i < 16; i++)
		r->fs.groups[i].inodes_in_use = 0;
	for (i = 0; i < PARTS; i++)
		list[i * PART] = 100 + i;
	rig_settle(r);
	ext4_source_list_begin(r->fs.ext4, r->e, PARTS * PART, EXT4_DIRS);
	assert_int_equal(ext4_source_list_count_wanted(r->fs.ext4, r->e, 0, &first),
			 PARTS * PART);
	fake_threads_settle();
	rig_assert_bitmaps_asked(r, 0);
	ext4_source_list_add(r->fs.ext4, r->e, list, PARTS * PART);
	fake_threads_settle();
	for (i = 0; i < PARTS; i++) {
		pf_engine_report_position(r->e, EXT4_PHASE_LIST, i * PART + 1);
		fake_threads_settle();
	}
	rig_assert_bitmaps_asked(r, 1);
	for (i = 0; i < PARTS; i++)
		assert_int_equal(rig_asked(r, 100 + i), 1);
}

/* A filesystem of many groups and few inodes: the list begins and ends while
 * the worker with the bitmaps is at the first of them. */
RIG_TESTS(bitmaps_after_a_short_pass, 2, rig_set_up(r, 16, 1))
{
	uint32_t g;

	r->options.seek_bound = way;
	fake_hold(&r->dev, FAKE_WILLNEED, true);
	rig_settle(r);
	ext4_source_list_begin(r->fs.ext4, r->e, 0, EXT4_DIRS);
	fake_hold(&r->dev, FAKE_WILLNEED, false);
	fake_threads_settle();
	for (g = 0; g < 16; g++)
		assert_int_equal(rig_asked(r, r->fs.groups[g].inode_bitmap), 1);
}

static struct pf_phase begun_as[2];

/* Each begin() makes the phases anew, and leaves nothing of the last ones. */
static void begin_anew(struct pf_source *source,
		       const struct pf_options *options, bool asleep)
{
	ext4_source_ops.begin(source, options, asleep);
	begun_as[!asleep] = *ext4_source_ops.next(source, NULL);
	if (!asleep)
		memset(&begun_as[0], 0xff, sizeof(begun_as[0]));
}

static const struct pf_phase *next_anew(struct pf_source *source,
					const struct pf_phase *after)
{
	if (after)
		return ext4_source_ops.next(source, after);
	return &begun_as[begun_as[0].number == UINT_MAX];
}

RIG_TEST(phases_of_the_last_begin, 10, 2)
{
	memset(begun_as, 0, sizeof(begun_as));
	rig_make_directories(r);
	rig_new(r);
	r->ops.begin = begin_anew;
	r->ops.next = next_anew;
	rig_go_on(r);
	assert_true(pf_engine_is_in_phase(r->e, EXT4_PHASE_TABLES));
	rig_assert_all_asked_once(r);
}

static struct rig *chosen_for;

static void *is_finished(void *engine)
{
	return pf_engine_wait(engine, 0) ? engine : NULL;
}

/* The checker begins the bitmaps while the source is being asked what follows. */
static const struct pf_phase *begun_meanwhile(struct pf_source *source,
					      const struct pf_phase *after)
{
	static const struct pf_phase bitmaps = {
		.number = EXT4_PHASE_BITMAPS, .at_once = 1
	};
	struct rig *r = chosen_for;
	void *finished;
	pthread_t thread;

	if (!after || after->number != EXT4_PHASE_TABLES)
		return ext4_source_ops.next(source, after);
	/* All workers sleep, but this is not the end. */
	fake_checker_create(&thread, is_finished, r->e);
	pthread_join(thread, &finished);
	if (finished)
		abort();
	fake_set_resident(&r->dev, 0, r->dev.blocks, false);
	fake_hold(&r->dev, FAKE_WILLNEED, true);
	assert_true(pf_engine_begin_phase(r->e, &bitmaps));
	/* The others look, and find nothing. */
	fake_threads_settle();
	return NULL;
}

/* All workers take its units, not only the one that has asked. */
RIG_TEST(phase_begun_while_choosing, 10, 3)
{
	rig_new(r);
	chosen_for = r;
	r->ops.next = begun_meanwhile;
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
	fake_threads_settle();
	assert_int_equal(fake_blocked(&r->dev, FAKE_WILLNEED), 3);
}

UNIT_MAIN(NULL, NULL)
