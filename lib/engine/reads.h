/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The checker's reads: how many there were and how long they took, stage by stage; whether
 * waiting at the gate has paid; and which ranges the workers have requested last, so that a
 * read knows whether one of them will bring its blocks, or may have made it fail.
 */
#ifndef PF_READS_H
#define PF_READS_H

#include <stdatomic.h>

#include "engine.h"
#include "schedule.h"

/* A small read that took longer than this waited for the device.  From memory
 * 4 KiB take 1 us; the fastest devices need 60 us for a request through the block
 * layer. */
#define PF_STALL_NS 30000u

/* The most requests that a worker has in flight: sorted ones on arrays of disks gain up
 * to this number. */
#define PF_MAX_INFLIGHT 1024u

/* As many as two workers have in flight. */
#define PF_REQUESTED (2 * PF_MAX_INFLIGHT)

/* A range that a worker has requested; none of it was in the cache. */
struct pf_requested {
	atomic_uint_fast64_t offset;
	atomic_uint device, length;	/* 0: nothing */
};

struct pf_reads {
	/* Any thread reads these without the lock. */
	atomic_bool gated;		/* in this phase the checker may have to
					   wait at the gate */
	/* The checker's read that has not returned; if several threads read, the
	 * last one that began. */
	atomic_uint_fast64_t reading_since;	/* ns; 0: none */
	atomic_uint_fast64_t reading_at;	/* bytes */
	/* A ring of the workers' last requests, and the number of all. */
	struct pf_requested requested[PF_REQUESTED];
	atomic_uint_fast64_t requests;

	/* These need the lock. */
	unsigned stage;
	uint64_t stage_began;
	uint64_t stalled_until;		/* its waits up to this time are counted */
	uint64_t bytes, gate_waits, stall_ns;
	/* Waits at the gate: the time of those that ended without the block, and
	 * the number of those that ended with it. */
	uint64_t lost_ns, served;
	struct pf_stage_stats stages[PF_MAX_STAGES];
	/* While the engine is asleep: reads that waited, and the number of reads
	 * at the first of them. */
	unsigned sleep_misses;
	uint64_t sleep_since;
};

/* These need no lock. */

/* May reads of the checker wait at the gate, in this phase? */
void pf_gate_set(struct pf_reads *c, bool gated);

/* A read begins. */
void pf_stats_begin_read(struct pf_reads *c, struct pf_read *r, uint64_t now);

/* Is it possible that a worker brings these blocks?  It is not if a page of them is in the
 * cache that no worker has requested: nobody may be reading that. */
bool pf_gate_may_come(const struct pf_reads *c, struct e2pf_device *dev,
			 const struct pf_read *r);

/* Request this range, which is at most the device's readahead; none of it is in the
 * cache. */
void pf_inflight_add(struct pf_reads *c, struct e2pf_device *dev,
			unsigned device, uint64_t offset, uint32_t length);

/* A read has returned, and took `ns` in all.  Did it stall, at the gate or for the
 * device? */
bool pf_stats_is_stall(struct pf_reads *c, const struct pf_read *r,
			  uint64_t ns);

/* A read has failed.  Are there pages beside it in the cache that cannot be had?  They may
 * be of the same large folio, which is read as a whole, or of a request that the block layer
 * has merged with it: then it may have failed because of them. */
bool pf_reads_failed(struct pf_reads *c, struct e2pf_device *dev,
		       const struct pf_read *r, uint32_t grain);

/* The others need the lock. */

void pf_stats_start(struct pf_reads *c);

/* The checker enters a stage. */
void pf_stats_begin_stage(struct pf_reads *c, unsigned stage, uint64_t now);

/* A read has waited at the gate for `ns`, and leaves it, with its block if `served`.
 * `latency` is that of the device, 0: not known.  If waiting does not pay, the gate is open
 * from now on. */
void pf_gate_count_wait(struct pf_reads *c, uint64_t latency, uint64_t ns,
			  bool served);

/* Count a read that has returned. */
unsigned pf_stats_count_read(struct pf_reads *c, const struct pf_read *r,
			  bool stalled, uint64_t now);

#endif
