/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The preload library in a program that uses descriptors as no btrfs does:
 * whatever the program does with descriptor -1 is not taken for a device that it
 * has closed.
 *
 * The test starts itself as btrfsck, with the library preloaded, on a file with
 * the superblock of a filesystem.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "preloaded.h"
#include "btrfs-fs.h"

#define BYTES (INT64_C(16) << 20)

static char image[] = "/tmp/test-btrfs-preload-XXXXXX";
static char stats[sizeof(image) + 8];

/* The preload library follows a program that refers to these. */
static void (*const volatile referred[])(void) = {
	(void (*)(void))pread, (void (*)(void))posix_fadvise,
	(void (*)(void))ioctl
};

/*
 * Run with the library preloaded.
 */

static int forks;

pid_t fork(void)
{
	pid_t (*next)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");

	forks++;
	return next();
}

/* The descriptor of a device, which the preload library follows from here on. */
static int device(const char *path)
{
	int fd = open(path, O_RDONLY);

	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return fd;
}

/* Two blocks are read, and in between nothing: the first read begins the
 * session, with both descriptors, and blocks no signal. */
static int use_read(const char *path)
{
	int fd = device(path), other = device(path);
	char block[FS_NODE];
	sigset_t mask;
	unsigned i;

	/* More than are followed. */
	for (i = 0; i < 100; i++)
		device(path);
	sigemptyset(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	/* There is a self-test if system calls are filtered. */
	if (forks != (prctl(PR_GET_SECCOMP) > 0) ||
	    pread(fd, block, sizeof(block), 1 << 20) != sizeof(block) ||
	    pthread_sigmask(SIG_BLOCK, NULL, &mask) || !sigisemptyset(&mask) ||
	    close(other) || pread(-1, block, sizeof(block), 2 << 20) >= 0 ||
	    readahead(-1, 2 << 20, sizeof(block)) >= 0 ||
	    readahead(fd, 2 << 20, sizeof(block)) ||
	    readahead(fd, 2 << 20, sizeof(block)) ||
	    !posix_fadvise(-1, 0, 0, POSIX_FADV_DONTNEED) ||
	    pread(fd, block, sizeof(block), 3 << 20) != sizeof(block))
		return 1;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return close(fd);
}

/*
 * Run without the preload library.
 */

TEST(read_of_no_descriptor)
{
	assert_int_equal(run_preloaded("1", stats, (const char *[]) {
		"btrfsck", image, NULL }), 0);
	assert_true(stats_have(stats, "\"reads\":2,"));
	assert_true(stats_have(stats, "readahead: 1 repeated calls of the check dropped"));
}

FIXTURE(make_image)
{
	uint8_t super[BT_SUPER_BYTES];
	int fd = mkstemp(image);

	fs_super(super, 1, 4 << 20, 5 << 20);
	snprintf(stats, sizeof(stats), "%s.stats", image);
	return fd < 0 || ftruncate(fd, BYTES) ||
	       pwrite(fd, super, sizeof(super), 64 << 10) !=
	       (ssize_t)sizeof(super) || close(fd) ? -1 : 0;
}

FIXTURE(remove_image)
{
	unlink(stats);
	return unlink(image);
}

UNIT_TESTS

int main(int argc, char **argv)
{
	if (argc == 2 && referred[0])
		return use_read(argv[1]);
	return unit_run_with("../btrfs/.libs/btrfs-prefetch.so", make_image,
			     remove_image);
}
