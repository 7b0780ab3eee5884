/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small text files of procfs and sysfs, read with bounds: whatever the file
 * holds, a reader gets at most what its own buffer takes.  Nothing here
 * allocates, and everything is safe from any thread.
 */
#ifndef E2PF_SYSFILE_H
#define E2PF_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Format a path into buf of `size` bytes.  Returns 0, or -1 when it does not
 * fit; then buf holds the empty string. */
int e2pf_path(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Read the file's first size - 1 bytes into buf, end them with a zero byte.
 * Returns their number, or -1 when the file cannot be read; then buf holds
 * the empty string.  Never waits on a pipe.
 */
int e2pf_read_bytes(const char *path, char *buf, size_t size);

/* The same for text: white space at the end is cut off, and the text ends at
 * its first zero byte. */
int e2pf_read_text(const char *path, char *buf, size_t size);

/* Parse a decimal number that is all of `text`.  Returns 0 or -1. */
int e2pf_parse_u64(const char *text, uint64_t *value);

/* Read a file that holds one decimal number.  Returns 0 or -1. */
int e2pf_read_u64(const char *path, uint64_t *value);

/* Parse "MAJOR:MINOR", all of `text`.  Returns 0 or -1. */
int e2pf_parse_dev(const char *text, unsigned *major, unsigned *minor);

/* A file read line by line.  8 KiB hold all of a mountinfo line that
 * matters: two paths of 4,095 bytes are longer than any in use. */
struct e2pf_lines {
	int fd;
	size_t start, end;		/* unread part of buf */
	uint64_t left;			/* bytes that may still be read */
	bool skip;			/* in the rest of a line too long */
	char buf[8192];
};

/* Returns 0, or -1 when the file cannot be opened; then there is nothing to
 * close. */
int e2pf_lines_open(struct e2pf_lines *lines, const char *path);

/* Read from where this descriptor is, which stays the caller's. */
void e2pf_lines_begin(struct e2pf_lines *lines, int fd);

/* The next line without its newline, valid until the next call, NULL at the
 * end.  A line that does not fit is cut; its rest is skipped. */
char *e2pf_lines_next(struct e2pf_lines *lines);

void e2pf_lines_close(struct e2pf_lines *lines);

/* One line of /proc/PID/mountinfo; the strings point into the line. */
struct e2pf_mount {
	unsigned major, minor;		/* st_dev of the filesystem */
	char *root;			/* the mounted part of it */
	char *mount_point;
	char *fstype;
	char *source;
	char *super_options;		/* may be empty */
};

/* Take a mountinfo line apart, in place.  Returns 0, or -1 when the line is
 * none. */
int e2pf_parse_mount(char *line, struct e2pf_mount *mount);

/* What is left of `path` below the directory `dir`: "" or "/...".  NULL when
 * path is not below it. */
const char *e2pf_path_below(const char *path, const char *dir);

#endif
