/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the same operations on the mmap manager and on the unix manager.  After
 * each of them the results, data, callbacks, statistics and bytes of the files
 * must be the same.  Each channel begins with reads only: the order of later
 * writes, and so of their errors, depends on them.
 *
 * This program's pwrite(), pread(), write(), read() and mincore() replace those
 * of the C library, for the shared libext2fs too, and fail for a part of the
 * files.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "e2prefetch.h"
#include "libext2fs/unix_cache.h"
#include "two-files.h"

#define FILE_SIZE (256 * 1024 + 700)	/* the last block is a short one */
#define MOST_BYTES (8 * 4096)
#define MOST_EVENTS 64
#define SEEDS 8
#define CHANNELS 12		/* for each seed */
#define OPERATIONS 100		/* on each of them, at most, of each kind */

/* A part of each file that cannot be written, or not read either */

static struct {
	int64_t from, to;
	bool writes, reads;
	unsigned met;
} bad;

static bool is_bad(bool now, int64_t at, size_t size)
{
	if (!now || at >= bad.to || at + (int64_t)size <= bad.from)
		return false;
	bad.met++;
	errno = EIO;
	return true;
}

static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		abort();
	return function;
}

ssize_t checked_pwrite(int fd, const void *buf, size_t size, int64_t at)
	__asm__("pwrite64");
ssize_t checked_pread(int fd, void *buf, size_t size, int64_t at)
	__asm__("pread64");

ssize_t checked_pwrite(int fd, const void *buf, size_t size, int64_t at)
{
	ssize_t (*real)(int, const void *, size_t, int64_t);

	*(void **)&real = next("pwrite64");
	return is_bad(bad.writes, at, size) ? -1 : real(fd, buf, size, at);
}

ssize_t checked_pread(int fd, void *buf, size_t size, int64_t at)
{
	ssize_t (*real)(int, void *, size_t, int64_t);

	*(void **)&real = next("pread64");
	return is_bad(bad.reads, at, size) ? -1 : real(fd, buf, size, at);
}

/* Some callers use the name without 64, and some the one with it. */
ssize_t short_pwrite(int fd, const void *buf, size_t size, long at)
	__asm__("pwrite");
ssize_t short_pread(int fd, void *buf, size_t size, long at)
	__asm__("pread");

ssize_t short_pwrite(int fd, const void *buf, size_t size, long at)
{
	return checked_pwrite(fd, buf, size, at);
}

ssize_t short_pread(int fd, void *buf, size_t size, long at)
{
	return checked_pread(fd, buf, size, at);
}

ssize_t write(int fd, const void *buf, size_t size)
{
	ssize_t (*real)(int, const void *, size_t);

	*(void **)&real = next("write");
	if (bad.writes && is_bad(true, lseek(fd, 0, SEEK_CUR), size))
		return -1;
	return real(fd, buf, size);
}

ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t (*real)(int, void *, size_t);

	*(void **)&real = next("read");
	if (bad.reads && is_bad(true, lseek(fd, 0, SEEK_CUR), size))
		return -1;
	return real(fd, buf, size);
}

/* Pages that cannot be read are never reported as cached. */
int mincore(void *start, size_t size, unsigned char *resident)
{
	int (*real)(void *, size_t, unsigned char *);

	*(void **)&real = next("mincore");
	return bad.reads ? -1 : real(start, size, resident);
}

/* Two channels driven in step: a by the unix manager, b by ours */

struct event {
	bool write;
	bool data;
	unsigned long block;
	int count;
	size_t size;
	int actual;
	errcode_t error;
	uint32_t sum;		/* of the data */
};

struct side {
	io_channel channel;
	const char *map;
	struct event events[MOST_EVENTS];
	unsigned count;
	char buf[MOST_BYTES];
};

struct pair {
	struct side a, b;
	uint32_t near;		/* where the operations are just now */
	uint32_t stamp;		/* of the last write */
};

static struct pair pair;
static bool ignore_errors, use_in_callback;

static uint32_t sum_of(const unsigned char *data, size_t size)
{
	uint32_t sum = 2166136261u;

	while (size--)
		sum = (sum ^ *data++) * 16777619u;
	return sum;
}

static errcode_t note(io_channel channel, bool is_write, unsigned long block,
		      int count, const void *data, size_t size, int actual,
		      errcode_t error)
{
	struct side *side = channel->app_data;
	struct event *event = &side->events[side->count++];

	assert_true(side->count < MOST_EVENTS);
	memset(event, 0, sizeof(*event));
	event->write = is_write;
	event->data = data != NULL;
	event->block = block;
	event->count = count;
	event->size = size;
	event->actual = actual;
	event->error = error;
	if (data)
		event->sum = sum_of(data, size);
	return ignore_errors ? 0 : error ? error : 4711;
}

static errcode_t note_read(io_channel channel, unsigned long block, int count,
			   void *data, size_t size, int actual,
			   errcode_t error)
{
	errcode_t answer = note(channel, false, block, count, data, size,
				actual, error);

	/* The buffer as the callback left it is the result of the read. */
	if (!answer)
		memset(data, 0x77, size);
	return answer;
}

static errcode_t note_write(io_channel channel, unsigned long block,
			    int count, const void *data, size_t size,
			    int actual, errcode_t error)
{
	static char buf[65536];
	errcode_t answer = note(channel, true, block, count, data, size,
				actual, error);

	if (use_in_callback && count == 1) {
		struct side *side = channel->app_data;

		error = io_channel_read_blk64(channel, block, 1, buf);
		side->events[side->count - 1].sum ^= (uint32_t)error;
	}
	return answer;
}

static void make_pattern(const char *path)
{
	static char buf[FILE_SIZE];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	size_t i;

	assert_true(fd >= 0);
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (char)(i >> 9);
	assert_int_equal(write(fd, buf, sizeof(buf)), sizeof(buf));
	close(fd);
}

static void set_handlers(struct side *side, bool on)
{
	side->channel->read_error = on ? note_read : NULL;
	side->channel->write_error = on ? note_write : NULL;
}

static void open_side(struct side *side, io_manager manager, const char *path)
{
	int fd;

	make_pattern(path);
	assert_int_equal(manager->open(path, IO_FLAG_RW, &side->channel), 0);
	side->channel->app_data = side;
	set_handlers(side, true);
	fd = open(path, O_RDONLY);
	side->map = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(side->map, MAP_FAILED);
	close(fd);
}

static void open_pair(void)
{
	memset(&bad, 0, sizeof(bad));
	memset(&pair, 0, sizeof(pair));
	ignore_errors = use_in_callback = false;
	open_side(&pair.a, unix_io_manager, path_a);
	open_side(&pair.b, e2pf_mmap_io_manager, path_b);
	assert_true(e2pf_mmap_io_is_mapped(pair.b.channel));
}

static void assert_same_maps(void)
{
	struct stat a, b;

	assert_int_equal(stat(path_a, &a), 0);
	assert_int_equal(stat(path_b, &b), 0);
	assert_int_equal(a.st_size, b.st_size);
	assert_memory_equal(pair.a.map, pair.b.map, FILE_SIZE);
}

static void assert_same(errcode_t a, errcode_t b)
{
	assert_int_equal(a, b);
	assert_int_equal(pair.a.count, pair.b.count);
	assert_memory_equal(pair.a.events, pair.b.events,
			    pair.a.count * sizeof(struct event));
	assert_memory_equal(pair.a.buf, pair.b.buf, MOST_BYTES);
	assert_same_maps();
	pair.a.count = pair.b.count = 0;
}

static void assert_same_state(void)
{
	io_stats a, b;

	assert_int_equal(pair.a.channel->block_size,
			 pair.b.channel->block_size);
	pair.a.channel->manager->get_stats(pair.a.channel, &a);
	pair.b.channel->manager->get_stats(pair.b.channel, &b);
	assert_int_equal(b->num_fields, a->num_fields);
	assert_int_equal(b->bytes_read, a->bytes_read);
	assert_int_equal(b->bytes_written, a->bytes_written);
	/* Hits and misses of the cache. */
	if (a->num_fields == 4)
		assert_memory_equal(a + 1, b + 1,
				    2 * sizeof(unsigned long long));
}

#define BOTH(call, ...) do { \
	errcode_t of_a = call(pair.a.channel, __VA_ARGS__); \
	errcode_t of_b = call(pair.b.channel, __VA_ARGS__); \
	assert_same(of_a, of_b); \
	} while (0)

static errcode_t close_pair(void)
{
	errcode_t a = io_channel_close(pair.a.channel);
	errcode_t b = io_channel_close(pair.b.channel);

	assert_same(a, b);
	munmap((void *)(uintptr_t)pair.a.map, FILE_SIZE);
	munmap((void *)(uintptr_t)pair.b.map, FILE_SIZE);
	return a;
}

static errcode_t one_read(unsigned long long block, int count)
{
	errcode_t a, b;

	memset(pair.a.buf, 0x5a, MOST_BYTES);
	memset(pair.b.buf, 0x5a, MOST_BYTES);
	a = io_channel_read_blk64(pair.a.channel, block, count, pair.a.buf);
	b = io_channel_read_blk64(pair.b.channel, block, count, pair.b.buf);
	assert_same(a, b);
	return a;
}

/* Each write has different data. */
static errcode_t one_write(unsigned long long block, int count)
{
	uint32_t stamp = htole32(++pair.stamp);
	errcode_t a, b;
	size_t i;

	for (i = 0; i < MOST_BYTES; i += 512)
		memcpy(pair.a.buf + i, &stamp, sizeof(stamp));
	memcpy(pair.b.buf, pair.a.buf, MOST_BYTES);
	a = io_channel_write_blk64(pair.a.channel, block, count, pair.a.buf);
	b = io_channel_write_blk64(pair.b.channel, block, count, pair.b.buf);
	assert_same(a, b);
	return a;
}

static void set_writethrough(bool on)
{
	int flag = on ? CHANNEL_FLAGS_WRITETHROUGH : 0;

	pair.a.channel->flags &= ~CHANNEL_FLAGS_WRITETHROUGH;
	pair.a.channel->flags |= flag;
	pair.b.channel->flags &= ~CHANNEL_FLAGS_WRITETHROUGH;
	pair.b.channel->flags |= flag;
}

/* Most blocks are near the previous one; otherwise there would be no cache
 * hits. */
static unsigned long long pick_block(void)
{
	uint32_t blocks = FILE_SIZE / (uint32_t)pair.a.channel->block_size;

	if (pick(40) == 0)
		pair.near = pick(3) ? pick(blocks) : blocks - 6;
	return pair.near + pick(14);
}

static int pick_count(void)
{
	static const int counts[] = { 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 8, 0, -1,
				      -700, -1024, -4096 };

	/* Half of them are of one block: these keep the cache's contents. */
	return pick(2) ? 1 : counts[pick(sizeof(counts) / sizeof(counts[0]))];
}

/* Either a few nearby blocks cannot be written, or all can. */
static void pick_bad_writes(void)
{
	int size = pair.a.channel->block_size;

	bad.from = (int64_t)(pair.near + pick(14)) * size;
	bad.to = bad.from + (int64_t)(1 + pick(5)) * size;
	bad.writes = pick(3) > 0;
}

/* Whole pages, because a page that was read is cached with all of its
 * blocks. */
static void pick_bad_reads(void)
{
	int page = (int)sysconf(_SC_PAGESIZE);

	bad.from = (int64_t)pick(6) * page;
	bad.to = bad.from + page;
	bad.writes = pick(2);
	bad.reads = true;
}

static void one_option(uint32_t what)
{
	const char *offset = pick(2) ? "offset=0" : "offset=1536";
	int size = 1024 << pick(3);

	if (what < 2)
		BOTH(io_channel_set_blksize, size);
	else if (what < 5)
		BOTH(io_channel_set_options, what & 1 ? "cache=on" :
							"cache=off");
	else if (what == 5 && pick(10) == 0)
		BOTH(io_channel_set_options, offset);
	else
		set_writethrough(pick(3) == 0);
}

static void one_operation(bool writes)
{
	unsigned long long block = pick_block();
	int count = pick_count();
	uint32_t what = pick(200);
	bool handlers = pick(5) > 0;

	ignore_errors = pick(4) == 0;
	use_in_callback = pick(4) == 0;
	set_handlers(&pair.a, handlers);
	set_handlers(&pair.b, handlers);
	if (what < 8)
		one_option(what);
	else if (what < 12)
		assert_same(io_channel_flush(pair.a.channel),
			    io_channel_flush(pair.b.channel));
	else if (!writes || what < 102)
		one_read(block, count);
	else if (what < 196)
		one_write(block, count);
	else if (what < 198)
		BOTH(io_channel_write_byte, block * 1024 + 100, 8, "abcdefg");
	else
		BOTH(io_channel_zeroout, block, 2);
	assert_same_state();
}

/* Returns how often something failed. */
static unsigned run_channel(bool bad_writes, bool bad_reads)
{
	uint32_t i, reads = pick(OPERATIONS), writes = pick(OPERATIONS);

	open_pair();
	if (bad_reads)
		pick_bad_reads();
	for (i = 0; i < reads + writes; i++) {
		if (bad_writes && pick(30) == 0)
			pick_bad_writes();
		one_operation(i >= reads);
	}
	close_pair();
	return bad.met;
}

static void run(bool bad_writes, bool bad_reads)
{
	uint32_t seed;
	int i;

	for (seed = 1; seed <= SEEDS; seed++) {
		unsigned met = 0;

		pick_from(seed);
		for (i = 0; i < CHANNELS; i++)
			met += run_channel(bad_writes, bad_reads);
		assert_true(met > 20 || (!bad_writes && !bad_reads));
	}
}

static void test_random_operations(void **unused)
{
	(void)unused;
	run(false, false);
}

static void test_with_bad_writes(void **unused)
{
	(void)unused;
	run(true, false);
}

static void test_with_bad_reads(void **unused)
{
	(void)unused;
	run(false, true);
}

/* A flush writes blocks in the order of their cache entries, and which entries
 * were free for them depends on earlier reads. */
static void test_order_of_a_flush(void **unused)
{
	static const unsigned long long reads[] = {
		0, 1, 2, 3, 4, 5, 6, 7, 2, 0, 1
	};
	size_t i;

	(void)unused;
	open_pair();
	bad.to = FILE_SIZE;
	for (i = 0; i < sizeof(reads) / sizeof(reads[0]); i++)
		assert_int_equal(one_read(reads[i], 1), 0);
	for (i = 20; i < 28; i++)
		assert_int_equal(one_write(i, 1), 0);
	bad.writes = true;
	assert_int_equal(io_channel_flush(pair.b.channel), EIO);
	assert_int_equal(pair.b.count, 8);
	assert_int_equal(pair.b.events[0].block, 26);
	assert_int_equal(pair.b.events[1].block, 27);
	assert_int_equal(pair.b.events[2].block, 25);
	assert_int_equal(pair.b.events[3].block, 20);
	assert_same(io_channel_flush(pair.a.channel), EIO);
	close_pair();
}

/* Compared with what the source of the unix manager says, because both managers
 * might be wrong in the same way. */
static void test_what_the_write_error_callback_is_told(void **unused)
{
	unsigned block;

	(void)unused;
	open_pair();
	bad.to = 1024;
	bad.writes = true;
	for (block = 0; block < 8; block++)
		assert_int_equal(one_write(block, 1), 0);
	/* There is no room for the ninth: block 0 is reported, and lost. */
	assert_int_equal(io_channel_write_blk64(pair.b.channel, 8, 1,
						pair.b.buf), 0);
	assert_int_equal(pair.b.count, 1);
	assert_int_equal(pair.b.events[0].block, 0);
	assert_int_equal(pair.b.events[0].count, 1);
	assert_int_equal(pair.b.events[0].actual, -1);
	assert_int_equal(pair.b.events[0].error, 0);
	assert_int_equal(io_channel_write_blk64(pair.a.channel, 8, 1,
						pair.a.buf), 0);
	assert_same(0, 0);
	assert_int_equal(pair.b.map[8 * 1024], 16);
	/* The same when the channel is closed. */
	assert_int_equal(one_write(0, 1), 0);
	assert_int_equal(close_pair(), EIO);
}

static errcode_t (*unix_read)(io_channel channel, unsigned long long block,
			      int count, void *buf);

/* Reads that do not change the cache, as another libext2fs might make. */
static errcode_t read_uncached(io_channel channel, unsigned long long block,
			       int count, void *buf)
{
	return unix_read(channel, block, -count * channel->block_size, buf);
}

static void test_unknown_cache(void **unused)
{
	const io_manager before = unix_io_manager;
	struct struct_io_manager other = *unix_io_manager;

	(void)unused;
	assert_true(e2pf_unix_cache_is_known());
	unix_read = other.read_blk64;
	other.read_blk64 = read_uncached;
	unix_io_manager = &other;
	assert_false(e2pf_unix_cache_is_known());
	unix_io_manager = before;
}

/* A clean block is in the cache, and its blocks on the device are written
 * without going through the cache.  Whether a read then returns the old or the
 * new data must be as with libext2fs's own manager. */
static void test_clean_block_written_past_the_cache(void **unused)
{
	(void)unused;
	open_pair();
	assert_int_equal(one_read(3, 1), 0);
	assert_int_equal(one_write(0, 8), 0);
	assert_int_equal(one_read(3, 1), 0);
	assert_int_equal(close_pair(), 0);
}

/* If a program ends without closing the channel, its cached writes are lost. */
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

		make_pattern(paths[i]);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_operations),
		cmocka_unit_test(test_with_bad_writes),
		cmocka_unit_test(test_with_bad_reads),
		cmocka_unit_test(test_order_of_a_flush),
		cmocka_unit_test(test_what_the_write_error_callback_is_told),
		cmocka_unit_test(test_unknown_cache),
		cmocka_unit_test(test_clean_block_written_past_the_cache),
		cmocka_unit_test(test_abandoned_channel),
	};

	if (!e2pf_unix_cache_is_known()) {
		puts("1..0 # SKIP not with this libext2fs");
		return 0;
	}
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
