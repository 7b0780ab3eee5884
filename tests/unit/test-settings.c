/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parsers of settings take what is documented and nothing else, and
 * leave *out alone when they refuse.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "settings.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define UNTOUCHED 4711u

static void class_names(void **state)
{
	static const char *const names[] = {
		"descriptors", "bitmaps", "inodes", "extents", "indirect",
		"dirs", "xattrs", "symlinks", "files"
	};
	unsigned cls;

	(void)state;
	assert_int_equal(COUNT(names), E2PF_CLASSES);
	for (cls = 0; cls < E2PF_CLASSES; cls++)
		assert_string_equal(e2pf_class_name(cls), names[cls]);
	assert_null(e2pf_class_name(E2PF_CLASSES));
	assert_null(e2pf_class_name((enum e2pf_class)-1));
}

static void threads_accepted(void **state)
{
	unsigned out;

	(void)state;
	assert_int_equal(e2pf_parse_threads("1", &out), 0);
	assert_int_equal(out, 1);
	assert_int_equal(e2pf_parse_threads("10", &out), 0);
	assert_int_equal(out, 10);
	assert_int_equal(e2pf_parse_threads("256", &out), 0);
	assert_int_equal(out, E2PF_MAX_THREADS);
}

static void threads_refused(void **state)
{
	static const char *const bad[] = {
		"", "0", "257", "-1", "+1", " 1", "1 ", "1\n", "01", "0x10",
		"1K", "1.0", "1,2", "4294967297", "18446744073709551617",
		"99999999999999999999999999", "four", "\xd9\xa1"
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		unsigned out = UNTOUCHED;

		assert_int_equal(e2pf_parse_threads(bad[i], &out), EINVAL);
		assert_int_equal(out, UNTOUCHED);
	}
}

static void size_accepted(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {
		{ "1048576", 1048576 },
		{ "1048577", 1048577 },
		{ "1024K", 1048576 },
		{ "1M", 1048576 },
		{ "64M", 67108864 },
		{ "3G", UINT64_C(3221225472) },
		{ "1T", UINT64_C(1099511627776) },
		{ "16777215T", UINT64_C(16777215) << 40 },
		{ "18446744073709551615", UINT64_MAX },
		{ "18014398509481983K", UINT64_MAX - 1023 },
	};
	uint64_t out;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(good); i++) {
		assert_int_equal(e2pf_parse_size(good[i].text, &out), 0);
		assert_true(out == good[i].bytes);
	}
}

static void size_refused(void **state)
{
	static const char *const bad[] = {
		"", "0", "0M", "1", "1048575", "1023K", "K", "M", "-1M",
		"+1M", " 1M", "1M ", "1 M", "1m", "1MB", "1MiB", "1KM", "01M",
		"1.5G", "1E", "1P", "0x100000", "1e9", "16777216T",
		"18446744073709551616", "18446744073709551620",
		"18014398509481984K", "99999999999999999999999T"
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad); i++) {
		uint64_t out = UNTOUCHED;

		assert_int_equal(e2pf_parse_size(bad[i], &out), EINVAL);
		assert_true(out == UNTOUCHED);
	}
}

/* What ioprio_set(2) takes is a class and a level. */
static void limits_accepted(void **state)
{
	unsigned out, level;
	char text[] = "best-effort:0";

	(void)state;
	assert_int_equal(e2pf_parse_requests("1", &out), 0);
	assert_int_equal(out, 1);
	assert_int_equal(e2pf_parse_requests("1000000", &out), 0);
	assert_int_equal(out, 1000000);
	assert_int_equal(e2pf_parse_nice("1", &out), 0);
	assert_int_equal(out, 1);
	assert_int_equal(e2pf_parse_nice("19", &out), 0);
	assert_int_equal(out, 19);
	assert_int_equal(e2pf_parse_io_priority("idle", &out), 0);
	assert_int_equal(out, 3 << 13);
	assert_int_equal(e2pf_parse_io_priority("best-effort", &out), 0);
	assert_int_equal(out, 2 << 13 | 4);
	for (level = 0; level < 8; level++) {
		text[sizeof(text) - 2] = (char)('0' + level);
		assert_int_equal(e2pf_parse_io_priority(text, &out), 0);
		assert_int_equal(out, 2 << 13 | level);
	}
}

static void limits_refused(void **state)
{
	static const char *const number[] = {
		"", "0", "-1", "+1", " 1", "1 ", "01", "1K", "1000001", "x"
	};
	static const char *const priority[] = {
		"", "IDLE", "idle:0", "idle ", "best", "best-effort:",
		"best-effort:8", "best-effort:/", "best-effort:07",
		"best-effort4", "realtime", "none", "3"
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(number); i++) {
		unsigned out = UNTOUCHED;

		assert_int_equal(e2pf_parse_requests(number[i], &out), EINVAL);
		assert_int_equal(e2pf_parse_nice(number[i], &out), EINVAL);
		assert_int_equal(out, UNTOUCHED);
	}
	for (i = 0; i < COUNT(priority); i++) {
		unsigned out = UNTOUCHED;

		assert_int_equal(e2pf_parse_io_priority(priority[i], &out),
				 EINVAL);
		assert_int_equal(e2pf_parse_nice("20", &out), EINVAL);
		assert_int_equal(out, UNTOUCHED);
	}
}

/*
 * What a user has set.
 */

static char path[64];
static char error[512];
static struct e2pf_setup setup;

static bool read_with(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	error[0] = '\0';
	return e2pf_setup_read(&setup, error, sizeof(error));
}

static int make_file(void **state)
{
	/* Under `make check' this names the form of what cmocka prints. */
	char *output = getenv("CMOCKA_MESSAGE_OUTPUT");
	int fd;

	(void)state;
	strcpy(path, "/tmp/test-settings.XXXXXX");
	fd = mkstemp(path);
	output = output ? strdup(output) : NULL;
	clearenv();
	if (output)
		setenv("CMOCKA_MESSAGE_OUTPUT", output, 1);
	free(output);
	return fd < 0 || close(fd) || setenv("PREFETCH_CONFIG", path, 1);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void defaults(void **state)
{
	(void)state;
	assert_true(read_with("# nothing\n\n  ; at all\n"));
	assert_true(setup.prefetch);
	assert_true(setup.log);
	assert_int_equal(setup.verbose, 0);
	assert_int_equal(setup.accel, 7);
	assert_int_equal(setup.reading.threads, 0);
	assert_int_equal(setup.reading.memory, 0);
	assert_false(setup.mmap_io);
	assert_null(setup.stats);
}

static void all_of_the_file(void **state)
{
	(void)state;
	assert_true(read_with("\xef\xbb\xbfprefetch=off\n\tthreads\t=  7 \r\n"
			      "mem = 64M\nbandwidth = 2M\niops = 5\n"
			      "ioprio = idle\nnice = 3\nverbose = 2\n"
			      "log = off\naccel = crc32c,indirect"));
	assert_false(setup.prefetch);
	assert_int_equal(setup.reading.threads, 7);
	assert_int_equal(setup.reading.memory, 64 << 20);
	assert_int_equal(setup.reading.bandwidth, 2 << 20);
	assert_int_equal(setup.reading.requests, 5);
	assert_int_equal(setup.reading.io_priority, 3 << 13);
	assert_int_equal(setup.reading.nice, 3);
	assert_int_equal(setup.verbose, 2);
	assert_false(setup.log);
	assert_int_equal(setup.accel,
			 1u << E2PF_CRC32C | 1u << E2PF_INDIRECT_WALK);
}

static void variables_override(void **state)
{
	(void)state;
	setenv("PREFETCH", "auto", 1);
	setenv("PREFETCH_THREADS", "9", 1);
	setenv("PREFETCH_NICE", "", 1);
	setenv("PREFETCH_STATS", "/a/file", 1);
	setenv("PREFETCHER", "4", 1);
	assert_true(read_with("prefetch = 0\nthreads = 2\nnice = 5\n"));
	assert_false(setup.prefetch);
	assert_int_equal(setup.reading.threads, 9);
	assert_int_equal(setup.reading.nice, 5);
	assert_string_equal(setup.stats, "/a/file");
	setenv("PREFETCH", "1", 1);
	assert_true(read_with("prefetch = 0\n"));
	assert_true(setup.prefetch);
	unsetenv("PREFETCH_THREADS");
	unsetenv("PREFETCH_NICE");
}

/* test-failures.sh has the messages. */
static void nothing_else(void **state)
{
	static const char *const wrong[] = {
		"thread = 4\n", "threads 4\n", "threads = 4 # four\n",
		"threads =\n", "= 4\n", "mem = 1\nmem = 4M\n", "[a]\n",
		"stats = /a\n", "config = /a\n", "verbose = 3\n",
		"prefetch = yes\n", "accel = none,all\n", "accel = crc32c,\n",
		"Threads = 4\n"
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(wrong); i++) {
		if (read_with(wrong[i]))
			fail_msg("%s", wrong[i]);
		assert_false(setup.prefetch);
		assert_non_null(strstr(error, path));
		assert_null(strchr(error, '\n'));
	}
	setenv("PREFETCH_threads", "4", 1);
	assert_false(read_with(""));
	unsetenv("PREFETCH_threads");
	setenv("PREFETCH_", "4", 1);
	assert_false(read_with(""));
	unsetenv("PREFETCH_");
	assert_true(read_with(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(class_names),
		cmocka_unit_test(threads_accepted),
		cmocka_unit_test(threads_refused),
		cmocka_unit_test(size_accepted),
		cmocka_unit_test(size_refused),
		cmocka_unit_test(limits_accepted),
		cmocka_unit_test(limits_refused),
		cmocka_unit_test_setup_teardown(defaults, make_file,
						remove_file),
		cmocka_unit_test_setup_teardown(all_of_the_file, make_file,
						remove_file),
		cmocka_unit_test_setup_teardown(variables_override, make_file,
						remove_file),
		cmocka_unit_test_setup_teardown(nothing_else, make_file,
						remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
