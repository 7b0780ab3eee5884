/* SPDX-License-Identifier: GPL-2.0-or-later */
/* e2prefetch history: prints the checks that launch/outcome.c has recorded. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "commands.h"
#include "environment.h"
#include "options.h"
#include "outcome.h"
#include "report/json.h"
#include "report/words.h"

#define USAGE "e2prefetch history [--json]"

static const struct option long_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "json", no_argument, NULL, 'j' },
	{ NULL, 0, NULL, 0 }
};

static struct json_object *member(struct json_object *check, const char *key)
{
	struct json_object *value = NULL;

	json_object_object_get_ex(check, key, &value);
	return value;
}

static double number(struct json_object *check, const char *key)
{
	return json_object_get_double(member(check, key));
}

/* Text from the file could hold anything that a terminal obeys. */
static const char *text_of(struct json_object *check, const char *key,
			   char *text, size_t size)
{
	const char *value = json_object_get_string(member(check, key));

	environment_print(text, size, value ? value : "");
	return text;
}

static void print_check(struct json_object *check)
{
	time_t when = (time_t)number(check, "time");
	double took = number(check, "seconds");
	double without = number(check, "without_seconds");
	char date[32] = "", device[PATH_MAX], why[512], words[32];
	struct tm tm;

	if (localtime_r(&when, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &tm);
	printf("%s  %-16s %7s", date,
	       text_of(check, "device", device, sizeof(device)),
	       took > 0 ? in_words(took, words, sizeof(words)) : "-");
	if (*text_of(check, "why_not", why, sizeof(why)))
		printf("  not prefetched: %s\n", why);
	else if (without > 0 && took > 0)
		printf("  without prefetching about %s: %.1f times as fast\n",
		       in_words(without, words, sizeof(words)),
		       without / took);
	else
		printf("  prefetched, gain not known\n");
}

/* Returns 0, or an errno.  Lines that are not ours are left out. */
static int read_checks(const char *path, struct json_object *list)
{
	struct json_object *check;
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return errno;
	while (getline(&line, &size, f) > 0) {
		check = json_tokener_parse(line);
		if (json_object_is_type(check, json_type_object))
			json_object_array_add(list, check);
		else
			json_object_put(check);
	}
	free(line);
	fclose(f);
	return 0;
}

static int show(bool json)
{
	const char *setting = environment_get("PREFETCH_HISTORY");
	const char *path = history_path(setting && *setting == '/' ? setting :
								     "1");
	struct json_object *list = json_object_new_array(), *all;
	char older[PATH_MAX + sizeof(HISTORY_OLDER)];
	size_t i, n;
	int err;

	snprintf(older, sizeof(older), "%s" HISTORY_OLDER, path);
	read_checks(older, list);
	err = read_checks(path, list);
	n = json_object_array_length(list);
	if (err && err != ENOENT) {
		fprintf(stderr, "e2prefetch: %s: %s\n", path, strerror(err));
		json_object_put(list);
		return EXIT_OPERATIONAL;
	}
	if (json) {
		all = json_object_new_object();
		put(all, "checks", list);
		put_out(all, stdout);
		return 0;
	}
	if (!n)
		printf("no check is recorded in %s\n", path);
	for (i = 0; i < n; i++)
		print_check(json_object_array_get_idx(list, i));
	json_object_put(list);
	return 0;
}

int history_command(int argc, char **argv)
{
	bool json = false;
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		if (c == 'h')
			return puts("Usage: " USAGE) < 0;
		if (c != 'j')
			break;
		json = true;
	}
	if (c == -1 && optind == argc)
		return show(json);
	fprintf(stderr, "e2prefetch: history: unexpected argument (usage: "
		USAGE ")\n");
	return EXIT_USAGE;
}
