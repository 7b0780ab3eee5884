/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How command lines of btrfs are classified: as a check, a send or another
 * command, and which checks are not prefetched. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdint.h>
#include <string.h>

#include "../../btrfs/arguments.h"
#include "repeats.h"

#define WORDS 8

static void test_check(void **state)
{
	static char *lines[][WORDS] = {
		{ "btrfs", "check", "x" },
		{ "/sbin/btrfsck", "x" },
		{ "btrfs", "ch", "--repair", "x" },
		{ "btrfs", "-v", "check", "x" },
		{ "btrfs", "--format", "json", "check", "x" },
	};
	static char *others[][WORDS] = {
		{ "btrfs" },
		{ "btrfs", "" },
		{ "btrfs", "--help" },
		{ "btrfs", "--version", "check" },
		{ "btrfs", "scrub", "check" },
		{ "btrfs", "checks", "x" },
		{ "btrfs", "--format", "check" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_int_equal(arguments_task(lines[i]), TASK_CHECK);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_not_equal(arguments_task(others[i]), TASK_CHECK);
}

static void test_send(void **state)
{
	static char *lines[][WORDS] = {
		{ "btrfs", "send", "x" },
		{ "btrfs", "se", "-p", "a", "x" },
		{ "btrfs", "-q", "send", "check" },
	};
	static char *others[][WORDS] = {
		{ "btrfs" },
		{ "btrfs", "s", "x" },
		{ "btrfs", "sends", "x" },
		{ "btrfs", "subvolume", "send" },
		{ "btrfs", "subvolume" },
		{ "btrfs", "subvolume", "" },
		{ "btrfs", "subvolume", "find-new", "x", "9" },
		{ "btrfs", "subvolume", "list", "x" },
		{ "btrfs", "--help", "send" },
		{ "btrfs", "receive", "send" },
		{ "btrfsck", "send" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_int_equal(arguments_task(lines[i]), TASK_SEND);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_not_equal(arguments_task(others[i]), TASK_SEND);
}

static void test_version(void **state)
{
	static char *lines[][WORDS] = {
		{ "btrfs", "--version" },
		{ "btrfs", "version" },
		{ "/bin/btrfs", "-v", "ver" },
		{ "btrfs", "--version", "check" },
	};
	static char *others[][WORDS] = {
		{ "btrfs" },
		{ "btrfs", "--help" },
		{ "btrfs", "check", "--version" },
		{ "btrfsck", "--version" },
		{ "btrfs", "versions" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		assert_int_equal(arguments_task(lines[i]), TASK_VERSION);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_not_equal(arguments_task(others[i]), TASK_VERSION);
}

static void expect_aside(char **words, const char *why)
{
	const char *reason = arguments_aside(words);

	if (!why) {
		assert_null(reason);
		return;
	}
	assert_non_null(reason);
	assert_non_null(strstr(reason, why));
}

#define LINE(...) ((char *[]){ __VA_ARGS__, NULL })

static void test_aside(void **state)
{
	(void)state;
	expect_aside(LINE("btrfs", "check", "x"), NULL);
	expect_aside(LINE("btrfsck", "--mode=lowmem", "-p", "x"), NULL);
	expect_aside(LINE("btrfs", "check", "x", "--repair", "--force"), NULL);
	expect_aside(LINE("btrfs", "check", "-s1", "x"), "-s");
	expect_aside(LINE("btrfs", "check", "--super", "1", "x"), "-s");
	expect_aside(LINE("btrfs", "check", "x", "-b"), "-b");
	expect_aside(LINE("btrfs", "check", "-r", "4096", "x"), "-r");
	expect_aside(LINE("btrfs", "check", "--chunk-r=1", "x"),
		     "--chunk-root");
	expect_aside(LINE("btrfs", "check", "--init-csum-tree", "x"), "init");
	expect_aside(LINE("btrfs", "check", "--clear-space-cache", "v1", "x"),
		     "clear");
	expect_aside(LINE("btrfs", "check", "-E", "5", "x"), "report");
	expect_aside(LINE("btrfs", "check", "--check-data-csum", "x"), NULL);
	expect_aside(LINE("btrfs", "check", "--", "--check-data-csum"), NULL);
	/* An option of newer releases, which takes no value. */
	expect_aside(LINE("btrfs", "check", "--skip-qgroup-accounting", "x"),
		     NULL);
	expect_aside(LINE("btrfs", "check", "--skip-qgroup-accounting"),
		     "exactly one device");
	expect_aside(LINE("btrfs", "-v", "check", "--mode", "lowmem", "x"), NULL);
	expect_aside(LINE("btrfs", "check", "-ps", "1", "x"), "-s");
	expect_aside(LINE("btrfs", "check", "x", "-"), "exactly one device");
	expect_aside(LINE("btrfs", "check"), "exactly one device");
	expect_aside(LINE("btrfs", "check", "x", "y"), "exactly one device");
	expect_aside(LINE("btrfs", "check", "--help"), "--help");
}

static void test_repeats(void **state)
{
	static struct repeats r;

	(void)state;
	assert_false(repeats_add(&r, 0, 4096, 16384));
	assert_true(repeats_add(&r, 0, 4096, 16384));
	assert_false(repeats_add(&r, 1, 4096, 16384));
	assert_false(repeats_add(&r, 0, 4096, 4096));
	assert_false(repeats_add(&r, 0, 0, UINT64_C(1) << 40));
	assert_int_equal(r.asked, 5);
	assert_int_equal(r.repeated, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_aside),
		cmocka_unit_test(test_repeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
