/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounded readers for procfs and sysfs.  Decides how much of a file is read;
 * does not know what any of them means.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sysfile.h"

#define MAX_LINES_BYTES (16u << 20)

int e2pf_path(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(buf, size, format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < size)
		return 0;
	if (size)
		buf[0] = '\0';
	return -1;
}

/* O_NONBLOCK: the open of a pipe without a writer must not wait. */
static int open_file(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (e2pf_path(path, sizeof(path), "%s/%s", dir, name))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

bool e2pf_exists(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return !e2pf_path(path, sizeof(path), "%s/%s", dir, name) &&
	       !access(path, F_OK);
}

static ssize_t read_some(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n;
}

int e2pf_read_bytes(const char *dir, const char *name, char *buf, size_t size)
{
	size_t have = 0;
	ssize_t n;
	int fd;

	buf[0] = '\0';
	fd = open_file(dir, name);
	if (fd < 0)
		return -1;
	do {
		n = read_some(fd, buf + have, size - 1 - have);
		if (n > 0)
			have += (size_t)n;
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
	while (len && strchr(" \t\r\n", buf[len - 1]))
		buf[--len] = '\0';
	return (int)len;
}

/* Parse digits up to a character of `ends`; the end of the text counts as
 * one. */
static const char *parse_digits(const char *text, const char *ends,
				uint64_t *value)
{
	uint64_t v = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9'; p++) {
		unsigned digit = (unsigned)(*p - '0');

		if (v > (UINT64_MAX - digit) / 10)
			return NULL;
		v = v * 10 + digit;
	}
	if (p == text || !strchr(ends, *p))
		return NULL;
	*value = v;
	return p;
}

int e2pf_parse_u64(const char *text, uint64_t *value)
{
	return parse_digits(text, "", value) ? 0 : -1;
}

int e2pf_read_u64(const char *dir, const char *name, uint64_t *value)
{
	char text[32];

	if (e2pf_read_text(dir, name, text, sizeof(text)) < 0)
		return -1;
	return e2pf_parse_u64(text, value);
}

int e2pf_parse_dev(const char *text, unsigned *major, unsigned *minor)
{
	uint64_t maj, min;
	const char *p;

	p = parse_digits(text, ":", &maj);
	if (!p || *p != ':' || e2pf_parse_u64(p + 1, &min))
		return -1;
	if (maj > UINT_MAX || min > UINT_MAX)
		return -1;
	*major = (unsigned)maj;
	*minor = (unsigned)min;
	return 0;
}

void e2pf_lines_begin(struct e2pf_lines *lines, int fd)
{
	lines->start = lines->end = 0;
	lines->left = MAX_LINES_BYTES;
	lines->skip = false;
	lines->fd = fd;
}

int e2pf_lines_open(struct e2pf_lines *lines, const char *dir,
		    const char *name)
{
	e2pf_lines_begin(lines, open_file(dir, name));
	return lines->fd < 0 ? -1 : 0;
}

/* Move the unread part to the front and read more after it.  Returns false when
 * there is no more.  One byte stays free to terminate the last line. */
static bool fill(struct e2pf_lines *lines)
{
	size_t room;
	ssize_t n;

	memmove(lines->buf, lines->buf + lines->start,
		lines->end - lines->start);
	lines->end -= lines->start;
	lines->start = 0;
	room = sizeof(lines->buf) - 1 - lines->end;
	if (room > lines->left)
		room = (size_t)lines->left;
	n = room ? read_some(lines->fd, lines->buf + lines->end, room) : 0;
	if (n <= 0)
		return false;
	lines->end += (size_t)n;
	lines->left -= (size_t)n;
	return true;
}

char *e2pf_lines_next(struct e2pf_lines *lines)
{
	for (;;) {
		char *line = lines->buf + lines->start;
		size_t len = lines->end - lines->start;
		char *newline = memchr(line, '\n', len);
		bool skip = lines->skip;

		if (newline) {
			*newline = '\0';
			lines->start += (size_t)(newline - line) + 1;
			lines->skip = false;
			if (skip)
				continue;
			return line;
		}
		if (len < sizeof(lines->buf) - 1 && fill(lines))
			continue;
		/* The last line, or one that fills the buffer. */
		if (!len)
			return NULL;
		line = lines->buf + lines->start;
		lines->start = lines->end;
		line[len] = '\0';
		lines->skip = true;
		if (!skip)
			return line;
	}
}

void e2pf_lines_close(struct e2pf_lines *lines)
{
	close(lines->fd);
}
