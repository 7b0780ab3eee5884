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
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attempt.h"
#include "environment.h"
#include "findings.h"
#include "program.h"
#include "stats_file.h"

/* e2fsck's own exit statuses, e2fsck(8). */
#define EXIT_OPERATIONAL 8
#define EXIT_USAGE 16

#define MODULE "e2fsck-prefetch.so"
#define SIDE_PROCESS "side-process"

static void say(const char *text)
{
	fprintf(stderr, "e2fsck-prefetch: %s\n", text);
}

static bool privileged(void)
{
	return getauxval(AT_SECURE) || getuid() != geteuid() ||
	       getgid() != getegid();
}

static bool same_file(const char *path, const char *other)
{
	struct stat a, b;

	return other && !stat(path, &a) && !stat(other, &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* It would start itself without end.  Where /proc is not mounted the name it
 * was started by is all there is. */
static bool is_this_program(const char *path)
{
	return same_file(path, "/proc/self/exe") ||
	       same_file(path, (const char *)getauxval(AT_EXECFN));
}

/* The stock e2fsck: the one found by configure, or the user's.  NULL after a
 * line that says why. */
static const char *real_e2fsck(void)
{
	const char *path = getenv("PREFETCH_E2FSCK");

	if (!path || !*path)
		path = E2FSCK;
	else if (privileged()) {
		say("PREFETCH_E2FSCK is refused with raised privileges");
		return NULL;
	} else if (*path != '/') {
		say("PREFETCH_E2FSCK is not an absolute path");
		return NULL;
	}
	if (is_this_program(path)) {
		say("the e2fsck to run is this launcher itself");
		return NULL;
	}
	return path;
}

/* Where the module and the side process lie: beside this program, in the build
 * tree the module in libtool's folder.  Empty when it is not there. */
static void find_beside(const char *name, char *path, size_t size)
{
	static const char *const places[] = { "", ".libs/" };
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;
	size_t i;

	path[0] = '\0';
	if (n <= 0)
		return;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	if (!slash)
		return;
	slash[1] = '\0';
	for (i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int len = snprintf(path, size, "%s%s%s", exe, places[i], name);

		if (len > 0 && (size_t)len < size && !access(path, R_OK))
			return;
	}
	path[0] = '\0';
}

/* Put the module in front of what the user preloads. */
static bool preload(const char *module)
{
	const char *users = getenv("LD_PRELOAD");
	char *list;
	bool done;

	if (!users || !*users)
		return !setenv("LD_PRELOAD", module, 1);
	if (asprintf(&list, "%s:%s", module, users) < 0)
		return false;
	done = !setenv("LD_PRELOAD", list, 1);
	free(list);
	return done;
}

/* A list of libraries is cut at blanks and colons, whatever they are in. */
static bool fits_preload(const char *module)
{
	return *module && !strpbrk(module, " :\t");
}

/* The program that reads ahead beside an e2fsck that takes no module.  Its
 * arguments are a descriptor that becomes readable when this process, which
 * becomes e2fsck, has ended, why there is no module, and e2fsck's own. */
static void run_side_process(int checker, const char *why, int argc,
			     char **argv)
{
	char path[PATH_MAX + 64], number[16];
	char **list = calloc((size_t)argc + 3, sizeof(*list));

	find_beside(SIDE_PROCESS, path, sizeof(path));
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

/* Why this e2fsck cannot be given the module; NULL, and the environment is
 * that of a check with it, where it can.  It has been loaded into this very
 * program and tried there: the check is not the first to find out. */
static const char *give_module(const char *e2fsck)
{
	const char *users = getenv("LD_PRELOAD");
	char *before = users ? strdup(users) : NULL;
	char module[PATH_MAX + 64];
	struct findings found;
	const char *why = NULL;

	find_beside(MODULE, module, sizeof(module));
	if (!program_loads(e2fsck, "libext2fs.so."))
		why = "this e2fsck does not load libext2fs";
	else if (!*module)
		why = "the module does not lie beside the launcher";
	else if (!fits_preload(module))
		why = "the module's path has a blank or a colon";
	else if ((users && !before) || !preload(module))
		why = "no memory";
	else if (!try_module(e2fsck, &found))
		why = "the module cannot be loaded into this e2fsck";
	else if (found.of[ABILITY_PROGRESS] != FINDING_WHOLE)
		why = "this e2fsck does not tell where it is";
	else if (!findings_export(&found, getpid()))
		why = "no memory";
	if (why && before)
		setenv("LD_PRELOAD", before, 1);
	else if (why)
		unsetenv("LD_PRELOAD");
	free(before);
	return why;
}

static void prepare(const struct environment *env, const char *e2fsck,
		    int argc, char **argv)
{
	const char *why = give_module(e2fsck);

	if (!why)
		return;
	if (env->verbose)
		fprintf(stderr, "e2fsck-prefetch: module: left out (%s)\n",
			why);
	start_side_process(why, argc, argv);
}

static int check_stats_file(const char *path)
{
	const char *why = e2pf_stats_check(path);
	char text[PATH_MAX + 128];

	if (!why)
		return 0;
	snprintf(text, sizeof(text), "PREFETCH_STATS: cannot write \"%s\": %s",
		 path, why);
	say(text);
	return -1;
}

int main(int argc, char **argv)
{
	struct environment env;
	char error[256];
	const char *path;

	if (read_environment(&env, error, sizeof(error))) {
		say(error);
		return EXIT_USAGE;
	}
	path = real_e2fsck();
	if (!path || check_stats_file(env.prefetch ? env.stats : NULL))
		return EXIT_USAGE;
	if (env.prefetch)
		prepare(&env, path, argc, argv);
	execv(path, argv);
	fprintf(stderr, "e2fsck-prefetch: cannot run %s: %s\n", path,
		strerror(errno));
	return EXIT_OPERATIONAL;
}
