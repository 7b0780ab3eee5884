/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every launcher does before it executes the stock program. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "try_module.h"
#include "configuration.h"
#include "findings.h"
#include "launch.h"
#include "elf_needs.h"
#include "verdict.h"
#include "report/stats_file.h"

extern char **environ;

/*
 * Messages.
 */

/* A closed pipe or a limit on file sizes raises a signal.  It must not kill
 * this process: there would be no check. */
static void print_line(const char *line, size_t len)
{
	static const int signals[] = { SIGPIPE, SIGXFSZ };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction before[2];
	bool changed[2];
	ssize_t n;
	size_t i;

	for (i = 0; i < 2; i++)
		changed[i] = !sigaction(signals[i], &ignore, &before[i]);
	n = write(STDERR_FILENO, line, len);
	(void)n;
	for (i = 0; i < 2; i++)
		if (changed[i])
			sigaction(signals[i], &before[i], NULL);
}

void launch_say(const struct launch *l, const char *format, ...)
{
	char line[PATH_MAX + 1024];
	size_t used;
	va_list ap;

	used = (size_t)snprintf(line, sizeof(line) - 1, "%s: ", l->said_by);
	va_start(ap, format);
	vsnprintf(line + used, sizeof(line) - 1 - used, format, ap);
	va_end(ap);
	used = strlen(line);
	line[used++] = '\n';
	print_line(line, used);
}

static void say_line(void *launch, const char *line)
{
	launch_say(launch, "%s", line);
}

void launch_say_version(const struct launch *l)
{
	launch_say(l, "this %s prefetches with e2prefetch " PACKAGE_VERSION
		   ", and does not with PREFETCH=0", l->name);
}

/*
 * The environment that the stock program would have without us.
 */

static struct {
	char **list;		/* room for one more entry; NULL: no memory */
	size_t count;
} kept;

static void keep_environment(void)
{
	static const char guard[] = STOCK_GUARD "=";
	size_t n = 0, i;

	while (environ && environ[n])
		n++;
	kept.list = calloc(n + 2, sizeof(*kept.list));
	for (i = 0; kept.list && i < n; i++)
		if (strncmp(environ[i], guard, sizeof(guard) - 1))
			kept.list[kept.count++] = environ[i];
}

/* If the program may be another launcher, its environment lists the programs
 * tried so far. */
static char **stock_environment(bool certain)
{
	if (!kept.list)
		return environ;
	kept.list[kept.count] = certain ? NULL : (char *)stock_guard();
	return kept.list;
}

static void set_guard(bool certain)
{
	if (certain)
		unsetenv(STOCK_GUARD);
	else
		putenv((char *)stock_guard());
}

/* Whether the program was called by a name that asks for prefetching. */
static bool by_name;

/* The stock program prints the name that it was called by. */
static void take_name(char *name)
{
	static const char suffix[] = "-prefetch";
	size_t len = name ? strlen(name) : 0;

	if (len < sizeof(suffix) ||
	    strcmp(name + len - (sizeof(suffix) - 1), suffix))
		return;
	name[len - (sizeof(suffix) - 1)] = '\0';
	by_name = true;
}

bool launch_begin(char **argv)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	keep_environment();
	take_name(argv[0]);
	return by_name;
}

/*
 * Whether to prefetch.
 */

static bool is_set(const char *variable)
{
	return environment_get(variable);
}

/* Store the path of this program's file in exe[PATH_MAX].  If /proc is not
 * mounted, the name it was started by is used, unless this program has raised
 * privileges: the caller may since have made that name point elsewhere. */
static bool own_path(char *exe)
{
	ssize_t n = readlink("/proc/self/exe", exe, PATH_MAX - 1);
	const char *name = (const char *)getauxval(AT_EXECFN);

	if (n > 0)
		exe[n] = '\0';
	return n > 0 || (name && !environment_is_privileged() &&
			 realpath(name, exe));
}

/* stat(2) of the directory of a path. */
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

/* Whether the program was started through a link in another directory: the user
 * called it by the stock program's name, and a link to the launcher comes first
 * in PATH. */
static bool is_habit(void)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	char exe[PATH_MAX];
	struct stat a, b;

	return name && own_path(exe) && folder_of(exe, &a) &&
	       folder_of(name, &b) &&
	       (a.st_dev != b.st_dev || a.st_ino != b.st_ino);
}

/* A variable of the environment takes precedence over the file. */
static void take_setting(void *done, const char *variable, const char *value)
{
	if (!is_set(variable) && setenv(variable, value, 1))
		*(bool *)done = false;
}

/* Add the file's settings to the environment.  False if they cannot be
 * determined. */
static bool take_settings(const struct launch *l)
{
	char error[PATH_MAX + 256];
	const char *path = configuration_path(error, sizeof(error));
	bool done = true;
	int result;

	if (!path) {
		launch_say(l, "%s; %s is read", error, CONFIGURATION);
		path = CONFIGURATION;
	}
	result = configuration_read(path, take_setting, &done, error,
				    sizeof(error));
	if (result > 0 && strcmp(path, CONFIGURATION)) {
		environment_print(error, sizeof(error), path);
		launch_say(l, "%s: \"%s\": %s; the defaults are used",
			   environment_name("PREFETCH_CONFIG"), error,
			   strerror(ENOENT));
	}
	if (result < 0 && *error)
		launch_say(l, "%s; prefetching is off", error);
	return result >= 0 && done;
}

static bool is_limited(int resource, rlim_t least)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) || limit.rlim_cur < least;
}

static const char *cannot_write(const char *path)
{
	/* The caller could not have made or emptied this file. */
	if (path && strcmp(path, "-") && environment_is_privileged())
		return "refused with raised privileges";
	return e2pf_stats_check(path);
}

/* A trace keeps a descriptor open as long as the check runs.  The check's own
 * thread also writes to it, so the signal at a limit on file sizes would kill
 * the check. */
#define RECORD_DESCRIPTORS 64

static const char *cannot_trace(const char *path)
{
	if (path && !strcmp(path, "-"))
		return "not a file";
	if (path && is_limited(RLIMIT_FSIZE, RLIM_INFINITY))
		return "there is a limit on the size of files";
	if (path && is_limited(RLIMIT_NOFILE, RECORD_DESCRIPTORS))
		return "too few files may be open";
	return cannot_write(path);
}

/* A file that cannot be written is dropped from the settings. */
static void check_file(const struct launch *l, const char *variable,
		       const char **path, const char *why,
		       const char *instead)
{
	char text[PATH_MAX];

	if (!why)
		return;
	environment_print(text, sizeof(text), *path);
	launch_say(l, "%s: cannot write \"%s\": %s; there %s",
		   environment_name(variable), text, why, instead);
	*path = NULL;
	environment_unset(variable);
}

void launch_configure(const struct launch *l, struct environment *env)
{
	const char *value = environment_get("PREFETCH");
	bool automatic = value && !strcmp(value, "auto");

	memset(env, 0, sizeof(*env));
	/* Without memory the changes below could not be undone. */
	if ((value && !strcmp(value, "0")) || !kept.list)
		return;
	if (automatic)
		environment_unset("PREFETCH");
	else if (by_name && !value && setenv("PREFETCH", "1", 1))
		return;
	if (!take_settings(l) ||
	    (!is_set("PREFETCH") && ((!automatic && !is_habit()) ||
				     setenv("PREFETCH", "1", 1))))
		return;
	read_environment(env, say_line, (void *)l);
	if (!env->prefetch)
		return;
	check_file(l, "PREFETCH_STATS", &env->stats,
		   cannot_write(env->stats), "are no statistics");
	check_file(l, "PREFETCH_TRACE", &env->trace, cannot_trace(env->trace),
		   "is no record");
}

/*
 * The module.
 */

/* Path of one of our files: beside this program, or in libtool's folder in the
 * build tree.  Empty if it is not found. */
static void find_beside(const char *name, char *path, size_t size)
{
	static const char *const places[] = { "", ".libs/" };
	char exe[PATH_MAX];
	char *slash;
	size_t i;

	path[0] = '\0';
	slash = own_path(exe) ? strrchr(exe, '/') : NULL;
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

/* Put the module in front of the user's LD_PRELOAD entries. */
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

/* LD_PRELOAD is split at blanks and colons and has no way to quote them. */
static bool fits_preload(const char *module)
{
	return *module && !strpbrk(module, " :\t");
}

/* If memory is limited the checker may need all of it: the module and the
 * stacks and heaps of its threads could make a repair fail. */
static bool memory_is_limited(void)
{
	struct rlimit limit;

	return (!getrlimit(RLIMIT_AS, &limit) &&
		limit.rlim_cur != RLIM_INFINITY) ||
	       (!getrlimit(RLIMIT_DATA, &limit) &&
		limit.rlim_cur != RLIM_INFINITY);
}

/* What a trial with the module has found: one that was made earlier and still
 * counts, or one that is made now. */
static bool find_out(const char *program, const char *module,
		     struct findings *found)
{
	time_t began = time(NULL);
	char objects[ANSWER_SIZE];

	if (verdict_recall(program, module, found))
		return true;
	if (!try_module(program, found, objects))
		return false;
	verdict_keep(program, module, objects, found, began);
	return true;
}

const char *launch_give_module(const struct launch *l, const char *program)
{
	const char *users = getenv("LD_PRELOAD");
	char *before = users ? strdup(users) : NULL;
	char module[PATH_MAX + 64];
	struct findings found;
	const char *why = NULL;

	find_beside(l->module, module, sizeof(module));
	if (memory_is_limited())
		why = "the address space is limited (RLIMIT_AS or RLIMIT_DATA)";
	else if (!elf_needs(program, l->library))
		why = l->no_library;
	else if (!*module)
		why = "the module does not lie beside the launcher";
	else if (!fits_preload(module))
		why = "the module's path has a blank or a colon";
	else if ((users && !before) || !preload(module))
		why = "no memory";
	else if (!find_out(program, module, &found))
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

/*
 * Running the stock program.
 */

struct run {
	const struct launch *launch;
	char **argv;
	launch_prepare *prepare;
	void *ctx;
	bool found;
};

static bool run_found(void *ctx, const struct stock_found *found)
{
	struct run *r = ctx;
	const char *path = found->path;
	char text[257];
	int err;

	r->found = true;
	if (found->elsewhere)
		launch_say(r->launch, "%s cannot be run: %s is run",
			   r->launch->stock.checker, path);
	if (r->prepare && r->prepare(r->ctx, path)) {
		set_guard(found->certain);
		execv(path, r->argv);
	}
	r->prepare = NULL;
	if (!kept.list)
		set_guard(found->certain);
	execve(path, r->argv, stock_environment(found->certain));
	err = errno;
	environment_print(text, sizeof(text), path);
	if (found->named)
		launch_say(r->launch, "%s: cannot run \"%s\": %s; the stock "
			   "program is run",
			   environment_name(r->launch->stock.variable), text,
			   strerror(err));
	else
		launch_say(r->launch, "cannot run %s: %s", text, strerror(err));
	return false;
}

static void say_named(void *ctx, const char *line)
{
	struct run *r = ctx;

	launch_say(r->launch, "%s", line);
}

void launch_run(const struct launch *l, char **argv, launch_prepare *prepare,
		void *ctx)
{
	struct run r = { .launch = l, .argv = argv, .prepare = prepare,
			 .ctx = ctx };
	char places[1024];

	stock_find(&l->stock, run_found, say_named, &r);
	if (r.found)
		return;
	stock_describe(&l->stock, places, sizeof(places));
	launch_say(l, "the stock %s is missing (looked for %s): reinstall %s",
		   l->name, places, l->package);
}
