/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Inode tables that lie side by side: how many requests they are on a simulated
 * device; and the checker's place in them.
 */
#include "unit.h"
#include "engine-rig.h"

#define GROUPS 320u
#define FLEX 16u

/* Block bitmaps, inode bitmaps and tables of 16 groups each lie side by side
 * in the first of them. */
static void lay_out_flex(const struct e2pf_geometry *geo,
			 struct e2pf_group *groups)
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

/* A flex group's bitmaps and tables are 160 KiB in one piece, and the device
 * takes 128 at a time: two requests, whoever makes them.  Where there is a head,
 * bitmaps that take a fifth of a total budget are brought in the same sweep. */
static const struct {
	unsigned workers;
	bool has_head, paced;
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
	r->cfg.has_head = by_pieces[way].has_head;
	r->cfg.paced = by_pieces[way].paced;
	if (!r->cfg.paced)
		r->cfg.budget = 5 * 2 * GROUPS * BS + GROUPS * TABLE_BLOCKS * BS / 4;
	rig_run(r);
	for (g = 0; g < GROUPS; g++) {
		assert_int_equal(rig_table_asked(r, g), 1);
		assert_int_equal(rig_asked(r, r->fs.groups[g].block_bitmap), 1);
		assert_int_equal(rig_asked(r, r->fs.groups[g].inode_bitmap), 1);
	}
	assert_int_equal(r->dev.requests, 2 * GROUPS / FLEX);
	for (i = 0; i < r->dev.events && !r->cfg.paced; i++)
		if (r->dev.event[i].op == FAKE_WILLNEED) {
			assert_true(r->dev.event[i].block >= last);
			last = r->dev.event[i].block;
		}
}

static void keep_table(void *ctx, const struct e2pf_ref *ref)
{
	if (ref->parse)
		*(struct e2pf_ref *)ctx = *ref;
}

/* Pieces end with what is in use of a table, and with the reference. */
TEST(pieces_of_a_table)
{
	const struct e2pf_start start = { .budget = UINT64_MAX };
	const uint32_t most = 256 << 10, used = most + 4096;
	struct e2pf_source *source;
	struct e2pf_ref ref = { .length = 0 };
	struct tiny_fs fs;

	tiny_new(&fs, 1, 2048, 4096, 1024);
	fs.groups[0].inodes_in_use = used / fs.geo.inode_size;
	source = tiny_source(&fs, E2PF_ALL_CLASSES);
	source->ops->begin(source, &start);
	source->ops->seed(source, E2PF_EXT4_TABLES, 0, keep_table, &ref);
	assert_int_equal(ref.length, used);
	assert_int_equal(source->ops->piece(source, &ref, 0), most);
	assert_int_equal(source->ops->piece(source, &ref, most), 4096);
	ref.length = most + 8192;
	assert_int_equal(source->ops->piece(source, &ref, most), 4096);
	ref.length = most + 1024;
	assert_int_equal(source->ops->piece(source, &ref, most), 1024);
	tiny_free(&fs);
}

/* What a progress report looks at: which part of the tables is passed, and parsed
 * by a worker, by bytes and by inodes that are allocated. */
TEST(place_in_the_tables)
{
	static const uint32_t allocated[] = { 16, 0, 8, 0 };
	struct e2pf_ext4_progress progress = { .passed = 1 };
	struct tiny_fs fs;
	uint64_t bytes;
	unsigned g;

	tiny_new(&fs, 4, 512, 16, 1024);
	for (g = 0; g < 4; g++)
		fs.groups[g].inodes_allocated = allocated[g];
	tiny_source(&fs, E2PF_ALL_CLASSES);
	bytes = 16 * fs.geo.inode_size;
	progress.parsed_bytes = 3 * bytes;
	e2pf_ext4_get_progress(fs.ext4, &progress);
	assert_int_equal(progress.bytes, 4 * bytes);
	assert_int_equal(progress.passed_bytes, bytes);
	assert_int_equal(progress.inodes, 24);
	assert_int_equal(progress.passed_inodes, 16);
	assert_int_equal(progress.parsed_inodes, 24);
	progress = (struct e2pf_ext4_progress) {
		.passed = 4, .parsed_bytes = 2 * bytes
	};
	e2pf_ext4_get_progress(fs.ext4, &progress);
	assert_int_equal(progress.passed_bytes, 4 * bytes);
	assert_int_equal(progress.passed_inodes, 24);
	assert_int_equal(progress.parsed_inodes, 16);
	tiny_free(&fs);
}

static void keep(void *ctx, const struct e2pf_ref *ref)
{
	*(struct e2pf_ref *)ctx = *ref;
}

/* Between the request of a table and its parsing the checker has moved it. */
TEST(table_moved)
{
	static const struct e2pf_group moved[] = {
		{ .inode_table = 0, .inodes_in_use = 16 },
		{ .inode_table = 600, .inodes_in_use = 16 },
		{ .inode_table = 100, .inodes_in_use = 16 },
		{ .inode_table = 515, .inodes_in_use = 8 }
	};
	struct e2pf_ref ref = { .length = 0 }, found = ref;
	struct e2pf_source *source;
	struct tiny_fs fs;
	uint64_t block;
	unsigned i;

	tiny_new(&fs, 4, 512, 16, 1024);
	block = tiny_free_block(&fs, 1);
	tiny_inode(&fs, 17, LINUX_S_IFDIR, 1, &block, 1);
	source = tiny_source(&fs, E2PF_ALL_CLASSES);
	source->ops->seed(source, E2PF_EXT4_TABLES, 1, keep, &ref);
	assert_int_equal(ref.offset, fs.groups[1].inode_table * 1024);
	assert_int_equal(source->ops->piece(source, &ref, 0), 2048);
	for (i = 0; i < COUNT(moved); i++) {
		fs.groups[1] = moved[i];
		assert_int_equal(source->ops->piece(source, &ref, 0), 0);
		source->ops->parse(source, &ref, 0, fs.image + ref.offset, 2048,
				   keep, &found);
		assert_int_equal(found.length, 0);
	}
	tiny_free(&fs);
}

UNIT_MAIN(NULL, NULL)
