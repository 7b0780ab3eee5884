/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The mmap I/O manager when something is unavailable: truncated files, media
 * errors, no memory or address space; and its SIGBUS guard together with the
 * program's own handlers.
 *
 * Link with -Wl,--wrap=mmap,--wrap=mmap64 to test failures of open; without them
 * that test skips.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "mmap-rig.h"

/* The thread sanitizer replaces each handler by its own, with its own mask, and
 * calls the program's handler from there. */
#ifdef __SANITIZE_THREAD__
#define OWN_HANDLERS true
#else
#define OWN_HANDLERS false
#endif

/* Files truncated under the mapping: real SIGBUS, and the tail of the page */

static void need_fault_address(void);

static void read_truncated(off_t size)
{
	struct pair pair;
	uint32_t block;

	make_file(path_a, IMAGE_SIZE, 15);
	make_file(path_b, IMAGE_SIZE, 15);
	open_pair(&pair, path_a, path_b, IO_FLAG_RW);
	pair_set_blksize(&pair, 4096);
	for (block = 0; block < IMAGE_SIZE / 4096; block++)
		assert_int_equal(pair_read(&pair, block, 1), 0);
	assert_int_equal(truncate(path_a, size), 0);
	assert_int_equal(truncate(path_b, size), 0);
	for (block = 0; block < IMAGE_SIZE / 4096; block++)
		pair_read(&pair, block, 1);
	assert_int_equal(pair.call_b.error, EXT2_ET_SHORT_READ);
	/* Write what the page shows, including zeros beyond the end: this makes
	 * the file longer, so it is a change. */
	pair_read(&pair, (unsigned long long)size / 4096, 1);
	assert_int_equal(pair_write(&pair, (unsigned long long)size / 4096,
				    1), 0);
	close_pair(&pair);
	assert_same_files();
}

TEST(test_truncated_file)
{
	need_fault_address();
	read_truncated(0);
	read_truncated(65536);
	read_truncated(65536 + 1000);
}

/* Signals.  Each case runs in a child, which must die of a signal or
 * exit(0). */

static void assert_child(void (*child)(void), int signal_number)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit none = { 0, 0 };

		setrlimit(RLIMIT_CORE, &none);
		alarm(600);
		child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (signal_number) {
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), signal_number);
	} else {
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

#define CHECK(condition) do { if (!(condition)) _exit(__LINE__ & 127); } \
	while (0)

static volatile sig_atomic_t seen, seen_code, seen_mask;
static void *volatile seen_address;
static sigjmp_buf back;

static void plain_handler(int sig)
{
	sigset_t mask;

	seen++;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	seen_mask = (sigismember(&mask, sig) ? 1 : 0) |
		    (sigismember(&mask, SIGUSR1) ? 2 : 0);
}

static void jumping_handler(int sig)
{
	plain_handler(sig);
	siglongjmp(back, 1);
}

static void info_handler(int sig, siginfo_t *info, void *context)
{
	(void)context;
	plain_handler(sig);
	seen_code = info->si_code;
	seen_address = info->si_addr;
	if (info->si_code > 0)
		siglongjmp(back, 1);
}

static void set_handler(void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(SIGBUS, &action, NULL);
}

/*
 * Does a SIGBUS report its address?  It does on real Linux.  qemu-user (7.2)
 * copies the address as if it were the sender's process and user, so that the
 * halves are swapped on big-endian machines, and does not subtract its offset
 * on 32-bit ones.  The guard recognizes its own faults by the address.
 */
static bool fault_address_is_told(void)
{
	struct sigaction action, before;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	volatile char *map;
	bool told;
	int fd;

	make_file(path_a, 0, 1);
	fd = open(path_a, O_RDONLY);
	map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	assert_true(map != MAP_FAILED);
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = info_handler;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGBUS, &action, &before);
	if (!sigsetjmp(back, 1))
		(void)map[100];
	sigaction(SIGBUS, &before, NULL);
	munmap((void *)map, page);
	/* Some machines report only the page. */
	told = ((uintptr_t)seen_address & ~(page - 1)) == (uintptr_t)map;
	seen = 0;
	seen_address = NULL;
	return told;
}

static void need_fault_address(void)
{
	/* Tested only once: the thread sanitizer cannot leave a handler this
	 * way twice. */
	static int told = -1;

	if (told < 0)
		told = fault_address_is_told();
	if (!told) {
		print_message("SIGBUS comes with a wrong address\n");
		skip();
	}
}

/* An access of the program itself that raises SIGBUS. */
static void own_fault(void)
{
	int fd = open(path_a, O_RDONLY);
	volatile char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	CHECK(map != MAP_FAILED);
	close(fd);
	if (!sigsetjmp(back, 1))
		(void)map[0];
	CHECK(seen_address == NULL || seen_address == (void *)map);
}

static io_channel child_open(void)
{
	io_channel channel = NULL;

	CHECK(e2pf_mmap_io_manager->open(path_b, IO_FLAG_RW | IO_FLAG_NOCACHE,
					 &channel) == 0);
	CHECK(e2pf_mmap_io_is_mapped(channel));
	return channel;
}

/* Read a file that was truncated after its pages were known to be cached.  From
 * then on the unix manager serves the channel. */
static void guarded_fault(io_channel channel)
{
	static char buf[4096];
	int before = seen;

	CHECK(io_channel_read_blk64(channel, 100, 4, buf) == 0);
	CHECK(truncate(path_b, 0) == 0);
	CHECK(io_channel_read_blk64(channel, 100, 4, buf) ==
	      EXT2_ET_SHORT_READ);
	CHECK(seen == before);
	CHECK(truncate(path_b, IMAGE_SIZE) == 0);
}

static void child_handler_before(void)
{
	io_channel channel;

	set_handler(plain_handler, 0);
	channel = child_open();
	guarded_fault(channel);
	raise(SIGBUS);
	CHECK(seen == 1 && seen_mask == 3);
	set_handler(plain_handler, 0);
	CHECK(io_channel_close(channel) == 0);
}

static void child_info_handler_before(void)
{
	struct sigaction action, now;
	io_channel channel;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = info_handler;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGBUS, &action, NULL);
	channel = child_open();
	guarded_fault(channel);
	own_fault();
	CHECK(seen == 1 && seen_code == BUS_ADRERR && seen_mask == 1);
	seen_address = NULL;
	raise(SIGBUS);
	CHECK(seen == 2 && seen_code == SI_TKILL);
	CHECK(io_channel_close(channel) == 0);
	sigaction(SIGBUS, NULL, &now);
	CHECK(now.sa_sigaction == info_handler);
	CHECK(now.sa_flags & SA_SIGINFO);
	/* The same a second time. */
	channel = child_open();
	guarded_fault(channel);
	CHECK(io_channel_close(channel) == 0);
}

/* The program's handler stays.  As it might chain to ours, ours is not installed
 * in front of it; but when the program restores ours, that serves again. */
static void child_handler_after(void)
{
	io_channel channel = child_open();
	struct sigaction ours, now;

	sigaction(SIGBUS, NULL, &ours);
	set_handler(jumping_handler, 0);
	guarded_fault(channel);
	CHECK(io_channel_close(channel) == 0);
	sigaction(SIGBUS, NULL, &now);
	CHECK(now.sa_handler == jumping_handler);
	CHECK(e2pf_mmap_io_manager->open(path_b, 0, &channel) == 0);
	CHECK(!e2pf_mmap_io_is_mapped(channel));
	CHECK(io_channel_close(channel) == 0);
	sigaction(SIGBUS, &ours, NULL);
	channel = child_open();
	guarded_fault(channel);
	CHECK(io_channel_close(channel) == 0);
}

/* A one-shot handler (SA_RESETHAND) that has run is not restored when ours is
 * removed, and the next signal ends the program. */
static void child_reset_handler(void)
{
	struct sigaction now;
	io_channel channel;

	set_handler(plain_handler, (int)SA_RESETHAND);
	channel = child_open();
	raise(SIGBUS);
	CHECK(seen == 1);
	CHECK(io_channel_close(channel) == 0);
	sigaction(SIGBUS, NULL, &now);
	CHECK(now.sa_handler == SIG_DFL);
	raise(SIGBUS);
}

/* The kernel reports a memory error in an untouched page to processes that want
 * to know; if the program ignores the signal, it stays ignored. */
static void child_ignored_memory_error(void)
{
#ifdef BUS_MCEERR_AO
	struct sigaction now;
	siginfo_t info;

	signal(SIGBUS, SIG_IGN);
	child_open();
	memset(&info, 0, sizeof(info));
	info.si_signo = SIGBUS;
	info.si_code = BUS_MCEERR_AO;
	CHECK(syscall(SYS_rt_sigqueueinfo, getpid(), SIGBUS, &info) == 0);
	sigaction(SIGBUS, NULL, &now);
	CHECK(now.sa_handler == SIG_IGN);
#endif
}

static void child_default_fault(void)
{
	signal(SIGBUS, SIG_DFL);
	guarded_fault(child_open());
	own_fault();
}

static void child_ignored_raise(void)
{
	signal(SIGBUS, SIG_IGN);
	guarded_fault(child_open());
	raise(SIGBUS);
}

static void child_ignored_fault(void)
{
	child_ignored_raise();
	own_fault();
}

static void child_blocked(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &mask, NULL);
	guarded_fault(child_open());
}

TEST(test_signals)
{
	if (OWN_HANDLERS) {
		print_message("the thread sanitizer stands in for handlers\n");
		skip();
	}
	need_fault_address();
	make_file(path_a, 0, 1);
	make_file(path_b, IMAGE_SIZE, 16);
	assert_child(child_handler_before, 0);
	assert_child(child_info_handler_before, 0);
	assert_child(child_handler_after, 0);
	assert_child(child_reset_handler, SIGBUS);
	assert_child(child_ignored_memory_error, 0);
	assert_child(child_default_fault, SIGBUS);
	assert_child(child_ignored_raise, 0);
	assert_child(child_ignored_fault, SIGBUS);
	assert_child(child_blocked, 0);
}

/* When the unix manager is used instead */

/* A limit that leaves no room, but would let the file be mapped.  Sanitizers and
 * qemu-user need more or ignore it: then there is nothing to test. */
static void child_address_space(void)
{
	static const struct rlimit limit = { 256 << 20, 256 << 20 };
	struct rlimit now;
	io_channel channel;

	CHECK(truncate(path_b, 200 << 20) == 0);
	if (setrlimit(RLIMIT_AS, &limit) || getrlimit(RLIMIT_AS, &now) ||
	    now.rlim_cur != limit.rlim_cur ||
	    e2pf_mmap_io_manager->open(path_b, 0, &channel))
		return;
	CHECK(channel->manager == unix_io_manager);
	CHECK(io_channel_close(channel) == 0);
}

static void assert_fallback(const char *path, int flags)
{
	io_channel channel = open_with(e2pf_mmap_io_manager, path, flags,
				       NULL);

	assert_false(e2pf_mmap_io_is_mapped(channel));
	assert_ptr_equal(channel->manager, unix_io_manager);
	assert_int_equal(io_channel_close(channel), 0);
}

TEST(test_fallback)
{
	io_channel channel;

	make_file(path_b, IMAGE_SIZE, 17);
	assert_fallback(path_b, IO_FLAG_FORCE_BOUNCE);
	channel = open_mapped(path_b, 0, NULL);
	assert_fallback(path_b, 0);
	io_channel_close(channel);
	assert_fallback("/dev/zero", 0);
	make_file(path_a, 0, 1);
	assert_fallback(path_a, IO_FLAG_RW);
	assert_child(child_address_space, 0);
	make_file(path_b, IMAGE_SIZE, 17);
	/* tmpfs of old kernels has no O_DIRECT at all. */
	if (unix_io_manager->open(path_b, IO_FLAG_DIRECT_IO, &channel) == 0) {
		io_channel_close(channel);
		assert_fallback(path_b, IO_FLAG_DIRECT_IO);
	}
}

/* Failure of the n-th allocation or mapping of open() */

void *__real_mmap(void *at, size_t size, int prot, int flags, int fd,
		  off_t offset) __attribute__((weak));
void *__real_mmap64(void *at, size_t size, int prot, int flags, int fd,
		    off_t offset) __attribute__((weak));
void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd,
		  off_t offset);
void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd,
		    off_t offset);

static int fail_at = -1;
static atomic_int attempts;	/* of all threads */

static bool must_fail(void)
{
	bool fail = atomic_fetch_add(&attempts, 1) == fail_at;

	if (fail)
		errno = ENOMEM;
	return fail;
}

void *__wrap_mmap(void *at, size_t size, int prot, int flags, int fd,
		  off_t offset)
{
	return must_fail() ? MAP_FAILED :
			     __real_mmap(at, size, prot, flags, fd, offset);
}

void *__wrap_mmap64(void *at, size_t size, int prot, int flags, int fd,
		    off_t offset)
{
	return must_fail() ? MAP_FAILED :
			     __real_mmap64(at, size, prot, flags, fd, offset);
}

/* The lowest free descriptor, and how often the file is mapped. */
static void count_open(int *fd, int *maps)
{
	char line[512];
	FILE *file = fopen("/proc/self/maps", "r");

	assert_non_null(file);
	*fd = fileno(file);
	*maps = 0;
	while (fgets(line, sizeof(line), file))
		if (strstr(line, path_b))
			(*maps)++;
	fclose(file);
}

TEST(test_failing_open)
{
	int n, fd, fd_before, maps, mapped = 0, failed = 0;
	struct sigaction before, now;

	make_file(path_b, IMAGE_SIZE, 18);
	count_open(&fd_before, &maps);
	sigaction(SIGBUS, NULL, &before);
	for (n = 0; !mapped && n < 50; n++) {
		io_channel channel = NULL;
		errcode_t error;

		attempts = 0;
		fail_at = n;
		error = e2pf_mmap_io_manager->open(path_b, IO_FLAG_RW,
						   &channel);
		fail_at = -1;
		assert_int_equal(error, 0);
		mapped = e2pf_mmap_io_is_mapped(channel);
		failed += !mapped;
		assert_int_equal(io_channel_close(channel), 0);
		count_open(&fd, &maps);
		assert_int_equal(fd, fd_before);
		assert_int_equal(maps, 0);
		sigaction(SIGBUS, NULL, &now);
		assert_ptr_equal(now.sa_handler, before.sa_handler);
	}
	assert_true(mapped);
	if (!failed) {
		print_message("not linked with --wrap\n");
		skip();
	}
	/* The mapping, known pages. */
	assert_int_equal(failed, 2);
}

/* A loop device over a truncated file has media errors: EIO beyond the end.
 * The first read of the lost blocks faults in the mapping. */
TEST(test_loop_media_error)
{
	struct pair pair;
	char a[32], b[32];
	int fa, fb, block;

	need_fault_address();
	make_file(path_a, 1024 * 1024, 23);
	make_file(path_b, 1024 * 1024, 23);
	if (!attach_both(&fa, &fb, a, b))
		skip();
	need_ioctl(ioctl(fa, BLKFLSBUF, 0));
	open_pair(&pair, a, b, IO_FLAG_RW);
	pair_set_blksize(&pair, 4096);
	/* Backwards, so that each is read with pread.  None is mapped and all
	 * can be evicted, yet all are remembered as cached. */
	for (block = 135; block >= 120; block--)
		assert_int_equal(pair_read(&pair, (unsigned)block, 1), 0);
	assert_int_equal(truncate(path_a, 512 * 1024), 0);
	assert_int_equal(truncate(path_b, 512 * 1024), 0);
	assert_int_equal(ioctl(fa, BLKFLSBUF, 0), 0);
	assert_int_equal(ioctl(fb, BLKFLSBUF, 0), 0);
	for (block = 120; block < 136; block++)
		pair_read(&pair, (unsigned)block, 1);
	assert_int_equal(pair.call_b.error, EIO);
	assert_int_equal(pair.call_b.calls, 8);
	assert_int_equal(pair_read(&pair, 126, 4), 4711);
	/* A rewrite of unreadable blocks must be written: it extends the file
	 * below, and then the blocks can be read.  All of them are rewritten,
	 * because the kernel may read several at once and fail for one. */
	memset(pair.buf_a, 0, MOST_BYTES);
	assert_int_equal(pair_write(&pair, 128, 128), 0);
	assert_int_equal(io_channel_flush(pair.a), 0);
	assert_int_equal(io_channel_flush(pair.b), 0);
	assert_int_equal(pair_read(&pair, 128, 1), 0);
	close_pair(&pair);
	close(fa);
	close(fb);
	assert_same_files();
}

UNIT_MAIN(make_folder, remove_folder)
