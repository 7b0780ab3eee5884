/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses e2fsck's command line to find the device and whether a full check
 * follows.  Does not use libext2fs, because the launcher is not linked with it.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <endian.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command_line.h"

/* The options of e2fsck 1.47; a colon follows those that take a value. */
#define E2FSCK_OPTIONS "panyrcC:B:dE:fvtFVM:b:I:j:P:l:L:N:SsDkz:"

/* Options that only affect answers to questions and output. */
#define PLAIN_OPTIONS "panyvtC"

struct command_line command_line_read(int argc, char **argv)
{
	struct command_line task = { .plain = true };
	bool flushes = false;
	int c;

	opterr = 0;
	while ((c = getopt(argc, argv, E2FSCK_OPTIONS)) != -1) {
		if (!strchr(PLAIN_OPTIONS, c))
			task.plain = false;
		if (c == 'f' || c == 'c' || c == 'l' || c == 'L')
			task.force = true;
		if (c == 'b')
			task.superblock = atoi(optarg);
		if (c == 'B')
			task.block_size = (unsigned)atoi(optarg);
		if (c == 'F')		/* -F flushes what we would prefetch */
			flushes = true;
		if (c == 'V')
			task.version = true;
	}
	if (!flushes && !task.version && optind == argc - 1)
		task.device = argv[optind];
	return task;
}

/* Offsets of superblock fields, and their values. */
#define S_MNT_COUNT 52
#define S_MAX_MNT_COUNT 54
#define S_MAGIC 56
#define S_STATE 58
#define S_LASTCHECK 64
#define S_CHECKINTERVAL 68
#define S_FEATURE_INCOMPAT 96

#define MAGIC 0xef53u
#define STATE_VALID 1u
#define STATE_ERROR 2u
#define INCOMPAT_RECOVER 4u
#define INCOMPAT_JOURNAL_DEVICE 8u

static unsigned get16(const unsigned char *super, unsigned at)
{
	uint16_t value;

	memcpy(&value, super + at, sizeof(value));
	return le16toh(value);
}

static uint32_t get32(const unsigned char *super, unsigned at)
{
	uint32_t value;

	memcpy(&value, super + at, sizeof(value));
	return le32toh(value);
}

bool command_line_super_is_clean(const void *super, int64_t now)
{
	unsigned state = get16(super, S_STATE);
	unsigned incompat = get32(super, S_FEATURE_INCOMPAT);
	int most = (int16_t)get16(super, S_MAX_MNT_COUNT);
	int64_t last = get32(super, S_LASTCHECK);
	int64_t interval = get32(super, S_CHECKINTERVAL);

	if (get16(super, S_MAGIC) != MAGIC)
		return false;
	if (!(state & STATE_VALID) || (state & STATE_ERROR))
		return false;
	if (incompat & (INCOMPAT_RECOVER | INCOMPAT_JOURNAL_DEVICE))
		return false;
	if (most > 0 && (int)get16(super, S_MNT_COUNT) >= most)
		return false;
	return !interval || (now >= last && now < last + interval);
}

/* Opens the device only briefly.  A pipe or a tape is not opened at all. */
static bool read_super(const char *device, unsigned char *super)
{
	bool whole = false;
	struct stat st;
	int fd;

	if (stat(device, &st) ||
	    (!S_ISBLK(st.st_mode) && !S_ISREG(st.st_mode)))
		return false;
	fd = open(device, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	whole = pread(fd, super, COMMAND_LINE_SUPER_BYTES, COMMAND_LINE_SUPER_OFFSET) ==
		(ssize_t)COMMAND_LINE_SUPER_BYTES;
	close(fd);
	return whole;
}

bool command_line_is_clean(const struct command_line *task)
{
	unsigned char super[COMMAND_LINE_SUPER_BYTES];

	return task->device && task->plain && !task->superblock &&
	       read_super(task->device, super) &&
	       command_line_super_is_clean(super, time(NULL));
}
