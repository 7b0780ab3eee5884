/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The parsers of settings take what is documented and nothing else, and
 * leave *out alone when they refuse.
 */
#include <stdio.h>

#include "unit.h"
#include "prefetch/settings.h"

static char path[64];
static char error[512];
static struct pf_settings settings;

static bool read_with(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	error[0] = '\0';
	return pf_settings_read(&settings, error, sizeof(error));
}

FIXTURE(make_file)
{
	/* Under `make check' this names the form of what cmocka prints. */
	char *output = getenv("CMOCKA_MESSAGE_OUTPUT");
	int fd;

	strcpy(path, "/tmp/test-settings.XXXXXX");
	fd = mkstemp(path);
	output = output ? strdup(output) : NULL;
	clearenv();
	if (output)
		setenv("CMOCKA_MESSAGE_OUTPUT", output, 1);
	free(output);
	return fd < 0 || close(fd) || setenv("PREFETCH_CONFIG", path, 1);
}

FIXTURE(remove_file)
{
	return unlink(path);
}

/* A value that is not taken is 0 here, and changes nothing. */
TEST_WITH(values, make_file, remove_file)
{
	static const struct {
		const char *name, *value;
		uint64_t set;
	} rows[] = {
		{ "threads", "1", 1 }, { "threads", "256", PF_MAX_THREADS },
		{ "threads", "", 0 }, { "threads", "0", 0 },
		{ "threads", "257", 0 },
		{ "threads", "-1", 0 }, { "threads", "+1", 0 },
		{ "threads", "01", 0 }, { "threads", "0x10", 0 },
		{ "threads", "1K", 0 },
		{ "threads", "four", 0 }, { "threads", "\xd9\xa1", 0 },
		{ "threads", "4294967297", 0 },
		{ "threads", "18446744073709551617", 0 },
		{ "mem", "1048576", 1048576 }, { "mem", "1024K", 1048576 },
		{ "mem", "3G", UINT64_C(3221225472) },
		{ "mem", "1T", UINT64_C(1099511627776) },
		{ "mem", "16777215T", UINT64_C(16777215) << 40 },
		{ "mem", "18446744073709551615", UINT64_MAX },
		{ "mem", "", 0 }, { "mem", "0M", 0 }, { "mem", "K", 0 },
		{ "mem", "1048575", 0 }, { "mem", "1 M", 0 },
		{ "mem", "1m", 0 }, { "mem", "1MB", 0 }, { "mem", "1KM", 0 },
		{ "mem", "1.5G", 0 }, { "mem", "1E", 0 },
		{ "mem", "16777216T", 0 }, { "mem", "16777217T", 0 },
		{ "no-such-setting", "1", 0 },
	};
	char text[64];
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), "%s = %s\n", rows[i].name,
			 rows[i].value);
		if (read_with(text) != (rows[i].set > 0) ||
		    settings.threads + settings.memory != rows[i].set)
			fail_msg("%s", text);
	}
}

TEST_WITH(file_and_variables, make_file, remove_file)
{
	assert_true(read_with("# nothing\n\n  ; at all\n"));
	assert_true(settings.prefetch && settings.log);
	assert_int_equal(settings.verbose, -1);
	assert_false(settings.mmap_io || settings.stats ||
		     settings.threads || settings.memory);
	assert_int_equal(settings.accel, 7);

	assert_true(read_with("prefetch=0\n\tthreads\t=  7 \r\n"
			      "mem = 64M\nprogress = 3\nverbose = 2\n"
			      "log = 0\naccel = crc32c,indirect\n"
			      "io_manager = mmap"));
	assert_false(settings.prefetch || settings.log);
	assert_true(settings.mmap_io);
	assert_int_equal(settings.threads, 7);
	assert_int_equal(settings.memory, 64 << 20);
	assert_int_equal(settings.progress, 3);
	assert_int_equal(settings.verbose, 2);
	assert_int_equal(settings.accel,
			 1u << PF_CRC32C | 1u << PF_INDIRECT_WALK);

	/* Variables override the file, unless they are empty. */
	setenv("PREFETCH_THREADS", "9", 1);
	setenv("PREFETCH_PROGRESS", "", 1);
	setenv("PREFETCH_STATS", "/a/file", 1);
	setenv("PREFETCHER", "4", 1);
	assert_true(read_with("prefetch = 0\nthreads = 2\nprogress = 5\n"));
	assert_false(settings.prefetch);
	assert_int_equal(settings.threads, 9);
	assert_int_equal(settings.progress, 5);
	assert_string_equal(settings.stats, "/a/file");
	setenv("PREFETCH_IO_MANAGER", "unix", 1);
	assert_true(read_with("io_manager = mmap\n"));
	assert_false(settings.mmap_io);
	setenv("TEST_MMAP_IO", "1", 1);
	assert_true(read_with("io_manager = unix\n"));
	assert_true(settings.mmap_io);
	unsetenv("PREFETCH_IO_MANAGER");
	unsetenv("TEST_MMAP_IO");
	assert_false(read_with("io_manager = other\n"));
	assert_string_equal(strrchr(error, ':'),
			    ": \"other\" is not unix or mmap; prefetching is off");
	setenv("PREFETCH", "1", 1);
	assert_true(read_with("prefetch = 0\n"));
	assert_true(settings.prefetch);
}

/* test-failures.sh has the messages. */
TEST_WITH(nothing_else, make_file, remove_file)
{
	static const char *const wrong[] = {
		"threads = 4 # four\n", "threads =\n", "= 4\n", "[a]\n",
		"stats = /a\n", "config = /a\n", "verbose = 3\n",
		"prefetch = yes\n", "prefetch = 2\n", "log = off\n",
		"observe = 1\n", "accel = none,all\n", "accel = crc32c,\n",
		"Threads = 4\n"
	};
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		if (read_with(wrong[i]))
			fail_msg("%s", wrong[i]);
		assert_false(settings.prefetch);
		assert_non_null(strstr(error, path));
		assert_null(strchr(error, '\n'));
	}
}

/* Variables that begin like ours are of others. */
TEST_WITH(of_others, make_file, remove_file)
{
	static const char *const names[] = {
		"PREFETCH_COUNT", "PREFETCH_threads", "PREFETCH_", "PREFETCH_IOPS"
	};
	size_t i;

	for (i = 0; i < COUNT(names); i++) {
		setenv(names[i], "0", 1);
		assert_true(read_with(""));
		assert_true(settings.prefetch && !settings.threads);
		assert_string_equal(error, "");
		/* What is ours is still wrong. */
		setenv("PREFETCH_THREADS", "0", 1);
		assert_false(read_with(""));
		assert_non_null(strstr(error, "PREFETCH_THREADS"));
		unsetenv("PREFETCH_THREADS");
		unsetenv(names[i]);
	}
}

/* Control characters, also those of two bytes, and what is beside them. */
TEST(printable)
{
	char text[64];

	pf_settings_copy_printable(text, sizeof(text),
				   "\x1f \x7e\x7f\xc2\x80\xc2\x9f\xc2\xa0"
				   "\xc3\x80\xc2\x7f\xc2");
	assert_string_equal(text, "? ~?????\xc2\xa0\xc3\x80\xc2?\xc2");
	pf_settings_copy_printable(text, 4, "abcdef");
	assert_string_equal(text, "abc");
}

UNIT_MAIN(NULL, NULL)
