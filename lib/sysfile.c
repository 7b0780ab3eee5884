/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Bounded readers for procfs and sysfs.  Decides how much of a file is read, and which
 * directory is trusted; does not know what any of them means.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sysfile.h"

#define BLANKS " \t\r\n"

int e2pf_path(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(buf, size, format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < size)
		return 0;
	buf[0] = '\0';
	return -1;
}

static int open_file(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (e2pf_path(path, sizeof(path), "%s/%s", dir, name))
		return -1;
	/* O_NONBLOCK: the open of a pipe without a writer must not wait. */
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Append to the text of *have bytes in buf.  Returns what read() does. */
static ssize_t read_more(int fd, char *buf, size_t size, size_t *have)
{
	ssize_t n;

	do {
		n = read(fd, buf + *have, size - 1 - *have);
	} while (n < 0 && errno == EINTR);
	*have += n > 0 ? (size_t)n : 0;
	buf[*have] = '\0';
	return n;
}

int e2pf_read_bytes(const char *dir, const char *name, char *buf, size_t size)
{
	int fd = open_file(dir, name);
	size_t have = 0;
	ssize_t n;

	buf[0] = '\0';
	if (fd < 0)
		return -1;
	do {
		n = read_more(fd, buf, size, &have);
	} while (n > 0 && have < size - 1);
	close(fd);
	if (n < 0)
		have = 0;
	buf[have] = '\0';
	return n < 0 ? -1 : (int)have;
}

int e2pf_read_text(const char *dir, const char *name, char *buf, size_t size)
{
	size_t len;

	if (e2pf_read_bytes(dir, name, buf, size) < 0)
		return -1;
	len = strlen(buf);
	while (len && strchr(BLANKS, buf[len - 1]))
		buf[--len] = '\0';
	return (int)len;
}

int e2pf_open_directory(const char *path, uid_t owner, bool make)
{
	struct stat st;
	int fd;

	if (make)
		(void)mkdir(path, 0755);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && st.st_uid == owner && !(st.st_mode & 022))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

int e2pf_read_lines(const char *dir, const char *name,
		    void (*line)(void *ctx, char *text), void *ctx)
{
	char text[E2PF_LINE], *at, *end;
	int fd = open_file(dir, name);
	bool whole = true;		/* the text begins where a line does */
	size_t have = 0;
	ssize_t n = -1;

	while (fd >= 0 && (n = read_more(fd, text, sizeof(text), &have)) > 0) {
		for (at = text; (end = memchr(at, '\n', have)); at = end + 1) {
			*end = '\0';
			if (whole)
				line(ctx, at);
			whole = true;
			have -= (size_t)(end + 1 - at);
		}
		memmove(text, at, have);
		whole = whole && have < sizeof(text) - 1;
		have = whole ? have : 0;
	}
	if (n == 0 && have) {
		text[have] = '\0';
		line(ctx, text);
	}
	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

int e2pf_parse_u64(const char *text, uint64_t *value)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	/* strchr() finds the end of the text, too. */
	if (*text < '0' || *text > '9' || errno || !strchr(BLANKS, *end))
		return -1;
	*value = v;
	return 0;
}

int e2pf_read_u64(const char *dir, const char *name, uint64_t *value)
{
	char text[32];

	if (e2pf_read_text(dir, name, text, sizeof(text)) < 0)
		return -1;
	return e2pf_parse_u64(text, value);
}
