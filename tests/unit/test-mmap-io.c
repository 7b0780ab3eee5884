/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The mmap I/O manager: large reads of what is cached are copies from the mapping, and
 * all else, and every error, is the unix manager's, in checks and repairs, whoever
 * handles SIGBUS.  Cases with signals run in a child.  The test stands in for libc's
 * pread64(), and counts it.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "unit.h"
#include "lib/mmap_io.h"

#define SIZE (1024 * 1024 + 700)	/* the last page is short */
#define SECTORS (SIZE / 512 * 512)

static char path[] = "/tmp/test-mmap-io-XXXXXX";
static char image[SIZE], buf[SIZE], plain[SIZE];
static int fd = -1;
static io_channel channel;
static struct struct_io_manager unchanged;	/* the unix manager */
/* A case is a check and a repair, in turn. */
static int flags;

/*
 * The calls of the manager.
 */

static atomic_uint preads;

#ifdef __GLIBC__
ssize_t pread64(int from, void *to, size_t size, off64_t offset)
#else
ssize_t pread(int from, void *to, size_t size, off_t offset)
#endif
{
	struct iovec all = { to, size };

	preads++;
	return preadv(from, &all, 1, offset);
}

/* Values that cannot be seen here otherwise: 0 is an unused entry. */
static int opens_instead;
static bool no_cache;

/* With 32 bits, that of large files has another name. */
#if __WORDSIZE == 32
#define __real_open __real_open64
#define __wrap_open __wrap_open64
#endif
int __real_open(const char *name, int how, ...), __wrap_open(const char *, int, ...);

int __wrap_open(const char *name, int how, ...)
{
	return opens_instead ? dup(opens_instead) : __real_open(name, how, 0600);
}

int __real_mincore(void *, size_t, unsigned char *);
int __wrap_mincore(void *, size_t, unsigned char *);

int __wrap_mincore(void *from, size_t size, unsigned char *in)
{
	int r = __real_mincore(from, size, in);

	if (no_cache)
		memset(in, 0, (size + 4095) / 4096);
	return r;
}

static void write_image(void)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, image, SIZE, 0), SIZE);
	assert_int_equal(fsync(fd), 0);
}

/* An operation that our header does not know yet: 1.48 has its flock in the first
 * reserved member of 1.47. */
static errcode_t tomorrow(io_channel of, unsigned how)
{
	return of == channel && how == 5 ? 4711 : 0;
}

FIXTURE(set_up)
{
	unsigned i, x = 1;

	for (i = 0; i < SIZE; i++) {
		x = x * 1664525u + 1013904223u;
		image[i] = (char)(x >> 24 | 1);
	}
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	write_image();
	unix_io_manager->reserved[0] = (long)tomorrow;
	assert_int_equal(e2mmap_io_manager->open(path, 0, &channel), 0);
	io_channel_close(channel);
	unix_io_manager->reserved[0] = 0;
	unchanged = *unix_io_manager;
	return 0;
}

FIXTURE(tear_down)
{
	close(fd);
	return unlink(path);
}

/* A channel with blocks of a byte.  False if its reads are the unix manager's. */
static bool is_open(const char *name)
{
	assert_int_equal(e2mmap_io_manager->open(name, flags, &channel), 0);
	io_channel_set_blksize(channel, 1);
	return !e2mmap_why_not(channel);
}

/* ... that has read everything: on a device, whole sectors. */
static bool is_mapped(const char *name)
{
	return is_open(name) &&
	       (!io_channel_read_blk64(channel, 0, -SIZE, plain) ||
		!io_channel_read_blk64(channel, 0, -SECTORS, plain)) &&
	       !e2mmap_why_not(channel);
}

/* Ends the test where nothing is mapped. */
static void begin(int how)
{
	bool mapped;

	flags = how;
	write_image();
	mapped = is_mapped(path);
	io_channel_close(channel);
	if (!mapped)
		SKIP("nothing can be mapped here\n");
}

static errcode_t read_at(uint64_t offset, size_t length)
{
	preads = 0;
	return io_channel_read_blk64(channel, offset, -(int)length, buf);
}

/* From the mapping, and right. */
static bool reads(uint64_t offset, size_t length)
{
	return !read_at(offset, length) && !preads &&
	       !memcmp(buf, image + offset, length);
}

/* A read that is not counted.  Returns what pread() does. */
static ssize_t read_file(void *to, size_t length, uint64_t offset)
{
	if (lseek(fd, (off_t)offset, SEEK_SET) < 0)
		return -1;
	return read(fd, to, length);
}

/* By the unix manager, whether there are such bytes or not. */
static bool is_left(uint64_t offset, size_t length)
{
	errcode_t err = read_at(offset, length);
	ssize_t n = read_file(plain, length, offset);

	return preads && (n < (ssize_t)length ? err == EXT2_ET_SHORT_READ :
			  !err && !memcmp(buf, plain, length));
}

#define MAPPED_TESTS(name) \
	static void name(bool repairs); \
	TEST(name##_in_a_check) { begin(0); name(false); } \
	TEST(name##_in_a_repair) { begin(IO_FLAG_RW); name(true); } \
	static void name(__attribute__((unused)) bool repairs)

MAPPED_TESTS(cached)
{
	io_stats stats;

	assert_true(is_mapped(path));
	assert_string_equal(channel->manager->name, "mmap");
	assert_ptr_equal(channel->manager, e2mmap_io_manager);
	assert_true(reads(0, SIZE));
	assert_true(reads(70000, 1));
	assert_true(reads(SIZE - 10, 10));
	assert_false(io_channel_read_blk(channel, 8, -10, buf) || preads);
	assert_memory_equal(buf, image + 8, 10);
	assert_int_equal(channel->manager->get_stats(channel, &stats), 0);
	assert_int_equal(stats->bytes_read, 2 * SIZE + 21);
	/* Beyond its end, and around. */
	assert_true(is_left(SIZE - 10, 11));
	assert_true(is_left(SIZE - 10, 8192));
	assert_true(is_left(SIZE + 5000, 5000));
	assert_int_not_equal(read_at(UINT64_MAX - 5, 10), 0);
	/* Changes show as in pread(). */
	assert_int_equal(pwrite(fd, "changed", 7, 65536), 7);
	assert_int_equal(read_at(65536, 7), 0);
	assert_memory_equal(buf, "changed", 7);
	assert_int_equal(preads, 0);
	assert_int_equal(io_channel_close(channel), 0);
	assert_memory_equal(unix_io_manager, &unchanged, sizeof(unchanged));
}

/* Only what is cached: the unix manager reads the rest. */
MAPPED_TESTS(not_cached)
{
	unsigned char in = 1;
	void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 524288);

	assert_true(is_open(path));
	no_cache = true;
	assert_true(is_left(65536, 100) && is_left(65536, 100));
	no_cache = false;
	assert_true(reads(0, 300000));
	assert_int_equal(posix_fadvise(fd, 524288, 65536, POSIX_FADV_DONTNEED), 0);
	assert_int_equal(__real_mincore(page, 4096, &in), 0);
	munmap(page, 4096);
	if (!(in & 1))
		assert_true(is_left(530000, 10));
	assert_true(reads(530000, 10));
	io_channel_close(channel);
}

/* Up to four blocks are in the unix manager's cache, as without us. */
MAPPED_TESTS(small_reads)
{
	assert_true(is_open(path));
	io_channel_set_blksize(channel, 1024);
	preads = 0;
	assert_int_equal(io_channel_read_blk64(channel, 7, 4, buf), 0);
	assert_int_equal(preads, 1);
	assert_memory_equal(buf, image + 7 * 1024, 4096);
	assert_int_equal(io_channel_read_blk64(channel, 7, 5, buf), 0);
	assert_int_equal(preads, 1);
	assert_memory_equal(buf, image + 7 * 1024, 5120);
	io_channel_close(channel);
}

/* The block size and where the filesystem begins, in any order. */
MAPPED_TESTS(options)
{
	assert_true(is_mapped(path));
	assert_int_equal(io_channel_set_blksize(channel, 4096), 0);
	assert_int_equal(io_channel_set_options(channel, "offset=1030"), 0);
	preads = 0;
	assert_int_equal(io_channel_read_blk64(channel, 3, 6, buf), 0);
	assert_memory_equal(buf, image + 1030 + 3 * 4096, 6 * 4096);
	assert_int_equal(io_channel_set_blksize(channel, 1024), 0);
	assert_int_equal(io_channel_read_blk64(channel, 5, 5, buf), 0);
	assert_memory_equal(buf, image + 1030 + 5 * 1024, 5 * 1024);
	assert_int_equal(preads, 0);
	assert_int_equal(io_channel_set_options(channel, "offset=x"),
			 EXT2_ET_INVALID_ARGUMENT);
	assert_int_equal(io_channel_set_options(channel, "none=1"),
			 EXT2_ET_INVALID_ARGUMENT);
	io_channel_close(channel);
}

TEST(operations_of_tomorrow)
{
	errcode_t (*flock)(io_channel, unsigned);

	begin(0);
	assert_true(is_mapped(path));
	flock = (void *)channel->manager->reserved[0];
	assert_int_equal(flock(channel, 5), 4711);
	io_channel_close(channel);
}

/* What is in the unix manager's cache is not read from the mapping until it is
 * written. */
TEST(repaired)
{
	char block[1024], *other = image + 300 * 1024;

	begin(IO_FLAG_RW);
	assert_true(is_mapped(path));
	io_channel_set_blksize(channel, 1024);
	assert_int_equal(io_channel_write_blk64(channel, 5, 1, other), 0);
	assert_int_equal(read_file(block, 1024, 5 * 1024), 1024);
	assert_memory_equal(block, image + 5 * 1024, 1024);
	/* Stock writes it now. */
	preads = 0;
	assert_int_equal(io_channel_read_blk64(channel, 1, 8, buf), 0);
	assert_memory_equal(buf + 4 * 1024, other, 1024);
	assert_int_equal(preads, 1);
	assert_int_equal(read_file(block, 1024, 5 * 1024), 1024);
	assert_memory_equal(block, other, 1024);
	assert_int_equal(io_channel_read_blk64(channel, 1, 8, buf), 0);
	assert_memory_equal(buf + 4 * 1024, other, 1024);
	assert_int_equal(preads, 1);
	assert_int_equal(io_channel_write_blk(channel, 6, 1, other), 0);
	assert_int_equal(io_channel_flush(channel), 0);
	assert_int_equal(io_channel_read_blk(channel, 1, 8, buf), 0);
	assert_memory_equal(buf + 5 * 1024, other, 1024);
	assert_int_equal(preads, 1);
	assert_int_equal(io_channel_set_blksize(channel, 2048), 0);
	assert_int_equal(io_channel_write_byte(channel, 20000, 3, "abc"), 0);
	assert_int_equal(io_channel_read_blk64(channel, 5, 8, buf), 0);
	assert_memory_equal(buf + 20000 - 5 * 2048, "abc", 3);
	assert_int_equal(preads, 1);
	if (!io_channel_zeroout(channel, 64, 32)) {
		memset(plain, 0, 65536);
		assert_int_equal(io_channel_read_blk64(channel, 64, 32, buf), 0);
		assert_memory_equal(buf, plain, 65536);
	}
	if (!io_channel_discard(channel, 128, 32)) {
		assert_int_equal(io_channel_read_blk64(channel, 128, 32, buf), 0);
		assert_int_equal(read_file(plain, 65536, 128 * 2048), 65536);
		assert_memory_equal(buf, plain, 65536);
	}
	assert_int_equal(io_channel_cache_readahead(channel, 1, 1), 0);
	assert_int_equal(io_channel_close(channel), 0);
}

/* A channel that is not mapped, and says why, reads as the unix manager. */
static bool is_unix(const char *why_not)
{
	bool unix_is;

	is_mapped(path);
	unix_is = e2mmap_why_not(channel) && !strcmp(e2mmap_why_not(channel), why_not) &&
		  is_left(0, SIZE);
	io_channel_close(channel);
	return unix_is;
}

TEST(where_nothing_is_mapped)
{
	struct rlimit before, now, some = { 1u << 30, RLIM_INFINITY };

	begin(0);
	no_cache = true;
	assert_true(is_unix("mappings of this file may be stale"));
	no_cache = false;
	opens_instead = -1;
	assert_true(is_unix("cannot open it a second time"));
	opens_instead = 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	getrlimit(RLIMIT_AS, &before);
	setrlimit(RLIMIT_AS, &some);
	/* qemu-user leaves it unlimited. */
	getrlimit(RLIMIT_AS, &now);
	assert_int_equal(is_unix("address space is limited"),
			 now.rlim_cur != RLIM_INFINITY);
	setrlimit(RLIMIT_AS, &before);
#else
	(void)now;
#endif
	getrlimit(RLIMIT_NOFILE, &before);
	some = before;
	some.rlim_cur = (rlim_t)fd + 10;
	setrlimit(RLIMIT_NOFILE, &some);
	assert_true(is_unix("too few file descriptors left (RLIMIT_NOFILE)"));
	setrlimit(RLIMIT_NOFILE, &before);
	/* Where there is any. */
	if (!e2mmap_io_manager->open(path, IO_FLAG_DIRECT_IO, &channel)) {
		assert_string_equal(e2mmap_why_not(channel), "direct I/O was asked for");
		io_channel_close(channel);
	}
	assert_int_equal(unix_io_manager->open(path, 0, &channel), 0);
	assert_string_equal(e2mmap_why_not(channel), "another I/O manager opened it");
	io_channel_close(channel);
	assert_true(is_mapped(path));
	/* Open twice. */
	io_channel_bumpcount(channel);
	io_channel_close(channel);
	assert_true(reads(0, SIZE));
	io_channel_close(channel);
	assert_int_not_equal(e2mmap_io_manager->open("/none", 0, &channel), 0);
}

/* Another file has this name by then. */
TEST(another_file)
{
	begin(0);
	opens_instead = __real_open(".", O_TMPFILE | O_RDWR, 0600);
	assert_int_equal(write(opens_instead, image + 7, SIZE - 7), SIZE - 7);
	assert_true(is_unix("cannot open it a second time"));
	close(opens_instead);
	opens_instead = 0;
}

/* The page tables are emptied from time to time, and it may be impossible to map
 * again. */
static void look_often(void)
{
	int i;

	no_cache = true;
	for (i = 0; i < 1500 && !e2mmap_why_not(channel); i++)
		assert_true(is_left(900000, 4));
	no_cache = false;
}

TEST(begun_again)
{
	struct rlimit before, none = { 0, RLIM_INFINITY };

	begin(0);
	assert_true(is_open(path));
	look_often();
	assert_true(reads(0, SIZE));
	io_channel_close(channel);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(is_open(path));
	getrlimit(RLIMIT_AS, &before);
	setrlimit(RLIMIT_AS, &none);
	look_often();
	setrlimit(RLIMIT_AS, &before);
	if (e2mmap_why_not(channel))	/* qemu-user leaves it unlimited */
		assert_true(is_left(0, SIZE));
	io_channel_close(channel);
#else
	(void)before, (void)none;
#endif
}

/* Several channels at once, of different files and of the same one. */
TEST(several_channels)
{
	char other[] = "/tmp/test-mmap-io-XXXXXX";
	int file = mkstemp(other);
	io_channel first, second, third;

	begin(0);
	assert_int_equal(pwrite(file, image + 7, 50000, 0), 50000);
	assert_true(is_mapped(path));
	first = channel;
	assert_true(is_open(other));
	second = channel;
	assert_int_equal(read_at(0, 50000), 0);
	assert_memory_equal(buf, image + 7, 50000);
	assert_true(is_mapped(path) && reads(400, 70000));
	third = channel;
	io_channel_close(first);
	channel = second;
	assert_true(!read_at(9000, 100) && !preads);
	assert_memory_equal(buf, image + 9007, 100);
	assert_int_equal(ftruncate(file, 0), 0);
	assert_int_not_equal(read_at(9000, 100), 0);
	assert_string_equal(e2mmap_why_not(second), "a page could not be read");
	channel = third;
	assert_true(reads(0, SIZE));
	io_channel_close(second);
	assert_true(reads(0, SIZE));
	io_channel_close(third);
	close(file);
	unlink(other);
}

/* Beyond 2 and 4 GiB. */
TEST(large_offsets)
{
	uint64_t at[] = { (UINT64_C(1) << 31) - 3, (UINT64_C(1) << 32) - 3,
			  (UINT64_C(1) << 32) + 70000 };
	size_t i;

	flags = 0;
	write_image();
	for (i = 0; i < COUNT(at); i++)
		if (pwrite(fd, image, 5000, (off_t)at[i]) != 5000)
			SKIP("no large files here\n");
	is_open(path);
	for (i = 0; i < COUNT(at); i++) {
		assert_int_equal(read_at(at[i], 5000), 0);
		assert_memory_equal(buf, image, 5000);
		assert_int_equal(read_at(at[i], 5000), 0);
		assert_memory_equal(buf, image, 5000);
		assert_true(!preads == !e2mmap_why_not(channel));
	}
	io_channel_close(channel);
}

/* Channels come and go, and files end, while other threads read. */
static atomic_bool done;
static atomic_uint rounds;

static void *read_all(void *unused)
{
	char *to = malloc(SIZE);
	io_channel own;
	int i;

	while (!done) {
		if (e2mmap_io_manager->open(path, 0, &own))
			break;
		io_channel_set_blksize(own, 1);
		for (i = 0; i < 2; i++)
			if (!io_channel_read_blk64(own, 4096, -40000, to) &&
			    memcmp(to, image + 4096, 40000))
				abort();
		io_channel_close(own);
		rounds++;
	}
	free(to);
	return unused;
}

TEST(threads)
{
	pthread_t thread[3];
	unsigned i;

	begin(0);
	assert_true(is_mapped(path));
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, read_all, NULL), 0);
	for (i = 0; i < 200 || rounds < 200; i++) {
		assert_true(!read_at(0, SIZE) && !memcmp(buf, image, SIZE));
		if (i % 16 == 0) {
			/* What is left of it is as before. */
			assert_int_equal(ftruncate(fd, 45000), 0);
			assert_int_equal(ftruncate(fd, SIZE), 0);
			assert_int_equal(pwrite(fd, image, SIZE, 0), SIZE);
			io_channel_close(channel);
			assert_true(is_mapped(path));
		}
	}
	done = true;
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	io_channel_close(channel);
}

/* A handler of errors that leaves the read by longjmp(). */
static jmp_buf away;

static errcode_t leave(io_channel of, unsigned long block, int count, void *data,
		       size_t size, int actual, errcode_t error)
{
	(void)of, (void)block, (void)count, (void)data, (void)size, (void)actual;
	(void)error;
	longjmp(away, 1);
}

MAPPED_TESTS(handler_leaves_the_read)
{
	volatile int i, left = 0;

	assert_true(is_mapped(path));
	channel->read_error = leave;
	assert_true(reads(0, SIZE));
	assert_int_equal(ftruncate(fd, 500000), 0);
	for (i = 0; i < 3; i++)
		if (!setjmp(away)) {
			read_at(490000, 20000);
			fail();
		} else {
			left++;
		}
	assert_int_equal(left, 3);
	assert_true(!read_at(480000, 20000) && !memcmp(buf, image + 480000, 20000));
	io_channel_close(channel);
	write_image();
	assert_true(is_mapped(path) && reads(0, SIZE));
	io_channel_close(channel);
}

/*
 * Signals.
 */

#define CHECK(condition) do { if (!(condition)) _exit(__LINE__ % 255 + 1); } \
	while (0)

/* The signal that ends it, or a negative status. */
static int run_child(void (*child)(void))
{
	static const struct rlimit none;
	int status;
	pid_t pid;

	write_image();
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setrlimit(RLIMIT_CORE, &none);
		alarm(600);
		child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static volatile sig_atomic_t seen, seen_code;
static void *volatile seen_address;
static sigjmp_buf back;

static void handler(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)context;
	seen++;
	seen_code = info->si_code;
	seen_address = info->si_addr;
	if (info->si_code > 0 && info->si_code != BUS_MCEERR_AO)
		siglongjmp(back, 1);
}

static void set_handler(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGBUS, &action, NULL);
}

static void mapped_channel(void)
{
	CHECK(is_mapped(path));
	CHECK(reads(0, SIZE));
}

/* The file shrinks: in the middle of a page, whose rest the mapping shows as zeros, and
 * to nothing. */
static void shrink(void)
{
	int before = seen;

	CHECK(!ftruncate(fd, 500000));
	CHECK(reads(490000, 10000) && is_left(490000, 10000 + 1));
	CHECK(is_left(600000, 10) && is_left(400000, 200000));
	/* From then on all reads are the unix manager's. */
	CHECK(e2mmap_why_not(channel) && is_left(100, 10));
	CHECK(!ftruncate(fd, 0) && is_left(100, 10) && seen == before);
}

static void truncated(void)
{
	mapped_channel();
	shrink();
	if (flags) {
		/* A write makes it longer again. */
		CHECK(!io_channel_write_blk64(channel, 490000, -12,
					      image + 490000));
		CHECK(is_left(490000, 12) && is_left(490000, 13));
	}
}

/* An access of the program itself that raises SIGBUS. */
static char *fault_at;

static void own_fault(void)
{
	volatile char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	CHECK(map != MAP_FAILED && !ftruncate(fd, 0));
	if (!sigsetjmp(back, 1))
		(void)map[100];
	fault_at = (char *)map;
}

/* qemu-user (7.2) does not tell where a fault is: on big-endian machines it swaps the
 * halves of the address, and on 32-bit ones it does not subtract its offset. */
static void told_address(void)
{
	set_handler();
	own_fault();
	CHECK((char *)seen_address >= fault_at &&
	      (char *)seen_address < fault_at + 4096);
}

static void need_address(void)
{
	if (run_child(told_address))
		SKIP("SIGBUS comes with a wrong address\n");
}

static void handler_before(void)
{
	set_handler();
	mapped_channel();
	shrink();
	kill(getpid(), SIGBUS);
	CHECK(seen == 1 && seen_code == SI_USER);
	CHECK(!pwrite(fd, image, SIZE, 0) || is_left(0, SIZE));
	own_fault();
	CHECK(seen == 2 && seen_code == BUS_ADRERR);
}

/* The signal comes when the channel is closed. */
static void closed(void)
{
	struct sigaction action;

	set_handler();
	mapped_channel();
	io_channel_close(channel);
	sigaction(SIGBUS, NULL, &action);
	CHECK(action.sa_sigaction == handler);
	own_fault();
	CHECK(seen == 1 && seen_code == BUS_ADRERR);
}

/* A handler that was set later. */
static void handler_after(void)
{
	mapped_channel();
	set_handler();
	CHECK(is_left(0, SIZE) && !ftruncate(fd, 0) && is_left(100, 10) && !seen);
	own_fault();
	CHECK(seen == 1);
	io_channel_close(channel);
	CHECK(!ftruncate(fd, SIZE));
	/* It is another channel's, too, and so ours never comes above it. */
	CHECK(!is_mapped(path) && is_left(0, SIZE));
}

/* Between open and read. */
static void forked(void)
{
	int status;
	pid_t pid;

	mapped_channel();
	pid = fork();
	if (!pid) {
		CHECK(reads(0, SIZE));
		shrink();
		io_channel_close(channel);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
	CHECK(!pwrite(fd, image, SIZE, 0) || is_left(0, SIZE) || reads(0, SIZE));
	CHECK(!ftruncate(fd, 0) && is_left(100, 10));
	io_channel_close(channel);
}

/* It grows. */
static void grown(void)
{
	mapped_channel();
	CHECK(pwrite(fd, image, 5000, SIZE) == 5000);
	CHECK(is_left(SIZE - 10, 20) && is_left(SIZE, 5000) && reads(0, SIZE));
}

static void (*covered_handler)(int sig, siginfo_t *info, void *context);

static void call_covered(int sig, siginfo_t *info, void *context)
{
	CHECK(++seen < 3);
	covered_handler(sig, info, context);
}

/* Another handler calls ours, which does not come above it again. */
static void covered(void)
{
	struct sigaction action;

	set_handler();
	mapped_channel();
	CHECK(!sigaction(SIGBUS, NULL, &action));
	covered_handler = action.sa_sigaction;
	action.sa_sigaction = call_covered;
	CHECK(!sigaction(SIGBUS, &action, NULL));
	CHECK(!ftruncate(fd, 0) && is_left(100, 10) && !seen);
	CHECK(!strcmp(e2mmap_why_not(channel), "another handler of SIGBUS is set"));
	write_image();
	io_channel_close(channel);
	CHECK(!is_mapped(path) && is_left(0, SIZE));
	own_fault();
	sigaction(SIGBUS, NULL, &action);
	CHECK(seen == 2 && action.sa_sigaction == handler);
}

static void blocked(void)
{
	sigset_t mask;

	mapped_channel();
	sigemptyset(&mask);
	sigaddset(&mask, SIGBUS);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	CHECK(!ftruncate(fd, 0) && is_left(100, 10));
}

static void default_fault(void)
{
	signal(SIGBUS, SIG_DFL);
	truncated();
	own_fault();
}

/* The kernel reports a memory error in an untouched page to processes that want
 * to know. */
static void report_error(void)
{
	siginfo_t info = { .si_signo = SIGBUS, .si_code = BUS_MCEERR_AO };

	CHECK(!syscall(SYS_rt_sigqueueinfo, getpid(), SIGBUS, &info));
	CHECK(seen == 1 && seen_code == BUS_MCEERR_AO);
}

/* Nothing is mapped. */
static void reported_error(void)
{
	set_handler();
	report_error();
}

static void memory_error(void)
{
	set_handler();
	mapped_channel();
	report_error();
	CHECK(is_left(0, 4096));
}

MAPPED_TESTS(signals)
{
	static const struct {
		void (*child)(void);
		int signal;
	} cases[] = {
		{ truncated, 0 }, { handler_before, 0 }, { closed, 0 },
		{ handler_after, 0 }, { covered, 0 }, { blocked, 0 }, { forked, 0 },
		{ grown, 0 }, { default_fault, SIGBUS },
	};
	size_t i;

	need_address();
#ifdef __SANITIZE_THREAD__
	SKIP("the thread sanitizer stands in for handlers\n");
#endif
	for (i = 0; i < COUNT(cases); i++)
		assert_int_equal(run_child(cases[i].child), cases[i].signal);
	/* qemu-user (7.2) takes the report for a fault of its own, and aborts. */
	if (!run_child(reported_error))
		assert_int_equal(run_child(memory_error), 0);
}

/* A loop device over a file that was truncated has media errors, and then it is
 * detached.  It is when the last descriptor is closed. */
static int attach(char name[32])
{
	struct loop_config config = { .fd = (unsigned)fd };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int device = -1, tries;

	config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
	for (tries = 0; control >= 0 && tries < 20 && device < 0; tries++) {
		snprintf(name, 32, "/dev/loop%d",
			 ioctl(control, LOOP_CTL_GET_FREE));
		device = open(name, O_RDWR | O_CLOEXEC);
		if (device >= 0 && ioctl(device, LOOP_CONFIGURE, &config)) {
			close(device);
			device = -1;
		}
	}
	if (control >= 0)
		close(control);
	return device;
}

/* Forget which pages of the device are mapped, and drop them from memory. */
static void evict(int device)
{
	unsigned long from, to;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "/dev/loop") &&
		    sscanf(line, "%lx-%lx", &from, &to) == 2)
			madvise((void *)from, to - from, MADV_DONTNEED);
	fclose(maps);
	assert_int_equal(ioctl(device, BLKFLSBUF, 0), 0);
}

/* Attaches a copy of the image and opens it, or ends the test. */
static int begin_on_device(char name[32])
{
	int device;

	need_address();
	write_image();
	device = attach(name);
	if (device < 0)
		SKIP("no loop devices here\n");
	assert_true(is_mapped(name) && reads(0, SECTORS));
	return device;
}

MAPPED_TESTS(media_errors)
{
	int device, i, lost = 0;
	char name[32];

	device = begin_on_device(name);
	if (repairs) {
		assert_int_equal(io_channel_write_blk64(channel, 4096, -4096,
							image), 0);
		assert_int_equal(io_channel_flush(channel), 0);
	}
	/* Evicted, and read again by page faults. */
	evict(device);
	assert_true(reads(8192, 900000 - 8192));
	assert_int_equal(read_at(4096, 4096), 0);
	assert_memory_equal(buf, image + (repairs ? 0 : 4096), 4096);
	assert_int_equal(preads, 0);
	/* Then the second half has errors, and at the end nothing is left of the
	 * device. */
	assert_int_equal(ftruncate(fd, 512 * 1024), 0);
	evict(device);
	for (i = 0; i < 200; i++) {
		errcode_t err = read_at((uint64_t)i * 4096, 4096);

		assert_true(!err || err == EIO);
		lost += !!err;
	}
	assert_true(lost >= 200 - 128 && lost < 100);
	assert_string_equal(e2mmap_why_not(channel), "a page could not be read");
	assert_int_equal(ftruncate(fd, 0), 0);
	evict(device);
	assert_int_equal(read_at(0, 4096), EIO);
	io_channel_close(channel);
	close(device);
}

/* The unix manager's error. */
static errcode_t error_at(const char *name, uint64_t offset)
{
	errcode_t err;
	io_channel plainly;

	assert_int_equal(unix_io_manager->open(name, flags, &plainly), 0);
	io_channel_set_blksize(plainly, 1);
	err = io_channel_read_blk64(plainly, offset, -4096, buf);
	io_channel_close(plainly);
	assert_int_not_equal(err, 0);
	return err;
}

/* Its pages stay in the cache, and in the page tables. */
MAPPED_TESTS(device_shrinks)
{
	char name[32];
	int device = begin_on_device(name);

	assert_true(reads(600000, 4096));
	assert_int_equal(ftruncate(fd, 512 * 1024), 0);
	assert_int_equal(ioctl(device, LOOP_SET_CAPACITY), 0);
	assert_int_equal(read_at(600000, 4096), error_at(name, 600000));
	assert_true(reads(500000, 4096));
	io_channel_close(channel);
	close(device);
}

/* Like a disk that is pulled out: all requests fail. */
MAPPED_TESTS(device_vanishes)
{
	char name[32];
	int device = begin_on_device(name);

	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(ioctl(device, LOOP_SET_CAPACITY), 0);
	assert_int_equal(read_at(600000, 4096), error_at(name, 600000));
	assert_int_equal(read_at(0, 4096), error_at(name, 0));
	assert_int_equal(io_channel_close(channel), 0);
	close(device);
}

UNIT_MAIN(set_up, tear_down)
