/* SPDX-License-Identifier: GPL-2.0-or-later */
/* e2prefetch history: prints the checks that launch/outcome.c has recorded. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "device/sysfile.h"
#include "environment.h"
#include "options.h"
#include "outcome.h"
#include "report/json.h"
#include "report/words.h"

#define USAGE "e2prefetch history [--json]"

/* Seconds since 1970: in the year 9999. */
#define MOST_TIME 253e9

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

static void print_date(double seconds)
{
	time_t when = seconds > 0 && seconds < MOST_TIME ? (time_t)seconds : 0;
	char date[32] = "";
	struct tm tm;

	if (localtime_r(&when, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &tm);
	printf("%s", date);
}

static void print_check(struct json_object *check)
{
	double took = number(check, "seconds");
	double without = number(check, "without_seconds");
	char device[PATH_MAX], why[512], words[32];

	print_date(number(check, "time"));
	printf("  %-16s %7s",
	       text_of(check, "device", device, sizeof(device)),
	       took > 0 ? in_words(took, words, sizeof(words)) : "-");
	if (*text_of(check, "why_not", why, sizeof(why)))
		printf("  not prefetched: %s\n", why);
	else if (without > 0 && took > 0)
		printf("  %.1f times as fast (else about %s)\n",
		       without / took,
		       in_words(without, words, sizeof(words)));
	else
		printf("  prefetched, gain not known\n");
}

/* Returns -1 with errno.  A pipe would be waited for. */
static int open_checks(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* Returns 0, or an errno.  Lines that are not ours are left out. */
static int read_checks(const char *path, struct json_object *list)
{
	struct json_object *check;
	struct e2pf_lines lines;
	int fd = open_checks(path);
	char *line;

	if (fd < 0)
		return errno;
	e2pf_lines_begin(&lines, fd);
	while ((line = e2pf_lines_next(&lines))) {
		check = json_tokener_parse(line);
		if (json_object_is_type(check, json_type_object))
			json_object_array_add(list, check);
		else
			json_object_put(check);
	}
	e2pf_lines_close(&lines);
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
