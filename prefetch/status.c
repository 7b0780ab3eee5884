/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2prefetch status: a script tells what is enabled and whether it works; this
 * file tells the script what is wrong with the settings, and prints which are in
 * effect and where each comes from.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "configuration.h"
#include "environment.h"
#include "options.h"

#define MOST_SETTINGS 16

/* What the file says. */
struct said {
	const char *variable[MOST_SETTINGS];
	char value[MOST_SETTINGS][64];
	unsigned count;
};

static void take(void *ctx, const char *variable, const char *value)
{
	struct said *said = ctx;

	if (said->count == MOST_SETTINGS)
		return;
	said->variable[said->count] = variable;
	environment_print(said->value[said->count++], sizeof(said->value[0]),
			  value);
}

static const char *value_of(const struct said *said, const char *variable)
{
	unsigned i;

	for (i = 0; i < said->count; i++)
		if (!strcmp(said->variable[i], variable))
			return said->value[i];
	return NULL;
}

/* Read the file, and tell the script whether it turns prefetching off, or what is
 * wrong with it.  Returns false if it is invalid. */
static bool read_file(const char *path, struct said *said)
{
	char error[PATH_MAX + 256] = "";
	const char *prefetch;

	unsetenv("E2PREFETCH_SETTINGS");
	if (configuration_read(path, take, said, error, sizeof(error)) < 0) {
		setenv("E2PREFETCH_SETTINGS",
		       *error ? error : strerror(errno), 1);
		return false;
	}
	prefetch = value_of(said, "PREFETCH");
	if (prefetch && !strcmp(prefetch, "0"))
		setenv("E2PREFETCH_SETTINGS", "off", 1);
	return true;
}

static void print_setting(const char *name, const char *value,
			  const char *from, const char *more)
{
	char text[64];

	environment_print(text, sizeof(text), value);
	printf("  %-13s %s (%s%s)\n", name, text, from, more);
}

/* Variables of this shell are not those of the checks at boot. */
static void print_settings(const char *path, const struct said *said, bool here)
{
	struct environment_setting s;
	const char *value;
	unsigned i;

	printf("settings:\n");
	for (i = 0; environment_setting(i, &s); i++) {
		if (here && s.value) {
			print_setting(s.name, environment_words(&s, s.value),
				      environment_name(s.variable), s.is_valid ?
				      ", in this shell" : ": invalid");
			continue;
		}
		value = value_of(said, s.variable);
		print_setting(s.name, value ? environment_words(&s, value) :
			      s.fallback, value ? path : "default", "");
	}
}

int status_command(int argc, char **argv)
{
	static const char option[] = "--root=";
	struct said said = { .count = 0 };
	const char *root = "";
	char path[PATH_MAX];
	bool help = false, valid;
	int i, status;

	for (i = 1; i < argc; i++) {
		if (!strncmp(argv[i], option, strlen(option)))
			root = argv[i] + strlen(option);
		help |= !strcmp(argv[i], "-h") || !strcmp(argv[i], "--help");
	}
	snprintf(path, sizeof(path), "%s%s", root, CONFIGURATION);
	valid = read_file(path, &said);
	status = run_script("enable", argc, argv);
	if (valid && !help && status <= EXIT_INCOMPLETE)
		print_settings(path, &said, !*root);
	return status;
}
