// SPDX-License-Identifier: GPL-2.0-or-later
// SPDX-FileCopyrightText: the e2prefetch contributors
/*
 * A library to preload into a checker that records what it writes, in order.
 * Each call that changes a file, or waits until a change has reached the disk,
 * appends a line to the file that E2PF_WRITES names:
 *
 *   FILE CALL OFFSET LENGTH SUM = RESULT
 *
 * SUM is a sum of the contents, RESULT what the call returned, or -errno.  Files
 * are those that lie directly in the current directory, where compare.sh puts
 * the image, its journal and its undo file, and block devices; all of them share
 * one log, which so has the order among them.
 *
 * It must be the last of the preloaded libraries, so that it records the calls
 * that reach the kernel.
 */

/* Both names (32-bit and 64-bit off_t) of each function are defined here. */
#undef _FILE_OFFSET_BITS
#undef _FORTIFY_SOURCE
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define MIN_DESCRIPTOR 200

static char directory[4096];		/* with a slash at its end */
static const char *log_path;
static int log_fd = -1;

static void __attribute__((constructor)) begin_record(void)
{
	if (getcwd(directory, sizeof(directory) - 1))
		strcat(directory, "/");
	log_path = getenv("E2PF_WRITES");
}

/* Opened when it is first needed, and out of the way of the program's
 * descriptors. */
static void open_log(void)
{
	int fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

	log_fd = fcntl(fd, F_DUPFD_CLOEXEC, MIN_DESCRIPTOR);
	close(fd);
}

/* The name of the file in the log; NULL if it is not recorded. */
static const char *name_of(int fd, char *path, size_t size)
{
	size_t len = strlen(directory);
	struct stat st;
	char link[40];
	ssize_t got;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	got = readlink(link, path, size - 1);
	if (got < 0)
		return NULL;
	path[got] = '\0';
	if (!strncmp(path, directory, len) && !strchr(path + len, '/'))
		return path + len;
	return !stat(link, &st) && S_ISBLK(st.st_mode) ? path : NULL;
}

/* Appends the line.  Returns the result, and keeps errno. */
static long record(int fd, const char *call, int64_t at, int64_t length,
		   uint64_t sum, long result)
{
	char path[4096];
	int err = errno;
	const char *name = log_path ? name_of(fd, path, sizeof(path)) : NULL;

	if (name) {
		char line[sizeof(path) + 128];
		int n;

		if (log_fd < 0)
			open_log();
		n = snprintf(line, sizeof(line), "%s %s %" PRId64 " %" PRId64
			     " %016" PRIx64 " = %ld\n", name, call, at, length,
			     sum, result < 0 ? -(long)err : result);
		if (syscall(SYS_write, log_fd, line, n) != n)
			abort();
	}
	errno = err;
	return result;
}

static long record_bytes(int fd, const char *call, int64_t at, const void *buf,
			 size_t length, long result)
{
	const unsigned char *bytes = buf;
	uint64_t sum = 0xcbf29ce484222325;
	size_t i;

	for (i = 0; log_path && i < length; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3;
	return record(fd, call, at, (int64_t)length, sum, result);
}

/* In musl the longer names are macros of the shorter ones. */
#undef pwrite64
#undef ftruncate64
#undef fallocate64

/* symbol is what programs call; the function has a name of its own because
 * headers may map one symbol to another. */
#define DEFINE(type, symbol, parameters) \
	type record_##symbol parameters __asm__(#symbol); \
	type record_##symbol parameters
#define REAL(symbol) \
	__typeof__(&record_##symbol) real = \
		(__typeof__(&record_##symbol))dlsym(RTLD_NEXT, #symbol)

DEFINE(ssize_t, write, (int fd, const void *buf, size_t n))
{
	off64_t at = lseek64(fd, 0, SEEK_CUR);
	REAL(write);

	return record_bytes(fd, "write", at, buf, n, real(fd, buf, n));
}

#define PWRITE(symbol, offset) \
DEFINE(ssize_t, symbol, (int fd, const void *buf, size_t n, offset at)) \
{ \
	REAL(symbol); \
	return record_bytes(fd, "pwrite", at, buf, n, real(fd, buf, n, at)); \
}
PWRITE(pwrite, off_t)
PWRITE(pwrite64, int64_t)

#define SYNC(symbol) \
DEFINE(int, symbol, (int fd)) \
{ \
	REAL(symbol); \
	return (int)record(fd, #symbol, 0, 0, 0, real(fd)); \
}
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(symbol, offset) \
DEFINE(int, symbol, (int fd, offset size)) \
{ \
	REAL(symbol); \
	return (int)record(fd, "ftruncate", size, 0, 0, real(fd, size)); \
}
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, int64_t)

/* The mode is recorded instead of the sum. */
#define FALLOCATE(symbol, offset) \
DEFINE(int, symbol, (int fd, int mode, offset at, offset length)) \
{ \
	REAL(symbol); \
	return (int)record(fd, "fallocate", at, length, (uint64_t)mode, \
			   real(fd, mode, at, length)); \
}
FALLOCATE(fallocate, off_t)
FALLOCATE(fallocate64, int64_t)

DEFINE(int, ioctl, (int fd, unsigned long request, ...))
{
	uint64_t *range;
	va_list ap;
	int result;
	REAL(ioctl);

	va_start(ap, request);
	range = va_arg(ap, uint64_t *);
	va_end(ap);
	result = real(fd, request, range);
	if (request == BLKDISCARD || request == BLKZEROOUT)
		record(fd, request == BLKDISCARD ? "discard" : "zeroout",
		       (int64_t)range[0], (int64_t)range[1], 0, result);
	else if (request == BLKFLSBUF)
		record(fd, "flush", 0, 0, 0, result);
	return result;
}
