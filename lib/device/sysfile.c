/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Bounded readers for procfs and sysfs.  Decides how much of a file is read, and which
 * folder is trusted; does not know what any of them means.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
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

int e2pf_read_bytes(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	size_t have = 0;
	ssize_t n;
	int fd;

	buf[0] = '\0';
	if (e2pf_path(path, sizeof(path), "%s/%s", dir, name))
		return -1;
	/* O_NONBLOCK: the open of a pipe without a writer must not wait. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -1;
	do {
		n = read(fd, buf + have, size - 1 - have);
		if (n > 0)
			have += (size_t)n;
	} while ((n > 0 && have < size - 1) || (n < 0 && errno == EINTR));
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

int e2pf_open_folder(const char *path, uid_t owner, bool make)
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
