/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
#include "health.h"
#include "state.h"
#include "trace.h"

/* The engine leaves a stalled device to the checker until this many of the checker's
 * reads have taken less than a quarter of PF_STALLED_NS each.  Requests of the engine
 * would delay these reads, and the end of the check. */
#define RECOVERY_READS 4u

/* The engine gives up at the second offset that cannot be read.  On a failing disk each
 * costs seconds, and as much again when the checker reads it. */
#define MAX_FAILURES 2u

/* The interval between samples of the disks' counters, and the age up to which a sample
 * can tell whether the disks were busy. */
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
 * A device that is stalled or degraded.
 */

/* Returns true if a slow sector delays all other requests.  It does not on a device whose
 * requests take less than half as long with others in flight. */
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

/* Count a read that was slow or failed. */
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

/* Returns true if a read took `ns` because this process stood still: the disks were
 * idle for most of that time.  SIGSTOP, a frozen cgroup and a paused virtual machine do
 * that, and it says nothing about the disks.  All work of the disks since the last
 * sample counts.  Without a recent sample they count as busy. */
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
