/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The variables of e2fsck-prefetch(8): their names, values and errors. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accel.h"
#include "environment.h"

/* An empty variable is an unset one. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* "0" or "1".  -1 for anything else, 2 when unset. */
static int flag(const char *name)
{
	const char *value = variable(name);

	if (!value)
		return 2;
	if (!strcmp(value, "0"))
		return 0;
	return strcmp(value, "1") ? -1 : 1;
}

/* One line, whatever the variable holds: control characters of its value
 * would reach the terminal. */
static int complain(char *error, size_t size, const char *name,
		    const char *expected)
{
	char value[65], *p;

	snprintf(value, sizeof(value), "%s", getenv(name));
	for (p = value; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	snprintf(error, size, "%s: \"%s\" is not %s", name, value, expected);
	return -1;
}

int read_environment(struct environment *env, char *error, size_t size)
{
	const char *value;
	int f, result = 0;

	memset(env, 0, sizeof(*env));
	f = flag("PREFETCH");
	env->prefetch = f == 1;
	if (f < 0)
		result = complain(error, size, "PREFETCH", "0 or 1");
	/* Without prefetching the others mean nothing, whatever they say. */
	if (f == 0 || f == 2)
		return 0;
	f = flag("TEST_MMAP_IO");
	env->io = f == 1 ? IO_MMAP : f == 0 ? IO_UNIX : IO_DEFAULT;
	if (f < 0 && !result)
		result = complain(error, size, "TEST_MMAP_IO", "0 or 1");
	value = variable("PREFETCH_THREADS");
	if (value && e2pf_parse_threads(value, &env->settings.threads) &&
	    !result)
		result = complain(error, size, "PREFETCH_THREADS",
				  "a number from 1 to 256");
	value = variable("PREFETCH_MEM");
	if (value && e2pf_parse_size(value, &env->settings.memory) && !result)
		result = complain(error, size, "PREFETCH_MEM",
				  "a size of 1M or more (K, M, G, T)");
	env->accel = ACCEL_DEFAULT;
	value = variable("PREFETCH_ACCEL");
	if (value && accel_parse(value, &env->accel) && !result)
		result = complain(error, size, "PREFETCH_ACCEL",
				  "none, all or a list of crc32c, bitmaps, "
				  "indirect");
	f = flag("PREFETCH_VERBOSE");
	env->verbose = f == 1;
	if (f < 0 && !result)
		result = complain(error, size, "PREFETCH_VERBOSE", "0 or 1");
	env->stats = variable("PREFETCH_STATS");
	env->settings.figures = env->stats;
	return result;
}
