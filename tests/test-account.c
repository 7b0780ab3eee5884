/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account, and the mmap manager's statistics with it, beside the real
 * unix manager with its cache on: the same operations, and after each the
 * same numbers.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <fcntl.h>
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

#include "account.h"
#include "e2prefetch.h"

#define FILE_SIZE (256 * 1024 + 700)	/* the last block is a short one */
#define MOST_BYTES (8 * 4096)
#define SEEDS 8
#define OPERATIONS 3000

static char folder[] = "/tmp/test-account.XXXXXX";
static char path_a[64], path_b[64];

/* An LCG: the same numbers on every machine. */
static uint32_t state;

static uint32_t pick(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)state * below) >> 32);
}

static int make_folder(void **unused)
{
	(void)unused;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path_a, sizeof(path_a), "%s/a", folder);
	snprintf(path_b, sizeof(path_b), "%s/b", folder);
	return 0;
}

static int remove_folder(void **unused)
{
	(void)unused;
	unlink(path_a);
	unlink(path_b);
	return rmdir(folder);
}

static void make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, FILE_SIZE), 0);
	close(fd);
}

static void assert_same_files(void)
{
	static char a[FILE_SIZE + 1], b[FILE_SIZE + 1];
	int fa = open(path_a, O_RDONLY), fb = open(path_b, O_RDONLY);

	assert_int_equal(read(fa, a, sizeof(a)), FILE_SIZE);
	assert_int_equal(read(fb, b, sizeof(b)), FILE_SIZE);
	assert_memory_equal(a, b, FILE_SIZE);
	close(fa);
	close(fb);
}

/* The unix manager's channel, and the account or a mapped one beside it. */
struct pair {
	io_channel a, b;
	struct e2pf_account account;
	unsigned long long failed_block;	/* of the last failed read */
	int failed_bytes;			/* what it gave nevertheless */
	bool failed;
	bool ignore_errors;
	uint32_t near;		/* where the operations are just now */
};

static errcode_t read_failed(io_channel channel, unsigned long block,
			     int count, void *data, size_t size, int actual,
			     errcode_t error)
{
	struct pair *pair = channel->app_data;

	(void)count;
	(void)data;
	(void)size;
	if (channel == pair->a) {
		pair->failed = true;
		pair->failed_block = block;
		pair->failed_bytes = actual;
	}
	return pair->ignore_errors ? 0 : error;
}

static void open_one(struct pair *pair, io_manager manager, const char *path,
		     io_channel *channel)
{
	make_file(path);
	assert_int_equal(manager->open(path, IO_FLAG_RW, channel), 0);
	(*channel)->app_data = pair;
	(*channel)->read_error = read_failed;
}

static void open_pair(struct pair *pair, bool mapped)
{
	memset(pair, 0, sizeof(*pair));
	open_one(pair, unix_io_manager, path_a, &pair->a);
	pair->account.block_size = 1024;
	if (!mapped)
		return;
	open_one(pair, e2pf_mmap_io_manager, path_b, &pair->b);
	assert_true(e2pf_mmap_io_is_mapped(pair->b));
}

static void assert_same_numbers(struct pair *pair)
{
	io_stats a, b;

	assert_int_equal(pair->a->manager->get_stats(pair->a, &a), 0);
	if (pair->b) {
		assert_int_equal(pair->b->manager->get_stats(pair->b, &b), 0);
		assert_int_equal(b->num_fields, a->num_fields);
		assert_int_equal(b->bytes_read, a->bytes_read);
		assert_int_equal(b->bytes_written, a->bytes_written);
	} else {
		assert_int_equal(pair->account.bytes_read, a->bytes_read);
		assert_int_equal(pair->account.bytes_written,
				 a->bytes_written);
	}
}

/* Blocks that could be read before the read failed. */
static int readable(const struct pair *pair, unsigned long long block,
		    int count)
{
	if (!pair->failed || pair->ignore_errors)
		return count;
	return (int)(pair->failed_block - block) +
	       pair->failed_bytes / pair->a->block_size;
}

static void one_read(struct pair *pair, unsigned long long block, int count)
{
	static char buf[MOST_BYTES];
	errcode_t a, b;

	pair->failed = false;
	a = io_channel_read_blk64(pair->a, block, count, buf);
	if (!pair->b) {
		e2pf_account_read(&pair->account, block, count,
				  readable(pair, block, count));
		return;
	}
	/* A block whose error was ignored is in the unix manager's cache, and
	 * no error when it is read again. */
	b = io_channel_read_blk64(pair->b, block, count, buf);
	if (a)
		assert_int_equal(a, b);
}

/*
 * Only inside the file beside the mmap manager: what the other still has in
 * its cache has not made the file longer.
 */
static void one_write(struct pair *pair, unsigned long long block, int count)
{
	static char buf[MOST_BYTES];
	unsigned long long size = (unsigned)pair->a->block_size;

	if (pair->b && (block + 8) * size > FILE_SIZE)
		block = 0;
	/* Some change nothing. */
	if (pick(3))
		buf[pick(MOST_BYTES)]++;
	assert_int_equal(io_channel_write_blk64(pair->a, block, count, buf),
			 0);
	if (pair->b)
		assert_int_equal(io_channel_write_blk64(pair->b, block, count,
							buf), 0);
	else
		e2pf_account_write(&pair->account, block, count,
				   pair->a->flags &
				   CHANNEL_FLAGS_WRITETHROUGH);
}

static void one_write_byte(struct pair *pair)
{
	unsigned long offset = pick(FILE_SIZE - 8);

	assert_int_equal(io_channel_write_byte(pair->a, offset, 8, "abcdefg"),
			 0);
	if (pair->b)
		assert_int_equal(io_channel_write_byte(pair->b, offset, 8,
						       "abcdefg"), 0);
	else
		e2pf_account_write_byte(&pair->account);
}

static void flush(struct pair *pair)
{
	assert_int_equal(io_channel_flush(pair->a), 0);
	if (pair->b)
		assert_int_equal(io_channel_flush(pair->b), 0);
	else
		e2pf_account_flush(&pair->account);
}

static void set_block_size(struct pair *pair, int size)
{
	assert_int_equal(io_channel_set_blksize(pair->a, size), 0);
	if (pair->b)
		assert_int_equal(io_channel_set_blksize(pair->b, size), 0);
	else
		e2pf_account_set_block_size(&pair->account, (uint32_t)size);
}

static void set_cache(struct pair *pair, bool on)
{
	const char *option = on ? "cache=on" : "cache=off";

	assert_int_equal(io_channel_set_options(pair->a, option), 0);
	if (pair->b)
		assert_int_equal(io_channel_set_options(pair->b, option), 0);
	else
		e2pf_account_set_uncached(&pair->account, !on);
}

static void set_writethrough(struct pair *pair, bool on)
{
	int flags = on ? CHANNEL_FLAGS_WRITETHROUGH : 0;

	pair->a->flags &= ~CHANNEL_FLAGS_WRITETHROUGH;
	pair->a->flags |= flags;
	if (!pair->b)
		return;
	pair->b->flags &= ~CHANNEL_FLAGS_WRITETHROUGH;
	pair->b->flags |= flags;
}

/* Most near the last one, or the cache would never have anything. */
static unsigned long long pick_block(struct pair *pair)
{
	uint32_t blocks = FILE_SIZE / (uint32_t)pair->a->block_size;

	if (pick(40) == 0)
		pair->near = pick(3) ? pick(blocks) : blocks - 6;
	return pair->near + pick(14);
}

static int pick_count(void)
{
	static const int counts[] = { 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 8, 0, -1,
				      -700, -1024, -4096 };

	/* Half of one block: those keep what the cache has. */
	return pick(2) ? 1 : counts[pick(sizeof(counts) / sizeof(counts[0]))];
}

static void one_operation(struct pair *pair)
{
	unsigned long long block = pick_block(pair);
	int count = pick_count();
	uint32_t what = pick(100);

	pair->ignore_errors = pick(4) == 0;
	if (what < 45)
		one_read(pair, block, count);
	else if (what < 92)
		one_write(pair, block, count);
	else if (what < 94)
		flush(pair);
	else if (what < 95)
		one_write_byte(pair);
	else if (what < 96)
		set_block_size(pair, 1024 << pick(3));
	else if (what < 98)
		set_cache(pair, pick(4));
	else
		set_writethrough(pair, pick(3) == 0);
}

/* Bytes written by system calls of this process, -1 if it is not told. */
static long long bytes_by_calls(void)
{
	FILE *file = fopen("/proc/self/io", "r");
	long long bytes = -1;
	char line[80];

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "wchar: %lld", &bytes);
	if (file)
		fclose(file);
	return bytes;
}

/* The unix manager's numbers go with the channel: ask the kernel. */
static void assert_same_end(struct pair *pair)
{
	uint64_t before = pair->account.bytes_written;
	long long calls = bytes_by_calls();

	assert_int_equal(io_channel_close(pair->a), 0);
	if (pair->b) {
		assert_int_equal(io_channel_close(pair->b), 0);
		return;
	}
	e2pf_account_flush(&pair->account);
	if (calls >= 0)
		assert_int_equal(pair->account.bytes_written - before,
				 bytes_by_calls() - calls);
}

static void run(uint32_t seed, bool mapped)
{
	struct pair pair;
	int i;

	state = seed;
	open_pair(&pair, mapped);
	for (i = 0; i < OPERATIONS; i++) {
		one_operation(&pair);
		assert_same_numbers(&pair);
	}
	assert_same_end(&pair);
	if (mapped)
		assert_same_files();
}

static void test_account(void **unused)
{
	uint32_t seed;

	(void)unused;
	for (seed = 1; seed <= SEEDS; seed++)
		run(seed, false);
}

static void test_statistics_of_mapped(void **unused)
{
	uint32_t seed;

	(void)unused;
	for (seed = 1; seed <= SEEDS; seed++)
		run(seed, true);
}

/* The parts of a read around a cached block: the first is kept when the
 * second fails. */
static void test_read_that_fails_behind_a_cached_block(void **unused)
{
	struct pair pair;
	uint32_t last = FILE_SIZE / 1024 - 1;
	int mapped;

	(void)unused;
	for (mapped = 0; mapped < 2; mapped++) {
		open_pair(&pair, mapped);
		one_read(&pair, last, 1);
		one_read(&pair, last - 1, 4);
		assert_same_numbers(&pair);
		one_read(&pair, last - 1, 1);
		assert_same_numbers(&pair);
		assert_same_end(&pair);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_account),
		cmocka_unit_test(test_statistics_of_mapped),
		cmocka_unit_test(test_read_that_fails_behind_a_cached_block),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
