/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The unix manager reads with a pread64() of ours, which interposes libc's in every
 * program or preload library that is linked with this.  Decides how a failed read is made
 * again.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "observe.h"
#include "prefetch/trace.h"

#ifdef __GLIBC__
#define PREAD pread64
#define NAME "pread64"
#else
#define PREAD pread
#define NAME "pread"
#endif

typedef ssize_t pread_function(int fd, void *to, size_t length, off_t offset);

static pread_function *next;	/* NULL in a static program */

__attribute__((constructor)) static void find_next(void)
{
	next = (pread_function *)dlsym(RTLD_NEXT, NAME);
}

/* False if a preloaded library may supply the bytes: also with another C library than
 * glibc, where that is unknown. */
static bool is_libcs(void)
{
	return next == (pread_function *)dlsym(RTLD_NEXT, "__pread64");
}

static ssize_t read_by(int fd, void *to, size_t length, off_t offset)
{
	struct iovec all = { to, length };

	return preadv(fd, &all, 1, offset);
}

/* By /proc it is what the program has open, whatever has its name by now. */
static int open_direct(int fd)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, O_RDONLY | O_CLOEXEC | O_DIRECT);
}

/* Whole pages, past the page cache or, where there is no direct I/O, through it: without
 * us the kernel cannot read a sound block either if another one of its page is bad. */
static bool read_pages(int fd, void *to, size_t length, off_t offset)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t end = ((size_t)offset & (page - 1)) + length;
	size_t size = (end + page - 1) & ~(page - 1);
	char *pages = aligned_alloc(page, size);
	int direct = is_libcs() ? open_direct(fd) : -1;
	off_t from = offset + (off_t)length - (off_t)end;
	ssize_t n = -1;

	PF_TRACE(read_retried, offset, length);
	errno = EINVAL;
	if (pages && direct >= 0)
		n = read_by(direct, pages, size, from);
	if (pages && n < 0 && errno != EIO)
		n = (next ? next : read_by)(fd, pages, size, from);
	if (pages && n >= (ssize_t)end)
		memcpy(to, pages + end - length, length);
	free(pages);
	if (direct >= 0)
		close(direct);
	return n >= (ssize_t)end;
}

ssize_t PREAD(int fd, void *to, size_t length, off_t offset)
{
	pread_function *read_it = next ? next : read_by;
	ssize_t n;

	n = read_it(fd, to, length, offset);
	if (n >= 0 || errno != EIO)
		return n;
	if (e2fsck_failed_read_may_be_ours() &&
	    read_pages(fd, to, length, offset))
		n = (ssize_t)length;
	errno = EIO;
	return n;
}
