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
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "apart.h"
#include "environment.h"
#include "outcome.h"
#include "report/words.h"

/* Largest size of each of the two files: about 600 checks. */
#define HISTORY_BYTES (128u << 10)

/* How long a check waits until it has been recorded.  That takes less than a
 * millisecond, unless /var is on a server or disk that does not answer. */
#define PATIENCE_MS 500

/* What each line begins with. */
#define BEGIN "{\"time\":"

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

/* A setting may name another file by mistake: the filesystem image, or a file
 * of another program. */
static bool is_ours(int fd, struct stat *st)
{
	char first[sizeof(BEGIN) - 1];

	return !fstat(fd, st) && S_ISREG(st->st_mode) && st->st_nlink == 1 &&
	       st->st_uid == geteuid() &&
	       (!st->st_size ||
		(pread(fd, first, sizeof(first), 0) == sizeof(first) &&
		 !memcmp(first, BEGIN, sizeof(first))));
}

/* Returns -1 if this is not a file of ours. */
static int open_history(const char *path, struct stat *st)
{
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW |
		      O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);

	if (fd >= 0 && !is_ours(fd, st)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Make room for a new file; false if there is none.  Of checks that end at the
 * same time only one may do so: the next would rename the new file, and the
 * older one would be lost. */
static bool set_aside(int fd, const struct stat *st, const char *path)
{
	char older[PATH_MAX + sizeof(HISTORY_OLDER)];
	struct stat now;

	if (flock(fd, LOCK_EX | LOCK_NB) || lstat(path, &now) ||
	    now.st_dev != st->st_dev || now.st_ino != st->st_ino)
		return true;
	snprintf(older, sizeof(older), "%s" HISTORY_OLDER, path);
	return !rename(path, older);
}

static void append(const char *path, const struct line *l)
{
	struct stat st;
	int fd = open_history(path, &st);
	bool room;
	ssize_t n;

	if (fd >= 0 && st.st_size >= HISTORY_BYTES) {
		room = set_aside(fd, &st, path);
		close(fd);
		fd = room ? open_history(path, &st) : -1;
	}
	if (fd < 0)
		return;
	n = write(fd, l->text, l->used);
	(void)n;
	close(fd);
}

struct addition {
	const char *path;
	const struct outcome *outcome;
};

static void add_check(void *ctx)
{
	const struct addition *a = ctx;
	const struct outcome *o = a->outcome;
	const char *device = o->device;
	char head[64], absolute[PATH_MAX];
	struct line l = { .used = 0 };

	if (*device != '/' && realpath(device, absolute))
		device = absolute;
	/* Whatever this process waits for, it must not keep a filesystem from
	 * being unmounted. */
	if (chdir("/") || is_on(a->path, device))
		return;
	snprintf(head, sizeof(head), BEGIN "%lld", (long long)time(NULL));
	add(&l, head);
	add_text(&l, "version", PACKAGE_VERSION);
	add_text(&l, "program", o->program);
	add_text(&l, "device", device);
	add_seconds(&l, "seconds", o->seconds);
	add_seconds(&l, "without_seconds", o->without);
	if (o->why_not)
		add_text(&l, "why_not", o->why_not);
	add(&l, "}\n");
	if (l.used < sizeof(l.text))
		append(a->path, &l);
}

void history_add(const char *setting, const struct outcome *o)
{
	struct addition a = { history_path(setting), o };
	struct rlimit limit;

	if (a.path && !environment_is_privileged() &&
	    !getrlimit(RLIMIT_FSIZE, &limit) &&
	    limit.rlim_cur == RLIM_INFINITY)
		apart(add_check, &a, PATIENCE_MS);
}
