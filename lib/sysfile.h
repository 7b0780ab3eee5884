/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Bounded reading of text files in procfs and sysfs: a reader gets at most the size of
 * its own buffer, or one line after the other of a file that may be of any length.  The
 * functions do not allocate, and are safe from any thread.
 */
#ifndef LIB_SYSFILE_H
#define LIB_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/* Open a directory that only `owner` can write to; `make`: create it if it is missing.
 * Returns a descriptor, or -1 with errno: EPERM if others could write to it. */
int e2pf_open_directory(const char *path, uid_t owner, bool make);

/*
 * Call line(ctx, text) for each line, without its end, of a file of any length.  A line
 * of E2PF_LINE bytes or more is left out: no line that a caller looks for is so long, for
 * a path in it has at most PATH_MAX bytes.  Returns 0, or -1 when the file cannot be read
 * to its end.
 */
#define E2PF_LINE 8192
int e2pf_read_lines(const char *dir, const char *name,
		    void (*line)(void *ctx, char *text), void *ctx);

/* Parse a decimal number that is followed by white space or the end of the
 * text.  Returns 0, or -1 with *value unchanged. */
int e2pf_parse_u64(const char *text, uint64_t *value);

/* Read a file that begins with a number.  Returns 0, or -1 with *value
 * unchanged. */
int e2pf_read_u64(const char *dir, const char *name, uint64_t *value);

#endif
