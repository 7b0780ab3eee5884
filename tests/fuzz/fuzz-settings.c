/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Feeds arbitrary text to all parsers of settings: counts, sizes, lists of
 * classes, the launcher's environment and e2prefetch's command line.  Aborts if
 * a value outside its limits is accepted, or if a rejected one changes
 * something.
 *
 * The first byte selects the parser; strings end with a zero byte.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "environment.h"
#include "fuzz.h"
#include "commands.h"
#include "options.h"
#include "settings.h"

#define UNTOUCHED 0xa5a5a5a5u
#define MOST_ARGUMENTS 12

static void require(bool true_thing)
{
	if (!true_thing)
		abort();
}

static void fuzz_values(struct input *in)
{
	char *text = take_string(in);
	unsigned n = UNTOUCHED;
	uint64_t size = UNTOUCHED;
	int err;

	err = e2pf_parse_threads(text, &n);
	require(err ? err == EINVAL && n == UNTOUCHED :
		      n >= 1 && n <= E2PF_MAX_THREADS);
	err = e2pf_parse_size(text, &size);
	require(err ? err == EINVAL && size == UNTOUCHED : size >= 1u << 20);
	n = UNTOUCHED;
	err = e2pf_parse_classes(text, &n);
	require(err ? err == EINVAL && n == UNTOUCHED :
		      n && !(n & ~E2PF_ALL_CLASSES));
	n = UNTOUCHED;
	err = e2pf_parse_io_priority(text, &n);
	require(err ? err == EINVAL && n == UNTOUCHED :
		      n == 3 << 13 || n >> 3 == 2 << 10);
	free(text);
}

static void check_settings(const struct e2pf_settings *s)
{
	require(s->threads <= E2PF_MAX_THREADS);
	require(!s->memory || s->memory >= 1u << 20);
}

static unsigned told;

/* The message must be a single line, whatever the variable contains. */
static void count_line(void *ctx, const char *line)
{
	(void)ctx;
	require(*line && !strchr(line, '\n') && !strchr(line, '\033'));
	told++;
}

/* What can be told apart: the padding of these structs cannot. */
static bool are_same(const struct environment *a, const struct environment *b)
{
	return a->prefetch == b->prefetch && a->io == b->io &&
	       a->settings.threads == b->settings.threads &&
	       a->settings.memory == b->settings.memory &&
	       a->settings.bandwidth == b->settings.bandwidth &&
	       a->settings.requests == b->settings.requests &&
	       a->settings.io_priority == b->settings.io_priority &&
	       a->settings.nice == b->settings.nice &&
	       a->stats == b->stats && a->trace == b->trace &&
	       a->observe == b->observe && a->verbose == b->verbose &&
	       a->accel == b->accel;
}

static void fuzz_environment(struct input *in)
{
	static const char *const names[] = {
		"PREFETCH", "TEST_MMAP_IO", "PREFETCH_THREADS",
		"PREFETCH_MEM", "PREFETCH_STATS", "PREFETCH_VERBOSE",
		"PREFETCH_BANDWIDTH", "PREFETCH_IOPS", "PREFETCH_IOPRIO",
		"PREFETCH_NICE",
	};
	struct environment env, again;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *value = take_string(in);

		if (*value)
			setenv(names[i], value, 1);
		else
			unsetenv(names[i]);
		free(value);
	}
	told = 0;
	read_environment(&env, count_line, NULL);
	check_settings(&env.settings);
	require(told <= sizeof(names) / sizeof(names[0]));
	/* What is not told is the same: the module's reading is the
	 * launcher's. */
	read_environment(&again, NULL, NULL);
	require(are_same(&env, &again));
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
		require(o.device && o.offset <= INT64_MAX &&
			o.superblock >= 0);
		require(!o.command || (*o.command && !o.plan));
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

	switch (take_byte(&in) % 3) {
	case 0:
		fuzz_values(&in);
		break;
	case 1:
		fuzz_environment(&in);
		break;
	default:
		fuzz_options(&in);
	}
	return 0;
}
