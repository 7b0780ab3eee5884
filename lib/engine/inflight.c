/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How many requests may be in flight.
 */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "inflight.h"

void e2pf_inflight_init(struct e2pf_inflight *f)
{
	memset(f, 0, sizeof(*f));
	f->limit = E2PF_INFLIGHT_FIRST;
}

void e2pf_inflight_add(struct e2pf_inflight *f, unsigned device,
		       uint64_t offset, uint64_t now_ns)
{
	struct e2pf_request *s;

	/* With as many samples as there is room for the limit is reached. */
	if (++f->since * E2PF_INFLIGHT_SAMPLES < f->limit)
		return;
	s = &f->sample[(f->first + f->used++) % E2PF_INFLIGHT_SAMPLES];
	s->device = device;
	s->offset = offset;
	s->asked = now_ns;
	s->covers = f->since;
	f->in_flight += f->since;
	f->since = 0;
}

const struct e2pf_request *e2pf_inflight_oldest(const struct e2pf_inflight *f)
{
	if (!f->used || (f->in_flight + f->since < f->limit &&
			 f->used < E2PF_INFLIGHT_SAMPLES))
		return NULL;
	return &f->sample[f->first];
}

void e2pf_inflight_came(struct e2pf_inflight *f, bool late)
{
	const struct e2pf_request *s = &f->sample[f->first];

	if (late)
		f->limit = (f->limit + 1) / 2;
	else
		f->limit += s->covers;
	if (f->limit > E2PF_INFLIGHT_MOST)
		f->limit = E2PF_INFLIGHT_MOST;
	f->in_flight -= s->covers;
	f->first = (f->first + 1) % E2PF_INFLIGHT_SAMPLES;
	f->used--;
}
