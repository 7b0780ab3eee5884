/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file e2prefetch.conf(5): its settings are variables of
 * e2fsck-prefetch(8) under other names.  libinih reads it; what is said here
 * is what the names are and what is wrong.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "configuration.h"
#include "environment.h"

/* As libinih is built: a longer line would be taken for two. */
#define MOST_LINE 200

/* Another file than the installed one, by its absolute path. */
#define CONFIGURATION_VARIABLE "PREFETCH_CONFIG"

/* There is no end to /dev/zero. */
#define MOST_LINES 10000u

static const struct {
	const char *name;
	const char *variable;
	bool on_or_off;
} settings[] = {
	{ "prefetch", "PREFETCH", true },
	{ "threads", "PREFETCH_THREADS", false },
	{ "memory", "PREFETCH_MEM", false },
	{ "accelerations", "PREFETCH_ACCEL", false },
	{ "verbose", "PREFETCH_VERBOSE", true },
	{ "bandwidth", "PREFETCH_BANDWIDTH", false },
	{ "requests", "PREFETCH_IOPS", false },
	{ "io-priority", "PREFETCH_IOPRIO", false },
	{ "nice", "PREFETCH_NICE", false },
};

#define SETTINGS (sizeof(settings) / sizeof(*settings))

struct reading {
	FILE *file;
	const char *path;
	configuration_take *take;
	void *ctx;
	unsigned line;			/* the last that was read */
	char value[SETTINGS][MOST_LINE];	/* empty: not set */
	char *error;
	size_t size;
	unsigned wrong;			/* the line `error` is about; 0: none */
};

/* Only the first of the wrong lines is told. */
__attribute__((format(printf, 2, 3)))
static int wrong(struct reading *r, const char *format, ...)
{
	va_list ap;
	int used;

	if (r->wrong)
		return 0;
	r->wrong = r->line;
	used = snprintf(r->error, r->size, "%s:%u: ", r->path, r->line);
	if (used < 0 || (size_t)used >= r->size)
		return 0;
	va_start(ap, format);
	vsnprintf(r->error + used, r->size - (size_t)used, format, ap);
	va_end(ap);
	return 0;
}

/* What the variable is set to; NULL when the value is none for it, with what
 * it takes in *expected. */
static const char *translate(size_t i, const char *value,
			     const char **expected)
{
	if (settings[i].on_or_off) {
		*expected = "on or off";
		return !strcmp(value, "on") ? "1" :
		       !strcmp(value, "off") ? "0" : NULL;
	}
	*expected = environment_expects(settings[i].variable, value);
	return *expected ? NULL : value;
}

/* One setting.  What is returned is libinih's: 0 when it is wrong. */
static int take(void *ctx, const char *section, const char *name,
		const char *value)
{
	const char *expected, *set;
	struct reading *r = ctx;
	char word[65], text[65];
	size_t i;

	environment_print(word, sizeof(word), name ? name : "");
	environment_print(text, sizeof(text), value ? value : "");
	if (*section)
		return wrong(r, "there are no sections here");
	for (i = 0; i < SETTINGS && strcmp(settings[i].name, word); i++)
		;
	if (i == SETTINGS)
		return wrong(r, "\"%s\" is no setting", word);
	if (*r->value[i])
		return wrong(r, "%s is set twice", word);
	set = translate(i, value ? value : "", &expected);
	if (!set)
		return wrong(r, "%s: \"%s\" is not %s", word, text, expected);
	snprintf(r->value[i], sizeof(r->value[i]), "%s", set);
	return 1;
}

/* A line for libinih.  The end of the file, where this one cannot be. */
static char *next_line(char *line, int size, void *ctx)
{
	struct reading *r = ctx;

	if (r->line == MOST_LINES || !fgets(line, size, r->file))
		return NULL;
	r->line++;
	if (strchr(line, '\n') || feof(r->file))
		return line;
	wrong(r, "the line is too long");
	return NULL;
}

static void pass_on(const struct reading *r)
{
	size_t i;

	for (i = 0; i < SETTINGS; i++)
		if (*r->value[i])
			r->take(r->ctx, settings[i].variable, r->value[i]);
}

/* Why the file cannot be read.  Where the process has no more of something
 * that is no fault of the file's: nothing is said. */
static void say_unreadable(const struct reading *r)
{
	if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
		snprintf(r->error, r->size, "%s", "");
	else
		snprintf(r->error, r->size, "%s: %s", r->path,
			 strerror(errno));
}

static int read_file(struct reading *r)
{
	int line = ini_parse_stream(next_line, r, take, r);

	if (!line && ferror(r->file)) {
		say_unreadable(r);
		return -1;
	}
	if (!line && r->line == MOST_LINES)
		wrong(r, "the file is too long");
	if (line > 0 && (!r->wrong || (unsigned)line < r->wrong)) {
		r->line = (unsigned)line;
		r->wrong = 0;
		wrong(r, "this is not \"name = value\"");
	}
	if (line || r->wrong) {
		if (!r->wrong) {
			errno = ENOMEM;
			say_unreadable(r);
		}
		return -1;
	}
	pass_on(r);
	return 0;
}

int configuration_read(const char *path, configuration_take *take_it,
		       void *ctx, char *error, size_t size)
{
	struct reading r = { .path = path, .take = take_it, .ctx = ctx,
			     .error = error, .size = size };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int result;

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd >= 0)
		r.file = fdopen(fd, "r");
	if (!r.file) {
		say_unreadable(&r);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	result = read_file(&r);
	fclose(r.file);
	return result;
}

/* An empty variable is an unset one. */
static void set_variable(void *ctx, const char *variable, const char *value)
{
	const char *there = getenv(variable);

	(void)ctx;
	if (!there || !*there)
		setenv(variable, value, 1);
}

int configuration_apply(const char *path, char *error, size_t size)
{
	return configuration_read(path, set_variable, NULL, error, size);
}

const char *configuration_path(char *error, size_t size)
{
	const char *other = getenv(CONFIGURATION_VARIABLE);

	if (!other || !*other)
		return CONFIGURATION;
	return environment_path(CONFIGURATION_VARIABLE, error, size);
}
