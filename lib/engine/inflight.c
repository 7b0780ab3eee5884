/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tracks a worker's requests in flight: see inflight.h.
 */
#include <string.h>

#include "inflight.h"

void e2pf_inflight_init(struct e2pf_inflight *f, uint64_t request_ns)
{
	uint64_t in_time = request_ns ?
			   E2PF_INFLIGHT_LATE_NS / 2 / request_ns : 0;

	memset(f, 0, sizeof(*f));
	f->limit = E2PF_INFLIGHT_FIRST_FAST;
	if (in_time < f->limit)
		f->limit = (unsigned)in_time;
	if (f->limit < E2PF_INFLIGHT_FIRST)
		f->limit = E2PF_INFLIGHT_FIRST;
}

void e2pf_inflight_add(struct e2pf_inflight *f, unsigned device,
		       uint64_t offset, uint64_t bytes, uint64_t now_ns)
{
	struct e2pf_request *s;

	/* One request in limit / SAMPLES is tracked, so that the samples are
	 * full when the limit is reached. */
	f->since_bytes += bytes;
	if (++f->since * E2PF_INFLIGHT_SAMPLES < f->limit)
		return;
	s = &f->sample[(f->first + f->used++) % E2PF_INFLIGHT_SAMPLES];
	s->device = device;
	s->offset = offset;
	s->asked = now_ns;
	s->covers = f->since;
	s->bytes = f->since_bytes;
	f->in_flight += f->since;
	f->bytes += f->since_bytes;
	s->depth = f->in_flight;
	s->queued = f->bytes;
	f->since = 0;
	f->since_bytes = 0;
}

const struct e2pf_request *e2pf_inflight_oldest(const struct e2pf_inflight *f)
{
	return f->used ? &f->sample[f->first] : NULL;
}

bool e2pf_inflight_is_full(const struct e2pf_inflight *f)
{
	return f->used && (f->in_flight + f->since >= f->limit ||
			   f->used == E2PF_INFLIGHT_SAMPLES);
}

void e2pf_inflight_completed(struct e2pf_inflight *f, bool late)
{
	const struct e2pf_request *s = &f->sample[f->first];

	if (late)
		f->limit = (f->limit + 1) / 2;
	else
		f->limit += s->covers;
	if (f->limit > E2PF_INFLIGHT_MOST)
		f->limit = E2PF_INFLIGHT_MOST;
	f->in_flight -= s->covers;
	f->bytes -= s->bytes;
	f->first = (f->first + 1) % E2PF_INFLIGHT_SAMPLES;
	f->used--;
}
