/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "health.h"

/* The engine leaves a stalled device to the checker until it has served this many of
 * the checker's reads in a quarter of PF_STALLED_NS: anything the engine requested
 * would delay each of those reads, and the end of the check. */
#define STALLED_PROOFS 4u

/* With the second place that cannot be read the engine gives up: on a failing disk each
 * costs seconds, and the checker has to see the error itself, which costs as much
 * again. */
#define FAILURES_MOST 2u

/* Gaps that are read through: doc/measurements.md has more figures.  On a disk 32 KiB pass
 * under the head in a quarter of a millisecond, less than any request takes.  Several
 * disks, whose requests take less than 3 ms with others in flight, gain by 64 KiB. */
#define SEEK_GAP (32u << 10)
#define SPINDLES_GAP (64u << 10)
#define SPINDLES_NS 3000000u

/* Where nothing seeks, a gap is narrow if one more request takes less than DEAR_NS: 5 us on
 * NVMe and 12 to 20 us on a SATA SSD.  If nothing was measured there are no gaps.  Where
 * requests are limited apart from bytes (333 us on a volume with 3,000 IOPS), gaps are wide
 * while requests are small, since then there are bytes to spare: smaller than what passes
 * at 90 MB/s in the time of a request.  They become narrow gradually, from 3/4 of that size
 * to 5/4. */
#define DEAR_NS 100000u
#define WIDE_GAP (48u << 10)
#define NARROW_GAP (4u << 10)
#define SMALL_REQUEST (40u << 10)
#define LIMITED_BYTE_NS 11u

/* How old a look at the disks may be that tells whether they were busy, and how often
 * there is one. */
#define LOOK_NS 100000000u
#define OLD_LOOK_NS PF_STALLED_NS

void pf_health_init(struct pf_health *p,
		      const struct pf_options *cfg,
		      struct e2pf_device *dev)
{
	p->cfg = cfg;
	p->dev = dev;
}

void pf_health_start(struct pf_health *p)
{
	p->looked_at = 0;
	p->unmeasured = NULL;
	if (!p->speed.latency_ns || !p->cfg->measure)
		p->speed = (struct e2pf_speed) { .seeks = p->cfg->seeks };
}

/*
 * Stuck, or failing.
 */

/* Does a sector that takes long hold up all others?  It does not where a request takes
 * less than half as long with others in flight. */
static bool is_serial(const struct pf_health *p)
{
	return p->speed.seeks ||
	       p->speed.deep_latency_ns * 2 >= p->speed.latency_ns;
}

bool pf_health_limits_requests(const struct pf_health *p)
{
	return p->degraded && (is_serial(p) || p->failed_offsets);
}

static void leave_to_checker(struct pf_health *p)
{
	if (p->cfg->has_checker && (is_serial(p) || p->failed_offsets))
		p->stalled = STALLED_PROOFS;
}

/* A read took long, or failed. */
static unsigned degraded(struct pf_health *p, uint64_t offset, bool failed)
{
	if (p->failed_offsets && offset == p->failed_at)
		return 0;
	if (!p->degraded++)
		p->degraded_at = offset;
	if (failed) {
		p->failed_at = offset;
		p->failed_offsets++;
	}
	return p->failed_offsets >= FAILURES_MOST ? PF_EVENT_GIVE_UP : 0;
}

bool pf_health_needs_speed(const struct pf_health *p)
{
	return p->cfg->measure && !p->speed.latency_ns;
}

void pf_health_set_speed(struct pf_health *p, const char *unmeasured,
			  const struct e2pf_speed *speed, uint64_t ns)
{
	p->unmeasured = unmeasured;
	if (!unmeasured)
		p->speed = *speed;
	else if (ns >= PF_STALLED_NS)
		leave_to_checker(p);
}

/*
 * The disks' counters.
 */

void pf_health_sample_disks(struct pf_health *p)
{
	struct pf_disk_counters disks;
	uint64_t now;

	if (!p->cfg->count_disks)
		return;
	now = p->dev->ops->now(p->dev);
	if (p->looked_at && now - p->looked_at < LOOK_NS)
		return;
	if (p->cfg->count_disks(p->cfg->ctx, &disks)) {
		p->busy_ns = disks.busy_ns;
		p->looked_at = now;
	}
}

int pf_health_query_disks(const struct pf_health *p)
{
	struct pf_disk_counters disks;

	if (!p->cfg->count_disks || !p->cfg->count_disks(p->cfg->ctx, &disks))
		return -1;
	return disks.in_flight != 0;
}

/* A read took `ns`, for most of which no disk did anything: this process stood still
 * (SIGSTOP, a frozen cgroup, a virtual machine that was paused), which says nothing
 * about a disk.  All that they did since the last look counts; without a recent one
 * they count as busy. */
static bool stood_still(const struct pf_health *p, uint64_t ns)
{
	uint64_t now = p->dev->ops->now(p->dev), from = now - ns;
	uint64_t looked = p->looked_at;
	struct pf_disk_counters disks;

	if (!looked || looked + OLD_LOOK_NS < from || !p->cfg->count_disks ||
	    !p->cfg->count_disks(p->cfg->ctx, &disks))
		return false;
	return (disks.busy_ns - p->busy_ns) * 2 <
	       now - (looked < from ? from : looked);
}

unsigned pf_health_judge_own_read(struct pf_health *p, uint64_t offset,
				int error, uint64_t ns)
{
	bool slow = ns >= PF_STALLED_NS && !stood_still(p, ns);
	unsigned events = error || slow ? degraded(p, offset, error) : 0;

	p->errors += error != 0;
	if (slow)
		leave_to_checker(p);
	return events;
}

unsigned pf_health_judge_checker_read(struct pf_health *p,
				   const struct pf_read *r, uint64_t ns)
{
	unsigned events;

	if (ns >= PF_STALLED_NS) {
		if (stood_still(p, ns))
			return 0;
		events = degraded(p, r->offset, false);
		leave_to_checker(p);
		return events;
	}
	return r->missed && p->stalled && ns < PF_STALLED_NS / 4 && !--p->stalled ?
	       PF_EVENT_WORK : 0;
}

unsigned pf_health_judge_failed_read(struct pf_health *p, uint64_t offset)
{
	unsigned events = degraded(p, offset, true);

	leave_to_checker(p);
	return events;
}

/*
 * Gaps.
 */

/* The gap where requests are limited, and have `mean` bytes. */
static uint64_t sliding_gap(uint64_t request_ns, uint64_t mean)
{
	uint64_t small = request_ns / LIMITED_BYTE_NS, gap;

	if (small < SMALL_REQUEST)
		small = SMALL_REQUEST;
	if (mean * 4 >= small * 5)
		return NARROW_GAP;
	gap = NARROW_GAP + (WIDE_GAP - NARROW_GAP) * (small * 5 - mean * 4) /
	      (small * 2);
	return gap < WIDE_GAP ? gap : WIDE_GAP;
}

uint64_t pf_elevator_gap(const struct pf_health *p, uint64_t mean)
{
	const struct e2pf_speed *speed = &p->speed;
	uint64_t deep = speed->deep_latency_ns;

	/* The failing sector may lie in a gap. */
	if (p->degraded)
		return 0;
	if (speed->seeks)
		return deep && deep < SPINDLES_NS ? SPINDLES_GAP : SEEK_GAP;
	if (speed->request_ns <= DEAR_NS)
		return speed->request_ns ? NARROW_GAP : 0;
	return sliding_gap(speed->request_ns, mean);
}
