/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a command line asks e2fsck to do, and whether that takes long.
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
	bool force;		/* -f, or an option that implies a full check */
	bool version;		/* -V: prints the version, checks nothing */
	bool plain;		/* no option that could cause more work on a
				   clean filesystem */
};

/* Size and offset of the superblock, bytes. */
#define COMMAND_LINE_SUPER_BYTES 1024u
#define COMMAND_LINE_SUPER_OFFSET 1024

/* May reorder `argv`. */
struct command_line command_line_read(int argc, char **argv);

/*
 * Whether e2fsck, run at the time `now` (seconds since 1970), is done with this
 * filesystem once it has read the superblock.  False if in doubt.  Depends on
 * its arguments alone.
 */
bool command_line_super_is_clean(const void *super, int64_t now);

/* The same for the device of a task, which is opened for reading.  Also false
 * if it cannot be read. */
bool command_line_is_clean(const struct command_line *task);

#endif
