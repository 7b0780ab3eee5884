/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* A unit test that starts itself with a library preloaded. */
#ifndef PRELOADED_H
#define PRELOADED_H

#include <sys/wait.h>

#include "unit.h"

static char library[4096];

/* Remove old statistics, and run this program with the arguments, its name first.
 * Returns its wait status. */
static inline int run_preloaded(const char *prefetch, const char *stats,
				const char *const argument[])
{
	int status;
	pid_t pid;

	unlink(stats);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setenv("LD_PRELOAD", library, 1);
		setenv("ASAN_OPTIONS", "verify_asan_link_order=0:"
		       "detect_leaks=0", 1);
		setenv("PREFETCH", prefetch, 1);
		setenv("PREFETCH_STATS", stats, 1);
		execv("/proc/self/exe", (char *const *)(uintptr_t)argument);
		_exit(98);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Whether there are statistics, and this text is in them. */
static inline bool stats_have(const char *stats, const char *wanted)
{
	char text[16384];
	FILE *f = fopen(stats, "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	return strstr(text, wanted);
}

/* Run the tests with the preload library `name`, as seen from tests/, if it can
 * be. */
static inline int unit_run_with(const char *name, CMFixtureFunction set_up,
				CMFixtureFunction tear_down)
{
	const char *build = getenv("top_builddir");

	snprintf(library, sizeof(library), "%s/tests/%s", build ? build : "..",
		 name);
#ifdef __SANITIZE_THREAD__
	puts("1..0 # SKIP the thread sanitizer cannot be preloaded");
	return 0;
#endif
	if (!access(library, R_OK))
		return unit_run(set_up, tear_down);
	puts("1..0 # SKIP the preload library is not built");
	return 0;
}

#endif
