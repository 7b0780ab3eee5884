/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses btrfs's command line as far as needed to tell whether this is a send,
 * a search for what is new,
 * or a check that reads all metadata starting from the superblock.  Arguments
 * that are not understood are left for the stock program to report.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arguments.h"

static bool is_btrfsck(const char *name)
{
	const char *slash = strrchr(name, '/');

	return !strcmp(slash ? slash + 1 : name, "btrfsck");
}

/* Options of btrfs itself, before the command, that take a value. */
static bool has_value(const char *option)
{
	return !strcmp(option, "--format") || !strcmp(option, "--log") ||
	       !strcmp(option, "--param");
}

/* Index of the first argument that is not one of these options, or of the
 * option that makes btrfs only print something. */
static int skip_options(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--help") ||
		    !strcmp(argv[i], "--version"))
			return i;
		if (has_value(argv[i]))
			i++;
	}
	return i;
}

/* Is this word the name, or at least its first `least` letters? */
static bool abbreviates(const char *word, const char *name, size_t least)
{
	size_t length = strlen(word);

	return length >= least && length <= strlen(name) &&
	       !memcmp(word, name, length);
}

/* Index of the argument that is this command, or an abbreviation of it with at
 * least `least` letters; 0 if there is none. */
static int find_command(int argc, char **argv, const char *name, size_t least)
{
	int i = skip_options(argc, argv);

	return i < argc && abbreviates(argv[i], name, least) ? i : 0;
}

/* No other command begins with "c", so one letter is enough. */
static int find_check(int argc, char **argv)
{
	return find_command(argc, argv, "check", 1);
}

bool arguments_are_check(int argc, char **argv)
{
	return argc > 0 && (is_btrfsck(argv[0]) || find_check(argc, argv));
}

bool arguments_are_send(int argc, char **argv)
{
	/* Two letters are needed: scrub and subvolume also begin with "s". */
	if (argc < 1 || is_btrfsck(argv[0]))
		return false;
	return find_command(argc, argv, "send", 2);
}

bool arguments_are_version(int argc, char **argv)
{
	int i;

	if (argc < 1 || is_btrfsck(argv[0]))
		return false;
	i = skip_options(argc, argv);
	return i < argc && (!strcmp(argv[i], "--version") ||
			    find_command(argc, argv, "version", 1));
}

/* Whether this block device is claimed exclusively: usually it is mounted. */
static bool is_in_use(const char *path)
{
	struct stat st;
	bool busy;
	int fd;

	if (stat(path, &st) || !S_ISBLK(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK);
	busy = fd < 0 && errno == EBUSY;
	if (fd >= 0)
		close(fd);
	return busy;
}

enum long_option {
	OPTION_OTHER = 256, OPTION_FORCE, OPTION_INIT, OPTION_CHUNK_ROOT,
	OPTION_CLEAR
};

static const char short_options[] = "as:br:pEQh";

static const struct option long_options[] = {
	{ "super", required_argument, NULL, 's' },
	{ "repair", no_argument, NULL, OPTION_OTHER },
	{ "readonly", no_argument, NULL, OPTION_OTHER },
	{ "init-csum-tree", no_argument, NULL, OPTION_INIT },
	{ "init-extent-tree", no_argument, NULL, OPTION_INIT },
	{ "check-data-csum", no_argument, NULL, OPTION_OTHER },
	{ "backup", no_argument, NULL, 'b' },
	{ "subvol-extents", required_argument, NULL, 'E' },
	{ "qgroup-report", no_argument, NULL, 'Q' },
	{ "tree-root", required_argument, NULL, 'r' },
	{ "chunk-root", required_argument, NULL, OPTION_CHUNK_ROOT },
	{ "progress", no_argument, NULL, 'p' },
	{ "mode", required_argument, NULL, OPTION_OTHER },
	{ "clear-space-cache", required_argument, NULL, OPTION_CLEAR },
	{ "clear-ino-cache", no_argument, NULL, OPTION_CLEAR },
	{ "force", no_argument, NULL, OPTION_FORCE },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static const char *reason_of(int option)
{
	switch (option) {
	case 's':
		return "-s: a superblock copy is used";
	case 'b':
		return "-b: a backup root is used";
	case 'r':
		return "-r: the tree root is not the superblock's";
	case OPTION_CHUNK_ROOT:
		return "--chunk-root: the chunk root is not the superblock's";
	case OPTION_INIT:
		return "--init-*: a tree is rebuilt";
	case OPTION_CLEAR:
		return "--clear-*: a cache is cleared, nothing is checked";
	case 'E':
	case 'Q':
		return "a report, which reads only part of the metadata";
	case 'h':
		return "--help: nothing is checked";
	default:
		return NULL;
	}
}

/* What the options of a check say. */
struct options {
	const char *why;		/* why it is left alone */
	const char *operand;		/* the first one; NULL: none */
	int operands;
	bool force;
};

/* Returns false if memory runs out. */
static bool take_options(int argc, char **argv, struct options *o)
{
	int command = is_btrfsck(argv[0]) ? 0 : find_check(argc, argv), c;
	char **list = calloc((size_t)(argc - command) + 1, sizeof(*list));

	*o = (struct options) { .operands = 0 };
	if (!list)
		return false;
	/* getopt() reorders its arguments, so it gets a copy. */
	memcpy(list, argv + command, (size_t)(argc - command) * sizeof(*list));
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc - command, list, short_options,
				long_options, NULL)) != -1) {
		o->force |= c == OPTION_FORCE;
		if (!o->why)
			o->why = reason_of(c);
	}
	o->operands = argc - command - optind;
	o->operand = o->operands > 0 ? list[optind] : NULL;
	free(list);
	return true;
}

const char *arguments_aside(int argc, char **argv)
{
	struct options o;

	if (!take_options(argc, argv, &o))
		return "no memory";
	if (o.why)
		return o.why;
	if (o.operands != 1)
		return "exactly one device is needed";
	/* Without --force such a check ends with an error before it begins. */
	if (o.force && is_in_use(o.operand))
		return "--force: the device is mounted or otherwise in use";
	return NULL;
}
