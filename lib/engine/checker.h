/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The checker as the engine sees it: its position, its reads, its stages, and when
 * it waits at the gate for a worker to read the block that it needs next.  Its
 * calls are in engine.h.
 */
#ifndef E2PF_CHECKER_H
#define E2PF_CHECKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine.h"
#include "requests.h"

/* A small read that took longer than this waited for the device.  From memory
 * 4 KiB take 1 us; the fastest devices need 60 us for a request through the block
 * layer. */
#define E2PF_STALL_NS 30000u

/* Instead of a packed phase and unit: the checker has not reported one. */
#define E2PF_NOWHERE UINT64_MAX
#define E2PF_AT_UNIT_BITS 56
#define E2PF_AT_UNITS (UINT64_MAX >> (64 - E2PF_AT_UNIT_BITS))

/* As many as libext2fs's cache has blocks, and some more. */
#define E2PF_LATELY 64u

/* As many as two workers have in flight. */
#define E2PF_REQUESTED (2 * E2PF_IN_FLIGHT_MOST)

/* Something that a worker has requested, of which nothing was in the cache. */
struct e2pf_requested {
	atomic_uint_fast64_t offset;
	atomic_uint device, length;	/* 0: nothing */
	atomic_bool asking;		/* the call has not returned */
};

/* Written by checker.c alone. */
struct e2pf_checker {
	/* Any thread reads these without the lock. */
	atomic_uint_fast64_t at;	/* its phase and unit, packed */
	atomic_bool gated;		/* in this phase it waits at the gate */
	atomic_uint gate_waiters;	/* threads of it */
	/* Its read that has not returned; if several threads read, the last one
	 * that began. */
	atomic_uint_fast64_t reading_since;	/* ns; 0: none */
	atomic_uint_fast64_t reading_at;	/* bytes */
	/* Where it begins and ends, if nothing beside it has been in flight since;
	 * or E2PF_NOWHERE. */
	atomic_uint_fast64_t alone_at, alone_end;
	/* The last requests of the workers, a ring. */
	struct e2pf_requested requested[E2PF_REQUESTED];
	atomic_uint next_requested;
	/* Its last reads, by their place; 0: none. */
	atomic_uint_fast64_t lately[E2PF_LATELY];

	/* These need the lock. */
	pthread_cond_t gate;		/* its threads that wait */
	bool ending;			/* a signal is ending the check */
	unsigned stage;
	uint64_t stage_began;
	uint64_t stalled_until;		/* its waits up to here are counted */
	uint64_t bytes, gate_waits;
	/* Of its waits at the gate: time of those that ended without the block, and
	 * the number of the others. */
	uint64_t lost_ns, served;
	const char *gate_opened;
	struct e2pf_stage_stats stages[E2PF_STAGES];
	/* While the engine is asleep: reads that waited, and the number of reads
	 * at the first of them. */
	unsigned sleep_misses;
	uint64_t sleep_since;
};

void e2pf_checker_init(struct e2pf_engine *e);
void e2pf_checker_destroy(struct e2pf_engine *e);

/* Request this, of which nothing is in the cache.  Returns the number of requests.
 * Needs no lock. */
unsigned e2pf_checker_request(struct e2pf_engine *e, unsigned device,
			      uint64_t offset, uint32_t length);

/* Has the checker reported a unit of the current phase?  Needs no lock. */
bool e2pf_checker_at(const struct e2pf_engine *e, uint64_t *unit);

/* Has the checker passed this unit?  Needs no lock. */
bool e2pf_passed(const struct e2pf_engine *e, uint64_t unit);

/* These need the lock. */

/* Reading begins, and ends: nothing waits at the gate any more. */
void e2pf_checker_start(struct e2pf_engine *e);
void e2pf_checker_stop(struct e2pf_engine *e);

/* Another phase of the source begins. */
void e2pf_checker_phase_begins(struct e2pf_engine *e);

/* Whoever waits at the gate checks again whether to wait. */
void e2pf_checker_open_gate(struct e2pf_engine *e);

void e2pf_checker_stats(struct e2pf_engine *e,
			struct e2pf_engine_stats *stats);
void e2pf_checker_get_progress(struct e2pf_engine *e,
			       struct e2pf_engine_progress *progress);

#endif
