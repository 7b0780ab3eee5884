/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "health.h"
#include "state.h"
#include "trace.h"

/* The engine leaves a stalled device to the checker until it has served this many of
 * the checker's reads in a quarter of PF_STALLED_NS: anything the engine requested
 * would delay each of those reads, and the end of the check. */
#define RECOVERY_READS 4u

/* With the second location that cannot be read the engine gives up: on a failing disk each
 * costs seconds, and the checker has to see the error itself, which costs as much
 * again. */
#define MAX_FAILURES 2u

/* How often the disks' counters are sampled, and how old a sample may be that tells whether
 * they were busy. */
#define SAMPLE_NS 100000000u
#define OLD_SAMPLE_NS PF_STALLED_NS

void pf_health_init(struct pf_health *h,
		    const struct pf_options *options,
		    struct pf_device *dev)
{
	h->options = options;
	h->dev = dev;
}

void pf_health_start(struct pf_health *h)
{
	h->sampled_at = 0;
	h->unmeasured = NULL;
	if (!h->speed.latency_ns || !h->options->measure)
		h->speed = (struct pf_speed) { .seek_bound =
			   h->options->seek_bound };
}

/*
 * Stalled, or degraded.
 */

/* Does a sector that takes long hold up all others?  It does not where a request takes
 * less than half as long with others in flight. */
static bool is_serial(const struct pf_health *h)
{
	return h->speed.seek_bound ||
	       h->speed.latency_qd8_ns * 2 >= h->speed.latency_ns;
}

bool pf_health_limits_requests(const struct pf_health *h)
{
	return h->degraded && (is_serial(h) || h->failed_offsets);
}

static void leave_to_checker(struct pf_health *h)
{
	if (!h->options->has_checker || !(is_serial(h) || h->failed_offsets))
		return;
	PF_TRACE(device_stalled, h->degraded_at);
	h->stalled = RECOVERY_READS;
}

/* A read took long, or failed. */
static unsigned mark_degraded(struct pf_health *h, uint64_t offset, bool failed)
{
	if (h->failed_offsets && offset == h->failed_at)
		return 0;
	if (!h->degraded++)
		h->degraded_at = offset;
	if (failed) {
		h->failed_at = offset;
		h->failed_offsets++;
	}
	return h->failed_offsets >= MAX_FAILURES ? PF_EVENT_GIVE_UP : 0;
}

bool pf_health_needs_speed(const struct pf_health *h)
{
	return h->options->measure && !h->speed.latency_ns;
}

void pf_health_set_speed(struct pf_health *h, const char *unmeasured,
			 const struct pf_speed *speed, uint64_t ns)
{
	h->unmeasured = unmeasured;
	if (!unmeasured)
		h->speed = *speed;
	else if (ns >= PF_STALLED_NS)
		leave_to_checker(h);
}

/*
 * The disks' counters.
 */

void pf_health_sample_disks(struct pf_health *h)
{
	struct pf_disk_counters disks;
	uint64_t now;

	if (!h->options->count_disks)
		return;
	now = h->dev->ops->now(h->dev);
	if (h->sampled_at && now - h->sampled_at < SAMPLE_NS)
		return;
	if (h->options->count_disks(h->options->ctx, &disks)) {
		h->busy_ns = disks.busy_ns;
		h->sampled_at = now;
	}
}

int pf_health_query_disks(const struct pf_health *h)
{
	struct pf_disk_counters disks;

	if (!h->options->count_disks || !h->options->count_disks(h->options->ctx, &disks))
		return -1;
	return disks.in_flight != 0;
}

/* A read took `ns`, for most of which no disk did anything: this process stood still
 * (SIGSTOP, a frozen cgroup, a virtual machine that was paused), which says nothing
 * about a disk.  All that they did since the last sample counts; without a recent one
 * they count as busy. */
static bool has_stood_still(const struct pf_health *h, uint64_t ns)
{
	uint64_t now = h->dev->ops->now(h->dev), from = now - ns;
	uint64_t sampled = h->sampled_at;
	struct pf_disk_counters disks;

	if (!sampled || sampled + OLD_SAMPLE_NS < from || !h->options->count_disks ||
	    !h->options->count_disks(h->options->ctx, &disks))
		return false;
	return (disks.busy_ns - h->busy_ns) * 2 <
	       now - (sampled < from ? from : sampled);
}

unsigned pf_health_judge_own_read(struct pf_health *h, uint64_t offset,
				int error, uint64_t ns)
{
	bool slow = ns >= PF_STALLED_NS && !has_stood_still(h, ns);
	unsigned events = error || slow ? mark_degraded(h, offset, error) : 0;

	h->errors += error != 0;
	if (slow)
		leave_to_checker(h);
	return events;
}

unsigned pf_health_judge_checker_read(struct pf_health *h,
				      const struct pf_read *r, uint64_t ns)
{
	unsigned events;

	if (ns >= PF_STALLED_NS) {
		if (has_stood_still(h, ns))
			return 0;
		events = mark_degraded(h, r->offset, false);
		leave_to_checker(h);
		return events;
	}
	if (!r->missed || !h->stalled || ns >= PF_STALLED_NS / 4 || --h->stalled)
		return 0;
	PF_TRACE(device_recovered, r->offset);
	return PF_EVENT_WORK;
}

unsigned pf_health_judge_failed_read(struct pf_health *h, uint64_t offset)
{
	unsigned events = mark_degraded(h, offset, true);

	leave_to_checker(h);
	return events;
}
