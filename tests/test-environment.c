/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The variables: what each takes, that a wrong one leaves a default and says
 * so, and which files statistics are written to.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "accel.h"
#include "environment.h"

static const char *const names[] = {
	"PREFETCH", "TEST_MMAP_IO", "PREFETCH_THREADS", "PREFETCH_MEM",
	"PREFETCH_STATS", "PREFETCH_ACCEL"
};

static char error[256];

static int unset_all(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	error[0] = 0;
	return 0;
}

/* With prefetching on and one more variable. */
static int read_with(const char *name, const char *value,
		     struct environment *env)
{
	unset_all(NULL);
	setenv("PREFETCH", "1", 1);
	setenv(name, value, 1);
	memset(env, 0xa5, sizeof(*env));
	return read_environment(env, error, sizeof(error));
}

static void assert_defaults(const struct environment *env)
{
	assert_int_equal(env->io, IO_DEFAULT);
	assert_int_equal(env->settings.threads, 0);
	assert_true(env->settings.memory == 0);
	assert_int_equal(env->settings.classes, 0);
	assert_null(env->settings.sysroot);
	assert_null(env->stats);
	assert_int_equal(env->accel, env->prefetch ? ACCEL_DEFAULT : 0);
}

static void nothing_set(void **state)
{
	struct environment env;

	(void)state;
	assert_int_equal(read_environment(&env, error, sizeof(error)), 0);
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
	assert_int_equal(read_with("PREFETCH_STATS", "-", &env), 0);
	assert_string_equal(env.stats, "-");
	assert_int_equal(read_with("PREFETCH_STATS", "/a/file", &env), 0);
	assert_string_equal(env.stats, "/a/file");
	assert_int_equal(read_with("PREFETCH_ACCEL", "none", &env), 0);
	assert_int_equal(env.accel, 0);
	assert_int_equal(read_with("PREFETCH_ACCEL", "all", &env), 0);
	assert_int_equal(env.accel, ACCEL_ALL);
	assert_int_equal(read_with("PREFETCH_ACCEL", "bitmaps", &env), 0);
	assert_int_equal(env.accel, ACCEL_BITMAPS);
	assert_int_equal(read_with("PREFETCH_ACCEL", "bitmaps,crc32c", &env),
			 0);
	assert_int_equal(env.accel, ACCEL_BITMAPS | ACCEL_CRC32C);
}

static void bad_values(void **state)
{
	static const struct {
		const char *name, *value;
	} bad[] = {
		{ "TEST_MMAP_IO", "2" }, { "TEST_MMAP_IO", "yes" },
		{ "TEST_MMAP_IO", " 1" }, { "TEST_MMAP_IO", "01" },
		{ "PREFETCH_THREADS", "0" }, { "PREFETCH_THREADS", "257" },
		{ "PREFETCH_THREADS", "-1" }, { "PREFETCH_THREADS", "x" },
		{ "PREFETCH_MEM", "1" }, { "PREFETCH_MEM", "1023K" },
		{ "PREFETCH_MEM", "-1M" }, { "PREFETCH_MEM", "1M " },
		{ "PREFETCH_ACCEL", "x" }, { "PREFETCH_ACCEL", "," },
		{ "PREFETCH_ACCEL", "crc32c," },
		{ "PREFETCH_ACCEL", "crc32c bitmaps" },
		{ "PREFETCH_ACCEL", "none,crc32c" },
		{ "PREFETCH_ACCEL", "crc32" },
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
		assert_true(env.prefetch);
		assert_defaults(&env);
	}
	/* An empty one is unset. */
	for (i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(read_with(names[i], "", &env), 0);
		assert_defaults(&env);
	}
	assert_int_equal(read_with("PREFETCH", "2", &env), -1);
	assert_non_null(strstr(error, "PREFETCH"));
	assert_false(env.prefetch);
}

/* The first wrong one is told; the others are read all the same. */
static void several_bad_values(void **state)
{
	struct environment env;
	char value[1000], small[8];

	(void)state;
	read_with("TEST_MMAP_IO", "x", &env);
	setenv("PREFETCH_THREADS", "y", 1);
	setenv("PREFETCH_MEM", "4M", 1);
	assert_int_equal(read_environment(&env, error, sizeof(error)), -1);
	assert_non_null(strstr(error, "TEST_MMAP_IO"));
	assert_null(strstr(error, "PREFETCH_THREADS"));
	assert_true(env.settings.memory == 4 << 20);

	memset(value, 'z', sizeof(value) - 1);
	value[sizeof(value) - 1] = 0;
	assert_int_equal(read_with("PREFETCH_MEM", value, &env), -1);
	assert_true(strlen(error) < 150);
	memset(small, 'q', sizeof(small));
	assert_int_equal(read_environment(&env, small, 4), -1);
	assert_int_equal(small[3], 0);
	assert_int_equal(small[4], 'q');
}

/* Without prefetching nobody looks at the others. */
static void off_means_off(void **state)
{
	struct environment env;

	(void)state;
	read_with("PREFETCH_THREADS", "nonsense", &env);
	setenv("PREFETCH_STATS", "/a/file", 1);
	setenv("PREFETCH", "0", 1);
	assert_int_equal(read_environment(&env, error, sizeof(error)), 0);
	assert_defaults(&env);
}

/* Files, in a directory of their own. */

static char dir[] = "/tmp/test-environment-XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[2][128];
	static unsigned turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static int make_dir(void **state)
{
	(void)state;
	umask(0);
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const files[] = {
		"new", "own", "other", "link", "linked", "hard", "fifo"
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(in_dir(files[i]));
	rmdir(in_dir("folder"));
	return rmdir(dir);
}

static void make_file(const char *name, unsigned mode)
{
	int fd = open(in_dir(name), O_CREAT | O_EXCL | O_WRONLY, mode);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "contents", 8), 8);
	close(fd);
}

static void assert_file(const char *name, unsigned mode, off_t size)
{
	struct stat st;

	assert_int_equal(stat(in_dir(name), &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
	assert_int_equal(st.st_size, size);
}

static void assert_refused(const char *name)
{
	errno = 0;
	assert_null(open_stats(in_dir(name)));
	assert_int_not_equal(errno, 0);
}

static void new_and_own_files(void **state)
{
	FILE *f;

	(void)state;
	f = open_stats(in_dir("new"));
	assert_non_null(f);
	assert_true(fcntl(fileno(f), F_GETFD) & FD_CLOEXEC);
	assert_true(fputs("x", f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_file("new", 0600, 1);
	make_file("own", 0666);
	f = open_stats(in_dir("own"));
	assert_non_null(f);
	assert_file("own", 0600, 0);
	fclose(f);
	assert_refused("missing/file");
}

static void not_a_file_of_ours(void **state)
{
	(void)state;
	make_file("linked", 0644);
	assert_int_equal(symlink(in_dir("linked"), in_dir("link")), 0);
	assert_refused("link");
	assert_int_equal(link(in_dir("linked"), in_dir("hard")), 0);
	assert_refused("hard");
	assert_refused("linked");
	assert_file("linked", 0644, 8);
	assert_int_equal(mkfifo(in_dir("fifo"), 0666), 0);
	assert_refused("fifo");
	assert_int_equal(mkdir(in_dir("folder"), 0755), 0);
	assert_refused("folder");
	/* A dangling one must not come to life either. */
	unlink(in_dir("hard"));
	unlink(in_dir("linked"));
	assert_refused("link");
	assert_int_equal(access(in_dir("linked"), F_OK), -1);
}

/* A reader does not make a FIFO a file. */
static void fifo_with_a_reader(void **state)
{
	int fd = open(in_dir("fifo"), O_RDONLY | O_NONBLOCK);

	(void)state;
	assert_true(fd >= 0);
	assert_refused("fifo");
	close(fd);
}

static void file_of_another(void **state)
{
	(void)state;
	if (geteuid() != 0) {
		print_message("not root\n");
		skip();
	}
	make_file("other", 0666);
	assert_int_equal(chown(in_dir("other"), 12345, 12345), 0);
	assert_refused("other");
	assert_file("other", 0666, 8);
}

int main(void)
{
	const struct CMUnitTest variables[] = {
		cmocka_unit_test_setup(nothing_set, unset_all),
		cmocka_unit_test_setup(good_values, unset_all),
		cmocka_unit_test_setup(bad_values, unset_all),
		cmocka_unit_test_setup(several_bad_values, unset_all),
		cmocka_unit_test_setup(off_means_off, unset_all),
		cmocka_unit_test(new_and_own_files),
		cmocka_unit_test(not_a_file_of_ours),
		cmocka_unit_test(fifo_with_a_reader),
		cmocka_unit_test(file_of_another),
	};

	return cmocka_run_group_tests(variables, make_dir, remove_dir);
}
