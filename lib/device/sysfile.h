/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bounded reading of small text files in procfs and sysfs: whatever the file
 * holds, a reader gets at most what its own buffer takes.  Nothing here
 * allocates, and everything is safe from any thread.
 */
#ifndef E2PF_SYSFILE_H
#define E2PF_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Format a path into buf of `size` bytes.  Returns 0, or -1 when it does not
 * fit; buf is then the empty string. */
int e2pf_path(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Read the first size - 1 bytes of the file `name` below the directory `dir`
 * into buf and terminate them with a zero byte.  Returns their number, or -1
 * when the file cannot be read; buf is then the empty string.  Never waits on a
 * pipe.
 */
int e2pf_read_bytes(const char *dir, const char *name, char *buf, size_t size);

/* The same for text: trailing white space is removed, and the text ends at its
 * first zero byte. */
int e2pf_read_text(const char *dir, const char *name, char *buf, size_t size);

/* Parse a decimal number that must be all of `text`.  Returns 0 or -1. */
int e2pf_parse_u64(const char *text, uint64_t *value);

/* Read a file that holds one decimal number.  Returns 0, or -1 with *value
 * unchanged. */
int e2pf_read_u64(const char *dir, const char *name, uint64_t *value);

bool e2pf_exists(const char *dir, const char *name);

/* Parse "MAJOR:MINOR", which must be all of `text`.  Returns 0 or -1. */
int e2pf_parse_dev(const char *text, unsigned *major, unsigned *minor);

/* A file read line by line. */
struct e2pf_lines {
	int fd;
	size_t start, end;		/* unread part of buf */
	uint64_t left;			/* bytes that may still be read */
	bool skip;			/* skipping the rest of a line that was
					   too long */
	char buf[8192];
};

/* Returns 0, or -1 when the file cannot be opened; then there is nothing to
 * close. */
int e2pf_lines_open(struct e2pf_lines *lines, const char *dir,
		    const char *name);

/* Read from the current position of this descriptor, which the caller keeps. */
void e2pf_lines_begin(struct e2pf_lines *lines, int fd);

/* The next line without its newline, valid until the next call; NULL at the
 * end.  A line that does not fit is cut, and its rest is skipped. */
char *e2pf_lines_next(struct e2pf_lines *lines);

void e2pf_lines_close(struct e2pf_lines *lines);

#endif
