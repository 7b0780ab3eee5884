/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The variables: what each takes, and that a wrong one leaves a default and
 * says so.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "environment.h"
#include "findings.h"

static const char *const names[] = {
	"PREFETCH", "TEST_MMAP_IO", "PREFETCH_THREADS", "PREFETCH_MEM",
	"PREFETCH_STATS", "PREFETCH_ACCEL", "PREFETCH_VERBOSE",
	"PREFETCH_BANDWIDTH", "PREFETCH_IOPS", "PREFETCH_IOPRIO",
	"PREFETCH_NICE", "PREFETCH_OBSERVE", "PREFETCH_HISTORY"
};

#define CRC32C (1u << ABILITY_CRC32C)
#define BITMAPS (1u << ABILITY_BITMAPS)

static char error[256];

/* How often `error` was said. */
static unsigned lines;

static int unset_all(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	error[0] = 0;
	lines = 0;
	return 0;
}

static void keep_line(void *ctx, const char *line)
{
	(void)ctx;
	assert_null(strchr(line, '\n'));
	snprintf(error, sizeof(error), "%s", line);
	lines++;
}

/* With prefetching on and one more variable. */
static int read_with(const char *name, const char *value,
		     struct environment *env)
{
	unset_all(NULL);
	setenv("PREFETCH", "1", 1);
	setenv(name, value, 1);
	memset(env, 0xa5, sizeof(*env));
	read_environment(env, keep_line, NULL);
	return lines ? -1 : 0;
}

static void assert_defaults(const struct environment *env)
{
	assert_int_equal(env->io, IO_DEFAULT);
	assert_int_equal(env->settings.threads, 0);
	assert_true(env->settings.memory == 0);
	assert_true(env->settings.bandwidth == 0);
	assert_int_equal(env->settings.requests, 0);
	assert_int_equal(env->settings.io_priority, 0);
	assert_int_equal(env->settings.nice, 0);
	assert_null(env->stats);
	assert_false(env->verbose);
	assert_int_equal(env->accel, env->prefetch ? ACCEL_ALL : 0);
}

static void nothing_set(void **state)
{
	struct environment env;

	(void)state;
	read_environment(&env, keep_line, NULL);
	assert_false(env.prefetch);
	assert_defaults(&env);
	assert_int_equal(read_with("PREFETCH", "", &env), 0);
	assert_false(env.prefetch);
	assert_int_equal(read_with("PREFETCH", "0", &env), 0);
	assert_false(env.prefetch);
	assert_int_equal(read_with("PREFETCH", "1", &env), 0);
	assert_true(env.prefetch);
	assert_defaults(&env);
}

static void good_values(void **state)
{
	struct environment env;

	(void)state;
	assert_int_equal(read_with("TEST_MMAP_IO", "1", &env), 0);
	assert_int_equal(env.io, IO_MMAP);
	assert_int_equal(read_with("TEST_MMAP_IO", "0", &env), 0);
	assert_int_equal(env.io, IO_UNIX);
	assert_int_equal(read_with("PREFETCH_THREADS", "1", &env), 0);
	assert_int_equal(env.settings.threads, 1);
	assert_int_equal(read_with("PREFETCH_THREADS", "256", &env), 0);
	assert_int_equal(env.settings.threads, 256);
	assert_int_equal(read_with("PREFETCH_MEM", "1M", &env), 0);
	assert_true(env.settings.memory == 1 << 20);
	assert_int_equal(read_with("PREFETCH_MEM", "2G", &env), 0);
	assert_true(env.settings.memory == UINT64_C(2) << 30);
	assert_int_equal(read_with("PREFETCH_VERBOSE", "1", &env), 0);
	assert_int_equal(env.verbose, 1);
	assert_int_equal(read_with("PREFETCH_VERBOSE", "2", &env), 0);
	assert_int_equal(env.verbose, 2);
	assert_int_equal(read_with("PREFETCH_VERBOSE", "0", &env), 0);
	assert_int_equal(env.verbose, 0);
	assert_string_equal(env.history, "1");
	assert_int_equal(read_with("PREFETCH_HISTORY", "0", &env), 0);
	assert_string_equal(env.history, "0");
	assert_int_equal(read_with("PREFETCH_HISTORY", "/a/file", &env), 0);
	assert_string_equal(env.history, "/a/file");
	assert_int_equal(read_with("PREFETCH_STATS", "-", &env), 0);
	assert_string_equal(env.stats, "-");
	assert_int_equal(read_with("PREFETCH_STATS", "/a/file", &env), 0);
	assert_string_equal(env.stats, "/a/file");
	assert_int_equal(read_with("PREFETCH_ACCEL", "none", &env), 0);
	assert_int_equal(env.accel, 0);
	assert_int_equal(read_with("PREFETCH_ACCEL", "all", &env), 0);
	assert_int_equal(env.accel, ACCEL_ALL);
	assert_int_equal(read_with("PREFETCH_ACCEL", "bitmaps", &env), 0);
	assert_int_equal(env.accel, BITMAPS);
	assert_int_equal(read_with("PREFETCH_ACCEL", "bitmaps,crc32c", &env),
			 0);
	assert_int_equal(env.accel, BITMAPS | CRC32C);
	/* The name of an acceleration that 1.0.0 had. */
	assert_int_equal(read_with("PREFETCH_ACCEL", "extents,crc32c", &env),
			 0);
	assert_int_equal(env.accel, CRC32C);
	assert_int_equal(read_with("PREFETCH_BANDWIDTH", "20M", &env), 0);
	assert_true(env.settings.bandwidth == 20 << 20);
	assert_int_equal(read_with("PREFETCH_IOPS", "300", &env), 0);
	assert_int_equal(env.settings.requests, 300);
	assert_int_equal(read_with("PREFETCH_IOPRIO", "idle", &env), 0);
	assert_int_equal(env.settings.io_priority, 3 << 13);
	assert_int_equal(read_with("PREFETCH_NICE", "19", &env), 0);
	assert_int_equal(env.settings.nice, 19);
}

/* A setting of the file is a variable's value in other words. */
static void settings_of_the_file(void **state)
{
	static const struct {
		const char *name, *value, *variable, *becomes, *expected;
	} of[] = {
		{ "threads", "4", "PREFETCH_THREADS", "4", NULL },
		{ "threads", "x", "PREFETCH_THREADS", "x",
		  "a number from 1 to 256" },
		{ "prefetch", "on", "PREFETCH", "1", NULL },
		{ "prefetch", "1", "PREFETCH", NULL, "on or off" },
		{ "verbose", "off", "PREFETCH_VERBOSE", "0", NULL },
		{ "verbose", "details", "PREFETCH_VERBOSE", "2", NULL },
		{ "verbose", "", "PREFETCH_VERBOSE", NULL,
		  "off, on or details" },
		{ "history", "off", "PREFETCH_HISTORY", "0", NULL },
		{ "history", "/x", "PREFETCH_HISTORY", NULL, "on or off" },
		{ "PREFETCH_THREADS", "4", NULL, NULL, NULL },
		{ "observe", "on", NULL, NULL, NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const char *value = of[i].value, *expected = NULL;
		const char *variable = environment_translate(of[i].name,
							     &value, &expected);

		assert_int_equal(!variable, !of[i].variable);
		if (!variable)
			continue;
		assert_string_equal(variable, of[i].variable);
		if (of[i].becomes)
			assert_string_equal(value, of[i].becomes);
		assert_int_equal(!expected, !of[i].expected);
		if (expected)
			assert_string_equal(expected, of[i].expected);
	}
}

static void bad_values(void **state)
{
	static const struct {
		const char *name, *value;
		bool limit;
	} bad[] = {
		{ "PREFETCH_VERBOSE", "3", false },
		{ "PREFETCH_VERBOSE", "11", false },
		{ "PREFETCH_HISTORY", "2", false },
		{ "PREFETCH_HISTORY", "folder/history", false },
		{ "PREFETCH_VERBOSE", "yes", false },
		{ "TEST_MMAP_IO", "2", false },
		{ "TEST_MMAP_IO", "yes", false },
		{ "TEST_MMAP_IO", " 1", false },
		{ "TEST_MMAP_IO", "01", false },
		{ "PREFETCH_THREADS", "0", false },
		{ "PREFETCH_THREADS", "257", false },
		{ "PREFETCH_THREADS", "-1", false },
		{ "PREFETCH_THREADS", "x", false },
		{ "PREFETCH_MEM", "1", false },
		{ "PREFETCH_MEM", "1023K", false },
		{ "PREFETCH_MEM", "-1M", false },
		{ "PREFETCH_MEM", "1M ", false },
		{ "PREFETCH_ACCEL", "x", false },
		{ "PREFETCH_ACCEL", ",", false },
		{ "PREFETCH_ACCEL", "crc32c,", false },
		{ "PREFETCH_ACCEL", "crc32c bitmaps", false },
		{ "PREFETCH_ACCEL", "none,crc32c", false },
		{ "PREFETCH_ACCEL", "crc32", false },
		{ "PREFETCH_OBSERVE", "on", false },
		{ "PREFETCH_BANDWIDTH", "1000", true },
		{ "PREFETCH_IOPS", "0", true },
		{ "PREFETCH_IOPRIO", "none", true },
		{ "PREFETCH_NICE", "-5", true },
	};
	struct environment env;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(read_with(bad[i].name, bad[i].value, &env),
				 -1);
		assert_non_null(strstr(error, bad[i].name));
		assert_non_null(strstr(error, bad[i].value));
		assert_null(strchr(error, '\n'));
		assert_int_equal(env.prefetch, !bad[i].limit);
		env.accel = env.prefetch ? env.accel : 0;
		assert_defaults(&env);
		assert_int_equal(lines, 1);
		assert_non_null(strstr(error, bad[i].limit ?
				       "; prefetching is off" :
				       "; the default is used"));
	}
	/* An empty one is unset. */
	for (i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(read_with(names[i], "", &env), 0);
		assert_defaults(&env);
	}
	assert_int_equal(read_with("PREFETCH", "2", &env), -1);
	assert_string_equal(error, "PREFETCH: \"2\" is not 0 or 1; "
			    "prefetching is off");
	assert_false(env.prefetch);
}

/* Each wrong one is told; the others are read all the same. */
static void several_bad_values(void **state)
{
	struct environment env;
	char value[1000];

	(void)state;
	read_with("TEST_MMAP_IO", "x", &env);
	setenv("PREFETCH_THREADS", "y", 1);
	setenv("PREFETCH_MEM", "4M", 1);
	lines = 0;
	read_environment(&env, keep_line, NULL);
	assert_true(env.settings.memory == 4 << 20);
	assert_int_equal(lines, 2);
	setenv("PREFETCH_NICE", "z", 1);
	read_environment(&env, NULL, NULL);
	assert_int_equal(lines, 2);
	assert_false(env.prefetch);

	memset(value, 'z', sizeof(value) - 1);
	value[sizeof(value) - 1] = 0;
	assert_int_equal(read_with("PREFETCH_MEM", value, &env), -1);
	assert_true(strlen(error) < 180);
}

/* Without prefetching nobody looks at the others. */
static void off_means_off(void **state)
{
	struct environment env;

	(void)state;
	read_with("PREFETCH_THREADS", "nonsense", &env);
	setenv("PREFETCH_STATS", "/a/file", 1);
	setenv("PREFETCH", "0", 1);
	read_environment(&env, keep_line, NULL);
	assert_defaults(&env);
}

/* What reaches a terminal is a line of text. */
static void control_characters(void **state)
{
	struct environment env;

	(void)state;
	assert_int_equal(read_with("PREFETCH_MEM", "\033[2J\n\177x", &env), -1);
	assert_string_equal(error, "PREFETCH_MEM: \"?[2J??x\" is not a size "
			    "of 1M or more (K, M, G, T); the default is used");
}

/* What reading ahead heeds is read with PREFETCH or without, and leaves what is
 * not named as it was. */
static void for_reading_ahead(void **state)
{
	struct e2pf_settings settings = { .threads = 3,
					  .requests = 5 };

	(void)state;
	setenv("PREFETCH", "0", 1);
	setenv("PREFETCH_MEM", "1M", 1);
	setenv("PREFETCH_NICE", "5", 1);
	setenv("PREFETCH_IOPS", "", 1);
	setenv("PREFETCH_ACCEL", "nonsense", 1);
	assert_int_equal(read_environment_settings(&settings, error,
						   sizeof(error)), 0);
	assert_int_equal(settings.threads, 3);
	assert_true(settings.memory == 1 << 20);
	assert_int_equal(settings.requests, 5);
	assert_int_equal(settings.nice, 5);
	setenv("PREFETCH_BANDWIDTH", "little", 1);
	assert_int_equal(read_environment_settings(&settings, error,
						   sizeof(error)), -1);
	assert_non_null(strstr(error, "PREFETCH_BANDWIDTH"));

	environment_set(&settings, "PREFETCH_THREADS", "7");
	environment_set(&settings, "PREFETCH_MEM", "nothing");
	environment_set(&settings, "PREFETCH_ACCEL", "none");
	assert_int_equal(settings.threads, 7);
	assert_true(settings.memory == 1 << 20);
}

/* Each variable but TEST_MMAP_IO has a second name, which counts if both are
 * set, and which a message names if it is the one that is set. */
static void prefixed_names(void **state)
{
	struct environment env;
	char prefixed[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(prefixed, sizeof(prefixed), "E2%s", names[i]);
		setenv(prefixed, "prefixed", 1);
		setenv(names[i], "plain", 1);
		assert_string_equal(environment_get(names[i]),
				    strncmp(names[i], "TEST", 4) ? "prefixed" :
				    "plain");
		setenv(prefixed, "", 1);
		assert_string_equal(environment_get(names[i]), "plain");
		assert_string_equal(environment_name(names[i]), names[i]);
		setenv(prefixed, "prefixed", 1);
		environment_unset(names[i]);
		assert_null(getenv(prefixed));
		assert_null(environment_get(names[i]));
	}
	setenv("E2PREFETCH", "1", 1);
	setenv("E2PREFETCH_THREADS", "x", 1);
	setenv("PREFETCH_THREADS", "4", 1);
	read_environment(&env, keep_line, NULL);
	assert_true(env.prefetch);
	assert_string_equal(error, "E2PREFETCH_THREADS: \"x\" is not a number "
			    "from 1 to 256; the default is used");
	unsetenv("E2PREFETCH_THREADS");
	environment_unset("PREFETCH");
}

/* A name that looks like ours is told, once each; ours, and what the parts of
 * e2prefetch tell each other, are not. */
static void misspelled_names(void **state)
{
	struct environment env;

	(void)state;
	setenv("PREFETCH", "1", 1);
	setenv("PREFETCH_FINDINGS", "", 1);
	setenv("E2PREFETCH_STATS", "", 1);
	setenv("PREFETCHER", "x", 1);
	setenv("MY_PREFETCH_MEM", "x", 1);
	read_environment(&env, keep_line, NULL);
	assert_int_equal(lines, 0);
	setenv("PREFETCH_BANDWITH", "10M", 1);
	read_environment(&env, keep_line, NULL);
	assert_true(env.prefetch);
	assert_int_equal(lines, 1);
	assert_string_equal(error, "PREFETCH_BANDWITH: no such variable; it is "
			    "ignored");
	unsetenv("PREFETCH_BANDWITH");
	setenv("E2PREFETCH_ME\033M", "10M", 1);
	setenv("PREFETCH_MEM2", "10M", 1);
	read_environment(&env, keep_line, NULL);
	assert_int_equal(lines, 3);
	unsetenv("PREFETCH_MEM2");
	read_environment(&env, keep_line, NULL);
	assert_string_equal(error, "E2PREFETCH_ME?M: no such variable; it is "
			    "ignored");
	/* The module reads what the launcher has told. */
	read_environment(&env, NULL, NULL);
	setenv("PREFETCH", "0", 1);
	read_environment(&env, keep_line, NULL);
	assert_int_equal(lines, 4);
	unsetenv("E2PREFETCH_ME\033M");
	unsetenv("PREFETCH_FINDINGS");
	unsetenv("E2PREFETCH_STATS");
}

int main(void)
{
	const struct CMUnitTest variables[] = {
		cmocka_unit_test_setup(misspelled_names, unset_all),
		cmocka_unit_test(control_characters),
		cmocka_unit_test_setup(prefixed_names, unset_all),
		cmocka_unit_test_setup(nothing_set, unset_all),
		cmocka_unit_test_setup(good_values, unset_all),
		cmocka_unit_test_setup(settings_of_the_file, unset_all),
		cmocka_unit_test_setup(bad_values, unset_all),
		cmocka_unit_test_setup(several_bad_values, unset_all),
		cmocka_unit_test_setup(off_means_off, unset_all),
		cmocka_unit_test_setup(for_reading_ahead, unset_all),
	};

	return cmocka_run_group_tests(variables, NULL, NULL);
}
