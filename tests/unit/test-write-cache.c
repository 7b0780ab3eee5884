/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The write-back cache, by itself and in the mmap manager, beside the real
 * unix manager: the same operations, and after each the same results, data,
 * callbacks and statistics, and the same bytes in the two files.
 *
 * This program's pwrite(), pread(), write() and read() stand in front of
 * the C library's for the shared libext2fs too, and fail for a part of the
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
#include <unistd.h>

#include <cmocka.h>

#include "e2prefetch.h"
#include "libext2fs/write_cache.h"
#include "two-files.h"

#define FILE_SIZE (256 * 1024 + 700)	/* the last block is a short one */
#define MOST_BYTES (8 * 4096)
#define MOST_EVENTS 64
#define SEEDS 8
#define OPERATIONS 3000

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

/* Some callers go by the name without 64, some by that with it. */
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

/* The cache and nothing else, as a manager */

struct bare {
	struct e2pf_write_cache cache;
	struct struct_io_stats stats;
	int fd;
};

static size_t bytes(const io_channel channel, int count)
{
	return count < 0 ? (size_t)-count :
			   (size_t)count * (size_t)channel->block_size;
}

static off_t place(const io_channel channel, unsigned long long block)
{
	return (off_t)block * channel->block_size;
}

static errcode_t bare_pread(io_channel channel, unsigned long long block,
			    int count, void *buf)
{
	struct bare *bare = channel->private_data;
	size_t size = bytes(channel, count);
	ssize_t got = pread(bare->fd, buf, size, place(channel, block));
	errcode_t error = got < 0 ? errno : EXT2_ET_SHORT_READ;

	bare->stats.bytes_read += size;
	if (got == (ssize_t)size)
		return 0;
	if (got < 0)
		got = 0;
	memset((char *)buf + got, 0, size - (size_t)got);
	if (channel->read_error)
		error = channel->read_error(channel, block, count, buf, size,
					    (int)got, error);
	return error;
}

static errcode_t bare_pwrite(io_channel channel, unsigned long long block,
			     int count, const void *buf, bool may_tell)
{
	struct bare *bare = channel->private_data;
	size_t size = bytes(channel, count);
	ssize_t put = pwrite(bare->fd, buf, size, place(channel, block));
	errcode_t error = put < 0 ? errno : EXT2_ET_SHORT_WRITE;

	bare->stats.bytes_written += size;
	if (put == (ssize_t)size)
		return 0;
	if (may_tell && channel->write_error)
		error = channel->write_error(channel, block, count, buf, size,
					     (int)put, error);
	return error;
}

static const struct e2pf_cache_io bare_io = { bare_pread, bare_pwrite };

static errcode_t bare_read_blk64(io_channel channel, unsigned long long block,
				 int count, void *buf)
{
	struct bare *bare = channel->private_data;

	return e2pf_cache_read(&bare->cache, channel, block, count, buf);
}

static errcode_t bare_write_blk64(io_channel channel,
				  unsigned long long block, int count,
				  const void *buf)
{
	struct bare *bare = channel->private_data;

	return e2pf_cache_write(&bare->cache, channel, block, count, buf);
}

static errcode_t bare_flush(io_channel channel)
{
	struct bare *bare = channel->private_data;

	return e2pf_cache_flush(&bare->cache, channel, false);
}

static errcode_t bare_write_byte(io_channel channel, unsigned long offset,
				 int count, const void *buf)
{
	struct bare *bare = channel->private_data;
	errcode_t error = e2pf_cache_flush(&bare->cache, channel, true);

	if (error)
		return error;
	return pwrite(bare->fd, buf, (size_t)count, (off_t)offset) == count ?
	       0 : errno;
}

static errcode_t bare_set_blksize(io_channel channel, int size)
{
	struct bare *bare = channel->private_data;

	return e2pf_cache_set_block_size(&bare->cache, channel, size);
}

static errcode_t bare_set_option(io_channel channel, const char *option,
				 const char *arg)
{
	struct bare *bare = channel->private_data;

	assert_string_equal(option, "cache");
	return e2pf_cache_set_off(&bare->cache, channel, !strcmp(arg, "off"));
}

static errcode_t bare_get_stats(io_channel channel, io_stats *stats)
{
	struct bare *bare = channel->private_data;

	*stats = &bare->stats;
	return 0;
}

static errcode_t bare_close(io_channel channel)
{
	struct bare *bare = channel->private_data;
	errcode_t error = e2pf_cache_flush(&bare->cache, channel, false);

	e2pf_cache_free(&bare->cache);
	close(bare->fd);
	free(bare);
	free(channel);
	return error;
}

/* As libext2fs's manager does here, which ours has found out. */
static bool drops_clean;

static errcode_t bare_open(const char *name, int flags, io_channel *channel);

static struct struct_io_manager bare_manager = {
	.magic		= EXT2_ET_MAGIC_IO_MANAGER,
	.name		= "cache alone",
	.open		= bare_open,
	.close		= bare_close,
	.set_blksize	= bare_set_blksize,
	.flush		= bare_flush,
	.write_byte	= bare_write_byte,
	.set_option	= bare_set_option,
	.get_stats	= bare_get_stats,
	.read_blk64	= bare_read_blk64,
	.write_blk64	= bare_write_blk64,
};

static errcode_t bare_open(const char *name, int flags, io_channel *out)
{
	io_channel channel = calloc(1, sizeof(*channel));
	struct bare *bare = calloc(1, sizeof(*bare));

	(void)flags;
	assert_non_null(channel);
	assert_non_null(bare);
	channel->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	channel->manager = &bare_manager;
	channel->block_size = 1024;
	channel->refcount = 1;
	channel->private_data = bare;
	bare->stats.num_fields = drops_clean ? 4 : 2;
	bare->fd = open(name, O_RDWR);
	assert_true(bare->fd >= 0);
	*out = channel;
	if (e2pf_cache_init(&bare->cache, channel, &bare_io, true))
		return EXT2_ET_NO_MEMORY;
	bare->cache.drops_clean = drops_clean;
	return 0;
}

/* Two channels driven in step: a by the unix manager, b by the other */

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
	uint32_t stamp;		/* no two writes are of the same, their
				   first bytes neither */
	bool always_new;
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

	/* What the callback leaves is what was read. */
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

static void open_pair(io_manager manager)
{
	memset(&bad, 0, sizeof(bad));
	memset(&pair, 0, sizeof(pair));
	ignore_errors = use_in_callback = false;
	open_side(&pair.a, unix_io_manager, path_a);
	open_side(&pair.b, manager, path_b);
	assert_int_equal(e2pf_mmap_io_is_mapped(pair.b.channel),
			 manager == e2pf_mmap_io_manager);
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

/* Some write what is there, all of it or in part. */
static errcode_t one_write(unsigned long long block, int count)
{
	uint32_t stamp = htole32(++pair.stamp);
	errcode_t a, b;
	size_t i;

	if (!pair.always_new && pick(3) == 0)
		one_read(block, count);
	for (i = 0; i < MOST_BYTES; i += 512)
		if (pair.always_new || pick(4) == 0)
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

/* Most near the last one, or the cache would never have anything. */
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

	/* Half of one block: those keep what the cache has. */
	return pick(2) ? 1 : counts[pick(sizeof(counts) / sizeof(counts[0]))];
}

/* A few blocks near by cannot be written, or nothing is wrong. */
static void pick_bad(bool reads)
{
	int size = pair.a.channel->block_size;

	bad.from = (int64_t)(pair.near + pick(14)) * size;
	bad.to = bad.from + (int64_t)(1 + pick(5)) * size;
	bad.writes = pick(3) > 0;
	bad.reads = reads && pick(3) == 0;
}

static void one_option(uint32_t what)
{
	int size = 1024 << pick(3);

	if (what < 2)
		BOTH(io_channel_set_blksize, size);
	else if (what < 5)
		BOTH(io_channel_set_options, what & 1 ? "cache=on" :
							"cache=off");
	else
		set_writethrough(pick(3) == 0);
}

static void one_operation(bool zeroes)
{
	unsigned long long block = pick_block();
	int count = pick_count();
	uint32_t what = pick(200);
	bool handlers = pick(5) > 0;

	ignore_errors = pick(4) == 0;
	use_in_callback = pick(4) == 0;
	set_handlers(&pair.a, handlers);
	set_handlers(&pair.b, handlers);
	if (what < 90)
		one_read(block, count);
	else if (what < 184)
		one_write(block, count);
	else if (what < 188)
		assert_same(io_channel_flush(pair.a.channel),
			    io_channel_flush(pair.b.channel));
	else if (what < 190)
		BOTH(io_channel_write_byte, block * 1024 + 100, 8, "abcdefg");
	else if (what < 192 && zeroes)
		BOTH(io_channel_zeroout, block, 2);
	else if (what >= 192)
		one_option(what - 192);
}

/*
 * Where writes fail each writes something new: of what would not change the
 * mmap manager does not notice that it could not have been written.
 */
static void run(uint32_t seed, io_manager manager, bool errors)
{
	bool alone = manager == &bare_manager;
	int i;

	pick_from(seed);
	open_pair(manager);
	pair.always_new = errors;
	for (i = 0; i < OPERATIONS; i++) {
		if (errors && pick(30) == 0)
			pick_bad(alone);
		one_operation(!alone);
		assert_same_state();
	}
	if (errors)
		assert_true(bad.met > 100);
	close_pair();
}

static void test_alone(void **unused)
{
	uint32_t seed;

	(void)unused;
	for (seed = 1; seed <= SEEDS; seed++)
		run(seed, &bare_manager, false);
}

static void test_alone_with_errors(void **unused)
{
	uint32_t seed;

	(void)unused;
	for (seed = 1; seed <= SEEDS; seed++)
		run(seed, &bare_manager, true);
}

static void test_mapped(void **unused)
{
	uint32_t seed;

	(void)unused;
	for (seed = 1; seed <= SEEDS; seed++)
		run(seed, e2pf_mmap_io_manager, false);
}

static void test_mapped_with_errors(void **unused)
{
	uint32_t seed;

	(void)unused;
	for (seed = 1; seed <= SEEDS; seed++)
		run(seed, e2pf_mmap_io_manager, true);
}

/* The parts of a read around a cached block: the first is kept when the
 * second fails. */
static void test_read_that_fails_behind_a_cached_block(void **unused)
{
	static io_manager managers[2];
	uint32_t last = FILE_SIZE / 1024 - 1;
	int i;

	(void)unused;
	managers[0] = &bare_manager;
	managers[1] = e2pf_mmap_io_manager;
	for (i = 0; i < 2; i++) {
		open_pair(managers[i]);
		assert_int_equal(one_read(last, 1), 0);
		assert_int_equal(one_read(last - 1, 4), EXT2_ET_SHORT_READ);
		assert_same_state();
		assert_int_equal(one_read(last - 1, 1), 0);
		assert_same_state();
		close_pair();
	}
}

/* What the unix manager's source says, so that not only two are compared
 * that might be wrong in the same way. */
static void test_what_the_write_error_callback_is_told(void **unused)
{
	unsigned block;

	(void)unused;
	open_pair(e2pf_mmap_io_manager);
	pair.always_new = true;
	bad.to = 1024;
	bad.writes = true;
	for (block = 0; block < 8; block++)
		assert_int_equal(one_write(block, 1), 0);
	/* No room for the ninth: told 0, and lost. */
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
	/* And at the end. */
	assert_int_equal(one_write(0, 1), 0);
	assert_int_equal(close_pair(), EIO);
}

/* A clean block, and a write past the cache of what it was read from: what is
 * read then is the old or the new, as libext2fs's own manager has it. */
static void test_clean_block_written_past_the_cache(void **unused)
{
	static char old[1024], new[8 * 1024], of_a[1024], of_b[1024];

	(void)unused;
	open_pair(e2pf_mmap_io_manager);
	memset(new, 0x5a, sizeof(new));
	assert_int_equal(io_channel_read_blk64(pair.a.channel, 3, 1, old), 0);
	assert_int_equal(io_channel_read_blk64(pair.b.channel, 3, 1, old), 0);
	assert_int_equal(io_channel_write_blk64(pair.a.channel, 0, 8, new), 0);
	assert_int_equal(io_channel_write_blk64(pair.b.channel, 0, 8, new), 0);
	assert_int_equal(io_channel_read_blk64(pair.a.channel, 3, 1, of_a), 0);
	assert_int_equal(io_channel_read_blk64(pair.b.channel, 3, 1, of_b), 0);
	assert_memory_equal(of_a, drops_clean ? new : old, 1024);
	assert_memory_equal(of_b, of_a, 1024);
	assert_int_equal(close_pair(), 0);
}

/* False where libext2fs's manager is one ours does not know. */
static bool find_kind(void)
{
	char name[] = "/tmp/e2pf-cache-XXXXXX";
	int fd = mkstemp(name);
	io_channel channel;
	io_stats stats;
	bool known;

	if (fd < 0 || ftruncate(fd, 65536) ||
	    e2pf_mmap_io_manager->open(name, 0, &channel) ||
	    channel->manager->get_stats(channel, &stats))
		abort();
	known = e2pf_mmap_io_is_mapped(channel);
	drops_clean = stats->num_fields == 4;
	io_channel_close(channel);
	close(fd);
	unlink(name);
	return known;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_alone_with_errors),
		cmocka_unit_test(test_mapped),
		cmocka_unit_test(test_mapped_with_errors),
		cmocka_unit_test(test_read_that_fails_behind_a_cached_block),
		cmocka_unit_test(test_what_the_write_error_callback_is_told),
		cmocka_unit_test(test_clean_block_written_past_the_cache),
	};

	if (!find_kind()) {
		puts("1..0 # SKIP not with this libext2fs");
		return 0;
	}
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
