/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every launcher does: find the stock checker, try the module in it, and
 * have it preloaded.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

/* A checker, and the module for it. */
struct launch {
	const char *said_by;	/* what a message begins with */
	const char *variable;	/* that names another checker than this */
	const char *checker;	/* path of the stock program */
	const char *name;	/* of it, in messages */
	const char *library;	/* that it must load, the name's beginning */
	const char *module;	/* file name */
	/* Why there is no module, where the checker is not as it must be. */
	const char *no_library, *no_load, *no_progress;
};

/* A line on standard error. */
void launch_say(const struct launch *l, const char *text);

/*
 * Add to the environment what the administrator has set: what the file says
 * and the environment does not, and PREFETCH=1 where neither says anything and
 * the launcher stands in the stock program's place.  A file that cannot be
 * understood is one line, and PREFETCH=0.  False, after a line, when the
 * environment names a file that may not be used.
 */
bool launch_configure(const struct launch *l);

/* The stock checker: the one found by configure, or the user's; where a
 * launcher stands in its place, what it was moved to.  NULL after a line that
 * says why. */
const char *launch_stock(const struct launch *l);

/* Where a file of ours lies: beside this program, in the build tree in
 * libtool's folder.  Empty when it is not there. */
void launch_find_beside(const char *name, char *path, size_t size);

/* Why this checker cannot be given the module; NULL, and the environment is
 * that of a check with it, where it can.  It has been loaded into this very
 * program and tried there: the check is not the first to find out. */
const char *launch_give_module(const struct launch *l, const char *checker);

/* 0 when statistics can be written there, or -1 after a line that says why
 * not. */
int launch_check_stats(const struct launch *l, const char *path);

#endif
