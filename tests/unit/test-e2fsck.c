/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The meaning of a command line of e2fsck, which superblocks belong to a filesystem
 * that e2fsck does not check, and which pass a check is in, deduced from the walks it
 * makes.
 */
#include "unit.h"
#include "e2fsck/check.h"

#define MAX_ARGUMENTS 8
#define NOW 1500000000

/* A command line with single blanks between words. */
static struct arguments read_line(const char *line)
{
	static char words[256];
	char *argv[MAX_ARGUMENTS + 1] = { NULL }, *word, *rest = words;
	int argc = 0;

	strcpy(words, line);
	while ((word = strsep(&rest, " ")) && argc < MAX_ARGUMENTS)
		argv[argc++] = word;
	return e2fsck_arguments_read(argc, argv);
}

TEST(options)
{
	static const char *const plain[] = {
		"e2fsck /a", "e2fsck -p /a", "e2fsck -a -C0 /a",
		"e2fsck -n -v -tt /a", "fsck.ext4 -y /a", "e2fsck -C 5 /a",
		"e2fsck /a -p", "e2fsck -n -- -f"
	};
	static const char *const more[] = {
		"e2fsck -f /a", "e2fsck -fy /a", "e2fsck -c /a",
		"e2fsck -l list /a", "e2fsck -L list /a", "e2fsck -D /a",
		"e2fsck -b 8193 /a", "e2fsck -E journal_only /a",
		"e2fsck -j /b /a", "e2fsck -z undo /a", "e2fsck -G /a",
		"e2fsck /a -C 0 -f"
	};
	size_t i;

	for (i = 0; i < COUNT(plain); i++)
		assert_false(read_line(plain[i]).force);
	for (i = 0; i < COUNT(more); i++)
		assert_true(read_line(more[i]).force);
	assert_true(e2fsck_arguments_read(0, NULL).force);
}

TEST(clean)
{
	const uint16_t valid = EXT2_VALID_FS;
	const struct {
		bool clean;
		uint16_t state, mounted;
		int16_t max;
		uint32_t interval, checked, incompat;
	} cases[] = {
		{ true, valid, 0, -1, 0, NOW - 1000, 0 },
		/* filetype, extents, 64bit, flex_bg */
		{ true, valid, 0, -1, 0, NOW - 1000, 0x2c2 },
		{ true, valid, 5, 6, 0, NOW - 1000, 0 },
		{ true, valid, 5, 0, 0, NOW - 1000, 0 },	/* no limit either */
		{ true, valid, 0, -1, 1001, NOW - 1000, 0 },
		{ false, 0, 0, -1, 0, NOW - 1000, 0 },	/* mounted, or was */
		{ false, valid | EXT2_ERROR_FS, 0, -1, 0, NOW - 1000, 0 },
		{ false, valid, 7, 7, 0, NOW - 1000, 0 },
		{ false, valid, 0, -1, 1000, NOW - 1000, 0 },
		{ false, valid, 0, -1, 1000, NOW + 1, 0 },	/* a wrong clock */
		{ false, valid, 0, -1, 0, NOW - 1000,
		  EXT3_FEATURE_INCOMPAT_RECOVER },
	};
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		struct ext2_super_block super = {
			.s_state = cases[i].state,
			.s_mnt_count = cases[i].mounted,
			.s_max_mnt_count = cases[i].max,
			.s_checkinterval = cases[i].interval,
			.s_lastcheck = cases[i].checked,
			.s_feature_incompat = cases[i].incompat
		};

		assert_int_equal(e2fsck_arguments_find_clean(&super, NOW),
				 cases[i].clean);
	}
}

/* A check of a sound filesystem; one with blocks that are claimed twice; one that
 * writes directories anew; two that end early; each begins on what the one before has
 * left. */
static const struct {
	enum seen seen;
	enum ext4_stage stage;		/* then */
} steps[] = {
	{ SEEN_OPEN, EXT4_OPEN },
	{ SEEN_SCAN, EXT4_PASS1 },
	{ SEEN_LINKS_END, EXT4_PASS1 },
	{ SEEN_LIST, EXT4_PASS2 },
	{ SEEN_LIST_END, EXT4_PASS3 },
	{ SEEN_LINKS_END, EXT4_PASS5 },
	{ SEEN_LINKS_END, EXT4_PASS5 },

	{ SEEN_OPEN, EXT4_OPEN },
	{ SEEN_SCAN, EXT4_PASS1 },
	{ SEEN_SCAN, EXT4_PASS1B },
	{ SEEN_NAMES, EXT4_PASS1C },
	{ SEEN_NAMES_END, EXT4_PASS1D },
	{ SEEN_LIST, EXT4_PASS2 },
	{ SEEN_LIST_END, EXT4_PASS3 },

	{ SEEN_SCAN, EXT4_PASS1 },
	{ SEEN_LIST, EXT4_PASS2 },
	{ SEEN_LIST_END, EXT4_PASS3 },
	{ SEEN_LINKS_END, EXT4_PASS5 },

	{ SEEN_SCAN, EXT4_PASS1 },
	{ SEEN_SCAN, EXT4_PASS1B },
	{ SEEN_SCAN, EXT4_PASS1 },
	{ SEEN_OPEN, EXT4_OPEN },
};

TEST(walked)
{
	enum ext4_stage stage = EXT4_PASS5;
	size_t i;

	for (i = 0; i < COUNT(steps); i++) {
		stage = e2fsck_stage_after(stage, steps[i].seen);
		if (stage != steps[i].stage)
			fail_msg("step %zu: %s", i,
				 ext4_stage_names[stage]);
	}
}

UNIT_MAIN(NULL, NULL)
