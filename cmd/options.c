/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The command line of e2prefetch(8): which commands and options are valid, and what
 * they mean. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "prefetch/settings.h"

static const struct option options[] = {
	{ "only", required_argument, NULL, 'O' },
	{ "one-file-system", no_argument, NULL, 'x' },
	{ "wait", required_argument, NULL, 'w' },
	{ "longer-than", required_argument, NULL, 'l' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 }
};

/* Completions and the test of the manual read these lines. */
static const char help[] =
"Read metadata of ext2/3/4 and of mounted btrfs into the page cache.\n"
"\n"
"  -O, --only=CLASS,...    read only these classes, named as by probe, or all\n"
"  -x, --one-file-system   skip filesystems and subvolumes below PATH\n"
"  -w, --wait=TIME         begin COMMAND after TIME at the latest "
"(seconds, or m, h; default: 30 on disks)\n"
"  -l, --longer-than=TIME  with probe: say whether a check takes longer\n"
"  -v, --verbose           print a summary; twice: decisions, too\n"
"  -h, --help              this text\n"
"  -V, --version           the version\n"
"\n"
"PATH is a device, an image, or a directory, which includes everything below it.\n"
"With COMMAND, prefetch, then become COMMAND.  Options are read up to --.\n"
"enable makes checks at boot prefetch, disable undoes this, status reports it and\n"
"the last walks; progress shows running checks.  Write ./NAME for a PATH that is\n"
"named like a command.\n"
"\n"
"Exit status: 0 complete, 4 incomplete, 8 the device or its filesystem cannot\n"
"be read, 16 usage error; with a COMMAND, the command's.  probe --longer-than:\n"
"0 longer, 1 not longer, 4 not known.\n";

/* enable, disable and status are a shell script. */
static int enable_command(int argc, char **argv)
{
	static char script[] = SCRIPTS "/enable";

	(void)argc;
	argv[0] = script;
	execv(script, argv);
	fprintf(stderr, "e2prefetch: cannot run %s: %s\n", script,
		strerror(errno));
	return EXIT_OPERATIONAL;
}

static const struct command {
	const char *name;
	const char *usage;	/* what follows the name */
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "probe", " [OPTION]... PATH", probe_command },
	{ "progress", "", progress_command },
	{ "enable", " [--root=DIRECTORY]", enable_command },
	{ "disable", " [--root=DIRECTORY]", enable_command },
	{ "status", " [--root=DIRECTORY]", enable_command },
	{ 0 }
};

int run_named(int argc, char **argv)
{
	const struct command *c;

	for (c = commands; argc > 1 && c->name; c++)
		if (!strcmp(c->name, argv[1]))
			return c->run(argc, argv);
	return -1;
}

/* On a seek-bound device the command begins when everything is read, and after this time
 * at the latest: beside fd with 16 threads, on the disk, reading ahead took 3.06 s, and
 * before it 1.87. */
#define WAIT_S 30

static void print_help(void)
{
	const struct command *c;

	puts("Usage: e2prefetch [OPTION]... PATH... "
	     "[-- COMMAND [ARGUMENT]...]");
	for (c = commands; c->name; c++)
		printf("       e2prefetch %s%s\n", c->name, c->usage);
	fputs(help, stdout);
}

int wrong(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("e2prefetch: ", stderr);
	vfprintf(stderr, format, ap);
	fputs(" (see --help)\n", stderr);
	va_end(ap);
	return EXIT_USAGE;
}

/* "90", "10m", "2h": in seconds. */
static int parse_time(const char *text, uint64_t min, uint64_t *out)
{
	return pf_settings_parse_number(text, "mh", 60, min, UINT32_MAX, out);
}

/* Parse an option.  Returns 0, EINVAL if its value is invalid, or -1 if there is
 * nothing left to do. */
static int parse_option(int c, const char *value, struct options *o)
{
	switch (c) {
	case 'O':
		o->classes = EXT4_ALL_CLASSES;
		return !strcmp(value, "all") ? 0 :
		       pf_settings_parse_names(value, ext4_class_names,
					       EXT4_CLASSES, &o->classes);
	case 'x':
		o->one_filesystem = true;
		break;
	case 'w':
		o->waits = true;
		return parse_time(value, 0, &o->wait);
	case 'l':
		return parse_time(value, 1, &o->longer_than);
	case 'v':
		o->verbose++;
		break;
	case 'h':
		print_help();
		return -1;
	case 'V':
		puts("e2prefetch " PACKAGE_VERSION);
		return -1;
	}
	return 0;
}

/* The name of a program where a path belongs. */
static bool is_program(const char *path)
{
	struct stat st;

	return path && !strchr(path, '/') && stat(path, &st) && errno == ENOENT;
}

/* Check the paths, and the command that follows `--'; `rest` is that, or the end. */
static int parse_operands(char *name, char **rest, struct options *o)
{
	bool is_probe = !strcmp(name, "probe");
	unsigned i;

	if (!o->paths)
		return wrong("no path given");
	if (*rest && !rest[1])
		return wrong("no command follows --");
	if (*rest)
		o->command = &rest[1];
	if (is_probe ? o->command || o->paths > 1 : !!o->longer_than)
		return wrong("probe takes one path and no command; "
			     "--longer-than is for probe only");
	for (i = 1; i < o->paths && !o->command; i++)
		if (is_program(o->path[i]))
			return wrong("no such file: \"%s\": is -- missing?",
				     o->path[i]);
	return -1;
}

/* Options may follow paths.  The paths are collected at the start of argv. */
int parse_options(int argc, char **argv, struct options *o)
{
	const struct option *option;
	const char *hint;
	char *name = argv[0];
	int c, err, n;

	memset(o, 0, sizeof(*o));
	o->wait = WAIT_S;
	o->path = argv;
	opterr = 0;
	for (n = 1; n < argc && strcmp(argv[n], "--"); n++)
		;
	while ((c = getopt_long(n, argv, "-:O:xw:l:vhV", options, NULL)) != -1) {
		if (c == 1) {
			o->path[o->paths++] = argv[optind - 1];
			continue;
		}
		hint = o->paths ? ": is -- missing?" : "";
		if (c == '?')
			return wrong("unknown option \"%s\"%s", optopt ?
				     (char[]){ '-', (char)optopt, '\0' } :
				     argv[optind - 1], hint);
		if (c == ':')
			return wrong("\"%s\" needs a value%s", argv[optind - 1],
				     hint);
		err = parse_option(c, optarg, o);
		for (option = options; err > 0 && option->val != c; option++)
			;
		if (err)
			return err < 0 ? 0 :
			       wrong("invalid value \"%s\" for --%s%s", optarg,
				     option->name, hint);
	}
	return parse_operands(name, &argv[n], o);
}

int configure_options(struct options *o)
{
	char error[PATH_MAX + 256];

	if (!pf_settings_read(&o->settings, error, sizeof(error))) {
		fprintf(stderr, "e2prefetch: %s\n", *error ? error :
			"cannot read the settings: out of memory");
		return EXIT_USAGE;
	}
	if (*error)
		fprintf(stderr, "e2prefetch: %s\n", error);
	return 0;
}
