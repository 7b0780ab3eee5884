/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which writes of the mmap I/O manager reach the file, when, and what becomes
 * of those that fail.
 *
 * Link with -Wl,--wrap=pwrite,--wrap=pwrite64 to have the bytes counted that
 * reach the file.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "mmap-rig.h"

/* What is in the cache of a program that ends without closing is lost. */
static void abandon(io_manager manager, const char *path)
{
	io_channel channel;
	static char buf[4096];
	unsigned i;

	if (manager->open(path, IO_FLAG_RW, &channel))
		_exit(1);
	for (i = 0; i < 20; i++) {
		memset(buf, (int)i + 1, sizeof(buf));
		if (io_channel_write_blk64(channel, 3 * i, 2, buf))
			_exit(2);
	}
	_exit(0);
}

static void test_abandoned_channel(void **unused)
{
	io_manager managers[2] = { unix_io_manager, e2pf_mmap_io_manager };
	const char *paths[2] = { path_a, path_b };
	char byte = 0;
	int i, fd, status;

	(void)unused;
	for (i = 0; i < 2; i++) {
		pid_t pid;

		make_file(paths[i], IMAGE_SIZE, 24);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			abandon(managers[i], paths[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	assert_same_files();
	fd = open(path_b, O_RDONLY);
	assert_int_equal(pread(fd, &byte, 1, 15 * 3 * 1024), 1);
	assert_int_equal(byte, 16);
	assert_int_equal(pread(fd, &byte, 1, 19 * 3 * 1024), 1);
	assert_int_not_equal(byte, 20);
	close(fd);
}

static void test_failed_writes_cached(void **unused)
{
	struct rlimit limit;
	struct pair pair;
	unsigned block;

	(void)unused;
	make_file(path_a, IMAGE_SIZE, 25);
	make_file(path_b, IMAGE_SIZE, 25);
	open_cached(&pair, path_a, path_b, IO_FLAG_RW);
	fill_disk(&limit);
	for (block = 1015; block < 1040; block++)
		pair_write(&pair, block, 1);
	assert_true(pair.call_b.calls > 0);
	assert_int_equal(io_channel_flush(pair.a),
			 io_channel_flush(pair.b));
	assert_same_calls(&pair);
	assert_int_equal(pair_write(&pair, 1020, 8), 4711);
	setrlimit(RLIMIT_FSIZE, &limit);
	pair_write(&pair, 1030, 1);
	close_pair(&pair);
	assert_same_files();
}

/* Which writes reach the file */

static struct timespec mtime_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mtim;
}

static void set_old(const char *path)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
}

static bool was_written(const char *path)
{
	bool written = mtime_of(path).tv_sec != 1000;

	set_old(path);
	return written;
}

/* The statistics say what the unix manager would have written, not this. */

ssize_t __real_pwrite(int fd, const void *buf, size_t size, off_t at)
	__attribute__((weak));
ssize_t __real_pwrite64(int fd, const void *buf, size_t size, off_t at)
	__attribute__((weak));
ssize_t __wrap_pwrite(int fd, const void *buf, size_t size, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *buf, size_t size, off_t at);

static size_t pwritten;
static off_t last_pwrite;
static int pwrites_to_fail;

static bool pwrite_must_fail(void)
{
	if (!pwrites_to_fail)
		return false;
	pwrites_to_fail--;
	errno = EINTR;
	return true;
}

ssize_t __wrap_pwrite(int fd, const void *buf, size_t size, off_t at)
{
	pwritten += size;
	last_pwrite = at;
	if (pwrite_must_fail())
		return -1;
	return __real_pwrite(fd, buf, size, at);
}

ssize_t __wrap_pwrite64(int fd, const void *buf, size_t size, off_t at)
{
	pwritten += size;
	last_pwrite = at;
	if (pwrite_must_fail())
		return -1;
	return __real_pwrite64(fd, buf, size, at);
}

/* A write is tried again, by write(2); that it then works is no error. */
static void test_second_attempt(void **unused)
{
	static char buf[2048], back_again[2048];
	struct call call;
	io_channel channel;

	(void)unused;
	make_file(path_b, IMAGE_SIZE, 27);
	channel = open_mapped(path_b, IO_FLAG_RW | IO_FLAG_NOCACHE, &call);
	memset(buf, 0x77, sizeof(buf));
	pwritten = 0;
	pwrites_to_fail = 1;
	assert_int_equal(io_channel_write_blk64(channel, 100, 2, buf), 0);
	if (!pwritten) {
		pwrites_to_fail = 0;
		io_channel_close(channel);
		print_message("not linked with --wrap\n");
		skip();
	}
	assert_int_equal(pwrites_to_fail, 0);
	assert_int_equal(call.calls, 0);
	assert_int_equal(io_channel_read_blk64(channel, 100, 2, back_again),
			 0);
	assert_memory_equal(buf, back_again, sizeof(buf));
	assert_int_equal(io_channel_close(channel), 0);
}

static void test_only_changes_are_written(void **unused)
{
	static char buf[16384];
	io_channel channel;

	(void)unused;
	make_file(path_b, IMAGE_SIZE, 12);
	channel = open_mapped(path_b, IO_FLAG_RW | IO_FLAG_NOCACHE, NULL);
	pwritten = 0;
	assert_int_equal(io_channel_write_blk64(channel, 0, 1, buf), 0);
	if (!pwritten) {
		print_message("not linked with --wrap=pwrite\n");
		io_channel_close(channel);
		skip();
	}
	assert_int_equal(io_channel_set_blksize(channel, 4096), 0);
	assert_int_equal(io_channel_read_blk64(channel, 4, 4, buf), 0);
	pwritten = 0;
	assert_int_equal(io_channel_write_blk64(channel, 4, 4, buf), 0);
	assert_int_equal(pwritten, 0);
	/* One block of four differs: that one is written. */
	buf[4096] ^= 1;
	assert_int_equal(io_channel_write_blk64(channel, 4, 4, buf), 0);
	assert_int_equal(pwritten, 4096);
	assert_int_equal(last_pwrite, 5 * 4096);
	/* Two that follow each other are one write. */
	buf[4096] ^= 1;
	buf[8192 + 4095] ^= 1;
	assert_int_equal(io_channel_write_blk64(channel, 4, 4, buf), 0);
	assert_int_equal(pwritten, 3 * 4096);
	assert_int_equal(last_pwrite, 5 * 4096);
	assert_int_equal(io_channel_close(channel), 0);
}

static void test_identical_is_not_written(void **unused)
{
	struct call call;
	io_channel channel;
	static char buf[16384];

	(void)unused;
	make_file(path_b, IMAGE_SIZE, 12);
	channel = open_mapped(path_b, IO_FLAG_RW | IO_FLAG_NOCACHE,
			      &call);
	assert_int_equal(io_channel_set_blksize(channel, 4096), 0);
	assert_int_equal(io_channel_read_blk64(channel, 4, 4, buf), 0);
	set_old(path_b);
	assert_int_equal(io_channel_write_blk64(channel, 4, 4, buf), 0);
	assert_false(was_written(path_b));
	buf[4096] ^= 1;
	assert_int_equal(io_channel_write_blk64(channel, 4, 4, buf), 0);
	assert_true(was_written(path_b));
	buf[0] = 0;
	assert_int_equal(io_channel_read_blk64(channel, 5, 1, buf), 0);
	assert_int_equal(io_channel_write_blk64(channel, 5, -100, buf), 0);
	assert_false(was_written(path_b));
	assert_int_equal(io_channel_close(channel), 0);
}

/* The same when the block leaves the cache. */
static void test_identical_is_not_written_cached(void **unused)
{
	static char buf[4096];
	io_channel channel;

	(void)unused;
	make_file(path_b, IMAGE_SIZE, 12);
	channel = open_mapped(path_b, IO_FLAG_RW, NULL);
	assert_int_equal(io_channel_read_blk64(channel, 4, 4, buf), 0);
	set_old(path_b);
	assert_int_equal(io_channel_write_blk64(channel, 4, 4, buf), 0);
	assert_int_equal(io_channel_flush(channel), 0);
	assert_false(was_written(path_b));
	buf[0] ^= 1;
	assert_int_equal(io_channel_write_blk64(channel, 4, 4, buf), 0);
	assert_false(was_written(path_b));
	assert_int_equal(io_channel_flush(channel), 0);
	assert_true(was_written(path_b));
	assert_int_equal(io_channel_close(channel), 0);
}

static void test_mmp_block_is_always_written(void **unused)
{
	static char buf[1024];
	io_channel channel;

	(void)unused;
	make_file(path_b, IMAGE_SIZE, 13);
	channel = open_mapped(path_b, IO_FLAG_RW | IO_FLAG_NOCACHE, NULL);
	memcpy(buf, "PMM", 4);
	assert_int_equal(io_channel_write_blk64(channel, 4, 1, buf), 0);
	assert_int_equal(io_channel_read_blk64(channel, 4, 1, buf), 0);
	set_old(path_b);
	assert_int_equal(io_channel_write_blk64(channel, 4, 1, buf), 0);
	assert_true(was_written(path_b));
	assert_int_equal(io_channel_close(channel), 0);
}

static void test_all_is_written_after_a_failed_write(void **unused)
{
	struct rlimit limit;
	struct call call;
	io_channel channel;
	static char buf[1024];

	(void)unused;
	make_file(path_b, IMAGE_SIZE, 14);
	channel = open_mapped(path_b, IO_FLAG_RW | IO_FLAG_NOCACHE,
			      &call);
	assert_int_equal(io_channel_read_blk64(channel, 4, 1, buf), 0);
	set_old(path_b);
	assert_int_equal(io_channel_write_blk64(channel, 4, 1, buf), 0);
	assert_false(was_written(path_b));
	fill_disk(&limit);
	assert_int_equal(io_channel_write_blk64(channel, 2000, 1, buf), 4711);
	assert_int_equal(call.error, EFBIG);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(io_channel_write_blk64(channel, 4, 1, buf), 0);
	assert_true(was_written(path_b));
	assert_int_equal(io_channel_close(channel), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_abandoned_channel),
		cmocka_unit_test(test_failed_writes_cached),
		cmocka_unit_test(test_second_attempt),
		cmocka_unit_test(test_identical_is_not_written),
		cmocka_unit_test(test_identical_is_not_written_cached),
		cmocka_unit_test(test_only_changes_are_written),
		cmocka_unit_test(test_mmp_block_is_always_written),
		cmocka_unit_test(test_all_is_written_after_a_failed_write),
	};

	if (steps_aside()) {
		puts("1..0 # SKIP not with this libext2fs");
		return 0;
	}
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
