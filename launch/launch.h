/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every launcher does: decide whether to prefetch, try the module in the
 * stock program, and become that program.  Nothing that goes wrong on the way
 * keeps it from the last: a line says what, and the program runs without.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "environment.h"
#include "stock.h"

/* A program, and the module for it. */
struct launch {
	const char *said_by;	/* what a message begins with */
	struct stock_program stock;
	const char *name;	/* of it, in messages */
	const char *package;	/* that it is installed with, as a rule */
	const char *library;	/* that it must load, the name's beginning */
	const char *module;	/* file name */
	/* Why there is no module, where the program is not as it must be. */
	const char *no_library, *no_load, *no_progress;
};

/* First of all: keeps the environment that the stock program is to have, and
 * lets no file of ours take the place of a closed standard stream. */
void launch_begin(void);

/* One line on standard error, whoever reads it or does not. */
__attribute__((format(printf, 2, 3)))
void launch_say(const struct launch *l, const char *format, ...);

/*
 * Whether to prefetch, and how: into *env, and into the environment what the
 * file of settings says and the environment does not.  A line for each thing
 * that is wrong; env->prefetch is false where it is not known whether to
 * prefetch, or within which limits.
 */
void launch_configure(const struct launch *l, struct environment *env);

/* Why this program cannot be given the module; NULL, and the environment is
 * that of a check with it, where it can.  It has been loaded into this very
 * program and tried there: the check is not the first to find out. */
const char *launch_give_module(const struct launch *l, const char *program);

/* Makes the environment that of a check with the module in this program.
 * False when it is to run as if there were no launcher. */
typedef bool launch_prepare(void *ctx, const char *program);

/* Become the stock program.  `prepare` may be NULL, and is called for the
 * first place there is only.  Returns after a line, when there is no such
 * program, or none that can be run. */
void launch_run(const struct launch *l, char **argv, launch_prepare *prepare,
		void *ctx);

/* The line by which one sees who else had a part in what the program says of
 * itself. */
void launch_say_version(const struct launch *l);

#endif
