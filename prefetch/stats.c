/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include <string.h>

#include "state.h"
#include "stats.h"

/* Large reads take longer than PF_STALL_NS from memory, too: 128 KiB 20 us. */
#define STALL_NS_PER_KIB 500u

/* The engine, which fell asleep because everything seemed cached, wakes if this many
 * reads stall among at most 16 times as many.  A few stalls do not count, because a
 * busy machine causes some, too. */
#define WAKE_MISSES 128u
#define WAKE_READS (WAKE_MISSES * 16)

void pf_stats_count_request(struct pf_stats *s)
{
	s->requests++;
}

void pf_stats_start(struct pf_stats *s)
{
	s->sleep_misses = 0;
}

void pf_stats_begin_stage(struct pf_stats *s, unsigned stage, uint64_t now)
{
	/* 0: the first one begins. */
	if (s->stage_began)
		s->stages[s->stage].ns += now - s->stage_began;
	s->stage_began = now;
	s->stage = stage;
}

/*
 * Reads of the checker.
 */

void pf_stats_begin_read(struct pf_stats *s, struct pf_read *r, uint64_t now)
{
	r->began = r->passed_gate = now;
	r->waited = r->missed = false;
	atomic_store_explicit(&s->reading_at, r->offset, memory_order_relaxed);
	atomic_store_explicit(&s->reading_since, now, memory_order_relaxed);
}

/* A stall is recognized by its time, because a query of the kernel before each read
 * would cost more than the read (mincore() 0.9 us, a cached block 0.6 us). */
bool pf_stats_end_read(struct pf_stats *s, const struct pf_read *r, uint64_t ns)
{
	atomic_store_explicit(&s->reading_since, 0, memory_order_relaxed);
	return r->waited ||
	       ns > PF_STALL_NS + r->length / 1024 * STALL_NS_PER_KIB;
}

/* Count a stall.  The event has an effect only if the engine is asleep. */
static unsigned count_sleep_miss(struct pf_stats *s)
{
	uint64_t reads = 0;
	unsigned i;

	for (i = 0; i < PF_MAX_STAGES; i++)
		reads += s->stages[i].reads;
	if (!s->sleep_misses || reads - s->sleep_since > WAKE_READS) {
		s->sleep_since = reads;
		s->sleep_misses = 0;
	}
	return ++s->sleep_misses >= WAKE_MISSES ? PF_EVENT_WAKE : 0;
}

unsigned pf_stats_count_read(struct pf_stats *s, const struct pf_read *r,
			     bool stalled, uint64_t now)
{
	struct pf_stage_stats *stage = &s->stages[s->stage];
	/* Time in which several threads of a newer libext2fs wait counts once. */
	uint64_t from = r->began < s->counted_until ? s->counted_until : r->began;
	uint64_t wait = now > from ? now - from : 0;

	stage->reads++;
	s->bytes += r->length;
	if (!stalled)
		return 0;
	s->counted_until = now;
	stage->stalls++;
	stage->stall_ns += wait;
	s->stall_ns += wait;
	return count_sleep_miss(s);
}

/*
 * The sums.
 */

/* Collect what is known about the checker. */
static void collect_checker(const struct pf_engine *e,
			    struct pf_engine_stats *stats)
{
	const struct pf_stats *s = &e->stats;
	uint64_t since = s->reading_since, now = pf_state_now(e);

	memcpy(stats->stage, s->stages, sizeof(stats->stage));
	stats->stage[s->stage].ns += now - s->stage_began;
	stats->at_stage = s->stage;
	stats->stall_ns = s->stall_ns;
	stats->checker_bytes = s->bytes;
	stats->gate_waits = e->gate.waits;
	stats->lost_ns = e->gate.lost_ns;
	stats->reading_ns = since && since < now ? now - since : 0;
	stats->reading_at = s->reading_at;
	if (!pf_schedule_last_report(&e->schedule, &stats->at_phase,
				     &stats->at)) {
		stats->at_phase = PF_NO_PHASE;
		stats->at = 0;
	}
}

void pf_stats_collect(const struct pf_engine *e, struct pf_engine_stats *stats)
{
	const struct pf_window *w = &e->window;
	const struct pf_health *h = &e->health;

	*stats = (struct pf_engine_stats) {
		.planned_bytes = w->planned_bytes,
		.prefetched_bytes = w->prefetched_bytes,
		.prefetched_requests = e->stats.requests,
		.wasted_bytes = pf_window_unread_bytes(w) + w->unused,
		.errors = h->errors,
		.gave_up = e->gave_up,
		.slow_or_failed = h->degraded,
		.degraded_at = h->degraded_at,
		.speed = h->speed,
		.unmeasured = h->unmeasured,
		.threads = e->pool.max_workers,
		.in_flight_bytes = pf_pool_in_flight_bytes(&e->pool)
	};
	collect_checker(e, stats);
}
