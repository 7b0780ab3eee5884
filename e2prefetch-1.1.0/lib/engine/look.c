/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the engine and its checker are doing, for a progress report.  Changes
 * nothing. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include <string.h>

#include "engine_state.h"

static uint64_t since(uint64_t now, uint64_t began)
{
	return began && began < now ? now - began : 0;
}

/* The units of the first phase in a worker's batch. */
static uint64_t units_of(const struct e2pf_engine *e, const struct worker *w)
{
	if (e->phase || w->epoch != e->epoch || w->state == WORKER_IDLE)
		return 0;
	return (w->last - w->first) / w->step + 1;
}

static void look_at_workers(struct e2pf_engine *e,
			    struct e2pf_engine_look *look)
{
	unsigned i;

	look->taken = e->units_done;
	for (i = 0; i < e->workers; i++) {
		const struct worker *w = &e->worker[i];
		const struct e2pf_elevator *ev = &w->elevator;

		look->taken += units_of(e, w);
		look->span_bytes += atomic_load(&ev->span_bytes);
		look->issued_span_bytes +=
			atomic_load(&ev->issued_span_bytes);
		look->issued_runs += atomic_load(&ev->issued_runs);
		look->runs += atomic_load(&ev->sorted_runs) +
			      atomic_load(&ev->areas);
		look->seeds_bytes += atomic_load(&ev->seeds_bytes);
		look->parsed_bytes += atomic_load(&ev->parsed_bytes);
		look->expected_bytes += atomic_load(&ev->expected_bytes);
		look->expected_runs += atomic_load(&ev->expected_runs);
		look->issued_bytes += atomic_load(&ev->issued_bytes);
		look->in_flight += atomic_load(&w->inflight.in_flight);
		look->found_bytes += atomic_load(&ev->found_bytes);
	}
}

static void look_at_phases(struct e2pf_engine *e,
			   struct e2pf_engine_look *look)
{
	uint64_t at = atomic_load(&e->at);
	unsigned i;
	bool more;

	look->phase = e->phase;
	look->at_phase = E2PF_NONE;
	if (at != E2PF_NOWHERE) {
		look->at_phase = (int)(at >> E2PF_AT_UNIT_BITS);
		look->at = at & (UINT64_MAX >> (64 - E2PF_AT_UNIT_BITS));
	}
	for (i = 0; e->phases && i < e->phase_count; i++)
		if (e->phases[i].order != E2PF_ORDER_DEFERRED)
			look->units[i] = e->cfg.source->ops->units(
				e->cfg.source, i, &more);
	look->deferred_runs = e2pf_blockset_areas(e->deferred,
		e->deferred_next, E2PF_AREA_BYTES / e->cfg.source->grain);
	look->deferred_bytes = e2pf_blockset_count(e->deferred,
		e->deferred_next, UINT64_MAX - e->deferred_next) *
		e->cfg.source->grain;
}

static void look_at_checker(struct e2pf_engine *e,
			    struct e2pf_engine_look *look)
{
	uint64_t now = e2pf_now(e);
	unsigned i;

	look->stage = e->stage;
	look->stage_ns = since(now, e->stage_began);
	for (i = 0; i < E2PF_STAGES; i++)
		look->stall_ns += e->stats.stage[i].stall_ns;
	look->checker_bytes = atomic_load(&e->checker_bytes);
	look->reading_ns = since(now, atomic_load(&e->reading_since));
	look->reading_device = atomic_load(&e->reading_device);
	look->reading_at = atomic_load(&e->reading_at);
}

void e2pf_engine_look(struct e2pf_engine *e, struct e2pf_engine_look *look)
{
	memset(look, 0, sizeof(*look));
	pthread_mutex_lock(&e->lock);
	look_at_checker(e, look);
	look_at_phases(e, look);
	look_at_workers(e, look);
	look->prefetched_bytes = e->stats.prefetched_bytes;
	look->requests = e->stats.prefetched_requests;
	look->has_head = e->has_head;
	look->request_bytes = e2pf_control_request_bytes(&e->control);
	pthread_mutex_unlock(&e->lock);
}
