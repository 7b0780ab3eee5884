/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Parses btrfs's command line as far as needed to tell whether this is a send,
 * or a check that reads all metadata starting from the superblock.  Arguments
 * that are not understood are left for the program to report.  getopt(3) is not
 * used: its state is the program's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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

/* The command, and what follows it.  If an option makes btrfs only print
 * something, it is that. */
static char *const *find_command(char *const *argv)
{
	for (argv++; *argv && **argv == '-'; argv++) {
		if (!strcmp(*argv, "--help") || !strcmp(*argv, "--version"))
			break;
		if (has_value(*argv) && argv[1])
			argv++;
	}
	return argv;
}

/* Is this word the name, or at least its first `least` letters? */
static bool abbreviates(const char *word, const char *name, size_t least)
{
	size_t length = strlen(word);

	return length >= least && length <= strlen(name) &&
	       !memcmp(word, name, length);
}

/* No other command begins with "c" or "v"; scrub and subvolume also begin with
 * "s". */
enum task arguments_task(char *const *argv)
{
	const char *command;

	if (!*argv)
		return TASK_OTHER;
	if (is_btrfsck(*argv))
		return TASK_CHECK;
	command = *find_command(argv);
	if (!command)
		return TASK_OTHER;
	if (abbreviates(command, "check", 1))
		return TASK_CHECK;
	if (abbreviates(command, "send", 2))
		return TASK_SEND;
	return !strcmp(command, "--version") ||
	       abbreviates(command, "version", 1) ? TASK_VERSION : TASK_OTHER;
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

static const char rebuilt[] = "--init-*: a tree is rebuilt";
static const char cleared[] = "--clear-*: a cache is cleared, nothing is "
			      "checked";
static const char report[] = "a report, which reads only part of the metadata";
static const char help[] = "--help: nothing is checked";

/* All options that take a value, and those that matter.  Any other one takes no
 * value: -p, --readonly, --skip-qgroup-accounting of 6.19, ... */
static const struct option {
	const char *name;
	char letter;
	bool value;
	const char *why;	/* the check is left alone */
} options[] = {
	{ "super", 's', true, "-s: a superblock copy is used" },
	{ "backup", 'b', false, "-b: a backup root is used" },
	{ "tree-root", 'r', true,
	  "-r: the tree root is not the superblock's" },
	{ "chunk-root", 0, true,
	  "--chunk-root: the chunk root is not the superblock's" },
	{ "init-csum-tree", 0, false, rebuilt },
	{ "init-extent-tree", 0, false, rebuilt },
	{ "clear-space-cache", 0, true, cleared },
	{ "clear-ino-cache", 0, false, cleared },
	{ "subvol-extents", 'E', true, report },
	{ "qgroup-report", 'Q', false, report },
	{ "help", 'h', false, help },
	{ "mode", 0, true, NULL },
	{ "force", 0, false, NULL },
	{ NULL, 0, false, NULL }
};

/* The option that a word begins with, abbreviated or with a value, or a letter
 * of it; the last one of the table if it is another. */
static const struct option *find_option(const char *word, size_t length,
					char letter)
{
	const struct option *o;

	for (o = options; o->name; o++)
		if (letter ? o->letter == letter :
			     length && length <= strlen(o->name) &&
			     !memcmp(word, o->name, length))
			break;
	return o;
}

/* The options of a check. */
struct said {
	const char *why;
	bool force;
};

/* Take an argument with options.  Returns true if the next argument is its value. */
static bool parse_option(const char *word, struct said *said)
{
	const struct option *o;

	if (word[1] == '-') {
		o = find_option(word + 2, strcspn(word + 2, "="), 0);
		said->force |= o->name && !strcmp(o->name, "force");
		if (!said->why)
			said->why = o->why;
		return o->value && !strchr(word, '=');
	}
	for (word++; *word; word++) {
		o = find_option(NULL, 0, *word);
		if (!said->why)
			said->why = o->why;
		if (o->value)
			return !word[1];
	}
	return false;
}

const char *arguments_aside(char *const *argv)
{
	const char *operand = NULL;
	struct said said = { .why = NULL };
	unsigned operands = 0;
	bool only_operands = false;

	if (!is_btrfsck(*argv))
		argv = find_command(argv);
	while (*argv && *++argv) {
		if (only_operands || **argv != '-' || !(*argv)[1]) {
			operand = *argv;
			operands++;
		} else if (!strcmp(*argv, "--")) {
			only_operands = true;
		} else if (parse_option(*argv, &said) && argv[1]) {
			argv++;
		}
	}
	if (said.why)
		return said.why;
	if (operands != 1)
		return "exactly one device is needed";
	/* Such a check ends with an error before it begins, unless --force is
	 * given. */
	if (said.force && is_in_use(operand))
		return "--force: the device is mounted or otherwise in use";
	return NULL;
}
