/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2fsck, with prefetching: checks the environment and becomes the stock
 * e2fsck under the name it was called by itself, with the module preloaded
 * where the user asked for it and the stock e2fsck can take it.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "environment.h"
#include "launch.h"
#include "report/stats_file.h"
#include "task.h"

/* e2fsck's own exit statuses, e2fsck(8). */
#define EXIT_OPERATIONAL 8
#define EXIT_USAGE 16

#define MODULE "e2fsck-prefetch.so"
#define SIDE_PROCESS "side-process"

static const struct launch launch = {
	.said_by = "e2fsck-prefetch",
	.variable = "PREFETCH_E2FSCK",
	.checker = E2FSCK,
	.name = "e2fsck",
	.library = "libext2fs.so.",
	.module = MODULE,
	.no_library = "this e2fsck does not load libext2fs",
	.no_load = "the module cannot be loaded into this e2fsck",
	.no_progress = "this e2fsck does not tell where it is"
};

/* The program that reads ahead beside an e2fsck that takes no module.  Its
 * arguments are a descriptor that becomes readable when this process, which
 * becomes e2fsck, has ended, why there is no module, and e2fsck's own. */
static void run_side_process(int checker, const char *why, int argc,
			     char **argv)
{
	char path[PATH_MAX + 64], number[16];
	char **list = calloc((size_t)argc + 3, sizeof(*list));

	launch_find_beside(SIDE_PROCESS, path, sizeof(path));
	if (!list || !*path)
		return;
	snprintf(number, sizeof(number), "%d", checker);
	list[0] = (char *)SIDE_PROCESS;
	list[1] = number;
	list[2] = (char *)why;
	memcpy(list + 3, argv + 1, (size_t)(argc - 1) * sizeof(*list));
	fcntl(checker, F_SETFD, 0);
	execv(path, list);
}

static void start_side_process(const char *why, int argc, char **argv)
{
	pid_t child;
	int checker;

	if (argc < 2)
		return;
	checker = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (checker < 0)
		return;
	/* Forked twice: e2fsck must not find a child it did not start. */
	child = fork();
	if (child == 0) {
		if (fork() == 0) {
			setsid();
			run_side_process(checker, why, argc, argv);
		}
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	close(checker);
}

/* By a copy of the arguments: they are put into another order. */
static bool is_clean(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));
	struct task task;
	bool clean = false;

	if (copy) {
		memcpy(copy, argv, (size_t)argc * sizeof(*copy));
		task = task_read(argc, copy);
		clean = task_is_clean(&task);
	}
	free(copy);
	return clean;
}

static void prepare(const struct environment *env, const char *e2fsck,
		    int argc, char **argv)
{
	const char *why;

	/* It is over before there is something to read ahead. */
	if (!env->stats && !env->trace && is_clean(argc, argv)) {
		if (env->verbose)
			fprintf(stderr, "e2fsck-prefetch: prefetch: off (the "
				"filesystem is marked as clean)\n");
		return;
	}
	why = launch_give_module(&launch, e2fsck);
	if (!why)
		return;
	if (env->verbose)
		fprintf(stderr, "e2fsck-prefetch: module: left out (%s)\n",
			why);
	start_side_process(why, argc, argv);
}

static bool cannot_trace(const char *path)
{
	const char *why = e2pf_stats_check(path);

	if (!why && path && !strcmp(path, "-"))
		why = "not a file";
	if (why)
		fprintf(stderr, "e2fsck-prefetch: PREFETCH_TRACE: cannot write "
			"\"%s\": %s\n", path, why);
	return why;
}

int main(int argc, char **argv)
{
	struct environment env;
	char error[256];
	const char *path;

	if (!launch_configure(&launch))
		return EXIT_USAGE;
	if (read_environment(&env, error, sizeof(error))) {
		launch_say(&launch, error);
		return EXIT_USAGE;
	}
	path = launch_stock(&launch);
	if (!path || launch_check_stats(&launch, env.prefetch ? env.stats :
							       NULL) ||
	    (env.prefetch && cannot_trace(env.trace)))
		return EXIT_USAGE;
	if (env.prefetch)
		prepare(&env, path, argc, argv);
	execv(path, argv);
	fprintf(stderr, "e2fsck-prefetch: cannot run %s: %s\n", path,
		strerror(errno));
	return EXIT_OPERATIONAL;
}
