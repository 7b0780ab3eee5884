/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the stock program. */
#ifndef STOCK_H
#define STOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The program to look for. */
struct stock_program {
	const char *variable;		/* names a program to prefer */
	const char *checker;		/* the path found by configure */
	const char *const *names;	/* its names, NULL-terminated */
	const char *const *folders;	/* folders to look in, then NULL */
	const char *library;		/* loaded by it, not by a launcher */
};

struct stock_found {
	const char *path;
	bool named;		/* found through the variable */
	bool elsewhere;		/* not in the folder where configure found it */
	bool certain;		/* neither another launcher nor a script */
};

/* Called with each place where the program may be.  True ends the search. */
typedef bool stock_try(void *ctx, const struct stock_found *found);

/* Called with a line that says why the variable's value is not used. */
typedef void stock_say(void *ctx, const char *line);

/*
 * Call `try` with each place where the program is, in this order: the path that
 * the variable names; the configured path, and the same path with or without
 * /usr; these with the suffix .stock, which an earlier version gave to a
 * program that it replaced with a launcher; then the program's other names, and
 * other folders.  Skipped are this very program, under any name, and the
 * programs that a launcher before this one has already tried.
 */
void stock_find(const struct stock_program *program, stock_try *try,
		stock_say *say, void *ctx);

/* The entry "NAME=value", for the environment of the program that is tried
 * next: the list of the programs tried so far.  If that program is another
 * launcher, it does not try them again, so that launchers cannot start each
 * other for ever. */
const char *stock_guard(void);

/* The name of that variable.  Only launchers use it. */
#define STOCK_GUARD "PREFETCH_LAUNCHED"

/* The places that were searched, for a message: "e2fsck, e2fsck.stock, ... in
 * /sbin". */
void stock_describe(const struct stock_program *program, char *text,
		    size_t size);

#endif
