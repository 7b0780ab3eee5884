/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many requests may be under way.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "window.h"

void e2pf_window_init(struct e2pf_window *w)
{
	memset(w, 0, sizeof(*w));
	w->limit = E2PF_WINDOW_FIRST;
}

void e2pf_window_add(struct e2pf_window *w, uint64_t offset, uint64_t now_ns)
{
	struct e2pf_sample *s;

	/* With as many samples as there is room for the limit is reached. */
	if (++w->since * E2PF_WINDOW_SAMPLES < w->limit)
		return;
	s = &w->sample[(w->first + w->used++) % E2PF_WINDOW_SAMPLES];
	s->offset = offset;
	s->asked = now_ns;
	s->covers = w->since;
	w->under_way += w->since;
	w->since = 0;
}

const struct e2pf_sample *e2pf_window_oldest(const struct e2pf_window *w)
{
	if (!w->used || (w->under_way + w->since < w->limit &&
			 w->used < E2PF_WINDOW_SAMPLES))
		return NULL;
	return &w->sample[w->first];
}

void e2pf_window_came(struct e2pf_window *w, bool late)
{
	const struct e2pf_sample *s = &w->sample[w->first];

	if (late)
		w->limit = (w->limit + 1) / 2;
	else
		w->limit += s->covers;
	if (w->limit > E2PF_WINDOW_MOST)
		w->limit = E2PF_WINDOW_MOST;
	w->under_way -= s->covers;
	w->first = (w->first + 1) % E2PF_WINDOW_SAMPLES;
	w->used--;
}
