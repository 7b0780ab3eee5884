/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of settings: what it sets, that the environment wins, and that a
 * file with one wrong line sets nothing and is told in one line.
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
#include <unistd.h>
#include <cmocka.h>

#include "configuration.h"

static const char *const names[] = {
	"PREFETCH", "PREFETCH_THREADS", "PREFETCH_MEM", "PREFETCH_ACCEL",
	"PREFETCH_VERBOSE", "PREFETCH_BANDWIDTH", "PREFETCH_IOPS",
	"PREFETCH_IOPRIO", "PREFETCH_NICE"
};

static char path[] = "/tmp/test-configuration.XXXXXX";
static char error[512];

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static int unset_all(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	error[0] = '\0';
	return 0;
}

static int apply(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return configuration_apply(path, error, sizeof(error));
}

static void assert_set(const char *name, const char *value)
{
	const char *is = getenv(name);

	assert_non_null(is);
	assert_string_equal(is, value);
}

static void assert_nothing_set(void)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(getenv(names[i]));
}

static void no_file(void **state)
{
	(void)state;
	assert_int_equal(configuration_apply("/nonexistent/x.conf", error,
					     sizeof(error)), 0);
	assert_int_equal(configuration_apply("/dev/null", error,
					     sizeof(error)), 0);
	assert_int_equal(apply("# a comment\n\n; another\n"), 0);
	assert_nothing_set();
}

static void all_settings(void **state)
{
	(void)state;
	assert_int_equal(apply("prefetch = on\nthreads=4\n"
			       "memory : 512M\n"
			       "accelerations = crc32c,bitmaps\n"
			       "verbose = off ; for now\n"
			       "bandwidth = 20M\nrequests = 300\n"
			       "io-priority = best-effort:7\nnice = 10"), 0);
	assert_set("PREFETCH", "1");
	assert_set("PREFETCH_THREADS", "4");
	assert_set("PREFETCH_MEM", "512M");
	assert_set("PREFETCH_ACCEL", "crc32c,bitmaps");
	assert_set("PREFETCH_VERBOSE", "0");
	assert_set("PREFETCH_BANDWIDTH", "20M");
	assert_set("PREFETCH_IOPS", "300");
	assert_set("PREFETCH_IOPRIO", "best-effort:7");
	assert_set("PREFETCH_NICE", "10");
}

static void environment_wins(void **state)
{
	(void)state;
	setenv("PREFETCH", "1", 1);
	setenv("PREFETCH_THREADS", "2", 1);
	setenv("PREFETCH_MEM", "", 1);
	assert_int_equal(apply("prefetch = off\nthreads = 4\nmemory = 8M\n"),
			 0);
	assert_set("PREFETCH", "1");
	assert_set("PREFETCH_THREADS", "2");
	assert_set("PREFETCH_MEM", "8M");
}

static void assert_refused(const char *text, unsigned line, const char *about)
{
	char place[64];

	snprintf(place, sizeof(place), "%s:%u: ", path, line);
	assert_int_equal(apply(text), -1);
	assert_memory_equal(error, place, strlen(place));
	assert_non_null(strstr(error, about));
	assert_null(strchr(error, '\n'));
	assert_nothing_set();
}

static void wrong_lines(void **state)
{
	char longer[1000];

	(void)state;
	assert_refused("threads = 4\nthread = 4\n", 2, "\"thread\"");
	assert_refused("threads = 4\nmemory\n", 2, "name = value");
	assert_refused("threads = 257\n", 1, "from 1 to 256");
	assert_refused("threads =\n", 1, "from 1 to 256");
	assert_refused("\n\nprefetch = 1\n", 3, "on or off");
	assert_refused("prefetch = ON\n", 1, "on or off");
	assert_refused("nice = -5\nmemory\n", 1, "from 1 to 19");
	assert_refused("memory\nnice = -5\n", 1, "name = value");
	assert_refused("[all]\nthreads = 4\n", 2, "sections");
	assert_refused("threads = 4\nthreads = 5\n", 2, "twice");
	assert_refused("memory = 1M\n  2M\n", 2, "twice");
	assert_refused("threads = \033[2J\n", 1, "\"?[2J\"");
	memset(longer, '#', sizeof(longer));
	memcpy(longer, "threads = 4\n", 12);
	longer[sizeof(longer) - 1] = '\0';
	assert_refused(longer, 2, "too long");
	/* A part of a comment is no setting. */
	memset(longer, ' ', sizeof(longer));
	longer[0] = '#';
	memcpy(longer + 210, "threads = 4\n", 13);
	assert_refused(longer, 1, "too long");
}

static void files_without_end(void **state)
{
	FILE *f = fopen(path, "w");
	unsigned i;

	(void)state;
	assert_non_null(f);
	for (i = 0; i < 10000; i++)
		fputs("#\n", f);
	fputs("threads = 4\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(configuration_apply(path, error, sizeof(error)), -1);
	assert_non_null(strstr(error, "too long"));
	assert_int_equal(configuration_apply("/dev/zero", error,
					     sizeof(error)), -1);
	assert_int_equal(configuration_apply("/", error, sizeof(error)), -1);
	assert_nothing_set();
}

/* Whatever room there is for the message. */
static void little_room(void **state)
{
	size_t size;

	(void)state;
	for (size = 1; size < 80; size++) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs("threads = 0\n", f);
		assert_int_equal(fclose(f), 0);
		memset(error, 'q', sizeof(error));
		assert_int_equal(configuration_apply(path, error, size), -1);
		assert_non_null(memchr(error, 0, size));
		assert_int_equal(error[size], 'q');
	}
}

static void which_file(void **state)
{
	(void)state;
	unsetenv("PREFETCH_CONFIG");
	assert_string_equal(configuration_path(error, sizeof(error)),
			    CONFIGURATION);
	setenv("PREFETCH_CONFIG", "", 1);
	assert_string_equal(configuration_path(error, sizeof(error)),
			    CONFIGURATION);
	setenv("PREFETCH_CONFIG", "/other", 1);
	assert_string_equal(configuration_path(error, sizeof(error)),
			    "/other");
	setenv("PREFETCH_CONFIG", "other", 1);
	assert_null(configuration_path(error, sizeof(error)));
	assert_non_null(strstr(error, "PREFETCH_CONFIG is not"));
	unsetenv("PREFETCH_CONFIG");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_file, unset_all),
		cmocka_unit_test_setup(all_settings, unset_all),
		cmocka_unit_test_setup(environment_wins, unset_all),
		cmocka_unit_test_setup(wrong_lines, unset_all),
		cmocka_unit_test_setup(files_without_end, unset_all),
		cmocka_unit_test_setup(little_room, unset_all),
		cmocka_unit_test_setup(which_file, unset_all),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
