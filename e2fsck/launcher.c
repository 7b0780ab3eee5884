/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2fsck, with prefetching: executes the stock e2fsck with the caller's
 * argv[0]. The module is preloaded if the user asked for prefetching and the
 * stock e2fsck can load the module.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "launch.h"
#include "command_line.h"
#include "outcome.h"

/* e2fsck's exit status for an operational error, e2fsck(8). */
#define EXIT_OPERATIONAL 8

static const char *const names[] = {
	"e2fsck", "fsck.ext4", "fsck.ext3", "fsck.ext2", NULL
};
static const char *const folders[] = { "/sbin", "/usr/sbin", NULL };

static const struct launch launch = {
	.said_by = "e2fsck-prefetch",
	.stock = {
		.variable = "PREFETCH_E2FSCK",
		.checker = E2FSCK,
		.names = names,
		.folders = folders,
		.library = "libext2fs.so."
	},
	.name = "e2fsck",
	.package = "e2fsprogs",
	.library = "libext2fs.so.",
	.module = "e2fsck-prefetch.so",
	.no_library = "this e2fsck does not load libext2fs; e2prefetch "
		      "DEVICE -- COMMAND reads ahead of any program",
	.no_load = "the module cannot be loaded into this e2fsck",
	.no_progress = "this e2fsck does not tell where it is"
};

/* Parses a copy of the arguments, because parsing reorders them. */
static struct command_line find_task(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));
	struct command_line task = { .device = NULL };

	if (copy) {
		memcpy(copy, argv, (size_t)argc * sizeof(*copy));
		task = command_line_read(argc, copy);
	}
	free(copy);
	return task;
}

/* --progress, which e2fsck does not have, is an option of e2fsck-prefetch.  Remove
 * it before the settings are read. */
static void take_progress(int *argc, char **argv)
{
	int from, to = 1;

	for (from = 1; from < *argc && strcmp(argv[from], "--"); from++)
		if (strcmp(argv[from], "--progress"))
			argv[to++] = argv[from];
	if (to < from)
		setenv("E2PREFETCH_PROGRESS", "1", 1);
	while (from < *argc)
		argv[to++] = argv[from++];
	argv[to] = NULL;
	*argc = to;
}

struct run {
	struct environment env;
	int argc;
	char **argv;
};

static bool prepare(void *ctx, const char *e2fsck)
{
	const struct run *r = ctx;
	struct command_line task = find_task(r->argc, r->argv);
	const char *why;

	if (task.version)
		launch_say_version(&launch);
	/* e2fsck -V with PREFETCH_VERBOSE reports whether the module can be
	 * loaded. */
	if (task.version && !r->env.verbose)
		return false;
	/* The check ends before there is anything to prefetch. */
	if (!r->env.stats && !r->env.trace && command_line_is_clean(&task)) {
		if (r->env.verbose)
			launch_say(&launch, "prefetch: off (the filesystem is "
				   "marked as clean)");
		return false;
	}
	why = launch_give_module(&launch, e2fsck);
	if (!why)
		return true;
	if (r->env.verbose || r->env.stats)
		launch_say(&launch, "module: left out (%s)", why);
	if (task.device)
		history_add(r->env.history, &(struct outcome) {
			.program = program_invocation_short_name,
			.device = task.device, .why_not = why
		});
	return false;
}

int main(int argc, char **argv)
{
	struct run r = { .argv = argv };

	if (launch_begin(argv) && argc)
		take_progress(&argc, argv);
	r.argc = argc;
	launch_configure(&launch, &r.env);
	launch_run(&launch, argv, r.env.prefetch ? prepare : NULL, &r);
	return EXIT_OPERATIONAL;
}
