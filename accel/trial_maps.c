/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Uses a map of blocks through libext2fs's public functions, and keeps what each
 * of them answers.
 *
 * It calls no inline function of libext2fs on maps: without optimization such a call
 * refers to the library, which no module is linked with.
 */
#include "standins.h"

#define STEPS 240u
#define AREA_STEPS 20u
#define LAST (TRIAL_BLOCKS - 1)
#define BITS_MOST 4160u		/* more than a chunk of bitset.c */

/* Where the map is changed for a while: small ones take a chunk from one of its
 * forms to another and back, large ones cross nodes. */
struct area {
	uint64_t first, count;
};

static struct area new_area(struct trial *t)
{
	static const uint64_t counts[] = { 70, 300, 5000, 400000,
					    LAST };
	struct area a = { .count = counts[trial_number(&t->random, 5)] };

	a.first = 1 + trial_number(&t->random, LAST - a.count + 1);
	return a;
}

/* Bits of a range as they are on the disk: to compare them, or to read them. */
static void use_bytes(struct trial *t, ext2fs_block_bitmap map, uint64_t at,
		      bool in)
{
	uint64_t word[BITS_MOST / 64] = { 0 };
	unsigned most = trial_number(&t->random, 4) ? 200 : BITS_MOST;
	unsigned count = (unsigned)trial_number(&t->random, most) + 1, i;
	bool striped = !trial_number(&t->random, 8);

	if (at > LAST - count)
		at = LAST - count;
	for (i = 0; in && i < (count + 63) / 64; i++)
		word[i] = striped ? UINT64_C(0x5555555555555555) :
			  ext2fs_cpu_to_le64(trial_number(&t->random, UINT32_MAX) <<
					     trial_number(&t->random, 64));
	trial_keep(t, (uint64_t)(in ?
		ext2fs_set_block_bitmap_range2(map, at, count, word) :
		ext2fs_get_block_bitmap_range2(map, at, count, word)));
	trial_keep_bytes(t, word, sizeof(word));
	trial_keep(t, ext2fs_bitcount(word, (count + 7) / 8));
}

static void use_range(ext2fs_block_bitmap map, uint64_t at, uint64_t count,
		      bool set)
{
	if (count > LAST - at + 1)
		count = LAST - at + 1;
	if (set)
		ext2fs_mark_block_bitmap_range2(map, at, (unsigned)count);
	else
		ext2fs_unmark_block_bitmap_range2(map, at, (unsigned)count);
}

static void search(struct trial *t, ext2fs_block_bitmap map, uint64_t at,
		   uint64_t end)
{
	blk64_t found = 0;

	trial_keep(t, (uint64_t)ext2fs_find_first_set_generic_bmap(map, at, end,
								   &found));
	trial_keep(t, (uint64_t)ext2fs_find_first_zero_generic_bmap(map, at, end,
								    &found));
	trial_keep(t, found);
}

/* Pass 5 replaces a map of the filesystem with a copy, whose end it moves. */
static void replace(struct trial *t, ext2fs_block_bitmap *map)
{
	ext2fs_generic_bitmap other = NULL;
	blk64_t end = LAST;

	trial_keep(t, (uint64_t)ext2fs_copy_bitmap(*map, &other));
	if (!other)
		return;
	ext2fs_free_block_bitmap(*map);
	*map = other;
	search(t, other, 1, LAST);
	ext2fs_fudge_block_bitmap_end2(other, LAST - 9, &end);
	ext2fs_set_bitmap_padding(other);
	/* The bits behind the end are in a word of bits before it. */
	trial_keep(t, !!ext2fs_test_generic_bmap(other, LAST - 9));
	trial_keep(t, !!ext2fs_test_generic_bmap(other, LAST - 8));
	trial_keep(t, !!ext2fs_mark_generic_bmap(other, LAST - 8));
	ext2fs_fudge_block_bitmap_end2(other, end, NULL);
}

static void step(struct trial *t, ext2fs_block_bitmap *map, struct area a)
{
	uint64_t at = a.first + trial_number(&t->random, a.count), kind;
	uint64_t n = 1 + trial_number(&t->random, trial_number(&t->random, 4) ? 20 :
				a.count);

	kind = trial_number(&t->random, 10);
	if (kind < 3)
		trial_keep(t, !!ext2fs_mark_generic_bmap(*map, at));
	else if (kind < 4)
		trial_keep(t, !!ext2fs_unmark_generic_bmap(*map, at));
	else if (kind < 6)
		use_range(*map, at, n, kind & 1);
	else if (kind < 8)
		use_bytes(t, *map, at, kind & 1);
	else if (kind < 9)
		search(t, *map, at, at + n < LAST ? at + n : LAST);
	else
		trial_keep(t, (uint64_t)ext2fs_test_block_bitmap_range2(*map,
						a.first, (unsigned)n));
	trial_keep(t, !!ext2fs_test_generic_bmap(*map, at));
}

void trial_maps(struct trial *t, ext2_filsys fs)
{
	ext2fs_block_bitmap map;
	struct area a = { 1, 1 };
	unsigned i;

	if (ext2fs_allocate_block_bitmap(fs, "trial", &map))
		return;
	for (i = 0; i < STEPS; i++) {
		if (i % AREA_STEPS == 0)
			a = new_area(t);
		step(t, &map, a);
		if (i % (4 * AREA_STEPS) == 3 * AREA_STEPS)
			replace(t, &map);
		if (i == STEPS / 2)
			ext2fs_clear_block_bitmap(map);
	}
	ext2fs_free_block_bitmap(map);
}
