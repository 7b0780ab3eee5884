/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btrfs, with prefetching for its check and its send: becomes the stock btrfs
 * under the name it was called by itself, with the module preloaded where this
 * is one of the two, the user asked for it and the stock btrfs can take it.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "environment.h"
#include "launch.h"
#include "module.h"

/* btrfs has no status of its own for this. */
#define EXIT_USAGE 1

static const struct launch launch = {
	.said_by = "btrfs-prefetch",
	.variable = "PREFETCH_BTRFS",
	.checker = BTRFS,
	.name = "btrfs",
	.library = "libc.",
	.module = "btrfs-prefetch.so",
	.no_library = "this btrfs is a static program",
	.no_load = "the module cannot be loaded into this btrfs",
	.no_progress = "this btrfs does not read by functions of its own name"
};

/* Also a check that is left alone gets the module: it writes down why. */
static void prepare(const struct environment *env, const char *aside,
		    const char *btrfs)
{
	const char *why;

	unsetenv(ASIDE_VARIABLE);
	if (aside && !env->stats && !env->verbose)
		return;
	why = launch_give_module(&launch, btrfs);
	if (!why && aside)
		setenv(ASIDE_VARIABLE, aside, 1);
	if (why && env->verbose)
		fprintf(stderr, "btrfs-prefetch: module: left out (%s)\n",
			why);
}

int main(int argc, char **argv)
{
	struct environment env;
	char error[256];
	const char *path;
	bool check = arguments_are_check(argc, argv);
	bool ours = check || arguments_are_send(argc, argv);

	if (ours && !launch_configure(&launch))
		return EXIT_USAGE;
	if (ours && read_environment(&env, error, sizeof(error))) {
		launch_say(&launch, error);
		return EXIT_USAGE;
	}
	path = launch_stock(&launch);
	if (!path || (ours && launch_check_stats(&launch, env.prefetch ?
						   env.stats : NULL)))
		return EXIT_USAGE;
	if (ours && env.prefetch)
		prepare(&env, check ? arguments_aside(argc, argv) : NULL,
			path);
	execv(path, argv);
	fprintf(stderr, "btrfs-prefetch: cannot run %s: %s\n", path,
		strerror(errno));
	return EXIT_USAGE;
}
