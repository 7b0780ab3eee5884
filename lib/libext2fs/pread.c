/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mmap_io.h"

#ifdef __GLIBC__
#define PREAD pread64
#define NAME "pread64"
#else
#define PREAD pread
#define NAME "pread"
#endif

/* What the buffer and the length of a direct read are multiples of. */
#define ALIGNMENT 4096u

typedef ssize_t pread_function(int fd, void *to, size_t length, off_t offset);

static pread_function *next;	/* NULL in a static program */

static E2PF_OF_THREAD const struct e2pf_retry *retry;

__attribute__((constructor)) static void find_next(void)
{
	next = (pread_function *)dlsym(RTLD_NEXT, NAME);
}

static ssize_t read_by(int fd, void *to, size_t length, off_t offset)
{
	struct iovec all = { to, length };

	return preadv(fd, &all, 1, offset);
}

/* By /proc it is what the program has open, whatever has its name by now.  Fails with
 * EINVAL where there is no direct I/O, or a block is smaller than the device's. */
static ssize_t read_directly(int fd, void *to, size_t length, off_t offset)
{
	size_t size = (length + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	void *aligned = aligned_alloc(ALIGNMENT, size);
	ssize_t n = -1;
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_DIRECT);
	if (aligned && fd >= 0)
		n = read_by(fd, aligned, length, offset);
	if (n > 0)
		memcpy(to, aligned, (size_t)n);
	free(aligned);
	if (fd >= 0)
		close(fd);
	return n;
}

ssize_t PREAD(int fd, void *to, size_t length, off_t offset)
{
	pread_function *read_it = next ? next : read_by;
	ssize_t n;

	if (e2pf_mmap_copy(fd, to, length, (uint64_t)offset))
		return (ssize_t)length;
	n = read_it(fd, to, length, offset);
	if (n >= 0 || errno != EIO || !retry || !retry->is_worth(retry->context))
		return n;
	errno = EINVAL;
	if (e2pf_pread_is_libcs())
		n = read_directly(fd, to, length, offset);
	if (n < 0 && errno != EIO)
		n = read_it(fd, to, length, offset);
	errno = EIO;
	return n;
}

bool e2pf_pread_is_libcs(void)
{
	return next == (pread_function *)dlsym(RTLD_NEXT, "__pread64");
}

const struct e2pf_retry *e2pf_pread_retry(const struct e2pf_retry *r)
{
	const struct e2pf_retry *before = retry;

	retry = r;
	return before;
}
