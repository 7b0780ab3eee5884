/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command line asks of e2fsck, and whether there is much to do.
 */
#ifndef COMMAND_LINE_H
#define COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command_line {
	const char *device;	/* NULL: none, or nothing is checked */
	int superblock;		/* -b; 0: the first */
	unsigned block_size;	/* -B; 0: find out */
	bool force;		/* -f, or what implies a full check */
	bool version;		/* -V: says its version, and checks nothing */
	bool plain;		/* no option that could ask for more than what
				   a clean filesystem gets */
};

/* Bytes of a superblock, and where it lies. */
#define COMMAND_LINE_SUPER_BYTES 1024u
#define COMMAND_LINE_SUPER_OFFSET 1024

/* `argv` may be put into another order. */
struct command_line command_line_read(int argc, char **argv);

/*
 * Is e2fsck done with this filesystem when it has looked at the superblock, at
 * this time (seconds since 1970)?  False in doubt.  Pure.
 */
bool command_line_super_is_clean(const void *super, int64_t now);

/* The same for the device of a task, which is opened for reading.  False also
 * where it cannot be read. */
bool command_line_is_clean(const struct command_line *task);

#endif
