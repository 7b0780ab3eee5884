/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The mmap manager: what was populated is copied from the mapping, and nothing else is;
 * what is read is what the unix manager reads, in checks and repairs, whoever handles
 * SIGBUS.  Cases with signals run in a child.  The test stands in for libc's pread64(),
 * and counts it.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "unit.h"
#include "libext2fs/mmap_io.h"

#define SIZE (1024 * 1024 + 700)	/* the last page is short */

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

static unsigned preads;
static bool next_is_anothers;

static ssize_t count_pread(int from, void *to, size_t size, off64_t offset)
{
	preads++;
	return syscall(SYS_pread64, from, to, size, offset);
}

typedef void *dlsym_fn(void *handle, const char *name);
dlsym_fn __real_dlsym, __wrap_dlsym;

void *__wrap_dlsym(void *handle, const char *name)
{
	bool libcs = !strcmp(name, "__pread64");

	if (strcmp(name, "pread64") && !libcs)
		return __real_dlsym(handle, name);
	return libcs && next_is_anothers ? (void *)pwrite64 :
					   (void *)count_pread;
}

/* Values that cannot be seen here otherwise: 0 is an unused entry. */
static int opens_instead, no_cache;

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
		*in = 0;
	return r;
}

static void write_image(void)
{
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, image, SIZE, 0), SIZE);
	assert_int_equal(fsync(fd), 0);
}

FIXTURE(set_up)
{
	unsigned i, x = 1;

	for (i = 0; i < SIZE; i++) {
		x = x * 1664525u + 1013904223u;
		image[i] = (char)(x >> 24 | 1);
	}
	unchanged = *unix_io_manager;
	fd = mkstemp(path);
	return fd < 0;
}

FIXTURE(tear_down)
{
	close(fd);
	return unlink(path);
}

/* A channel with blocks of a byte.  False if it is the unix manager's. */
static bool is_mapped(const char *name)
{
	assert_int_equal(e2pf_mmap_io_manager->open(name, flags, &channel), 0);
	io_channel_set_blksize(channel, 1);
	return channel->manager != unix_io_manager;
}

/* Ends the test where nothing is mapped: old kernels, 32 bits, musl, qemu-user. */
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

/* By the unix manager, whether there are such bytes or not. */
static bool is_left(uint64_t offset, size_t length)
{
	errcode_t err = read_at(offset, length);
	ssize_t n = syscall(SYS_pread64, fd, plain, length, offset);

	return preads && (n < (ssize_t)length ? err == EXT2_ET_SHORT_READ :
			  !err && !memcmp(buf, plain, length));
}

#define MAPPED_TESTS(name) \
	static void name(bool repairs); \
	TEST(name##_in_a_check) { begin(0); name(false); } \
	TEST(name##_in_a_repair) { begin(IO_FLAG_RW); name(true); } \
	static void name(__attribute__((unused)) bool repairs)

MAPPED_TESTS(populated)
{
	assert_true(is_mapped(path));
	assert_string_equal(channel->manager->name, "mmap");
	assert_ptr_equal(channel->manager, e2pf_mmap_io_manager);
	assert_true(is_left(0, 100));
	e2pf_mmap_populate(65536, 8192);
	assert_true(reads(65536, 8192));
	assert_true(reads(70000, 1));
	/* One page of it is not. */
	assert_true(is_left(65536, 20000));
	assert_true(is_left(40000, 30000));
	e2pf_mmap_populate(0, SIZE);
	assert_true(reads(0, SIZE));
	assert_true(reads(SIZE - 10, 10));
	/* Beyond its end, and around. */
	assert_true(is_left(SIZE - 10, 11));
	assert_true(is_left(SIZE - 10, 8192));
	assert_true(is_left(SIZE + 5000, 5000));
	e2pf_mmap_populate(SIZE, 4096);
	e2pf_mmap_populate(UINT64_MAX - 10, 20);
	e2pf_mmap_populate(10, UINT64_MAX);
	e2pf_mmap_populate(0, 0);
	/* Changes show as in pread(). */
	assert_int_equal(pwrite(fd, "changed", 7, 65536), 7);
	assert_int_equal(read_at(65536, 7), 0);
	assert_memory_equal(buf, "changed", 7);
	assert_int_equal(preads, 0);
	/* Other reads of the program are not. */
	assert_int_equal(pread64(fd, buf, 7, 0), 7);
	assert_int_equal(preads, 1);
	assert_int_equal(io_channel_close(channel), 0);
	assert_memory_equal(unix_io_manager, &unchanged, sizeof(unchanged));
	e2pf_mmap_populate(0, SIZE);
}

/* An operation that our header does not know yet, as flock of the next e2fsprogs. */
TEST(operations_of_tomorrow)
{
	long *last = &unix_io_manager->reserved[COUNT(unix_io_manager->reserved) - 1];

	begin(0);
	*last = 4711;
	assert_true(is_mapped(path));
	*last = 0;
	last = &channel->manager->reserved[COUNT(unix_io_manager->reserved) - 1];
	assert_int_equal(*last, 4711);
	io_channel_close(channel);
}

/* The cache of the unix manager, writes, and holes that are punched. */
TEST(repaired)
{
	char block[1024], *other = image + 300 * 1024;

	begin(IO_FLAG_RW);
	assert_true(is_mapped(path));
	io_channel_set_blksize(channel, 1024);
	e2pf_mmap_populate(0, SIZE);
	preads = 0;
	/* Written later: what is read meanwhile is what is in the cache. */
	assert_int_equal(io_channel_write_blk64(channel, 5, 1, other), 0);
	assert_int_equal(syscall(SYS_pread64, fd, block, 1024, 5 * 1024),
			 1024);
	assert_memory_equal(block, image + 5 * 1024, 1024);
	assert_int_equal(io_channel_read_blk64(channel, 5, 1, block), 0);
	assert_memory_equal(block, other, 1024);
	assert_int_equal(io_channel_flush(channel), 0);
	/* Ten others push it out. */
	assert_int_equal(io_channel_read_blk64(channel, 40, 10, buf), 0);
	assert_int_equal(io_channel_set_blksize(channel, 2048), 0);
	assert_int_equal(io_channel_read_blk64(channel, 2, 1, buf), 0);
	assert_memory_equal(buf + 1024, other, 1024);
	assert_int_equal(io_channel_write_byte(channel, 20000, 3, "abc"), 0);
	assert_int_equal(io_channel_read_blk64(channel, 9, 1, buf), 0);
	assert_memory_equal(buf + 20000 - 9 * 2048, "abc", 3);
	assert_int_equal(preads, 0);
	if (!io_channel_zeroout(channel, 64, 32)) {
		memset(plain, 0, 65536);
		assert_int_equal(io_channel_read_blk64(channel, 64, 32, buf), 0);
		assert_memory_equal(buf, plain, 65536);
		assert_int_equal(preads, 0);
	}
	assert_int_equal(io_channel_close(channel), 0);
}

TEST(at_most)
{
	begin(0);
	assert_true(is_mapped(path));
	/* With a page for what it costs, and one of page tables, that is 5 pages. */
	e2pf_mmap_limit(20480);
	e2pf_mmap_populate(0, 12000);
	assert_true(reads(0, 12000));
	e2pf_mmap_populate(100000, 8192);
	assert_true(is_left(100000, 1));
	io_channel_close(channel);
}

static bool is_unix(void)
{
	bool unix_is = !is_mapped(path);

	e2pf_mmap_populate(0, SIZE);
	unix_is &= is_left(0, SIZE);
	io_channel_close(channel);
	return unix_is;
}

/* Where nothing can be mapped the manager says at once that it is the unix manager. */
TEST(where_nothing_is_mapped)
{
	struct rlimit before, now, some = { 1u << 30, RLIM_INFINITY };
	io_channel first;

	begin(0);
	next_is_anothers = true;
	assert_true(is_unix());
	next_is_anothers = false;
	no_cache = 1;
	assert_true(is_unix());
	no_cache = 0;
	opens_instead = -1;
	assert_true(is_unix());
	opens_instead = 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	getrlimit(RLIMIT_AS, &before);
	setrlimit(RLIMIT_AS, &some);
	/* qemu-user leaves it unlimited. */
	getrlimit(RLIMIT_AS, &now);
	assert_int_equal(is_unix(), now.rlim_cur != RLIM_INFINITY);
	setrlimit(RLIMIT_AS, &before);
#else
	(void)before, (void)now, (void)some;
#endif
	assert_true(is_mapped(path));
	first = channel;
	assert_true(is_unix());
	/* Direct I/O, where there is any. */
	io_channel_close(first);
	flags = IO_FLAG_DIRECT_IO;
	if (!e2pf_mmap_io_manager->open(path, flags, &channel)) {
		assert_ptr_equal(channel->manager, unix_io_manager);
		io_channel_close(channel);
	}
	flags = 0;
	assert_true(is_mapped(path));
	/* Open twice. */
	io_channel_bumpcount(channel);
	io_channel_close(channel);
	e2pf_mmap_populate(0, SIZE);
	assert_true(reads(0, SIZE));
	io_channel_close(channel);
	assert_int_not_equal(e2pf_mmap_io_manager->open("/none", 0, &channel), 0);
}

/* Another file has this name by then. */
TEST(another_file)
{
	begin(0);
	opens_instead = __real_open(".", O_TMPFILE | O_RDWR, 0600);
	assert_int_equal(write(opens_instead, image + 7, SIZE - 7), SIZE - 7);
	assert_true(is_mapped(path));
	e2pf_mmap_populate(0, SIZE - 7);
	assert_true(is_left(0, 7));
	io_channel_close(channel);
	close(opens_instead);
	opens_instead = 0;
}

static atomic_bool done;

static void *populate(void *unused)
{
	while (!done)
		e2pf_mmap_populate(0, SIZE);
	return unused;
}

/* A thread that has not ended populates while channels are closed. */
TEST(closed_beside_a_thread)
{
	pthread_t thread;
	int i, mapped = 0;

	begin(0);
	assert_int_equal(pthread_create(&thread, NULL, populate, NULL), 0);
	/* While the thread holds the lock a channel is not mapped: with one processor
	 * that may be so 200 times. */
	for (i = 0; i < 200 || (!mapped && i < 20000); i++) {
		mapped += is_mapped(path);
		io_channel_close(channel);
	}
	done = true;
	pthread_join(thread, NULL);
	assert_int_not_equal(mapped, 0);
	assert_true(is_mapped(path));
	e2pf_mmap_populate(0, SIZE);
	assert_true(reads(0, SIZE));
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

static void populated_channel(void)
{
	CHECK(is_mapped(path));
	e2pf_mmap_populate(0, SIZE);
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
	CHECK(!ftruncate(fd, 0) && is_left(100, 10) && seen == before);
}

static void truncated(void)
{
	populated_channel();
	shrink();
	if (flags) {
		/* A write makes it longer again. */
		CHECK(!io_channel_write_blk64(channel, 490000, -12,
					      image + 490000));
		CHECK(reads(490000, 12) && is_left(490000, 13));
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
	populated_channel();
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
	populated_channel();
	io_channel_close(channel);
	sigaction(SIGBUS, NULL, &action);
	CHECK(action.sa_sigaction == handler);
	own_fault();
	CHECK(seen == 1 && seen_code == BUS_ADRERR);
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
	populated_channel();
	CHECK(!sigaction(SIGBUS, NULL, &action));
	covered_handler = action.sa_sigaction;
	action.sa_sigaction = call_covered;
	CHECK(!sigaction(SIGBUS, &action, NULL));
	CHECK(!ftruncate(fd, 0) && is_left(100, 10) && !seen);
	write_image();
	io_channel_close(channel);
	CHECK(is_mapped(path));
	e2pf_mmap_populate(0, SIZE);
	CHECK(is_left(0, SIZE));
	own_fault();
	sigaction(SIGBUS, NULL, &action);
	CHECK(seen == 2 && action.sa_sigaction == handler);
}

static void blocked(void)
{
	sigset_t mask;

	populated_channel();
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
	populated_channel();
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
		{ covered, 0 }, { blocked, 0 }, { default_fault, SIGBUS },
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

MAPPED_TESTS(media_errors)
{
	int file = fd, device, i, lost = 0;
	char name[32];

	need_address();
	write_image();
	device = attach(name);
	if (device < 0)
		SKIP("no loop devices here\n");
	assert_true(is_mapped(name));
	e2pf_mmap_populate(0, 900000);
	if (repairs)
		assert_int_equal(io_channel_write_blk64(channel, 4096, -4096,
							image), 0);
	/* Read again, one by one; then the second half has errors, and at the end
	 * nothing is left of the device. */
	evict(device);
	assert_true(reads(8192, 900000 - 8192));
	assert_int_equal(read_at(4096, 4096), 0);
	assert_memory_equal(buf, image + (repairs ? 0 : 4096), 4096);
	assert_int_equal(preads, 0);
	assert_int_equal(ftruncate(file, 512 * 1024), 0);
	evict(device);
	for (i = 0; i < 200; i++) {
		errcode_t err = read_at((uint64_t)i * 4096, 4096);

		assert_int_equal(!!err, !!preads);
		assert_true(!err || err == EIO);
		lost += !!err;
	}
	assert_true(lost >= 200 - 128 && lost < 100);
	assert_int_equal(ftruncate(file, 0), 0);
	evict(device);
	assert_int_equal(read_at(0, 4096), EIO);
	e2pf_mmap_populate(0, 900000);
	io_channel_close(channel);
	close(device);
}

UNIT_MAIN(set_up, tear_down)
