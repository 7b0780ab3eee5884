/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where statistics go, and whether they came there.  By itself, so that a
 * program that only looks at the file links nothing but libc. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <string.h>

#include "stats_file.h"

/* What was not written may show only when the buffer is. */
static const char *written(e2pf_stats_writer write, void *ctx, FILE *f)
{
	const char *why = write(ctx, f);

	return fflush(f) ? strerror(errno) : why;
}

const char *e2pf_stats_put(const char *path, FILE *standard,
			   e2pf_stats_writer write, void *ctx)
{
	const char *why, *late;
	FILE *f;

	if (!path)
		return NULL;
	if (!strcmp(path, "-"))
		return written(write, ctx, standard);
	f = e2pf_stats_open(path, &why);
	if (!f)
		return why;
	why = written(write, ctx, f);
	late = fclose(f) ? strerror(errno) : NULL;
	return why ? why : late;
}
