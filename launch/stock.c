/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the stock program, wherever it is installed, and never this launcher.
 * Decides only where to look and what to skip; knows nothing of how the program
 * is run.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "environment.h"
#include "elf_needs.h"
#include "stock.h"

/* `e2prefetch enable' of 1.0.0 renamed the stock program to this. */
#define PUT_ASIDE ".stock"

static const char *const suffixes[] = { "", PUT_ASIDE };

#define SUFFIXES (sizeof(suffixes) / sizeof(*suffixes))

static const char is_the_launcher[] = "this is the launcher itself";
static const char starts_again[] = "it starts this launcher again";

/* Most programs that a chain of launchers tries: more than there are names. */
#define MOST_TRIED 32

/* Text of one entry: two numbers of 16 digits, a colon and a blank. */
#define TRIED_TEXT 34

struct identity {
	dev_t device;
	ino_t inode;
};

static struct {
	struct identity of[MOST_TRIED];
	unsigned count;
} tried;

struct search {
	const struct stock_program *program;
	stock_try *try;
	stock_say *say;
	void *ctx;
	struct identity self[2];
	unsigned selves;
	bool done;
};

static bool same(const struct identity *a, const struct identity *b)
{
	return a->device == b->device && a->inode == b->inode;
}

/*
 * Programs that are skipped.
 */

/* If /proc is not mounted, only the name it was started by is known. */
static void know_yourself(struct search *s)
{
	const char *const names[] = {
		"/proc/self/exe", (const char *)getauxval(AT_EXECFN)
	};
	struct stat st;
	size_t i;

	s->selves = 0;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i] && !stat(names[i], &st))
			s->self[s->selves++] = (struct identity) {
				st.st_dev, st.st_ino
			};
}

static void remember(const struct identity *one)
{
	if (tried.count < MOST_TRIED)
		tried.of[tried.count++] = *one;
}

/* Read which programs the launchers before this one have tried. */
static void remember_others(void)
{
	const char *text = getenv(STOCK_GUARD);
	struct identity one;
	char *end;

	tried.count = 0;
	while (text && *text) {
		one.device = (dev_t)strtoull(text, &end, 16);
		if (end == text || *end != ':')
			return;
		text = end + 1;
		one.inode = (ino_t)strtoull(text, &end, 16);
		if (end == text || (*end && *end != ' '))
			return;
		remember(&one);
		text = *end ? end + 1 : end;
	}
}

static bool is_self(const struct search *s, const struct identity *one)
{
	unsigned i;

	for (i = 0; i < s->selves; i++)
		if (same(&s->self[i], one))
			return true;
	return false;
}

static bool was_tried(const struct identity *one)
{
	unsigned i;

	for (i = 0; i < tried.count; i++)
		if (same(&tried.of[i], one))
			return true;
	return false;
}

const char *stock_guard(void)
{
	static char text[sizeof(STOCK_GUARD "=") + MOST_TRIED * TRIED_TEXT];
	size_t used = sizeof(STOCK_GUARD "=") - 1;
	unsigned i;

	memcpy(text, STOCK_GUARD "=", used + 1);
	for (i = 0; i < tried.count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%s%llx:%llx", i ? " " : "",
					 (unsigned long long)tried.of[i].device,
					 (unsigned long long)tried.of[i].inode);
	return text;
}

/* Why this file cannot be the program; NULL, with its identity in *one, if it
 * can.  An error that says nothing about the file (no memory, a failing disk)
 * is left for execve(2) to report. */
static const char *reject(const struct search *s, const char *path,
			  struct identity *one)
{
	struct stat st;

	*one = (struct identity) { 0, 0 };
	if (stat(path, &st)) {
		if (errno == ENOENT || errno == ENOTDIR || errno == EACCES ||
		    errno == ELOOP || errno == ENAMETOOLONG)
			return strerror(errno);
		return NULL;
	}
	*one = (struct identity) { st.st_dev, st.st_ino };
	if (!S_ISREG(st.st_mode))
		return "not a program";
	if (is_self(s, one))
		return is_the_launcher;
	if (was_tried(one))
		return starts_again;
	return access(path, X_OK) && errno == EACCES ? strerror(errno) : NULL;
}

/*
 * Where to look.
 */

static const char *try_path(struct search *s, const char *path,
			    struct stock_found *found)
{
	struct identity one;
	const char *why;

	if (s->done)
		return NULL;
	if (tried.count == MOST_TRIED)
		return starts_again;
	why = reject(s, path, &one);
	if (why)
		return why;
	remember(&one);
	found->path = path;
	found->certain = elf_needs(path, s->program->library);
	s->done = s->try(s->ctx, found);
	return NULL;
}

static void try_folder(struct search *s, const char *folder, size_t len,
		       const char *name, const char *suffix, bool elsewhere)
{
	struct stock_found found = { .elsewhere = elsewhere };
	char path[PATH_MAX];
	int used;

	used = snprintf(path, sizeof(path), "%.*s/%s%s", (int)len, folder,
			name, suffix);
	if (used > 0 && (size_t)used < sizeof(path))
		try_path(s, path, &found);
}

/* Into `other`: the same folder with /usr in front of it, or without it.  The
 * two are one where /usr is merged.  Empty if the path is too long. */
static void alias(const char *folder, size_t len, char *other, size_t size)
{
	int used;

	if (len >= 5 && !strncmp(folder, "/usr/", 5))
		used = snprintf(other, size, "%.*s", (int)len - 4, folder + 4);
	else
		used = snprintf(other, size, "/usr%.*s", (int)len, folder);
	if (used < 0 || (size_t)used >= size)
		other[0] = '\0';
}

/* The configured path, and the names with a suffix beside it. */
static void try_configured(struct search *s)
{
	const char *path = s->program->checker;
	const char *slash = strrchr(path, '/');
	char other[PATH_MAX];
	size_t i, len;

	if (!slash)
		return;
	len = (size_t)(slash - path);
	alias(path, len, other, sizeof(other));
	for (i = 0; i < SUFFIXES; i++) {
		try_folder(s, path, len, slash + 1, suffixes[i], false);
		if (*other)
			try_folder(s, other, strlen(other), slash + 1,
				   suffixes[i], false);
	}
}

static bool is_beside(const char *checker, const char *folder)
{
	char other[PATH_MAX];
	const char *slash = strrchr(checker, '/');
	size_t len = slash ? (size_t)(slash - checker) : 0;

	alias(checker, len, other, sizeof(other));
	return (strlen(folder) == len && !strncmp(folder, checker, len)) ||
	       !strcmp(folder, other);
}

static void try_others(struct search *s)
{
	const char *const *name, *const *folder;
	bool elsewhere;
	size_t i;

	for (name = s->program->names; *name; name++)
		for (i = 0; i < SUFFIXES; i++)
			for (folder = s->program->folders; *folder; folder++) {
				elsewhere = !is_beside(s->program->checker,
						       *folder);
				try_folder(s, *folder, strlen(*folder), *name,
					   suffixes[i], elsewhere);
			}
}

/* The path that the variable holds; or, if that is a launcher, the stock
 * program that was renamed beside it. */
static void try_named(struct search *s)
{
	struct stock_found found = { .named = true };
	const char *variable = s->program->variable;
	const char *value = environment_get(variable), *path, *why;
	char line[512], text[257], aside[PATH_MAX];

	if (!value)
		return;
	path = environment_path(variable, line, sizeof(line) - 64);
	if (path) {
		environment_print(text, sizeof(text), path);
		snprintf(aside, sizeof(aside), "%s" PUT_ASIDE, path);
		why = try_path(s, path, &found);
		/* Only beside a launcher is a file with this suffix known to be
		 * the renamed stock program. */
		if (why == is_the_launcher && !try_path(s, aside, &found))
			return;
		if (!why)
			return;
		snprintf(line, sizeof(line), "%s: cannot run \"%s\": %s",
			 environment_name(variable), text, why);
	}
	strncat(line, "; the stock program is run",
		sizeof(line) - strlen(line) - 1);
	s->say(s->ctx, line);
}

void stock_find(const struct stock_program *program, stock_try *try,
		stock_say *say, void *ctx)
{
	struct search s = { .program = program, .try = try, .say = say,
			    .ctx = ctx };

	remember_others();
	know_yourself(&s);
	try_named(&s);
	try_configured(&s);
	try_others(&s);
}

void stock_describe(const struct stock_program *program, char *text,
		    size_t size)
{
	const char *const *one;
	size_t used;

	used = (size_t)snprintf(text, size, "%s", program->checker);
	for (one = program->names; *one && used < size; one++)
		used += (size_t)snprintf(text + used, size - used,
					 ", %s, %s" PUT_ASIDE, *one, *one);
	for (one = program->folders; *one && used < size; one++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 one == program->folders ? " in " :
					 ", ", *one);
}
