/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a session's statistics were written.  By itself, so that a program
 * that only looks at the file links nothing but libc. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <string.h>

#include "stats_file.h"

/* What was not written may show only when the buffer is. */
static const char *written(struct e2pf_session *session, FILE *f)
{
	errcode_t err = e2pf_write_stats(session, f);

	if (fflush(f))
		return strerror(errno);
	return err ? error_message(err) : NULL;
}

const char *e2pf_stats_save(struct e2pf_session *session, const char *path,
			    FILE *standard)
{
	const char *why, *late;
	FILE *f;

	if (!path)
		return NULL;
	if (!strcmp(path, "-"))
		return written(session, standard);
	f = e2pf_stats_open(path, &why);
	if (!f)
		return why;
	why = written(session, f);
	late = fclose(f) ? strerror(errno) : NULL;
	return why ? why : late;
}
