/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the file e2prefetch.conf(5).  Each of its settings stands for a
 * variable of e2fsck-prefetch(8), see environment.c.  libinih parses the file;
 * this file decides which file is read and what is an error.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "configuration.h"
#include "environment.h"
#include "inih.h"

/* The variable that holds the absolute path of a file to read instead of the
 * installed one. */
#define CONFIGURATION_VARIABLE "PREFETCH_CONFIG"

/* Largest file accepted, bytes: a hundred times what all settings need. */
#define MOST_BYTES 65536u

/* Longest value, bytes: more than libinih keeps of a line. */
#define MOST_VALUE 256

/* Room for each setting once. */
#define MOST_SETTINGS 16

struct reading {
	const char *path;
	char text[MOST_BYTES + 1];
	size_t size;
	const char *next;		/* the line to read next */
	unsigned line;			/* number of the line read last */
	struct {
		const char *variable;
		char value[MOST_VALUE];
	} of[MOST_SETTINGS];
	unsigned count;
	char *error;
	size_t error_size;
	unsigned wrong;			/* line of `error`; 0: none */
};

/* Record an error in the current line; only the first error is reported. */
__attribute__((format(printf, 2, 3)))
static int wrong(struct reading *r, const char *format, ...)
{
	va_list ap;
	int used;

	if (r->wrong)
		return 0;
	r->wrong = r->line;
	used = snprintf(r->error, r->error_size, "%s:%u: ", r->path, r->line);
	if (used < 0 || (size_t)used >= r->error_size)
		return 0;
	va_start(ap, format);
	vsnprintf(r->error + used, r->error_size - (size_t)used, format, ap);
	va_end(ap);
	return 0;
}

/* Record an error that concerns the whole file. */
static int unusable(struct reading *r, const char *why)
{
	snprintf(r->error, r->error_size, "%s: %s", r->path, why);
	return -1;
}

/* Record why a system call failed.  If the process ran out of descriptors or
 * memory, the file is not at fault and the message stays empty. */
static int unreadable(struct reading *r, int err)
{
	if (err == EMFILE || err == ENFILE || err == ENOMEM) {
		r->error[0] = '\0';
		return -1;
	}
	return unusable(r, strerror(err));
}

/*
 * Reading the file.
 */

static bool is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

static int read_bytes(struct reading *r, int fd)
{
	ssize_t n;

	do {
		n = read(fd, r->text + r->size, sizeof(r->text) - r->size);
		if (n > 0)
			r->size += (size_t)n;
	} while ((n > 0 && r->size < sizeof(r->text)) ||
		 (n < 0 && errno == EINTR));
	if (n < 0)
		return unreadable(r, errno);
	if (r->size > MOST_BYTES)
		return unusable(r, "the file is too long");
	/* What some editors put at the beginning is not part of the line. */
	if (r->size >= 3 && !memcmp(r->text, "\xef\xbb\xbf", 3))
		memset(r->text, ' ', 3);
	return 0;
}

/* Returns 0; 1 if there is no such file; -1 on error.  Only regular files and
 * /dev/null are accepted: a FIFO could block us, and opening a device can have
 * side effects. */
static int read_file(struct reading *r)
{
	struct stat st;
	int fd, result;

	if (stat(r->path, &st)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 1;
		return unreadable(r, errno);
	}
	if (is_null_device(&st))
		return 0;
	if (!S_ISREG(st.st_mode))
		return unusable(r, "not a regular file");
	fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return unreadable(r, errno);
	result = read_bytes(r, fd);
	close(fd);
	return result;
}

/*
 * Lines.
 */

/* Length of the line at r->next, including its newline. */
static size_t line_length(const struct reading *r)
{
	size_t left = (size_t)(r->text + r->size - r->next);
	const char *end = memchr(r->next, '\n', left);

	return end ? (size_t)(end - r->next) + 1 : left;
}

/* First character that is not whitespace; '\0' for an empty line. */
static char first_of(const char *line, size_t len)
{
	while (len && isspace((unsigned char)*line)) {
		line++;
		len--;
	}
	return len ? *line : '\0';
}

static bool is_comment(char first)
{
	return first == '#' || first == ';';
}

/* Whether the file holds anything but comments and empty lines. */
static bool has_settings(struct reading *r)
{
	const char *end = r->text + r->size;
	bool found = false;
	char first;
	size_t len;

	for (r->next = r->text; r->next < end && !found; r->next += len) {
		len = line_length(r);
		first = first_of(r->next, len);
		found = !is_comment(first) &&
			(first || memchr(r->next, '\0', len));
	}
	r->next = r->text;
	return found;
}

/* Reader callback of libinih, whose buffer has `size` bytes.  A comment may be
 * longer than that and is passed on as an empty line.  An invalid line ends the
 * file. */
static char *next_line(char *line, int size, void *ctx)
{
	struct reading *r = ctx;
	size_t len = line_length(r);
	char first = first_of(r->next, len);

	if (!len || size < 2)
		return NULL;
	r->line++;
	/* libinih takes an indented line for more of the setting before it. */
	for (; len > 1 && isspace((unsigned char)*r->next); len--)
		r->next++;
	if (is_comment(first)) {
		r->next += len;
		return strcpy(line, "\n");
	}
	if (first == '[')
		wrong(r, "there are no sections here");
	else if (memchr(r->next, '\0', len))
		wrong(r, "this is not text");
	else if (len >= (size_t)size)
		wrong(r, "the line is too long");
	if (r->wrong == r->line)
		return NULL;
	memcpy(line, r->next, len);
	line[len] = '\0';
	r->next += len;
	return line;
}

/*
 * Settings.
 */

/* Handler callback of libinih: takes one setting.  As libinih expects, returns
 * 0 on error. */
static int take(void *ctx, const char *section, const char *name,
		const char *value)
{
	const char *variable, *expected, *set = value ? value : "";
	struct reading *r = ctx;
	char word[65], text[65];
	unsigned i;

	(void)section;
	environment_print(word, sizeof(word), name ? name : "");
	environment_print(text, sizeof(text), set);
	variable = environment_translate(word, &set, &expected);
	if (!variable)
		return wrong(r, "unknown setting \"%s\"", word);
	for (i = 0; i < r->count; i++)
		if (r->of[i].variable == variable)
			return wrong(r, "%s is set twice", word);
	if (expected)
		return wrong(r, "%s: \"%s\" is not %s", word, text, expected);
	if (strlen(set) >= MOST_VALUE || i == MOST_SETTINGS)
		return wrong(r, "%s: the value is too long", word);
	r->of[i].variable = variable;
	strcpy(r->of[i].value, set);
	r->count++;
	return 1;
}

static int parse(struct reading *r)
{
	const char *why;
	inih_parse parse_stream = inih_load(&why);
	int line;

	if (!parse_stream)
		return unusable(r, why);
	line = parse_stream(next_line, r, take, r);
	/* libinih reports only at the end which line it could not parse. */
	if (line > 0 && (!r->wrong || (unsigned)line < r->wrong)) {
		r->line = (unsigned)line;
		r->wrong = 0;
		wrong(r, "this is not \"name = value\"");
	}
	if (r->wrong)
		return -1;
	return line ? unreadable(r, ENOMEM) : 0;
}

int configuration_read(const char *path, configuration_take *take_it,
		       void *ctx, char *error, size_t size)
{
	static struct reading r;
	unsigned i;
	int result;

	r.size = 0;
	r.line = r.wrong = r.count = 0;
	r.path = path;
	r.error = error;
	r.error_size = size;
	result = read_file(&r);
	if (result)
		return result;
	result = has_settings(&r) ? parse(&r) : 0;
	for (i = 0; !result && i < r.count; i++)
		take_it(ctx, r.of[i].variable, r.of[i].value);
	return result;
}

const char *configuration_path(char *error, size_t size)
{
	if (!environment_get(CONFIGURATION_VARIABLE))
		return CONFIGURATION;
	return environment_path(CONFIGURATION_VARIABLE, error, size);
}
