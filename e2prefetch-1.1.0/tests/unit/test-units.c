/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Units of the inode tables: what lies side by side is one, each group is in
 * one of them, several scans are served in turn; and how many requests that
 * makes of a simulated device.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine-rig.h"
#include "ext4/units.h"

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

struct layout {
	struct e2pf_geometry geo;
	struct e2pf_group groups[GROUPS];
	struct e2pf_units u;
};

static struct layout *new_layout(uint32_t inodes_per_group)
{
	struct layout *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	l->geo = (struct e2pf_geometry) {
		.block_size = 4096, .blocks_per_group = 32768,
		.inodes_per_group = inodes_per_group, .inode_size = 256,
		.groups = GROUPS
	};
	lay_out_flex(&l->geo, l->groups);
	return l;
}

static void free_layout(struct layout *l)
{
	e2pf_units_free(&l->u);
	free(l);
}

/* Each group is in one unit, and that is known of it. */
static void assert_all_once(const struct layout *l)
{
	bool seen[GROUPS] = { false };
	uint32_t unit, i, n = 0;

	for (unit = 0; unit < l->u.count; unit++) {
		struct e2pf_unit one = e2pf_units_get(&l->u, unit);

		for (i = 0; i < one.count; i++, n++) {
			assert_true(one.group + i < GROUPS);
			assert_false(seen[one.group + i]);
			seen[one.group + i] = true;
			assert_int_equal(e2pf_units_of_group(&l->u,
					one.group + i), unit);
		}
	}
	assert_int_equal(n, GROUPS);
	assert_int_equal(e2pf_units_of_group(&l->u, GROUPS), l->u.count);
	assert_int_equal(e2pf_units_of_group(&l->u, UINT32_MAX), l->u.count);
}

static void by_size(void **state)
{
	static const struct {
		uint32_t inodes;	/* of a group, 256 bytes each */
		uint32_t together;	/* groups of a unit */
	} sizes[] = {
		{ 16, 16 }, { 32, 16 }, { 64, 16 }, { 128, 8 }, { 512, 2 },
		{ 1024, 1 }, { 8192, 1 },
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct layout *l = new_layout(sizes[i].inodes);

		e2pf_units_set(&l->u, &l->geo, l->groups);
		assert_int_equal(l->u.count, GROUPS / sizes[i].together);
		assert_int_equal(e2pf_units_get(&l->u, 0).count,
				 sizes[i].together);
		assert_all_once(l);
		free_layout(l);
	}
}

/* Tables that are not where they should be, or nowhere. */
static void not_side_by_side(void **state)
{
	struct layout *l = new_layout(32);
	uint32_t g;

	(void)state;
	l->groups[5].inode_table = 0;
	l->groups[21].inode_table++;
	e2pf_units_set(&l->u, &l->geo, l->groups);
	assert_all_once(l);
	assert_int_equal(e2pf_units_get(&l->u, 0).count, 5);
	assert_int_equal(e2pf_units_get(&l->u, 1).count, 1);
	assert_int_equal(e2pf_units_get(&l->u, 2).count, 10);
	assert_int_equal(e2pf_units_get(&l->u, 3).count, 5);
	for (g = 0; g < GROUPS; g++)
		l->groups[g].inode_table = g % 2 ? UINT64_MAX - g : 7;
	e2pf_units_set(&l->u, &l->geo, l->groups);
	assert_all_once(l);
	free_layout(l);
}

/* A stretch of 16 groups of each part in turn. */
static void scans_in_turn(void **state)
{
	static const uint32_t begins[] = { 160, 0, 80, 240 };
	struct layout *l = new_layout(1024);
	uint32_t unit;
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++)
		assert_true(e2pf_units_add_scan(&l->u, begins[i]));
	assert_false(e2pf_units_add_scan(&l->u, 80));
	e2pf_units_set(&l->u, &l->geo, l->groups);
	assert_int_equal(l->u.count, GROUPS);
	assert_all_once(l);
	for (unit = 0; unit < GROUPS; unit++)
		assert_int_equal(e2pf_units_get(&l->u, unit).group,
				 unit / 16 % 4 * 80 + unit / 64 * 16 +
				 unit % 16);
	/* What all have passed is what counts. */
	assert_int_equal(e2pf_units_scan_at(&l->u, 20), 16);
	assert_int_equal(e2pf_units_scan_at(&l->u, 100), 32);
	assert_int_equal(e2pf_units_scan_at(&l->u, 170), 42);
	assert_int_equal(e2pf_units_scan_at(&l->u, 250), 42);
	assert_int_equal(e2pf_units_scan_at(&l->u, 175), 47);
	assert_int_equal(e2pf_units_scan_ended(&l->u, 175), 48 + 10);
	e2pf_units_scan_ended(&l->u, 250);
	e2pf_units_scan_ended(&l->u, 100);
	assert_int_equal(e2pf_units_scan_ended(&l->u, 20), GROUPS);
	e2pf_units_forget_scans(&l->u);
	e2pf_units_set(&l->u, &l->geo, l->groups);
	for (unit = 0; unit < GROUPS; unit++)
		assert_int_equal(e2pf_units_get(&l->u, unit).group, unit);
	free_layout(l);
}

/* Wherever scans begin, and however many: each group is in one unit, and no
 * unit is of two parts. */
static void scans_anywhere(void **state)
{
	uint32_t random = 1, unit;
	unsigned round, i;

	(void)state;
	for (round = 0; round < 40; round++) {
		struct layout *l = new_layout(round % 2 ? 32 : 1024);
		unsigned added = 0;

		for (i = 0; i < 2 * round; i++) {
			random = random * 1664525 + 1013904223;
			added += e2pf_units_add_scan(&l->u,
						     (random >> 8) % GROUPS);
		}
		assert_int_equal(l->u.scans, added);
		assert_true(added <= E2PF_SCANS_MOST);
		e2pf_units_set(&l->u, &l->geo, l->groups);
		assert_all_once(l);
		for (unit = 0; unit < l->u.count; unit++) {
			struct e2pf_unit one = e2pf_units_get(&l->u, unit);

			for (i = 0; i < l->u.scans; i++)
				assert_false(one.group < l->u.scan[i].first &&
					     l->u.scan[i].first <
					     one.group + one.count);
		}
		free_layout(l);
	}
}

/* A flex group's bitmaps and tables are 160 KiB in one piece, and the device
 * takes 128 at a time: two requests, whoever makes them. */
static void requests_by_pieces(void **state)
{
	static const struct {
		unsigned workers;
		bool has_head;
	} ways[] = { { 1, false }, { 4, false }, { 7, false }, { 1, true } };
	struct rig r;
	unsigned w;
	uint32_t g;

	(void)state;
	for (w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
		rig_set_up(&r, GROUPS, ways[w].workers);
		lay_out_flex(&r.fs.geo, r.fs.groups);
		r.cfg.has_head = ways[w].has_head;
		rig_start(&r);
		assert_true(e2pf_engine_wait(r.e, -1));
		for (g = 0; g < GROUPS; g++) {
			assert_int_equal(rig_table_asked(&r, g), 1);
			assert_int_equal(fake_asked(&r.dev,
					r.fs.groups[g].block_bitmap), 1);
			assert_int_equal(fake_asked(&r.dev,
					r.fs.groups[g].inode_bitmap), 1);
		}
		assert_int_equal(r.dev.requests, 2 * GROUPS / FLEX);
		assert_int_equal(e2pf_ext4_groups_done(r.fs.ext4,
				e2pf_engine_progress(r.e)), GROUPS);
		rig_tear_down(&r);
	}
}

/* Bitmaps that take a fifth of the budget are brought in the same sweep, and not
 * in a second one. */
static void one_sweep(void **state)
{
	uint64_t last = 0;
	struct rig r;
	size_t i;

	(void)state;
	rig_set_up(&r, GROUPS, 1);
	lay_out_flex(&r.fs.geo, r.fs.groups);
	r.cfg.has_head = true;
	r.cfg.paced = false;
	r.cfg.budget = 5 * 2 * GROUPS * BS + GROUPS * TABLE_BLOCKS * BS / 4;
	rig_start(&r);
	assert_true(e2pf_engine_wait(r.e, -1));
	assert_int_equal(r.dev.requests, 2 * GROUPS / FLEX);
	for (i = 0; i < r.dev.events; i++)
		if (r.dev.event[i].op == FAKE_WILLNEED) {
			assert_true(r.dev.event[i].block >= last);
			last = r.dev.event[i].block;
		}
	assert_true(last);
	rig_tear_down(&r);
}

/* Scans of four parts: none of them waits until those before it are read, and
 * what only some have passed still counts as ahead. */
static void parts_are_paced(void **state)
{
	struct rig r;
	uint32_t g, asked[4] = { 0 };

	(void)state;
	rig_set_up(&r, GROUPS, 2);
	r.classes = 1u << E2PF_INODES;
	r.cfg.budget = 128 * TABLE_BLOCKS * BS;
	rig_prepare(&r);
	for (g = 0; g < GROUPS; g += GROUPS / 4)
		assert_true(e2pf_ext4_add_scan(r.fs.ext4, g));
	e2pf_ext4_set_groups(r.fs.ext4, r.fs.groups);
	r.e = e2pf_engine_new(&r.cfg);
	assert_int_equal(e2pf_engine_start(r.e), 0);
	fake_threads_settle();
	for (g = 0; g < GROUPS; g++)
		asked[g / (GROUPS / 4)] += rig_table_asked(&r, g);
	for (g = 0; g < 4; g++)
		assert_uint_in_range(asked[g], 16, 48);
	for (g = 0; g < GROUPS / 4; g++) {
		e2pf_ext4_scan_at(r.fs.ext4, r.e, g);
		e2pf_ext4_scan_at(r.fs.ext4, r.e, g + GROUPS / 4);
		e2pf_ext4_scan_at(r.fs.ext4, r.e, g + GROUPS / 4 * 3);
	}
	fake_threads_settle();
	assert_int_equal(rig_table_asked(&r, GROUPS - 1), 0);
	for (g = 0; g < GROUPS / 4; g++) {
		e2pf_ext4_scan_at(r.fs.ext4, r.e, g + GROUPS / 4 * 2);
		fake_threads_settle();
	}
	for (g = 0; g < 4; g++)
		e2pf_ext4_scan_ended(r.fs.ext4, r.e, g * (GROUPS / 4));
	fake_threads_settle();
	for (g = 0; g < GROUPS; g++)
		assert_true(rig_table_asked(&r, g) <= 1);
	rig_tear_down(&r);
}

/* What a progress report looks at: which part of the tables is passed and parsed,
 * by bytes and by inodes that are allocated. */
static void place_in_the_tables(void **state)
{
	static const uint32_t allocated[] = { 16, 0, 8, 0 };
	struct e2pf_ext4_look look = { .passed = 1 };
	struct tiny_fs fs;
	uint64_t bytes;
	unsigned g;

	(void)state;
	tiny_new(&fs, 4, 512, 16, 1024);
	for (g = 0; g < 4; g++)
		fs.groups[g].inodes_allocated = allocated[g];
	tiny_source(&fs, E2PF_ALL_CLASSES);
	bytes = 16 * fs.geo.inode_size;
	look.parsed_bytes = 3 * bytes;
	e2pf_ext4_look(fs.ext4, &look);
	assert_int_equal(look.bytes, 4 * bytes);
	assert_int_equal(look.passed_bytes, bytes);
	assert_int_equal(look.inodes, 24);
	assert_int_equal(look.passed_inodes, 16);
	assert_int_equal(look.parsed_inodes, 24);
	look.parsed_bytes = 3 * bytes - 1;
	look.passed = 4;
	e2pf_ext4_look(fs.ext4, &look);
	assert_int_equal(look.passed_bytes, 4 * bytes);
	assert_int_equal(look.passed_inodes, 24);
	assert_int_equal(look.parsed_inodes, 16);
	tiny_free(&fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_size),
		cmocka_unit_test(not_side_by_side),
		cmocka_unit_test(scans_in_turn),
		cmocka_unit_test(scans_anywhere),
		cmocka_unit_test(requests_by_pieces),
		cmocka_unit_test(one_sweep),
		cmocka_unit_test(parts_are_paced),
		cmocka_unit_test(place_in_the_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
