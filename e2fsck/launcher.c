/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * e2fsck, with prefetching: becomes the stock e2fsck under the name it was
 * called by itself, with the module preloaded where the user asked for it and
 * the stock e2fsck can take it.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

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
#include "task.h"

/* e2fsck's own exit status, e2fsck(8). */
#define EXIT_OPERATIONAL 8

#define MODULE "e2fsck-prefetch.so"
#define SIDE_PROCESS "side-process"

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
	.module = MODULE,
	.no_library = "this e2fsck does not load libext2fs",
	.no_load = "the module cannot be loaded into this e2fsck",
	.no_progress = "this e2fsck does not tell where it is"
};

/* Descriptors of the side process's: free, whatever e2fsck is given. */
#define LEAST_DESCRIPTOR 3

/* The program that reads ahead beside an e2fsck that takes no module.  Its
 * arguments are a descriptor that becomes readable when this process, which
 * becomes e2fsck, has ended; standard error, for statistics only: what the
 * dynamic linker says of a library that is missing is not e2fsck's to say; why
 * there is no module; and e2fsck's own arguments. */
static void run_side_process(int checker, const char *why, int argc,
			     char **argv)
{
	char path[PATH_MAX + 64], number[16], messages[16];
	char **list = calloc((size_t)argc + 4, sizeof(*list));
	int output = fcntl(STDERR_FILENO, F_DUPFD, LEAST_DESCRIPTOR);
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	launch_find_beside(SIDE_PROCESS, path, sizeof(path));
	if (!list || !*path || nowhere < 0 ||
	    dup2(nowhere, STDERR_FILENO) < 0)
		return;
	snprintf(number, sizeof(number), "%d", checker);
	snprintf(messages, sizeof(messages), "%d", output);
	list[0] = (char *)SIDE_PROCESS;
	list[1] = number;
	list[2] = messages;
	list[3] = (char *)why;
	memcpy(list + 4, argv + 1, (size_t)(argc - 1) * sizeof(*list));
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
static struct task find_task(int argc, char **argv)
{
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));
	struct task task = { .device = NULL };

	if (copy) {
		memcpy(copy, argv, (size_t)argc * sizeof(*copy));
		task = task_read(argc, copy);
	}
	free(copy);
	return task;
}

struct run {
	struct environment env;
	int argc;
	char **argv;
};

static bool prepare(void *ctx, const char *e2fsck)
{
	const struct run *r = ctx;
	struct task task = find_task(r->argc, r->argv);
	const char *why;

	if (task.version) {
		launch_say_version(&launch);
		return false;
	}
	/* It is over before there is something to read ahead. */
	if (!r->env.stats && !r->env.trace && task_is_clean(&task)) {
		if (r->env.verbose)
			launch_say(&launch, "prefetch: off (the filesystem is "
				   "marked as clean)");
		return false;
	}
	why = launch_give_module(&launch, e2fsck);
	if (!why)
		return true;
	if (r->env.verbose)
		launch_say(&launch, "module: left out (%s)", why);
	start_side_process(why, r->argc, r->argv);
	return false;
}

int main(int argc, char **argv)
{
	struct run r = { .argc = argc, .argv = argv };

	launch_begin();
	launch_configure(&launch, &r.env);
	launch_run(&launch, argv, r.env.prefetch ? prepare : NULL, &r);
	return EXIT_OPERATIONAL;
}
