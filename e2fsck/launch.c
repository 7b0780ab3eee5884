/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every launcher does before it becomes the stock checker. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attempt.h"
#include "configuration.h"
#include "environment.h"
#include "findings.h"
#include "launch.h"
#include "program.h"
#include "report/stats_file.h"

void launch_say(const struct launch *l, const char *text)
{
	fprintf(stderr, "%s: %s\n", l->said_by, text);
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

/*
 * Where launchers stand in the stock program's place, that is beside it under
 * this name: `e2prefetch enable' puts a symbolic link there.  A file of that
 * name beside anything else is somebody's own.
 */
#define DIVERTED ".stock"

/* Into `moved`: the stock program of this path, where it was moved aside. */
static bool was_diverted(const char *path, char *moved, size_t size)
{
	int used = snprintf(moved, size, "%s" DIVERTED, path);
	struct stat st;

	return used > 0 && (size_t)used < size && !lstat(path, &st) &&
	       S_ISLNK(st.st_mode) && !access(moved, X_OK) &&
	       !is_this_program(moved);
}

/* A path that the environment names.  NULL after a line that says why not. */
static const char *named_path(const struct launch *l, const char *variable)
{
	char error[128];
	const char *path = environment_path(variable, error, sizeof(error));

	if (!path)
		launch_say(l, error);
	return path;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

const char *launch_stock(const struct launch *l)
{
	static char moved[PATH_MAX];
	const char *path = l->checker;
	char text[128];

	if (is_set(l->variable))
		path = named_path(l, l->variable);
	if (path && was_diverted(path, moved, sizeof(moved)))
		path = moved;
	if (!path || !is_this_program(path))
		return path;
	snprintf(text, sizeof(text), "the %s to run is this launcher itself",
		 l->name);
	launch_say(l, text);
	return NULL;
}

/* The folder that a path names a file in; its length is counted with the last
 * slash. */
static bool folder_of(const char *path, struct stat *st)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];

	if (!slash || (size_t)(slash - path) >= sizeof(folder) - 1)
		return false;
	memcpy(folder, path, (size_t)(slash - path) + 1);
	folder[slash - path + 1] = '\0';
	return !stat(folder, st);
}

/* Started through a link that lies elsewhere: by e2fsck's usual name, where
 * the launcher was put in its place. */
static bool is_habit(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	struct stat a, b;

	if (n <= 0 || !name)
		return false;
	exe[n] = '\0';
	return folder_of(exe, &a) && folder_of(name, &b) &&
	       (a.st_dev != b.st_dev || a.st_ino != b.st_ino);
}

bool launch_configure(const struct launch *l)
{
	const char *path, *value = getenv("PREFETCH");
	char error[PATH_MAX + 256];

	if (value && !strcmp(value, "0"))
		return true;
	path = configuration_path(error, sizeof(error));
	if (!path) {
		launch_say(l, error);
		return false;
	}
	if (configuration_apply(path, error, sizeof(error))) {
		if (*error)
			fprintf(stderr, "%s: %s; prefetching is off\n",
				l->said_by, error);
		setenv("PREFETCH", "0", 1);
	} else if (!is_set("PREFETCH") && is_habit()) {
		setenv("PREFETCH", "1", 1);
	}
	return true;
}

void launch_find_beside(const char *name, char *path, size_t size)
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

const char *launch_give_module(const struct launch *l, const char *checker)
{
	const char *users = getenv("LD_PRELOAD");
	char *before = users ? strdup(users) : NULL;
	char module[PATH_MAX + 64];
	struct findings found;
	const char *why = NULL;

	launch_find_beside(l->module, module, sizeof(module));
	if (!program_loads(checker, l->library))
		why = l->no_library;
	else if (!*module)
		why = "the module does not lie beside the launcher";
	else if (!fits_preload(module))
		why = "the module's path has a blank or a colon";
	else if ((users && !before) || !preload(module))
		why = "no memory";
	else if (!try_module(checker, &found))
		why = l->no_load;
	else if (found.of[ABILITY_PROGRESS] != FINDING_WHOLE)
		why = l->no_progress;
	else if (!findings_export(&found, getpid()))
		why = "no memory";
	if (why) {
		if (before)
			setenv("LD_PRELOAD", before, 1);
		else
			unsetenv("LD_PRELOAD");
	}
	free(before);
	return why;
}

int launch_check_stats(const struct launch *l, const char *path)
{
	const char *why = e2pf_stats_check(path);
	char text[PATH_MAX + 128];

	if (!why)
		return 0;
	snprintf(text, sizeof(text), "PREFETCH_STATS: cannot write \"%s\": %s",
		 path, why);
	launch_say(l, text);
	return -1;
}
