/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* How command lines of btrfs are classified: as a check, a send or another
 * command, and which checks are not prefetched. */
#include "unit.h"
#include "btrfs/preload.h"

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
		{ TASK_OTHER, LINE("btrfs", "ch", "--repair", "x") },
		{ TASK_CHECK, LINE("btrfs", "check", "--version") },
		{ TASK_CHECK, LINE("btrfs", "-v", "check", "x") },
		/* An option with a value, which no check needs. */
		{ TASK_OTHER, LINE("btrfs", "--format", "json", "check") },
		{ TASK_SEND, LINE("btrfs", "send", "x") },
		{ TASK_SEND, LINE("btrfs", "send", "-p", "a", "x") },
		{ TASK_SEND, LINE("btrfs", "-q", "send", "check") },
		{ TASK_OTHER, LINE("btrfs") },
		{ TASK_OTHER, LINE("btrfs", "") },
		{ TASK_OTHER, LINE("btrfs", "--help") },
		{ TASK_OTHER, LINE("btrfs", "scrub", "check") },
		{ TASK_OTHER, LINE("btrfs", "checks", "x") },
		{ TASK_OTHER, LINE("btrfs", "s", "x") },
		{ TASK_OTHER, LINE("btrfs", "sends", "x") },
		{ TASK_OTHER, LINE("btrfs", "subvolume", "send") },
		{ TASK_OTHER, LINE("btrfs", "receive", "send") },
		{ TASK_OTHER, LINE("btrfs", "version") },
	};
	size_t i;

	for (i = 0; i < COUNT(lines); i++)
		assert_int_equal(bt_arguments_task(lines[i].line),
				 lines[i].task);
}

/* Checks with these words are prefetched, or not. */
TEST(test_aside)
{
	const struct {
		bool aside;
		char **line;
	} lines[] = {
		{ false, LINE("btrfs", "-v", "check", "x") },
		{ false, LINE("btrfs", "check", "--mode=lowmem", "-p", "x") },
		{ false, LINE("btrfs", "check", "--mode", "lowmem", "x") },
		{ false, LINE("btrfs", "check", "x", "--repair") },
		{ false, LINE("btrfsck", "--check-data-csum", "x") },
		{ true, LINE("btrfs", "check", "-s1", "x") },
		{ true, LINE("btrfs", "check", "-ps", "1", "x") },
		{ true, LINE("btrfsck", "x", "-b") },
		{ true, LINE("btrfs", "check", "--clear-sp", "v1", "x") },
		{ true, LINE("btrfs", "check", "--force", "x") },
		{ true, LINE("btrfs", "check", "--of-a-newer-release", "x") },
	};
	size_t i;

	for (i = 0; i < COUNT(lines); i++)
		assert_int_equal(bt_arguments_aside(lines[i].line) != NULL,
				 lines[i].aside);
}

UNIT_MAIN(NULL, NULL)
