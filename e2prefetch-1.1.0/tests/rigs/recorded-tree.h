/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Creates a recorded procfs and sysfs in a temporary directory, and removes it.
 * The format of a recording is described at the top of topology-trees.txt.  Any
 * failure ends the test, because it is an error in the recording.
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

__attribute__((noreturn, unused))
static void tree_fail(const char *what, const char *which)
{
	fprintf(stderr, "recorded tree: %s: %s\n", what, which);
	exit(99);
}

static int tree_remove_entry(const char *path, const struct stat *st,
			     int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

__attribute__((unused))
static void tree_remove(void)
{
	if (tree_root[0])
		nftw(tree_root, tree_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	tree_root[0] = '\0';
}

/* Create an empty directory for a tree; it is removed at exit at the latest. */
__attribute__((unused))
static void tree_begin(void)
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

/* Create the folders above `path`, which is modified and restored. */
static void tree_folders(char *path)
{
	char *p;

	for (p = path + strlen(tree_root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
}

static size_t tree_unescape(char *text)
{
	char *to = text;
	const char *p;

	for (p = text; *p; p++) {
		unsigned byte;

		if (*p != '\\') {
			*to++ = *p;
		} else if (*++p == 'x' && sscanf(p + 1, "%2x", &byte) == 1) {
			*to++ = (char)byte;
			p += 2;
		} else {
			*to++ = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
		}
	}
	return (size_t)(to - text);
}

/* Add one entry in the recording's format; `line` is modified. */
static void tree_add(char *line)
{
	char *tab = strchr(line, '\t'), *arrow = strstr(line, " -> ");
	char path[PATH_MAX];
	size_t len;
	FILE *file;

	if (tab)
		*tab = '\0';
	else if (arrow)
		*arrow = '\0';
	snprintf(path, sizeof(path), "%.2000s/%.2000s", tree_root, line);
	tree_folders(path);
	if (!tab) {
		if (arrow && symlink(arrow + 4, path))
			tree_fail("link", path);
		if (!arrow && line[strlen(line) - 1] != '/')
			tree_fail("no file, link or folder", line);
		return;
	}
	len = tree_unescape(tab + 1);
	file = fopen(path, "w");
	if (!file || fwrite(tab + 1, 1, len, file) != len || fclose(file))
		tree_fail("file", path);
}

/* Create the tree `name` from the recording `file` in fixtures/. */
__attribute__((unused))
static void tree_make(const char *file, const char *name)
{
	const char *srcdir = getenv("srcdir");
	char path[PATH_MAX], line[8192];
	int here = 0, found = 0;
	FILE *recording;

	tree_begin();
	snprintf(path, sizeof(path), "%s/fixtures/%s", srcdir ? srcdir : ".",
		 file);
	recording = fopen(path, "r");
	if (!recording)
		tree_fail("cannot open", path);
	while (fgets(line, sizeof(line), recording)) {
		line[strcspn(line, "\n")] = '\0';
		if (!line[0] || line[0] == '#')
			continue;
		if (!strncmp(line, "tree ", 5)) {
			here = !strcmp(line + 5, name);
			found |= here;
		} else if (here) {
			tree_add(line);
		}
	}
	fclose(recording);
	if (!found)
		tree_fail("not recorded", name);
}

#endif
