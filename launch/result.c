/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides what a module tells at the end of its program, and what of it is
 * recorded. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <errno.h>
#include <string.h>

#include "outcome.h"
#include "report/estimate.h"
#include "result.h"

static void find_outcome(const struct result *r,
			 const struct e2pf_decisions *all, struct outcome *o)
{
	struct e2pf_engine_stats stats = { .threads = 0 };
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	o->program = program_invocation_short_name;
	o->done = r->done;
	o->device = r->session->name;
	o->seconds = (double)(now.tv_sec - r->began.tv_sec) +
		     (double)(now.tv_nsec - r->began.tv_nsec) / 1e9;
	o->why_not = all->off ? all->why_off : NULL;
	if (!r->block_size)
		return;
	e2pf_session_count(r->session, &stats);
	o->without = e2pf_estimate_without(&stats, r->block_size, o->seconds);
}

static void print_details(const struct result *r,
			  const struct e2pf_decisions *all)
{
	struct e2pf_decisions summary = { .count = 0 };

	if (r->session && e2pf_session_summarize(r->session, &summary))
		e2pf_decisions_print(&summary, r->said_by, stderr);
	e2pf_decisions_print(all, r->said_by, stderr);
}

void result_tell(const struct result *r, struct e2pf_decisions *all)
{
	struct outcome outcome = { .seconds = 0 };
	char text[512];

	if (r->session)
		e2pf_session_describe(r->session, all);
	if (r->finished && r->session)
		find_outcome(r, all, &outcome);
	if (r->recorded)
		history_add(r->env->history, &outcome);
	if (r->finished && r->env->verbose)
		fprintf(stderr, "%s: %s\n", r->said_by,
			outcome_in_words(&outcome, text, sizeof(text)));
	if (r->env->verbose > (r->finished ? 1u : 0u))
		print_details(r, all);
}
