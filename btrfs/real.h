/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * libc's own functions of the names that the module interposes: real_close() and
 * the others.  The linker leads every call in the module to them (--wrap), so that
 * what we read and close ourselves is not taken for the program's.
 *
 * Included first.  btrfs calls both the 64-bit names and the others.  If off_t can
 * have two sizes, each name must keep its own, whatever config.h chooses.
 */
#ifndef REAL_H
#define REAL_H

#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#undef _FORTIFY_SOURCE

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifdef __GLIBC__
typedef unsigned long ioctl_request;
#else
typedef int ioctl_request;
#endif

/* With musl off_t has one size, and the other name is a macro. */
#ifdef pread64
#define REAL_64(X)
#else
#define REAL_64(X) \
	X(ssize_t, pread64, (int fd, void *buf, size_t count, off64_t offset), \
	  (fd, buf, count, offset)) \
	X(int, posix_fadvise64, \
	  (int fd, off64_t offset, off64_t length, int advice), \
	  (fd, offset, length, advice))
#endif

/* ioctl() takes its argument as if it were not variadic, as the C libraries' own
 * does: for a request without one, whatever the register holds is passed, and the
 * kernel ignores it. */
#define REAL_FUNCTIONS(X) \
	X(ssize_t, pread, (int fd, void *buf, size_t count, off_t offset), \
	  (fd, buf, count, offset)) \
	X(int, posix_fadvise, (int fd, off_t offset, off_t length, int advice), \
	  (fd, offset, length, advice)) \
	X(ssize_t, readahead, (int fd, off64_t offset, size_t count), \
	  (fd, offset, count)) \
	X(int, close, (int fd), (fd)) \
	X(int, ioctl, (int fd, ioctl_request request, void *arg), \
	  (fd, request, arg)) \
	X(ssize_t, splice, (int from, off64_t *from_offset, int to, \
			    off64_t *to_offset, size_t length, unsigned flags), \
	  (from, from_offset, to, to_offset, length, flags)) \
	REAL_64(X)

#define REAL_DECLARE(type, name, parameters, arguments) \
	type real_##name parameters __asm__("__wrap_" #name);
REAL_FUNCTIONS(REAL_DECLARE)

#endif
