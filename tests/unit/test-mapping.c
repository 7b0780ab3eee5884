/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The mapping: what was populated is read from it, and nothing else; what cannot
 * be read is refused, whoever handles SIGBUS.  Cases with signals run in a child.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "unit.h"
#include "device/mapping.h"

#define SIZE (1024 * 1024 + 700)	/* the last page is short */
#define MOST (UINT64_C(1) << 30)

static char path[] = "/tmp/test-mapping-XXXXXX";
static char image[SIZE], buf[SIZE];
static int fd = -1, reader = -1;
static void *mapped;

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
	fd = mkstemp(path);
	reader = open(path, O_RDONLY);
	return fd < 0 || reader < 0;
}

FIXTURE(tear_down)
{
	close(reader);
	close(fd);
	return unlink(path);
}

/* NULL after a message where nothing is mapped: old kernels, 32 bits, qemu-user. */
static struct e2pf_mapping *new_mapping(uint64_t most)
{
	void *map = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	struct e2pf_mapping *m = map == MAP_FAILED ? NULL :
		e2pf_mapping_new(fd, map, SIZE, most);

	if (m)
		mapped = map;
	else if (map != MAP_FAILED)
		munmap(map, SIZE);
	if (!m)
		print_message("nothing can be mapped here\n");
	return m;
}

static void end_mapping(struct e2pf_mapping *m)
{
	e2pf_mapping_free(m);
	munmap(mapped, SIZE);
}

static bool reads(struct e2pf_mapping *m, uint64_t offset, size_t length)
{
	memset(buf, 0, sizeof(buf));
	return e2pf_mapping_read(m, reader, buf, length, offset) &&
	       !memcmp(buf, image + offset, length);
}

static bool is_refused(struct e2pf_mapping *m, uint64_t offset, size_t length)
{
	return !e2pf_mapping_read(m, reader, buf, length, offset);
}

TEST(populated)
{
	int other = open("/proc/self/exe", O_RDONLY);
	struct e2pf_mapping *m;
	struct sigaction before, now;

	write_image();
	sigaction(SIGBUS, NULL, &before);
	m = new_mapping(MOST);
	if (!m)
		skip();
	assert_true(is_refused(m, 0, 100));
	e2pf_mapping_populate(m, 65536, 8192);
	assert_true(reads(m, 65536, 8192));
	assert_true(reads(m, 70000, 1));
	/* One page of it is not. */
	assert_true(is_refused(m, 65536, 20000));
	assert_true(is_refused(m, 40000, 30000));
	e2pf_mapping_populate(m, 0, SIZE);
	assert_true(reads(m, 0, SIZE));
	assert_true(reads(m, SIZE - 10, 10));
	/* Beyond its end, and around. */
	assert_true(is_refused(m, 0, 0));
	assert_true(is_refused(m, SIZE - 10, 11));
	assert_true(is_refused(m, UINT64_MAX - 10, 20));
	assert_true(is_refused(m, 10, SIZE_MAX));
	e2pf_mapping_populate(m, SIZE, 4096);
	e2pf_mapping_populate(m, 0, 0);
	/* Of another file. */
	assert_false(e2pf_mapping_read(m, other, buf, 7, 0));
	assert_true(reads(m, 0, 7));
	/* There is one at a time. */
	assert_null(new_mapping(MOST));
	/* Changes show as in pread(). */
	assert_int_equal(pwrite(fd, "changed", 7, 65536), 7);
	assert_true(e2pf_mapping_read(m, reader, buf, 7, 65536));
	assert_memory_equal(buf, "changed", 7);
	end_mapping(m);
	e2pf_mapping_free(NULL);
	close(other);
	sigaction(SIGBUS, NULL, &now);
	assert_ptr_equal(now.sa_handler, before.sa_handler);
}

TEST(at_most)
{
	/* With a page for what it costs, and one of page tables, that is 5 pages. */
	struct e2pf_mapping *m = new_mapping(20480);

	write_image();
	if (!m)
		skip();
	e2pf_mapping_populate(m, 0, 12000);
	assert_true(reads(m, 0, 12000));
	e2pf_mapping_populate(m, 100000, 8192);
	assert_true(is_refused(m, 100000, 1));
	end_mapping(m);
}

/*
 * Signals.
 */

#define CHECK(condition) do { if (!(condition)) _exit(__LINE__ % 255 + 1); } \
	while (0)

/* The signal that ends it, or a negative status. */
static int run_child(void (*child)(struct e2pf_mapping *))
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
		child(NULL);
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

static struct e2pf_mapping *populated_mapping(void)
{
	struct e2pf_mapping *m = new_mapping(MOST);

	CHECK(m);
	e2pf_mapping_populate(m, 0, SIZE);
	CHECK(reads(m, 0, SIZE));
	return m;
}

/* The file shrinks: in the middle of a page, of which the mapping shows zeros, and to
 * nothing. */
static void truncated(struct e2pf_mapping *m)
{
	int before = seen;

	m = m ? m : populated_mapping();
	CHECK(!ftruncate(fd, 500000));
	CHECK(reads(m, 490000, 10000));
	CHECK(is_refused(m, 490000, 10000 + 1));
	CHECK(is_refused(m, 600000, 10) && is_refused(m, 400000, 200000));
	CHECK(!ftruncate(fd, 0) && is_refused(m, 100, 10) && seen == before);
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
static void told_address(struct e2pf_mapping *m)
{
	(void)m;
	set_handler();
	own_fault();
	CHECK((char *)seen_address >= fault_at &&
	      (char *)seen_address < fault_at + 4096);
}

static bool is_told_address(void)
{
	bool told = !run_child(told_address);

	if (!told)
		print_message("SIGBUS comes with a wrong address\n");
	return told;
}

static void handler_before(struct e2pf_mapping *m)
{
	struct sigaction now;

	set_handler();
	m = populated_mapping();
	truncated(m);
	kill(getpid(), SIGBUS);
	CHECK(seen == 1 && seen_code == SI_USER);
	own_fault();
	CHECK(seen == 2 && seen_code == BUS_ADRERR);
	end_mapping(m);
	sigaction(SIGBUS, NULL, &now);
	CHECK(now.sa_sigaction == handler);
}

/* Another handler stays, and nothing is mapped again: it may call ours. */
static void covered(struct e2pf_mapping *m)
{
	struct sigaction now;

	m = populated_mapping();
	set_handler();
	CHECK(!ftruncate(fd, 0) && is_refused(m, 100, 10) && !seen);
	end_mapping(m);
	sigaction(SIGBUS, NULL, &now);
	CHECK(now.sa_sigaction == handler && !new_mapping(MOST));
}

static void blocked(struct e2pf_mapping *m)
{
	sigset_t mask;

	m = populated_mapping();
	sigemptyset(&mask);
	sigaddset(&mask, SIGBUS);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	CHECK(!ftruncate(fd, 0) && is_refused(m, 100, 10));
}

static void default_fault(struct e2pf_mapping *m)
{
	signal(SIGBUS, SIG_DFL);
	truncated(m);
	own_fault();
}

/* The kernel reports a memory error in an untouched page to processes that want
 * to know. */
static void memory_error(struct e2pf_mapping *m)
{
	siginfo_t info = { .si_signo = SIGBUS, .si_code = BUS_MCEERR_AO };

	set_handler();
	m = populated_mapping();
	CHECK(!syscall(SYS_rt_sigqueueinfo, getpid(), SIGBUS, &info));
	CHECK(seen == 1 && seen_code == BUS_MCEERR_AO);
	CHECK(is_refused(m, 0, 4096));
}

TEST(signals)
{
	static const struct {
		void (*child)(struct e2pf_mapping *m);
		int signal;
	} cases[] = {
		{ truncated, 0 }, { handler_before, 0 }, { covered, 0 },
		{ blocked, 0 }, { default_fault, SIGBUS }, { memory_error, 0 },
	};
	struct e2pf_mapping *m = new_mapping(MOST);
	size_t i;

	if (!m)
		skip();
	end_mapping(m);
	if (!is_told_address())
		skip();
#ifdef __SANITIZE_THREAD__
	SKIP("the thread sanitizer stands in for handlers\n");
#endif
	for (i = 0; i < COUNT(cases); i++)
		assert_int_equal(run_child(cases[i].child), cases[i].signal);
}

/* A loop device over a file that was truncated has media errors, and then it is
 * detached.  It is when the last descriptor is closed. */
static int attach(void)
{
	struct loop_config config = { .fd = (unsigned)fd };
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int device = -1, tries;
	char name[32];

	config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
	for (tries = 0; control >= 0 && tries < 20 && device < 0; tries++) {
		snprintf(name, sizeof(name), "/dev/loop%d",
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

TEST(media_errors)
{
	int file = fd, of_file = reader, device, i, lost = 0;
	struct e2pf_mapping *m;

	if (!is_told_address())
		skip();
	write_image();
	device = attach();
	if (device < 0)
		SKIP("no loop devices here\n");
	fd = reader = device;
	m = new_mapping(MOST);
	fd = file;
	if (!m) {
		reader = of_file;
		close(device);
		skip();
	}
	e2pf_mapping_populate(m, 0, 900000);
	/* Read again, one by one; then the second half has errors, and at the end
	 * nothing is left of the device. */
	evict(device);
	assert_true(reads(m, 0, 900000));
	assert_int_equal(ftruncate(fd, 512 * 1024), 0);
	evict(device);
	for (i = 0; i < 200; i++)
		lost += is_refused(m, (uint64_t)i * 4096, 4096);
	assert_true(lost >= 200 - 128 && lost < 100);
	assert_int_equal(ftruncate(fd, 0), 0);
	evict(device);
	assert_true(is_refused(m, 0, 4096));
	e2pf_mapping_populate(m, 0, 900000);
	end_mapping(m);
	reader = of_file;
	close(device);
}

UNIT_MAIN(set_up, tear_down)
