/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * btrfs, with prefetching for its check and its send: executes the stock btrfs
 * with the caller's argv[0].  The module is preloaded if the command is one of
 * the two, the user asked for prefetching and the stock btrfs can load the
 * module.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdbool.h>
#include <stdlib.h>

#include "arguments.h"
#include "environment.h"
#include "launch.h"
#include "module.h"

/* btrfs defines no exit status for a missing program. */
#define EXIT_MISSING 1

static const char *const names[] = { "btrfs", "btrfsck", NULL };
static const char *const folders[] = {
	"/usr/bin", "/bin", "/usr/sbin", "/sbin", NULL
};

static const struct launch launch = {
	.said_by = "btrfs-prefetch",
	.stock = {
		.variable = "PREFETCH_BTRFS",
		.checker = BTRFS,
		.names = names,
		.folders = folders,
		.library = "libblkid.so."
	},
	.name = "btrfs",
	.package = "btrfs-progs",
	.library = "libc.",
	.module = "btrfs-prefetch.so",
	.no_library = "btrfs is statically linked",
	.no_load = "the module cannot be loaded into this btrfs",
	.no_progress = "the module cannot interpose this btrfs's reads"
};

struct run {
	struct environment env;
	int argc;
	char **argv;
	bool check, version;
};

/* A check that must run without prefetching gets the module too, because the
 * module reports the reason in the statistics. */
static bool prepare(void *ctx, const char *btrfs)
{
	const struct run *r = ctx;
	const char *aside, *why;

	if (r->version) {
		launch_say_version(&launch);
		return false;
	}
	aside = r->check ? arguments_aside(r->argc, r->argv) : NULL;
	unsetenv(ASIDE_VARIABLE);
	if (aside && !r->env.stats && !r->env.verbose)
		return false;
	if (aside && setenv(ASIDE_VARIABLE, aside, 1))
		return false;
	why = launch_give_module(&launch, btrfs);
	if (why && r->env.verbose)
		launch_say(&launch, "module: left out (%s)", why);
	return !why;
}

int main(int argc, char **argv)
{
	struct run r = { .argc = argc, .argv = argv };

	launch_begin(argv);
	r.check = arguments_are_check(argc, argv);
	r.version = arguments_are_version(argc, argv);
	if (r.check || r.version || arguments_are_send(argc, argv))
		launch_configure(&launch, &r.env);
	launch_run(&launch, argv, r.env.prefetch ? prepare : NULL, &r);
	return EXIT_MISSING;
}
