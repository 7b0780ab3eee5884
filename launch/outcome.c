/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a check came to.  Decides the wording, the history's format, and when
 * nothing is recorded.  The history is two files: at HISTORY_BYTES one takes the
 * place of the older one.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "environment.h"
#include "outcome.h"
#include "report/words.h"

/* Largest size of each of the two files: about 600 checks. */
#define HISTORY_BYTES (128u << 10)

const char *outcome_in_words(const struct outcome *o, char *text, unsigned size)
{
	char took[32], without[32];

	in_words(o->seconds, took, sizeof(took));
	if (o->why_not)
		snprintf(text, size, "%s in %s, nothing read ahead: %s",
			 o->done, took, o->why_not);
	else if (o->without > 0)
		snprintf(text, size, "%s in %s; without prefetching about %s",
			 o->done, took,
			 in_words(o->without, without, sizeof(without)));
	else
		snprintf(text, size, "%s in %s", o->done, took);
	return text;
}

const char *history_path(const char *setting)
{
	if (!strcmp(setting, "0"))
		return NULL;
	return strcmp(setting, "1") ? setting : HISTORY;
}

/* The line of a check.  Written with a single write(2), lines of checks that end
 * at the same time do not mix. */
struct line {
	char text[PATH_MAX + 1024];
	size_t used;
};

static void add(struct line *l, const char *text)
{
	size_t len = strlen(text);

	if (len > sizeof(l->text) - l->used)
		len = sizeof(l->text) - l->used;
	memcpy(l->text + l->used, text, len);
	l->used += len;
}

static void add_text(struct line *l, const char *key, const char *value)
{
	char code[8];

	add(l, ",\"");
	add(l, key);
	add(l, "\":\"");
	for (; *value; value++) {
		if (*value == '"' || *value == '\\' || (unsigned char)*value < ' ')
			snprintf(code, sizeof(code), "\\u%04x",
				 (unsigned char)*value);
		else
			snprintf(code, sizeof(code), "%c", *value);
		add(l, code);
	}
	add(l, "\"");
}

static void add_seconds(struct line *l, const char *key, double seconds)
{
	char text[64];

	if (seconds <= 0)
		return;
	snprintf(text, sizeof(text), ",\"%s\":%.3f", key, seconds);
	add(l, text);
}

/* A filesystem may be checked while it is mounted, with -n. */
static bool is_on(const char *path, const char *device)
{
	struct stat st, folder;
	char text[PATH_MAX];
	char *slash;

	snprintf(text, sizeof(text), "%s", path);
	slash = strrchr(text, '/');
	if (slash)
		*slash = '\0';
	return !slash || stat(text, &folder) ||
	       (!stat(device, &st) && S_ISBLK(st.st_mode) &&
		st.st_rdev == folder.st_dev);
}

static bool is_ours(int fd, off_t *size)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    st.st_uid != geteuid())
		return false;
	*size = st.st_size;
	return true;
}

static int open_history(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW |
		    O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
}

static void append(const char *path, const struct line *l)
{
	char older[PATH_MAX + sizeof(HISTORY_OLDER)];
	int fd = open_history(path);
	off_t size = 0;
	ssize_t n;

	if (fd >= 0 && is_ours(fd, &size) && size >= HISTORY_BYTES) {
		close(fd);
		snprintf(older, sizeof(older), "%s" HISTORY_OLDER, path);
		fd = rename(path, older) ? -1 : open_history(path);
	}
	if (fd < 0)
		return;
	if (is_ours(fd, &size)) {
		n = write(fd, l->text, l->used);
		(void)n;
	}
	close(fd);
}

void history_add(const char *setting, const struct outcome *o)
{
	const char *path = history_path(setting), *device = o->device;
	char head[64], absolute[PATH_MAX];
	struct line l = { .used = 0 };
	struct rlimit limit;

	if (!path || environment_is_privileged() ||
	    getrlimit(RLIMIT_FSIZE, &limit) ||
	    limit.rlim_cur != RLIM_INFINITY || is_on(path, o->device))
		return;
	snprintf(head, sizeof(head), "{\"time\":%lld", (long long)time(NULL));
	add(&l, head);
	add_text(&l, "version", PACKAGE_VERSION);
	add_text(&l, "program", o->program);
	if (*device != '/' && realpath(device, absolute))
		device = absolute;
	add_text(&l, "device", device);
	add_seconds(&l, "seconds", o->seconds);
	add_seconds(&l, "without_seconds", o->without);
	if (o->why_not)
		add_text(&l, "why_not", o->why_not);
	add(&l, "}\n");
	if (l.used < sizeof(l.text))
		append(path, &l);
}
