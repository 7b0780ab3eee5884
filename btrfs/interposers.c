/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The libc functions that the preload library interposes.  Each calls the real
 * function with the program's own arguments and returns its result.  The
 * preload library's own calls come here, too, but it does not follow its own
 * descriptors.
 */

/* btrfs calls both the 64-bit names and the others.  If off_t can have two
 * sizes, each name must keep its own, whatever config.h chooses. */
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#undef _FORTIFY_SOURCE

#include <fcntl.h>
#include <linux/btrfs.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "preload/interpose.h"
#include "preload.h"

#define PREAD(pread, off_t) \
	ssize_t pread(int fd, void *buf, size_t count, off_t offset) \
	{ \
		struct pf_read read; \
		bool seen = bt_on_program_read(fd, (uint64_t)offset, count, &read); \
		ssize_t n; \
		REAL(pread); \
		\
		n = real(fd, buf, count, offset); \
		if (seen) \
			bt_has_read(&read); \
		return n; \
	}

/* The call itself is never dropped: the check must not see stale pages. */
#define FADVISE(posix_fadvise, off_t) \
	int posix_fadvise(int fd, off_t offset, off_t length, int advice) \
	{ \
		REAL(posix_fadvise); \
		\
		if (advice == POSIX_FADV_DONTNEED && !offset && !length) \
			bt_drops_cache(fd); \
		return real(fd, offset, length, advice); \
	}

PREAD(pread, off_t)
FADVISE(posix_fadvise, off_t)
/* With musl off_t has one size, and the other name is a macro. */
#ifndef pread64
PREAD(pread64, off64_t)
FADVISE(posix_fadvise64, off64_t)
#endif

ssize_t readahead(int fd, off64_t offset, size_t count)
{
	uint64_t at = (uint64_t)offset;
	REAL(readahead);

	if (bt_on_program_readahead(&fd, &at))
		return 0;
	return real(fd, (off64_t)at, count);
}

int close(int fd)
{
	REAL(close);

	bt_closes(fd);
	return real(fd);
}

#ifdef __GLIBC__
typedef unsigned long ioctl_request;
#else
typedef int ioctl_request;
#endif

/* For a request without an argument this passes whatever the register holds, as
 * the C libraries do; the kernel ignores it. */
int ioctl(int fd, ioctl_request request, ...)
{
	unsigned number = (unsigned)request;	/* as the kernel takes it */
	va_list args;
	void *arg;
	int result;
	REAL(ioctl);

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (number != BTRFS_IOC_SEND || !arg)
		return real(fd, request, arg);
	bt_sends(fd, arg);
	result = real(fd, request, arg);
	bt_has_sent();
	return result;
}

/* The program copies the stream with this call. */
ssize_t splice(int from, off64_t *from_offset, int to, off64_t *to_offset,
	       size_t length, unsigned flags)
{
	ssize_t n;
	REAL(splice);

	n = real(from, from_offset, to, to_offset, length, flags);
	if (n > 0)
		bt_passes_on((uint64_t)n);
	return n;
}
