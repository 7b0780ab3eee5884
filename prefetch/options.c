/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of e2prefetch(8): which options are valid, and what they
 * mean. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "settings.h"

static const char help_begin[] =
"Usage: e2prefetch [OPTION]... DEVICE [-- COMMAND [ARGUMENT]...]\n"
"       e2prefetch probe [--json] DEVICE\n"
"       e2prefetch trace [--stock] -o FILE -- COMMAND [ARGUMENT]...\n"
"       e2prefetch plot -o FILE.png|.svg|.html TRACE...\n"
"       e2prefetch progress [--json] [PID|DEVICE]\n"
"       e2prefetch enable|disable|status [--links] [--root=FOLDER]\n"
"Load an ext2, ext3 or ext4 filesystem's metadata into the page cache.\n"
"\n"
"With a COMMAND, hold DEVICE open, prefetch while the command runs, and exit\n"
"with its status.\n"
"\n"
"enable makes checks at boot and e2scrub prefetch, disable undoes this, and\n"
"status reports it.  progress shows how far running checks are, history past\n"
"checks.  Write a DEVICE with the name of a command as ./NAME.\n"
"\n"
"  -n, --dry-run         show what would be read, class by class\n"
"  -t, --threads=N       prefetch threads, 1 to 256 (default: by the device)\n"
"  -m, --memory=SIZE     read at most SIZE (K, M, G, T; at least 1M)\n"
"      --only=CLASS,...  ";

static const char help_end[] =
"  -b BLOCK              use the superblock at BLOCK\n"
"  -B SIZE               with -b: the filesystem's block size\n"
"      --offset=BYTES    the filesystem begins BYTES into DEVICE\n"
"      --stats=FILE      write the statistics as JSON (- for stderr)\n"
"      --json            print the result as JSON\n"
"  -q, --quiet           no progress on a terminal\n"
"      --progress        progress on a terminal with a COMMAND, too\n"
"  -v, --verbose         print a summary; twice: details, too\n"
"  -h, --help            this text\n"
"  -V, --version         the version\n"
"\n"
"Exit status: 0 complete, 4 incomplete, 8 the device or its filesystem cannot\n"
"be read, 16 usage error; with a COMMAND, the command's.\n";

/* Columns in which the descriptions of --help begin and its lines end. */
#define HELP_INDENT 24
#define HELP_WIDTH 72

enum { OPT_ONLY = 256, OPT_OFFSET, OPT_STATS, OPT_JSON, OPT_PROGRESS };

static const struct option long_options[] = {
	{ "dry-run", no_argument, NULL, 'n' },
	{ "threads", required_argument, NULL, 't' },
	{ "memory", required_argument, NULL, 'm' },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "offset", required_argument, NULL, OPT_OFFSET },
	{ "stats", required_argument, NULL, OPT_STATS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "quiet", no_argument, NULL, 'q' },
	{ "progress", no_argument, NULL, OPT_PROGRESS },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 }
};

__attribute__((format(printf, 1, 2)))
static int wrong(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("e2prefetch: ", stderr);
	vfprintf(stderr, format, ap);
	fputs(" (see --help)\n", stderr);
	va_end(ap);
	return EXIT_USAGE;
}

static int parse_number(const char *text, uint64_t most, uint64_t *out)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || n > most)
		return EINVAL;
	*out = n;
	return 0;
}

/* Parse an option with a value.  Returns 0, or EINVAL if the value is
 * invalid. */
static int parse_value(int c, const char *value, struct options *o)
{
	uint64_t n = 0;
	int err = 0;

	switch (c) {
	case 't':
		return e2pf_parse_threads(value, &o->settings.threads);
	case 'm':
		return e2pf_parse_size(value, &o->settings.memory);
	case OPT_ONLY:
		return e2pf_parse_classes(value, &o->settings.classes);
	case OPT_OFFSET:
		return parse_number(value, INT64_MAX, &o->offset);
	case 'b':
		err = parse_number(value, INT32_MAX, &n);
		o->superblock = (int)n;
		return err;
	case 'B':
		err = parse_number(value, EXT2_MAX_BLOCK_SIZE, &n);
		o->block_size = (unsigned)n;
		if (n < EXT2_MIN_BLOCK_SIZE || (n & (n - 1)))
			err = EINVAL;
		return err;
	}
	return EINVAL;
}

static void print_help(void)
{
	int column = HELP_INDENT;
	unsigned cls;

	fputs(help_begin, stdout);
	for (cls = 0; cls < E2PF_CLASSES; cls++) {
		const char *name = e2pf_class_name(cls);
		bool last = cls + 1 == E2PF_CLASSES;

		if (column + (int)strlen(name) + 1 > HELP_WIDTH)
			column = printf("\n%*s", HELP_INDENT, "") - 1;
		else if (cls)
			column += printf(" ");
		column += printf("%s%s", name, last ? "\n" : ",");
	}
	fputs(help_end, stdout);
}

static int parse_flag(int c, struct options *o)
{
	switch (c) {
	case 'n':
		o->plan = true;
		break;
	case 'q':
		o->quiet = true;
		break;
	case OPT_PROGRESS:
		o->progress = true;
		break;
	case 'v':
		o->verbose++;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case OPT_STATS:
		o->stats = optarg;
		break;
	case 'h':
		print_help();
		return 0;
	case 'V':
		printf("e2prefetch %s\n", e2pf_version());
		return 0;
	}
	return -1;
}

/* Parse the arguments after the options: the device, and perhaps a command. */
static int parse_operands(int argc, char **argv, struct options *o)
{
	bool dashes = optind > 1 && !strcmp(argv[optind - 1], "--");

	if (optind == argc || dashes)
		return wrong("no device given");
	o->device = argv[optind++];
	if (optind < argc && strcmp(argv[optind], "--"))
		return wrong("unexpected argument \"%s\": put -- before a "
			     "command", argv[optind]);
	if (optind < argc) {
		if (optind + 1 == argc)
			return wrong("no command follows --");
		o->command = &argv[optind + 1];
	}
	if (o->plan && o->command)
		return wrong("-n cannot be combined with a command");
	if (o->block_size && !o->superblock)
		return wrong("-B needs -b");
	return -1;
}

int parse_options(int argc, char **argv, struct options *o)
{
	int c, status;

	memset(o, 0, sizeof(*o));
	o->settings.size = sizeof(o->settings);
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:nt:m:b:B:qvhV", long_options,
				NULL)) != -1) {
		if (c == '?')
			return wrong("unknown option \"%s\"", argv[optind - 1]);
		if (c == ':')
			return wrong("\"%s\" needs a value", argv[optind - 1]);
		if ((c < OPT_ONLY && strchr("tmbB", c)) || c == OPT_ONLY ||
		    c == OPT_OFFSET) {
			if (parse_value(c, optarg, o))
				return wrong("invalid value \"%s\"", optarg);
			continue;
		}
		status = parse_flag(c, o);
		if (status >= 0)
			return status;
	}
	return parse_operands(argc, argv, o);
}

/* The launcher's own settings count here, too, if they are wrong. */
int configure_options(struct options *o)
{
	struct e2pf_setup setup;
	char error[PATH_MAX + 256];

	if (!e2pf_setup_read(&setup, error, sizeof(error))) {
		fprintf(stderr, "e2prefetch: %s\n", *error ? error :
			"no memory to read the settings");
		return EXIT_USAGE;
	}
	setup.reading.classes = o->settings.classes;
	if (o->settings.threads)
		setup.reading.threads = o->settings.threads;
	if (o->settings.memory)
		setup.reading.memory = o->settings.memory;
	o->settings = setup.reading;
	return 0;
}
