/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of settings: what it sets, and that a file with one wrong line sets
 * nothing and is told in one line, with its number.
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
#include <sys/stat.h>
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

static void set_variable(void *ctx, const char *variable, const char *value)
{
	(void)ctx;
	assert_null(getenv(variable));
	setenv(variable, value, 1);
}

static int read_path(const char *name)
{
	return configuration_read(name, set_variable, NULL, error,
				  sizeof(error));
}

static int apply_bytes(const char *text, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	return read_path(path);
}

static int apply(const char *text)
{
	return apply_bytes(text, strlen(text));
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
	assert_int_equal(read_path("/nonexistent/x.conf"), 1);
	assert_int_equal(read_path("/dev/null/x.conf"), 1);
	assert_int_equal(read_path("/dev/null"), 0);
	assert_int_equal(apply(""), 0);
	assert_int_equal(apply("# a comment\n\n; another\n \t# more\n"), 0);
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
	assert_refused("[all]\nthreads = 4\n", 1, "sections");
	assert_refused("threads = 4\n\n  [all]\n", 3, "sections");
	assert_refused("[all\n", 1, "sections");
	assert_refused("threads = 4\nthreads = 5\n", 2, "twice");
	assert_refused("memory = 1M\n  2M\n", 2, "name = value");
	assert_refused("threads = \033[2J\n", 1, "\"?[2J\"");
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "threads = 4\n", 12);
	longer[sizeof(longer) - 1] = '\0';
	assert_refused(longer, 2, "too long");
}

/* The line that is told is the one an editor shows, whatever is before it. */
static void line_numbers(void **state)
{
	char text[2000];
	size_t used;

	(void)state;
	assert_refused("threads = 4\r\nmemory\r\n", 2, "name = value");
	assert_refused("\xef\xbb\xbf# x\nmemory = x\n", 2, "a size");
	assert_refused("threads = 4\nmemory = 1M\n\tnice = x\n", 3, "nice: ");
	assert_refused("memory\nthreads\nprefetch = x\n", 1, "name = value");
	assert_refused("nice = 3\n; x\n# y\n\nverbose = x", 5, "off, on");
	/* Comments longer than what libinih reads at a time. */
	memset(text, ' ', sizeof(text));
	text[0] = '#';
	used = 210;
	used += (size_t)sprintf(text + used, "threads = 4\n");
	strcpy(text + used, "nice = 77\n");
	assert_refused(text, 2, "from 1 to 19");
	strcpy(text + used, "nice = 7\n");
	assert_int_equal(apply(text), 0);
	assert_set("PREFETCH_NICE", "7");
	assert_null(getenv("PREFETCH_THREADS"));
}

static char comment[500];

/* A wrong line after three other lines of any kind, with each end of a line. */
static void after_any_lines(void **state)
{
	static const char *const before[] = {
		"\n", "\r\n", " \t\n", "\t\r\n", "# x\n", "  ; x = [y]\r\n",
		"\f\n", comment, "threads = 4\n", "\tmemory = 1M\r\n",
		"nice:3 ; x\n"
	};
	static const char *const wrong[] = {
		"nothing", "thread = 4", " requests = 0", "\t[x]", "=", "= 4",
		"requests", "requests =", "  2M", "prefetch = on off"
	};
	static const char *const end[] = { "", "\n", "\r\n", "\nprefetch\n" };
	const size_t kinds = sizeof(before) / sizeof(*before);
	size_t i, j, k, n = sizeof(wrong) / sizeof(*wrong);
	char text[2000];

	(void)state;
	memset(comment, 'x', sizeof(comment) - 2);
	comment[0] = '#';
	comment[sizeof(comment) - 2] = '\n';
	for (i = 0; i < kinds * kinds; i++) {
		const char *a = before[i / kinds], *b = before[i % kinds];

		/* A setting twice is another error. */
		if (a == b && strpbrk(a, "4M3"))
			continue;
		for (j = 0; j < n; j++)
			for (k = 0; k < sizeof(end) / sizeof(*end); k++) {
				snprintf(text, sizeof(text), "%s%s\n%s%s%s",
					 i % 2 ? "\xef\xbb\xbf" : "", a, b,
					 wrong[j], end[k]);
				unset_all(NULL);
				assert_refused(text, 4, "");
			}
	}
}

/* A byte order mark before a comment, a section or a setting. */
static void byte_order_marks(void **state)
{
	char text[600];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[0] = '\xef';
	text[1] = '\xbb';
	text[2] = '\xbf';
	text[3] = '#';
	strcpy(text + 500, "\nthreads = 4\n");
	assert_int_equal(apply(text), 0);
	assert_set("PREFETCH_THREADS", "4");
	unset_all(NULL);
	assert_refused("\xef\xbb\xbf[all]\nthreads = 4\n", 1, "sections");
	assert_int_equal(apply("\xef\xbb\xbf  threads = 4"), 0);
	assert_set("PREFETCH_THREADS", "4");
}

/* A last line that just fits, without its end. */
static void long_lines(void **state)
{
	char line[400];
	size_t len;

	(void)state;
	for (len = 190; len < 210; len++) {
		memset(line, ' ', sizeof(line));
		memcpy(line, "threads =", 9);
		line[len - 1] = '4';
		line[len] = '\0';
		unset_all(NULL);
		if (len < 200) {
			assert_int_equal(apply(line), 0);
			assert_set("PREFETCH_THREADS", "4");
		} else {
			assert_refused(line, 1, "too long");
		}
	}
}

static void binary_files(void **state)
{
	static const char elf[] = "\177ELF\2\1\1\0\0\0\0";

	(void)state;
	assert_int_equal(apply_bytes(elf, sizeof(elf)), -1);
	assert_non_null(strstr(error, ":1: this is not text"));
	assert_int_equal(apply_bytes("threads = 4\n\0\n", 14), -1);
	assert_non_null(strstr(error, ":2: this is not text"));
	assert_int_equal(apply_bytes("threads = 4\0 5\n", 15), -1);
	assert_non_null(strstr(error, ":1: this is not text"));
	assert_nothing_set();
}

static void files_without_end(void **state)
{
	static char text[70000];

	(void)state;
	memset(text, '#', sizeof(text));
	assert_int_equal(apply_bytes(text, 65536), 0);
	assert_int_equal(apply_bytes(text, 65537), -1);
	assert_non_null(strstr(error, "too long"));
	assert_nothing_set();
}

/* Nothing is opened that may keep us waiting, or do something then. */
static void other_files(void **state)
{
	static const char *const others[] = { "/", "/dev/zero", "/dev/full" };
	char fifo[sizeof(path) + 5];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		assert_int_equal(read_path(others[i]), -1);
		assert_non_null(strstr(error, "not a regular file"));
	}
	snprintf(fifo, sizeof(fifo), "%s.fifo", path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(read_path(fifo), -1);
	assert_non_null(strstr(error, "not a regular file"));
	assert_int_equal(unlink(fifo), 0);
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
		assert_int_equal(configuration_read(path, set_variable, NULL,
						    error, size), -1);
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
	assert_non_null(strstr(error, "PREFETCH_CONFIG: \"other\" is not"));
	unsetenv("PREFETCH_CONFIG");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_file, unset_all),
		cmocka_unit_test_setup(all_settings, unset_all),
		cmocka_unit_test_setup(wrong_lines, unset_all),
		cmocka_unit_test_setup(line_numbers, unset_all),
		cmocka_unit_test_setup(after_any_lines, unset_all),
		cmocka_unit_test_setup(byte_order_marks, unset_all),
		cmocka_unit_test_setup(long_lines, unset_all),
		cmocka_unit_test_setup(binary_files, unset_all),
		cmocka_unit_test_setup(files_without_end, unset_all),
		cmocka_unit_test_setup(other_files, unset_all),
		cmocka_unit_test_setup(little_room, unset_all),
		cmocka_unit_test_setup(which_file, unset_all),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
