/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which pass a check is in, deduced from the walks it makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stages.h"

struct step {
	enum seen seen;
	enum e2pf_ext4_stage stage;	/* then */
};

static void walk(const struct step *step, size_t steps)
{
	enum e2pf_ext4_stage stage = E2PF_EXT4_PASS5;
	size_t i;

	for (i = 0; i < steps; i++) {
		stage = stage_after(stage, step[i].seen);
		if (stage != step[i].stage)
			fail_msg("step %zu: %s", i,
				 e2pf_ext4_stage_names[stage]);
	}
}

static void a_sound_filesystem(void **state)
{
	static const struct step steps[] = {
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
	};

	(void)state;
	walk(steps, sizeof(steps) / sizeof(steps[0]));
}

static void blocks_claimed_twice(void **state)
{
	static const struct step steps[] = {
		{ SEEN_OPEN, E2PF_EXT4_OPEN },
		{ SEEN_SCAN, E2PF_EXT4_PASS1 },
		{ SEEN_SCAN, E2PF_EXT4_PASS1B },
		{ SEEN_NAMES, E2PF_EXT4_PASS1C },
		{ SEEN_NAMES_END, E2PF_EXT4_PASS1D },
		{ SEEN_BITMAPS, E2PF_EXT4_PASS1D },
		{ SEEN_DIRECTORY, E2PF_EXT4_PASS1D },
		{ SEEN_LIST, E2PF_EXT4_PASS2 },
		{ SEEN_LIST_END, E2PF_EXT4_PASS3 },
		{ SEEN_LINKS, E2PF_EXT4_PASS4 },
		{ SEEN_LINKS_END, E2PF_EXT4_PASS5 },
	};

	(void)state;
	walk(steps, sizeof(steps) / sizeof(steps[0]));
}

static void directories_written_anew(void **state)
{
	static const struct step steps[] = {
		{ SEEN_OPEN, E2PF_EXT4_OPEN },
		{ SEEN_SCAN, E2PF_EXT4_PASS1 },
		{ SEEN_LIST, E2PF_EXT4_PASS2 },
		{ SEEN_LIST_END, E2PF_EXT4_PASS3 },
		{ SEEN_DIRECTORY, E2PF_EXT4_PASS3A },
		{ SEEN_BITMAPS, E2PF_EXT4_PASS3A },
		{ SEEN_DIRECTORY, E2PF_EXT4_PASS3A },
		{ SEEN_LINKS, E2PF_EXT4_PASS4 },
		{ SEEN_LINKS_END, E2PF_EXT4_PASS5 },
	};

	(void)state;
	walk(steps, sizeof(steps) / sizeof(steps[0]));
}

/* A check restarts on the same open filesystem, at any point of the previous
 * one. */
static void begun_again(void **state)
{
	static const enum e2pf_ext4_stage from[] = {
		E2PF_EXT4_PASS1B, E2PF_EXT4_PASS1C, E2PF_EXT4_PASS1D,
		E2PF_EXT4_PASS2, E2PF_EXT4_PASS3, E2PF_EXT4_PASS3A,
		E2PF_EXT4_PASS4, E2PF_EXT4_PASS5,
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		assert_int_equal(stage_after(from[i], SEEN_SCAN),
				 E2PF_EXT4_PASS1);
		assert_int_equal(stage_after(from[i], SEEN_OPEN),
				 E2PF_EXT4_OPEN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sound_filesystem),
		cmocka_unit_test(blocks_claimed_twice),
		cmocka_unit_test(directories_written_anew),
		cmocka_unit_test(begun_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
