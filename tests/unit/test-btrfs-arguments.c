/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* How command lines of btrfs are classified: as a check, a send or another
 * command, and which checks are not prefetched. */
#include "unit.h"
#include "../../btrfs/arguments.h"
#include "repeats.h"

#define LINE(...) ((char *[]){ __VA_ARGS__, NULL })

TEST(test_tasks)
{
	const struct {
		enum task task;
		char **line;
	} lines[] = {
		{ TASK_CHECK, LINE("btrfs", "check", "x") },
		{ TASK_CHECK, LINE("/sbin/btrfsck", "x") },
		{ TASK_CHECK, LINE("btrfsck", "send") },
		{ TASK_CHECK, LINE("btrfsck", "--version") },
		{ TASK_CHECK, LINE("btrfs", "ch", "--repair", "x") },
		{ TASK_CHECK, LINE("btrfs", "check", "--version") },
		{ TASK_CHECK, LINE("btrfs", "-v", "check", "x") },
		{ TASK_CHECK, LINE("btrfs", "--format", "json", "check") },
		{ TASK_SEND, LINE("btrfs", "send", "x") },
		{ TASK_SEND, LINE("btrfs", "se", "-p", "a", "x") },
		{ TASK_SEND, LINE("btrfs", "-q", "send", "check") },
		{ TASK_VERSION, LINE("btrfs", "--version") },
		{ TASK_VERSION, LINE("btrfs", "version") },
		{ TASK_VERSION, LINE("/bin/btrfs", "-v", "ver") },
		{ TASK_VERSION, LINE("btrfs", "--version", "check") },
		{ TASK_OTHER, LINE("btrfs") },
		{ TASK_OTHER, LINE("btrfs", "") },
		{ TASK_OTHER, LINE("btrfs", "--help") },
		{ TASK_OTHER, LINE("btrfs", "--help", "send") },
		{ TASK_OTHER, LINE("btrfs", "scrub", "check") },
		{ TASK_OTHER, LINE("btrfs", "checks", "x") },
		{ TASK_OTHER, LINE("btrfs", "--format", "check") },
		{ TASK_OTHER, LINE("btrfs", "s", "x") },
		{ TASK_OTHER, LINE("btrfs", "sends", "x") },
		{ TASK_OTHER, LINE("btrfs", "subvolume", "send") },
		{ TASK_OTHER, LINE("btrfs", "receive", "send") },
		{ TASK_OTHER, LINE("btrfs", "versions") },
	};
	size_t i;

	for (i = 0; i < COUNT(lines); i++)
		assert_int_equal(arguments_task(lines[i].line), lines[i].task);
}

TEST(test_aside)
{
	static const char one[] = "exactly one device";
	const struct {
		const char *why;	/* a part of the reason */
		char **words;		/* after "btrfs check" */
	} lines[] = {
		{ NULL, LINE("x") },
		{ NULL, LINE("--mode=lowmem", "-p", "x") },
		{ NULL, LINE("--mode", "lowmem", "x") },
		{ NULL, LINE("x", "--repair", "--force") },
		{ NULL, LINE("--check-data-csum", "x") },
		{ NULL, LINE("--", "--check-data-csum") },
		/* An option of newer releases, which takes no value. */
		{ NULL, LINE("--skip-qgroup-accounting", "x") },
		{ one, LINE("--skip-qgroup-accounting") },
		{ "-s", LINE("-s1", "x") },
		{ "-s", LINE("--super", "1", "x") },
		{ "-s", LINE("-ps", "1", "x") },
		{ "-b", LINE("x", "-b") },
		{ "-r", LINE("-r", "4096", "x") },
		{ "--chunk-root", LINE("--chunk-r=1", "x") },
		{ "init", LINE("--init-csum-tree", "x") },
		{ "clear", LINE("--clear-space-cache", "v1", "x") },
		{ "report", LINE("-E", "5", "x") },
		{ "--help", LINE("--help") },
		{ one, LINE("x", "-") },
		{ one, LINE(NULL) },
		{ one, LINE("x", "y") },
	};
	char *words[8] = { "btrfs", "-v", "check" };
	size_t i, j;

	for (i = 0; i < COUNT(lines); i++) {
		const char *why;

		for (j = 0; j < 5; j++) {
			words[3 + j] = lines[i].words[j];
			if (!words[3 + j])
				break;
		}
		why = arguments_aside(words);
		if (lines[i].why) {
			assert_non_null(why);
			assert_non_null(strstr(why, lines[i].why));
		} else {
			assert_null(why);
		}
	}
	assert_null(arguments_aside(LINE("btrfsck", "--mode=lowmem", "x")));
}

TEST(test_repeats)
{
	static struct repeats r;

	assert_false(repeats_add(&r, 0, 4096, 16384));
	assert_true(repeats_add(&r, 0, 4096, 16384));
	assert_false(repeats_add(&r, 1, 4096, 16384));
	assert_false(repeats_add(&r, 0, 4096, 4096));
	assert_false(repeats_add(&r, 0, 0, UINT64_C(1) << 40));
	assert_int_equal(r.calls, 5);
	assert_int_equal(r.repeated, 1);
}

UNIT_MAIN(NULL, NULL)
