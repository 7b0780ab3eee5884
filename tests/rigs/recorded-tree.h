/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Creates a procfs and sysfs in a temporary directory, and removes it.  A tree
 * is a text of lines:
 *
 *	PATH: TEXT	a file; ';' in TEXT stands for a newline, '^' for a zero byte
 *	PATH -> TARGET	a link
 *
 * Any failure ends the test, because it is an error in the tree.
 */
#ifndef RECORDED_TREE_H
#define RECORDED_TREE_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_root[PATH_MAX];

__attribute__((noreturn))
static inline void tree_fail(const char *what, const char *which)
{
	fprintf(stderr, "recorded tree: %s: %s\n", what, which);
	exit(99);
}

static inline int tree_remove_entry(const char *path, const struct stat *st,
				    int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static inline void tree_remove(void)
{
	if (tree_root[0])
		nftw(tree_root, tree_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	tree_root[0] = '\0';
}

/* Create an empty directory for a tree; it is removed at exit at the latest. */
static inline void tree_begin(void)
{
	static int registered;
	const char *tmp = getenv("TMPDIR");

	tree_remove();
	if (!registered++)
		atexit(tree_remove);
	snprintf(tree_root, sizeof(tree_root), "%s/tree.XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(tree_root)) {
		tree_root[0] = '\0';
		tree_fail("no temporary directory", tmp ? tmp : "/tmp");
	}
}

/* Create the directories above `path`, which is modified and restored. */
static inline void tree_directories(char *path)
{
	char *p;

	for (p = path + strlen(tree_root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
}

/* Add what these lines say to the tree. */
static inline void tree_add(const char *lines)
{
	char path[PATH_MAX], line[4096], *text, *p;
	const char *next;
	FILE *file;

	for (; *lines; lines = next + (*next == '\n')) {
		next = strchrnul(lines, '\n');
		snprintf(line, sizeof(line), "%.*s", (int)(next - lines),
			 lines);
		text = strstr(line, ": ");
		p = text ? text : strstr(line, " -> ");
		if (!p)
			tree_fail("no file or link", line);
		*p = '\0';
		snprintf(path, sizeof(path), "%.2000s/%.2000s", tree_root,
			 line);
		tree_directories(path);
		if (!text && symlink(p + 4, path))
			tree_fail("link", path);
		if (!text)
			continue;
		file = fopen(path, "w");
		for (p = text + 2; file && *p; p++)
			fputc(*p == ';' ? '\n' : *p == '^' ? '\0' : *p, file);
		if (!file || fclose(file))
			tree_fail("file", path);
	}
}

static inline void tree_make(const char *lines)
{
	tree_begin();
	tree_add(lines);
}

#endif
