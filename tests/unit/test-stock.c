/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The search for the stock program: each place at which it can be is tried,
 * this program is never found under any name, and in a chain of launchers no
 * program is started twice.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "stock.h"

#define VARIABLE "PREFETCH_TEST_PROGRAM"

static char top[] = "/tmp/test-stock.XXXXXX";
static char self[4096];
static char checker[64], sbin[64], usr[64];
static const char *const names[] = { "e2fsck", "fsck.ext4", NULL };
static const char *folders[] = { sbin, usr, NULL };
static const struct stock_program program = {
	.variable = VARIABLE, .checker = checker, .names = names,
	.folders = folders, .library = "libc."
};

/* Names below `top` that were found, each followed by a blank, and the
 * messages. */
static char found[1024], said[1024];
static bool last_elsewhere, last_certain;

static bool take(void *ctx, const struct stock_found *f)
{
	const char *path = f->path;

	if (!strncmp(path, top, strlen(top)))
		path += strlen(top) + 1;
	strcat(strcat(found, path), " ");
	last_elsewhere = f->elsewhere;
	last_certain = f->certain;
	return ctx;
}

static void keep(void *ctx, const char *line)
{
	(void)ctx;
	assert_null(strchr(line, '\n'));
	strcat(strcat(said, line), "\n");
}

static void find(void *first_only)
{
	found[0] = said[0] = '\0';
	stock_find(&program, take, keep, first_only);
}

static const char *at(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", top, name);
	return p;
}

/* Create a program that is not a link to another one. */
static void put(const char *name)
{
	FILE *f = fopen(at(name), "w");

	assert_non_null(f);
	fputs("#!/bin/sh\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(at(name), 0755), 0);
}

static int make_folders(void **state)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	if (n <= 0 || !mkdtemp(top))
		return -1;
	snprintf(sbin, sizeof(sbin), "%s/sbin", top);
	snprintf(usr, sizeof(usr), "%s/usr", top);
	snprintf(checker, sizeof(checker), "%s/sbin/e2fsck", top);
	return mkdir(sbin, 0755) || mkdir(usr, 0755);
}

static void empty(void)
{
	char command[128];

	unsetenv(VARIABLE);
	unsetenv(STOCK_GUARD);
	snprintf(command, sizeof(command), "rm -rf %s/sbin/* %s/usr/* %s/x*",
		 top, top, top);
	assert_int_equal(system(command), 0);
}

static int begin(void **state)
{
	(void)state;
	empty();
	return 0;
}

static int remove_folders(void **state)
{
	(void)state;
	empty();
	return rmdir(sbin) || rmdir(usr) || rmdir(top);
}

static void each_place(void **state)
{
	static const char *const places[] = {
		"sbin/e2fsck", "usr/e2fsck", "sbin/e2fsck.stock",
		"usr/e2fsck.stock", "sbin/fsck.ext4", "usr/fsck.ext4",
		"sbin/fsck.ext4.stock", "usr/fsck.ext4.stock"
	};
	char text[512];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		empty();
		put(places[i]);
		find(NULL);
		snprintf(text, sizeof(text), "%s ", places[i]);
		assert_string_equal(found, text);
		assert_string_equal(said, "");
		assert_int_equal(last_elsewhere, !strncmp(places[i], "usr", 3));
		assert_false(last_certain);
	}
	empty();
	find(NULL);
	assert_string_equal(found, "");
	stock_describe(&program, text, sizeof(text));
	assert_non_null(strstr(text, checker));
	assert_non_null(strstr(text, "fsck.ext4.stock"));
	assert_non_null(strstr(text, usr));
	for (i = 1; i < sizeof(text); i++) {
		memset(text, 'q', sizeof(text));
		stock_describe(&program, text, i);
		assert_non_null(memchr(text, '\0', i));
		assert_int_equal(text[i], 'q');
	}
}

/* Each program is found once, its own name first; the search can stop at the
 * first one. */
static void in_turn(void **state)
{
	(void)state;
	put("usr/e2fsck");
	put("sbin/e2fsck");
	put("sbin/e2fsck.stock");
	assert_int_equal(link(at("usr/e2fsck"), at("usr/fsck.ext4")), 0);
	find(NULL);
	assert_string_equal(found, "sbin/e2fsck sbin/e2fsck.stock "
			    "usr/e2fsck ");
	find(found);
	assert_string_equal(found, "sbin/e2fsck ");
}

/* The diversion of an earlier version, with all names or with one missing. */
static void put_aside(void **state)
{
	(void)state;
	assert_int_equal(symlink(self, at("sbin/e2fsck")), 0);
	assert_int_equal(symlink("e2fsck", at("sbin/fsck.ext4")), 0);
	put("sbin/e2fsck.stock");
	find(NULL);
	assert_string_equal(found, "sbin/e2fsck.stock ");
	assert_int_equal(unlink(at("sbin/e2fsck")), 0);
	find(NULL);
	assert_string_equal(found, "sbin/e2fsck.stock ");
	/* A newer e2fsck was installed beside it. */
	put("usr/e2fsck");
	find(NULL);
	assert_string_equal(found, "sbin/e2fsck.stock usr/e2fsck ");
	assert_int_equal(unlink(at("sbin/e2fsck.stock")), 0);
	find(NULL);
	assert_string_equal(found, "usr/e2fsck ");
}

/* The same folder under its other name, with or without /usr. */
static void merged(void **state)
{
	(void)state;
	put("sbin/e2fsck");
	put("sbin/e2fsck.stock");
	snprintf(checker, sizeof(checker), "/usr%s/sbin/e2fsck", top);
	find(NULL);
	snprintf(checker, sizeof(checker), "%s/sbin/e2fsck", top);
	assert_string_equal(found, "sbin/e2fsck sbin/e2fsck.stock ");
	assert_false(last_elsewhere);
}

/* None of these is the stock program: links of both kinds to this program, a
 * folder, a file that is not executable, and dangling links. */
static void never(void **state)
{
	(void)state;
	assert_int_equal(symlink(self, at("sbin/e2fsck")), 0);
	/* A symbolic link if the folder is on another filesystem. */
	if (link(self, at("usr/e2fsck")))
		assert_int_equal(symlink(self, at("usr/e2fsck")), 0);
	assert_int_equal(symlink(self, at("sbin/e2fsck.stock")), 0);
	assert_int_equal(mkdir(at("sbin/fsck.ext4"), 0755), 0);
	put("usr/fsck.ext4");
	assert_int_equal(chmod(at("usr/fsck.ext4"), 0644), 0);
	assert_int_equal(symlink("nowhere", at("sbin/fsck.ext4.stock")), 0);
	assert_int_equal(symlink("fsck.ext4.stock",
				 at("usr/fsck.ext4.stock")), 0);
	find(NULL);
	assert_string_equal(found, "");
	assert_string_equal(said, "");
}

/* The program in the variable comes first; if it cannot be run, there is one
 * line. */
static void named(void **state)
{
	(void)state;
	put("sbin/e2fsck");
	put("x");
	setenv(VARIABLE, at("x"), 1);
	find(NULL);
	assert_string_equal(found, "x sbin/e2fsck ");
	assert_string_equal(said, "");
	setenv(VARIABLE, "", 1);
	find(NULL);
	assert_string_equal(found, "sbin/e2fsck ");
	assert_string_equal(said, "");

	setenv(VARIABLE, "sbin/e2fsck", 1);
	find(NULL);
	assert_string_equal(found, "sbin/e2fsck ");
	assert_string_equal(said, VARIABLE ": \"sbin/e2fsck\" is not an "
			    "absolute path; the stock program is run\n");
	setenv(VARIABLE, "/nowhere/\033[2J", 1);
	find(NULL);
	assert_string_equal(said, VARIABLE ": cannot run \"/nowhere/?[2J\": "
			    "No such file or directory; the stock program is "
			    "run\n");
	setenv(VARIABLE, top, 1);
	find(NULL);
	assert_non_null(strstr(said, "not a program;"));
	setenv(VARIABLE, self, 1);
	find(NULL);
	assert_string_equal(found, "sbin/e2fsck ");
	assert_non_null(strstr(said, "this is the launcher itself;"));
	/* If it is a link to the launcher, the diverted program is used. */
	assert_int_equal(symlink(self, at("x.link")), 0);
	put("x.link.stock");
	setenv(VARIABLE, at("x.link"), 1);
	find(NULL);
	assert_string_equal(found, "x.link.stock sbin/e2fsck ");
	assert_string_equal(said, "");
	/* Otherwise a file with such a name is not ours. */
	put("xx.stock");
	setenv(VARIABLE, at("xx"), 1);
	find(NULL);
	assert_string_equal(found, "sbin/e2fsck ");
}

/* Set the variable that a launcher passes on to the next one. */
static void pass_guard(void)
{
	static char text[2048];
	const char *guard = stock_guard();

	assert_memory_equal(guard, STOCK_GUARD "=", sizeof(STOCK_GUARD));
	assert_true(strlen(guard) < sizeof(text));
	strcpy(text, guard);
	assert_int_equal(setenv(STOCK_GUARD, text + sizeof(STOCK_GUARD), 1),
			 0);
}

/* A launcher is started by a program that another launcher has started. */
static void chain(void **state)
{
	(void)state;
	put("x");
	put("sbin/e2fsck");
	setenv(VARIABLE, at("x"), 1);
	find(found);
	assert_string_equal(found, "x ");
	pass_guard();
	find(found);
	assert_string_equal(found, "sbin/e2fsck ");
	assert_non_null(strstr(said, "it starts this launcher again;"));
	pass_guard();
	put("sbin/e2fsck.stock");
	find(found);
	assert_string_equal(found, "sbin/e2fsck.stock ");
	pass_guard();
	find(found);
	assert_string_equal(found, "");
}

/* Any chain of launchers ends, whatever the variable contains. */
static void chain_ends(void **state)
{
	static const char *const others[] = {
		"", "x", "1", "1:", ":1", "1:2 ", "1:2 3", "1:2,3:4",
		"99999999999999999999999:1"
	};
	char name[32];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(others) / sizeof(*others); i++) {
		empty();
		put("sbin/e2fsck");
		setenv(STOCK_GUARD, others[i], 1);
		find(found);
		assert_string_equal(found, "sbin/e2fsck ");
	}
	empty();
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "x%u", i);
		put(name);
		setenv(VARIABLE, at(name), 1);
		find(found);
		if (!*found)
			break;
		pass_guard();
	}
	assert_uint_in_range(i, 16, 40);
}

/* A program that loads the library is certainly the stock one. */
static void certain(void **state)
{
	char command[4300];

	(void)state;
	snprintf(command, sizeof(command), "cp %s %s", self, checker);
	assert_int_equal(system(command), 0);
	find(found);
	assert_string_equal(found, "sbin/e2fsck ");
	assert_true(last_certain);
	assert_false(last_elsewhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_place, begin),
		cmocka_unit_test_setup(in_turn, begin),
		cmocka_unit_test_setup(put_aside, begin),
		cmocka_unit_test_setup(merged, begin),
		cmocka_unit_test_setup(never, begin),
		cmocka_unit_test_setup(named, begin),
		cmocka_unit_test_setup(chain, begin),
		cmocka_unit_test_setup(chain_ends, begin),
		cmocka_unit_test_setup(certain, begin),
	};

	return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
