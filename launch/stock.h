/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the stock program lies. */
#ifndef STOCK_H
#define STOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What is looked for. */
struct stock_program {
	const char *variable;		/* names another program than these */
	const char *checker;		/* the path found by configure */
	const char *const *names;	/* the program's names, ends with NULL */
	const char *const *folders;	/* where it can be, ends with NULL */
	const char *library;		/* what it loads and a launcher does not */
};

struct stock_found {
	const char *path;
	bool named;		/* by the variable */
	bool elsewhere;		/* neither there nor where configure found it */
	bool certain;		/* not another launcher, nor a script */
};

/* Takes a place that the program may be at.  True: no other is wanted. */
typedef bool stock_try(void *ctx, const struct stock_found *found);

/* Takes a line that says why what the variable names is not used. */
typedef void stock_say(void *ctx, const char *line);

/*
 * Pass on the places where the program is, in this order: what the variable
 * names; the configured path, and the same in /usr or without it; these with
 * .stock, as an earlier version left a program that it put a launcher in the
 * place of; the program's other names, and other folders.  Left out are this
 * very program, under whatever name, and what has been tried by a launcher
 * that this one was started by.
 */
void stock_find(const struct stock_program *program, stock_try *try,
		stock_say *say, void *ctx);

/* For the environment of what is tried last, "NAME=value": what was tried so
 * far.  A launcher that is started by it does not try the same again, so that
 * none goes on for ever, whatever stands in e2fsck's place. */
const char *stock_guard(void);

/* The name of that variable, which nobody else has a use for. */
#define STOCK_GUARD "PREFETCH_LAUNCHED"

/* The places looked at, for a message: "e2fsck, e2fsck.stock, ... in /sbin". */
void stock_describe(const struct stock_program *program, char *text,
		    size_t size);

#endif
