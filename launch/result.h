/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a module tells at the end of its program. */
#ifndef RESULT_H
#define RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "environment.h"
#include "session.h"

struct result {
	const struct environment *env;
	const char *said_by;	/* prefix of each line */
	const char *done;	/* "checked": the first word of the sentence */
	struct e2pf_session *session;	/* NULL: none was opened */
	struct timespec began;	/* the program, CLOCK_MONOTONIC */
	bool finished;		/* it has done what there is prefetching for;
				   then there is a session */
	bool recorded;		/* in the history, too */
	uint32_t block_size;	/* for an estimate of the time without
				   prefetching; 0: there is none */
};

/*
 * Add the session's decisions to `all`.  With PREFETCH_VERBOSE print a sentence,
 * and at its second level what was read and all decisions; if the work was not
 * finished, there are only decisions.  Add a finished check to the history.
 */
void result_tell(const struct result *r, struct e2pf_decisions *all);

#endif
