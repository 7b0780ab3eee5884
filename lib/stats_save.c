/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a session's statistics were written. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "stats_file.h"

static const char *write_session(void *session, FILE *f)
{
	errcode_t err = e2pf_write_stats(session, f);

	return err ? error_message(err) : NULL;
}

const char *e2pf_stats_save(struct e2pf_session *session, const char *path,
			    FILE *standard)
{
	return e2pf_stats_put(path, standard, write_session, session);
}
