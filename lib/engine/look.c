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

static void look_at_workers(struct e2pf_engine *e,
			    struct e2pf_engine_look *look)
{
	unsigned i;

	for (i = 0; i < e->workers; i++) {
		const struct worker *w = &e->worker[i];
		const struct e2pf_elevator *ev = &w->elevator;
		uint64_t runs = atomic_load(&ev->sorted_runs) +
				atomic_load(&ev->areas);
		uint64_t asked = atomic_load(&ev->issued_runs);

		look->unit_bytes += atomic_load(&ev->seeds_bytes);
		look->parsed_bytes += atomic_load(&ev->parsed_bytes);
		look->found_bytes += atomic_load(&ev->found_bytes);
		look->asked_bytes += atomic_load(&ev->issued_bytes);
		look->asked_requests += asked;
		look->queued_requests += runs > asked ? runs - asked : 0;
		look->in_flight += atomic_load(&w->inflight.in_flight);
	}
}

static void look_at_phases(struct e2pf_engine *e,
			   struct e2pf_engine_look *look)
{
	uint64_t at = atomic_load(&e->at);

	look->phase = e->phase;
	look->at_phase = E2PF_NONE;
	if (at != E2PF_NOWHERE) {
		look->at_phase = (int)(at >> E2PF_AT_UNIT_BITS);
		look->at = at & (UINT64_MAX >> (64 - E2PF_AT_UNIT_BITS));
	}
	look->queued_requests += e2pf_blockset_areas(e->deferred,
		e->deferred_next, E2PF_AREA_BYTES / e->cfg.source->grain);
	look->found_bytes += e2pf_blockset_count(e->deferred,
		e->deferred_next, UINT64_MAX - e->deferred_next) *
		e->cfg.source->grain;
}

static void look_at_checker(struct e2pf_engine *e,
			    struct e2pf_engine_look *look)
{
	unsigned i;

	look->stage = e->stage;
	for (i = 0; i < E2PF_STAGES; i++)
		look->stall_ns += e->stats.stage[i].stall_ns;
	look->checker_bytes = atomic_load(&e->checker_bytes);
	look->reading_ns = since(e2pf_now(e), atomic_load(&e->reading_since));
	look->reading_at = atomic_load(&e->reading_at);
}

void e2pf_engine_look(struct e2pf_engine *e, struct e2pf_engine_look *look)
{
	memset(look, 0, sizeof(*look));
	pthread_mutex_lock(&e->lock);
	look_at_checker(e, look);
	look_at_phases(e, look);
	look_at_workers(e, look);
	look->speed = (struct e2pf_speed) {
		.has_head = e->has_head, .latency_ns = e->stats.latency_ns,
		.deep_latency_ns = e->stats.deep_latency_ns
	};
	pthread_mutex_unlock(&e->lock);
}
