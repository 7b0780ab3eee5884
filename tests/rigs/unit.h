/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A unit test program: tests of cmocka that enter themselves where they are
 * written.
 *
 *	TEST(name)
 *	{
 *		assert_int_equal(...);
 *	}
 *
 *	UNIT_MAIN(set_up_all, tear_down_all)
 */
#ifndef UNIT_H
#define UNIT_H

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "locks.h"

#define MAX_UNIT 64
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

extern struct CMUnitTest unit_test[MAX_UNIT];
extern size_t unit_tests;

/* A function for before or after a test, or all of them, that stores nothing. */
#define FIXTURE(name) \
	static int name(__attribute__((unused)) void **state)

/* A test, with functions for before and after it, or NULL. */
#define TEST_WITH(name, set_up, tear_down) \
	static void name(void **state); \
	__attribute__((constructor)) static void enter_##name(void) \
	{ \
		if (unit_tests == MAX_UNIT) \
			abort(); \
		unit_test[unit_tests++] = (struct CMUnitTest) \
			cmocka_unit_test_setup_teardown(name, set_up, \
							tear_down); \
	} \
	static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* End a test that cannot be made here, and say why. */
#define SKIP(...) \
	do { \
		print_message(__VA_ARGS__); \
		skip(); \
	} while (0)

/* Descriptors and mappings that a program may leave at its end. */
#ifndef UNIT_KEEPS
#define UNIT_KEEPS 0
#endif

/* Descriptors that are open, and mappings of files but libraries. */
static inline unsigned unit_count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	while (maps && fgets(line, sizeof(line), maps))
		n += strchr(line, '/') && !strstr(line, ".so");
	if (dir)
		closedir(dir);
	if (maps)
		fclose(maps);
	return n;
}

/* Run the tests of the file, in their order.  Returns how many failed; 1 if they
 * leave more than that. */
static inline int unit_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
	unsigned before = unit_count_open(), after;
	int failed = _cmocka_run_group_tests("tests", unit_test, unit_tests,
					     set_up, tear_down);

	after = unit_count_open();
	if (failed || after <= before + UNIT_KEEPS)
		return failed;
	fprintf(stderr, "# %u descriptors or mappings are left\n",
		after - before);
	return 1;
}

#define UNIT_TESTS \
	struct CMUnitTest unit_test[MAX_UNIT]; \
	size_t unit_tests;

#define UNIT_MAIN(set_up, tear_down) \
	UNIT_TESTS \
	int main(void) \
	{ \
		return unit_run(set_up, tear_down); \
	}

#endif
