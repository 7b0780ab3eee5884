/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "reads.h"

/* The gate stays open for the rest of the phase when more time was lost at it than
 * LOST_READS reads of the checker's own take, and a LOST_PART of what those took that
 * it has saved.  A read for which the latency was not measured takes LATENCY_NS. */
#define LOST_READS 4u
#define LOST_PART 20u
#define LATENCY_NS 10000000u

/* Large reads take longer than PF_STALL_NS from memory, too: 128 KiB 20 us. */
#define STALL_NS_PER_KIB 500u

/* Everything seemed cached when the engine fell asleep, but is not if this many reads
 * stalled, of at most 16 times as many: a busy machine delays some, too. */
#define WAKE_MISSES 128u
#define WAKE_READS (WAKE_MISSES * 16)

void pf_stats_start(struct pf_reads *c)
{
	c->sleep_misses = 0;
}

void pf_stats_begin_stage(struct pf_reads *c, unsigned stage, uint64_t now)
{
	/* 0: the first one begins. */
	if (c->stage_began)
		c->stages[c->stage].ns += now - c->stage_began;
	c->stage_began = now;
	c->stage = stage;
}

/*
 * The gate.
 */

void pf_gate_set(struct pf_reads *c, bool gated)
{
	c->gated = gated;
}

void pf_gate_count_wait(struct pf_reads *c, uint64_t latency, uint64_t ns,
			  bool served)
{
	if (!latency)
		latency = LATENCY_NS;
	c->gate_waits++;
	c->served += served;
	if (served)
		return;
	c->lost_ns += ns;
	if (c->lost_ns > latency * LOST_READS + latency * c->served / LOST_PART)
		c->gated = false;
}

/*
 * What is in flight.
 */

void pf_inflight_add(struct pf_reads *c, struct e2pf_device *dev,
			unsigned device, uint64_t offset, uint32_t length)
{
	unsigned slot = atomic_fetch_add(&c->requests, 1) % PF_REQUESTED;
	struct pf_requested *r = &c->requested[slot];

	/* A thread that looks meanwhile may take two requests for one that is as
	 * long as the first and where the second is: then blocks count as in
	 * flight that are not. */
	r->offset = offset;
	r->device = device;
	r->length = length;
	/* This may block while the device's queue is full. */
	dev->ops->willneed(dev, offset, length);
}

/* Is this byte among the last requests of the workers? */
static bool was_requested(const struct pf_reads *c, unsigned device,
			  uint64_t offset)
{
	const struct pf_requested *r = c->requested;
	unsigned i;

	for (i = 0; i < PF_REQUESTED; i++, r++)
		if (r->length && r->device == device &&
		    offset - r->offset < r->length)
			return true;
	return false;
}

bool pf_gate_may_come(const struct pf_reads *c, struct e2pf_device *dev,
			 const struct pf_read *r)
{
	uint64_t at = r->offset, end = at + r->length, len;
	enum e2pf_residency state;

	for (; at < end; at += len) {
		len = dev->ops->span(dev, at, end - at, &state);
		if (state == E2PF_HELD && !was_requested(c, r->device, at))
			return false;
	}
	return true;
}

/*
 * Reads.
 */

void pf_stats_begin_read(struct pf_reads *c, struct pf_read *r, uint64_t now)
{
	r->began = r->passed_gate = now;
	r->waited = r->missed = false;
	atomic_store_explicit(&c->reading_at, r->offset, memory_order_relaxed);
	atomic_store_explicit(&c->reading_since, now, memory_order_relaxed);
}

/* Judged by its time.  A query of the kernel before each read would cost more than the
 * read (mincore() 0.9 us, a cached block 0.6 us). */
bool pf_stats_is_stall(struct pf_reads *c, const struct pf_read *r,
			  uint64_t ns)
{
	atomic_store_explicit(&c->reading_since, 0, memory_order_relaxed);
	return r->waited ||
	       ns > PF_STALL_NS + r->length / 1024 * STALL_NS_PER_KIB;
}

/* A stall of an engine that may be asleep.  Only that one heeds the event. */
static unsigned count_sleep_miss(struct pf_reads *c)
{
	uint64_t reads = 0;
	unsigned i;

	for (i = 0; i < PF_MAX_STAGES; i++)
		reads += c->stages[i].reads;
	if (!c->sleep_misses || reads - c->sleep_since > WAKE_READS) {
		c->sleep_since = reads;
		c->sleep_misses = 0;
	}
	return ++c->sleep_misses >= WAKE_MISSES ? PF_EVENT_WAKE : 0;
}

unsigned pf_stats_count_read(struct pf_reads *c, const struct pf_read *r,
			  bool stalled, uint64_t now)
{
	struct pf_stage_stats *stage = &c->stages[c->stage];
	/* Time in which several threads wait counts once: newer libext2fs has them. */
	uint64_t from = r->began < c->stalled_until ? c->stalled_until : r->began;
	uint64_t wait = now > from ? now - from : 0;

	stage->reads++;
	c->bytes += r->length;
	if (!stalled)
		return 0;
	c->stalled_until = now;
	stage->stalls++;
	stage->stall_ns += wait;
	c->stall_ns += wait;
	return count_sleep_miss(c);
}

/* Can the page of this byte not be had?  A read of several blocks, which is then made block
 * by block, may fail without us, too, for a block behind them: the kernel has read that
 * ahead.  For these only what a worker has requested counts. */
static bool is_held(const struct pf_reads *c, struct e2pf_device *dev,
		    unsigned device, uint64_t offset, bool one_block)
{
	enum e2pf_residency state;

	if (offset >= dev->size ||
	    (!one_block && !was_requested(c, device, offset)))
		return false;
	dev->ops->span(dev, offset, 1, &state);
	return state == E2PF_HELD;
}

bool pf_reads_failed(struct pf_reads *c, struct e2pf_device *dev,
		       const struct pf_read *r, uint32_t grain)
{
	bool one_block = r->length <= grain && !r->of_several;

	return !dev->sees_held ||
	       (r->offset && is_held(c, dev, r->device, r->offset - 1,
				     one_block)) ||
	       is_held(c, dev, r->device, r->offset + r->length, one_block);
}
