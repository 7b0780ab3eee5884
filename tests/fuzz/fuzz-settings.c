/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Feeds arbitrary text to all parsers of settings: counts, sizes, the
 * variables, the file and e2prefetch's command line.  Aborts if
 * a value outside its limits is accepted, or if a rejected one changes
 * something.
 *
 * The first byte selects the parser; strings end with a zero byte.
 */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz.h"
#include "commands.h"
#include "settings.h"

#define MOST_ARGUMENTS 12

static void check_settings(const struct e2pf_settings *s)
{
	require(s->threads <= E2PF_MAX_THREADS);
	require(!s->memory || s->memory >= 1u << 20);
}

static bool is_same(const struct e2pf_settings *a, const struct e2pf_settings *b)
{
	return a->memory == b->memory && a->threads == b->threads;
}

static void fuzz_values(struct input *in)
{
	static const char *const names[] = { "threads", "mem" };
	struct e2pf_setup setup = { .prefetch = false }, before = setup;
	char *text = take_string(in);
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (e2pf_setup_set(&setup, names[i], text))
			require(is_same(&setup.reading, &before.reading));
		before = setup;
	}
	check_settings(&setup.reading);
	free(text);
}

/* The message must be a single line, whatever a variable or a file contains. */
static void read_setup(void)
{
	struct e2pf_setup setup;
	char error[512] = "";

	if (e2pf_setup_read(&setup, error, sizeof(error)))
		require(!*error || setup.verbose);
	else
		require(!setup.prefetch && *error);
	require(!strchr(error, '\n') && !strchr(error, '\033'));
	check_settings(&setup.reading);
}

static void fuzz_environment(struct input *in)
{
	static const char *const names[] = {
		"PREFETCH", "TEST_MMAP_IO", "PREFETCH_THREADS",
		"PREFETCH_MEM", "PREFETCH_STATS", "PREFETCH_VERBOSE",
		"PREFETCH_IO_MANAGER", "PREFETCH_COUNT",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *value = take_string(in);

		if (*value)
			setenv(names[i], value, 1);
		else
			unsetenv(names[i]);
		free(value);
	}
	read_setup();
}

/* The file of settings: its text is the input. */
static void fuzz_file(struct input *in)
{
	char path[] = "/tmp/fuzz-settings.XXXXXX";
	int fd = mkstemp(path);

	require(fd >= 0);
	require(write(fd, in->bytes, in->left) == (ssize_t)in->left);
	close(fd);
	setenv("PREFETCH_CONFIG", path, 1);
	read_setup();
	unsetenv("PREFETCH_CONFIG");
	unlink(path);
}

static void fuzz_options(struct input *in)
{
	char *copy[MOST_ARGUMENTS + 1] = { NULL };
	char *argv[MOST_ARGUMENTS + 2] = { (char *)"e2prefetch", NULL };
	struct options o;
	int argc = 1, i, status;

	while (in->left && argc <= MOST_ARGUMENTS) {
		argv[argc] = copy[argc - 1] = take_string(in);
		argc++;
	}
	argv[argc] = NULL;
	optind = 0;	/* glibc: restart the parser */
	status = parse_options(argc, argv, &o);
	require(status == -1 || status == 0 || status == EXIT_USAGE);
	if (status == -1) {
		require(o.paths && *o.path && o.offset <= INT64_MAX &&
			o.superblock >= 0 && !o.longer_than);
		require(o.classes <= E2PF_ALL_CLASSES);
		require(!o.command || (*o.command && !o.plan && !o.hold));
		check_settings(&o.settings);
	}
	for (i = 0; i < argc - 1; i++)
		free(copy[i]);
}

/* --help prints them; commands.c is not linked. */
const struct command commands[] = { { 0 } };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	switch (take_byte(&in) % 4) {
	case 0:
		fuzz_values(&in);
		break;
	case 1:
		fuzz_environment(&in);
		break;
	case 2:
		fuzz_file(&in);
		break;
	default:
		fuzz_options(&in);
	}
	return 0;
}
