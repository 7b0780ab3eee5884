/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every launcher does: decide whether to prefetch, try the module in the
 * stock program, and execute that program.  If anything fails on the way, a
 * message says what, and the stock program runs without the module.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "environment.h"
#include "stock.h"

/* A stock program, and the module for it. */
struct launch {
	const char *said_by;	/* prefix of each message */
	struct stock_program stock;
	const char *name;	/* the program's name, in messages */
	const char *package;	/* the package it usually comes from */
	const char *library;	/* it must load; the name's beginning */
	const char *module;	/* file name */
	/* The reasons given if the module cannot be used with this program. */
	const char *no_library, *no_load, *no_progress;
};

/* Call this first: it saves the environment for the stock program, and keeps
 * our files from taking the descriptor of a closed standard stream.  If the
 * program was called as NAME-prefetch, argv[0] becomes NAME,
 * launch_configure() turns prefetching on unless PREFETCH is set, and the result
 * is true. */
bool launch_begin(char **argv);

/* Print one line on standard error; works, and harmlessly fails, even if nobody
 * reads it. */
__attribute__((format(printf, 2, 3)))
void launch_say(const struct launch *l, const char *format, ...);

/*
 * Decide whether to prefetch and with which settings, and store them in *env.
 * Settings of the configuration file that the environment does not set are
 * added to the environment.  Each error is reported in one line; env->prefetch
 * is false if it is unclear whether to prefetch or which limits apply.
 */
void launch_configure(const struct launch *l, struct environment *env);

/* Returns NULL and sets the environment for a check with the module; or the
 * reason why this program cannot be given the module, and changes nothing.  The
 * module has then been loaded into this very program once and tested there, so
 * that a failure does not hit the check itself. */
const char *launch_give_module(const struct launch *l, const char *program);

/* Sets the environment for a check with the module in this program.  False if
 * the program must run as if there were no launcher. */
typedef bool launch_prepare(void *ctx, const char *program);

/* Execute the stock program.  `prepare` may be NULL; it is called only for the
 * first candidate.  Returns, after an error message, only if there is no such
 * program or none can be executed. */
void launch_run(const struct launch *l, char **argv, launch_prepare *prepare,
		void *ctx);

/* Print our version, so that a bug report with the program's version output
 * shows that we were involved. */
void launch_say_version(const struct launch *l);

#endif
