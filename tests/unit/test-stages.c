/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* Which pass a check is in, deduced from the walks it makes. */
#include "unit.h"
#include "stages.h"

/* A check of a sound filesystem; one with blocks that are claimed twice; one that
 * writes directories anew; each begins on what the one before has left. */
static const struct {
	enum seen seen;
	enum e2pf_ext4_stage stage;	/* then */
} steps[] = {
	{ SEEN_OPEN, E2PF_EXT4_OPEN },
	{ SEEN_SCAN, E2PF_EXT4_PASS1 },
	{ SEEN_LINKS, E2PF_EXT4_PASS1 },
	{ SEEN_LIST, E2PF_EXT4_PASS2 },
	{ SEEN_DIRECTORY, E2PF_EXT4_PASS2 },
	{ SEEN_LIST_END, E2PF_EXT4_PASS3 },
	{ SEEN_LINKS, E2PF_EXT4_PASS4 },
	{ SEEN_LINKS, E2PF_EXT4_PASS4 },
	{ SEEN_LINKS_END, E2PF_EXT4_PASS5 },
	{ SEEN_BITMAPS, E2PF_EXT4_PASS5 },
	{ SEEN_LINKS_END, E2PF_EXT4_PASS5 },

	{ SEEN_OPEN, E2PF_EXT4_OPEN },
	{ SEEN_SCAN, E2PF_EXT4_PASS1 },
	{ SEEN_SCAN, E2PF_EXT4_PASS1B },
	{ SEEN_NAMES, E2PF_EXT4_PASS1C },
	{ SEEN_NAMES_END, E2PF_EXT4_PASS1D },
	{ SEEN_BITMAPS, E2PF_EXT4_PASS1D },
	{ SEEN_DIRECTORY, E2PF_EXT4_PASS1D },
	{ SEEN_LIST, E2PF_EXT4_PASS2 },
	{ SEEN_LIST_END, E2PF_EXT4_PASS3 },

	{ SEEN_SCAN, E2PF_EXT4_PASS1 },
	{ SEEN_LIST, E2PF_EXT4_PASS2 },
	{ SEEN_LIST_END, E2PF_EXT4_PASS3 },
	{ SEEN_DIRECTORY, E2PF_EXT4_PASS3A },
	{ SEEN_BITMAPS, E2PF_EXT4_PASS3A },
	{ SEEN_DIRECTORY, E2PF_EXT4_PASS3A },
	{ SEEN_LINKS, E2PF_EXT4_PASS4 },
	{ SEEN_LINKS_END, E2PF_EXT4_PASS5 },
};

TEST(walked)
{
	enum e2pf_ext4_stage stage = E2PF_EXT4_PASS5;
	size_t i;

	for (i = 0; i < COUNT(steps); i++) {
		stage = stage_after(stage, steps[i].seen);
		if (stage != steps[i].stage)
			fail_msg("step %zu: %s", i,
				 e2pf_ext4_stage_names[stage]);
	}
}

/* A check restarts on the same open filesystem, at any point of the previous
 * one. */
TEST(begun_again)
{
	unsigned from;

	for (from = E2PF_EXT4_PASS1B; from < E2PF_EXT4_STAGES; from++) {
		assert_int_equal(stage_after(from, SEEN_SCAN),
				 E2PF_EXT4_PASS1);
		assert_int_equal(stage_after(from, SEEN_OPEN), E2PF_EXT4_OPEN);
	}
}

UNIT_MAIN(NULL, NULL)
