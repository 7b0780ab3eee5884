/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A channel of the unix manager that is observed: what it reads, what is reported
 * to the engine, and which reads are made again.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sys/uio.h>

#include "unit.h"
#include "engine-rig.h"
#include "lib/io_table.h"
#include "e2fsck/observe.h"

#define FILE_BLOCKS 100

static struct rig r[1];
static char path[64];
static io_channel io;

/* Each manager that was ever watched occupies a table entry until the process
 * ends, so the tests share one. */
static struct struct_io_manager manager;

static unsigned errors_called;
static unsigned long error_block;

static errcode_t on_error(io_channel channel, unsigned long block, int count,
			  void *data, size_t size, int actual, errcode_t error)
{
	(void)channel, (void)count, (void)data, (void)size, (void)actual;
	errors_called++;
	error_block = block;
	return error;
}

/* By how much slow reads move the clock. */
static uint64_t takes;

FIXTURE(set_up)
{
	unsigned char block[BS];
	int fd, i;

	strcpy(path, "/tmp/test-observe-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	for (i = 0; i < FILE_BLOCKS; i++) {
		memset(block, i + 1, BS);
		assert_int_equal(write(fd, block, BS), BS);
	}
	close(fd);
	rig_set_up(r, 2, 1);
	rig_new(r);
	assert_int_equal(unix_io_manager->open(path, IO_FLAG_RW, &io), 0);
	io_channel_set_blksize(io, BS);
	io->read_error = on_error;
	errors_called = 0;
	manager = *unix_io_manager;
	io->manager = &manager;
	takes = 0;
	return 0;
}

FIXTURE(tear_down)
{
	e2fsck_unobserve(r->e);
	if (io)
		io->manager = unix_io_manager;
	if (io)
		io_channel_close(io);
	rig_tear_down(r);
	unlink(path);
	return 0;
}

#define OBSERVER_TEST(name) TEST_WITH(name, set_up, tear_down)

/* The manager with the operations that the test has given it. */
static void observe(void)
{
	assert_true(e2fsck_observe(io, r->e));
}

static errcode_t slow_read64(io_channel channel, unsigned long long block,
			     int count, void *data)
{
	fake_advance(&r->dev, takes);
	return unix_io_manager->read_blk64(channel, block, count, data);
}

static errcode_t slow_read(io_channel channel, unsigned long block, int count,
			   void *data)
{
	fake_advance(&r->dev, takes);
	return unix_io_manager->read_blk(channel, block, count, data);
}

/* The longest time for which a read of this length counts as a cache hit. */
static uint64_t limit(unsigned kib)
{
	return 30000 + 500 * kib;
}

/* Whether these are so many bytes of the file from this block on, and no more. */
static bool are_bytes_of(const char *buf, unsigned block, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes && buf[i] == (char)(block + i / BS + 1); i++)
		;
	return i == bytes && !buf[bytes];
}

OBSERVER_TEST(hits_and_misses)
{
	static const struct {
		int count;
		bool wide;
		unsigned kib;
	} kinds[] = {
		{ 1, true, 1 }, { 4, true, 4 }, { 5, false, 5 },
		{ -1000, false, 0 }, { -1025, true, 1 }, { -4096, false, 4 },
	};
	enum { N = COUNT(kinds) };
	struct pf_engine_stats st;
	unsigned i, j;

	manager.read_blk64 = slow_read64;
	manager.read_blk = slow_read;
	observe();
	for (i = 0; i < N; i++)
		for (j = 0; j < 2; j++) {
			char buf[8 * BS] = { 0 };
			int n = kinds[i].count;

			takes = limit(kinds[i].kib) + j;
			assert_int_equal(kinds[i].wide ?
				io_channel_read_blk64(io, 10 + i, n, buf) :
				io_channel_read_blk(io, 10 + i, n, buf),
				0);
			assert_true(are_bytes_of(buf, 10 + i, n < 0 ?
						 (size_t)-n : (size_t)n * BS));
			st = rig_stats(r);
			assert_int_equal(st.stage[EXT4_OPEN].reads,
					 2 * i + j + 1);
			assert_int_equal(st.stage[EXT4_OPEN].stalls,
					 i + j);
		}
	assert_int_equal(st.stage[EXT4_OPEN].reads, 2 * N);
	assert_int_equal(st.stage[EXT4_OPEN].stall_ns,
			 6 * 30001 + 500 * (1 + 4 + 5 + 0 + 1 + 4));
	assert_int_equal(st.checker_bytes,
			 2 * (10 * BS + 1000 + 1025 + 4096));
}

static uint64_t reads_heard(void)
{
	return rig_stats(r).stage[EXT4_OPEN].reads;
}

/* The manager's own table is never changed, and the channel goes on with it
 * when nobody observes it, or when it was closed before. */
OBSERVER_TEST(unobserved_again)
{
	struct struct_io_manager before = manager;
	io_channel other;
	char buf[BS];

	observe();
	assert_memory_equal(&manager, &before, sizeof(before));
	/* Another channel is not observed, and cannot be; nor can one of another
	 * manager later. */
	assert_int_equal(unix_io_manager->open(path, 0, &other), 0);
	other->manager = &manager;
	assert_false(e2fsck_observe(other, r->e));
	assert_ptr_equal(other->manager, &manager);
	e2fsck_unobserve((struct pf_engine *)&manager);
	assert_int_equal(io_channel_read_blk64(io, 20, 1, buf), 0);
	assert_int_equal(reads_heard(), 1);
	e2fsck_unobserve(r->e);
	other->manager = unix_io_manager;
	assert_false(e2fsck_observe(other, r->e));
	assert_ptr_equal(other->manager, unix_io_manager);
	io_channel_close(other);
	assert_int_equal(io_channel_read_blk64(io, 20, 1, buf), 0);
	assert_int_equal(buf[0], 21);
	assert_int_equal(io_channel_read_blk(io, 21, 1, buf), 0);
	assert_int_equal(buf[0], 22);
	assert_int_equal(io_channel_cache_readahead(io, 0, 1), 0);
	assert_int_equal(reads_heard(), 1);
	/* Observed once more. */
	observe();
	assert_int_equal(io_channel_read_blk64(io, 20, 1, buf), 0);
	assert_int_equal(reads_heard(), 2);
	assert_int_equal(io_channel_close(io), 0);
	io = NULL;
	e2fsck_unobserve(r->e);
	e2fsck_unobserve(r->e);
}

/*
 * A library whose table has one more operation, after flush, as in Lustre's
 * e2fsprogs: it finds the later operations one slot further on.
 */

static bool foreign;

typedef errcode_t read64_fn(io_channel channel, unsigned long long block,
			    int count, void *data);
read64_fn __real_io_channel_read_blk64, __wrap_io_channel_read_blk64;

errcode_t __wrap_io_channel_read_blk64(io_channel channel,
				       unsigned long long block, int count,
				       void *data)
{
	read64_fn *next;

	if (!foreign)
		return __real_io_channel_read_blk64(channel, block, count,
						    data);
	memcpy(&next, &channel->manager->read_blk64 + 1, sizeof(next));
	return next ? next(channel, block, count, data) :
		      EXT2_ET_IO_CHANNEL_NO_SUPPORT_64;
}

OBSERVER_TEST(another_table)
{
	assert_true(e2pf_io_table_is_ours());
	foreign = true;
	assert_false(e2pf_io_table_is_ours());
	assert_false(e2fsck_observe(io, r->e));
	assert_ptr_equal(io->manager, &manager);
	foreign = false;
}

static unsigned readaheads;

static errcode_t count_readahead(io_channel channel, unsigned long long block,
				 unsigned long long count)
{
	(void)channel, (void)block, (void)count;
	readaheads++;
	return 4711;
}

OBSERVER_TEST(readahead_absorbed)
{
	manager.cache_readahead = count_readahead;
	readaheads = 0;
	observe();
	assert_int_equal(io_channel_cache_readahead(io, 1, 1), 4711);
	assert_int_equal(readaheads, 1);
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
	assert_true(io_channel_cache_readahead(io, 1, 1) ==
		    EXT2_ET_OP_NOT_SUPPORTED);
	/* With statistics of bitmaps, readahead must appear to succeed, so that
	 * e2fsck goes on making the bitmaps that are counted. */
	setenv("E2FSPROGS_BITMAP_STATS", "1", 1);
	assert_int_equal(io_channel_cache_readahead(io, 1, 1), 0);
	unsetenv("E2FSPROGS_BITMAP_STATS");
	assert_int_equal(readaheads, 1);
	assert_true(pf_engine_stop(r->e, -1));
	assert_int_equal(io_channel_cache_readahead(io, 1, 1), 4711);
	assert_int_equal(readaheads, 2);
}

/* libc's pread64(), or another's, as the interposer finds it: how often it is yet to
 * fail.
 * */
static unsigned failing, made;
static bool is_libcs;
static int left_errno;

static ssize_t fail_pread(int fd, void *to, size_t size, off_t offset)
{
	struct iovec all = { to, size };

	made++;
	if (!failing)
		return preadv(fd, &all, 1, offset);
	failing--;
	errno = EIO;
	return -1;
}

typedef void *dlsym_fn(void *handle, const char *name);
dlsym_fn __real_dlsym, __wrap_dlsym;

void *__wrap_dlsym(void *handle, const char *name)
{
	if (!strcmp(name, "__pread64"))
		return is_libcs ? (void *)fail_pread : NULL;
	return strcmp(name, "pread64") && strcmp(name, "pread") ?
	       __real_dlsym(handle, name) : (void *)fail_pread;
}

/* As unix_io reads, and reports with 32 bits. */
static errcode_t pread_block(io_channel channel, unsigned long long block,
			     int count, void *data)
{
	int file = open(path, O_RDONLY);
	size_t size = (size_t)count * BS;
	ssize_t n = pread64(file, data, size, (off64_t)block * BS);

	left_errno = errno;
	close(file);
	return n == (ssize_t)size ? 0 :
	       channel->read_error(channel, (uint32_t)block, count, data, size, 0,
				   EIO);
}

/* The result of a read whose pread() fails so often, with the bytes of this channel. */
static errcode_t read_failing(unsigned times, uint64_t block)
{
	unsigned char data[BS], is[BS];
	int file = open(path, O_RDONLY);
	errcode_t err;

	failing = times;
	made = 0;
	err = io_channel_read_blk64(io, block, 1, data);
	assert_int_equal(failing, 0);
	if (!err) {
		assert_int_equal(preadv(file, &(struct iovec) { is, BS }, 1,
					(off_t)block * BS), BS);
		assert_memory_equal(data, is, BS);
	}
	close(file);
	return err;
}

/* A block that cannot be read at all. */
static void lose(uint64_t block)
{
	assert_int_equal(truncate(path, (off_t)block * BS), 0);
}

/* An observed channel of blocks read by pread(), whose engine has requested all it
 * may. */
static void observe_reader(bool of_libc)
{
	is_libcs = of_libc;
	manager.read_blk64 = pread_block;
	observe();
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
	fake_threads_settle();
}

/* It is made again, past the page cache, if a page beside it cannot be had, and what
 * cannot be read even then is the program's. */
OBSERVER_TEST(failed_read_is_made_again)
{
	is_libcs = true;
	manager.read_blk64 = pread_block;
	observe();
	fake_set_in_part(&r->dev, 41, 1);
	fake_set_in_part(&r->dev, 51, 1);
	/* Nothing was ever requested. */
	assert_int_equal(read_failing(1, 40), EIO);
	assert_int_equal(errors_called, 1);
	assert_int_equal(pf_engine_start(r->e, &r->options), 0);
	fake_threads_settle();
	assert_int_equal(read_failing(1, 40), 0);
	assert_int_equal(made, 1);
	assert_int_equal(errors_called, 1);
	assert_int_equal(rig_stats(r).slow_or_failed, 1);
	assert_int_equal(rig_stats(r).degraded_at, 40 * BS);
	/* From now on each read is looked at, and the program's errno stays. */
	errno = 4711;
	assert_int_equal(read_failing(0, 70), 0);
	assert_int_equal(errno, 4711);
	assert_int_equal(read_failing(1, 60), EIO);
	assert_int_equal(errors_called, 2);
	lose(50);
	assert_int_equal(read_failing(1, 50), EIO);
	assert_int_equal(errors_called, 3);
	assert_int_equal(error_block, 50);
	/* Nor if nobody observes it any more. */
	e2fsck_unobserve(r->e);
	assert_int_equal(read_failing(1, 40), EIO);
}

/* Another library supplies what is read, and what is read past it is not that. */
OBSERVER_TEST(failed_read_of_another_librarys)
{
	fake_set_in_part(&r->dev, 41, 1);
	observe_reader(false);
	assert_int_equal(read_failing(1, 40), 0);
	assert_int_equal(made, 2);
	assert_int_equal(read_failing(2, 40), EIO);
	assert_int_equal(made, 2);
}

/* A block whose number has more bits than `unsigned long' may have. */
OBSERVER_TEST(failed_read_of_a_high_block)
{
	uint64_t block = (UINT64_C(1) << 32) + 5;

	/* The device of the engine is not so large. */
	r->device->sees_not_uptodate = false;
	observe_reader(true);
	lose(block + 1);
	assert_int_equal(read_failing(1, block), 0);
	assert_int_equal(errors_called, 0);
}

static const struct pf_device_ops *fake_ops;

static uint64_t span_with_errno(struct pf_device *dev, uint64_t offset,
				uint64_t len, enum pf_residency *state)
{
	errno = EAGAIN;
	return fake_ops->span(dev, offset, len, state);
}

/* What is asked meanwhile may fail for other reasons. */
OBSERVER_TEST(errno_of_a_failed_read)
{
	struct pf_device_ops ops;

	observe_reader(true);
	fake_ops = r->device->ops;
	ops = *fake_ops;
	ops.span = span_with_errno;
	r->device->ops = &ops;
	assert_int_equal(read_failing(1, 40), EIO);
	assert_int_equal(left_errno, EIO);
	r->device->ops = fake_ops;
}

static jmp_buf away;

static errcode_t leave(io_channel channel, unsigned long block, int count,
		       void *data, size_t size, int actual, errcode_t error)
{
	(void)channel, (void)block, (void)count, (void)data, (void)size;
	(void)actual, (void)error;
	longjmp(away, 1);
}

/* e2fsck leaves a read by longjmp().  Nothing of it is left: neither is a read of the
 * program made again, nor does the next one count as part of what has failed. */
OBSERVER_TEST(handler_leaves_the_read)
{
	char block[BS], byte;
	volatile int i;

	fake_set_in_part(&r->dev, 41, 1);
	observe_reader(true);
	lose(50);
	io->read_error = leave;
	for (i = 0; i < 3; i++)
		if (!setjmp(away)) {
			failing = 1;
			io_channel_read_blk64(io, 50, 1, block);
			fail();
		}
	io->read_error = on_error;
	made = 0;
	failing = 1;
	e2fsck_unobserve(r->e);
	assert_int_equal(pread64(0, &byte, 1, 0), -1);
	assert_int_equal(made, 1);
}

OBSERVER_TEST(manager_without_operations)
{
	manager.read_blk64 = NULL;
	manager.cache_readahead = NULL;
	observe();
	assert_null(io->manager->read_blk64);
	assert_null(io->manager->cache_readahead);
}

UNIT_MAIN(NULL, NULL)
