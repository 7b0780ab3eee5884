/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The device's health: its speed, whether it is stalled or degraded, and when to give up.
 * doc/architecture.md, "A device that fails", explains the decisions.
 */
#ifndef PREFETCH_HEALTH_H
#define PREFETCH_HEALTH_H

#include <stdatomic.h>

#include "engine.h"

/* A device that takes this long for a request is stalled, whatever else is in flight. */
#define PF_STALLED_NS 1000000000u

struct pf_health {
	const struct pf_options *options;
	struct pf_device *dev;		/* the first one, for its clock */
	/* Any thread reads these without the lock. */
	atomic_uint stalled;		/* the engine leaves the device to the checker
					   for this many more quick reads; 0: the
					   device is not stalled */
	atomic_uint degraded;		/* reads that failed or took PF_STALLED_NS;
					   0: the device is not degraded */
	atomic_uint failed_offsets;	/* number of offsets where a read has failed */
	atomic_uint_fast64_t sampled_at;	/* time of the last sample of the disks'
						   counters, ns; 0: never */
	atomic_uint_fast64_t busy_ns;	/* of the disks, at that time */
	/* As measured, or `seek_bound` as configured.  Written while there are no
	 * workers. */
	struct pf_speed speed;

	/* These need pf_engine.lock. */
	const char *unmeasured;		/* why the speed is not known; NULL: it is, or
					   was not to be measured */
	uint64_t degraded_at;		/* offset of the first slow or failed read */
	uint64_t failed_at;		/* offset of the last failed read */
	uint64_t errors;		/* failed reads of the engine */
};

void pf_health_init(struct pf_health *h,
		    const struct pf_options *options,
		    struct pf_device *dev);

/* These need pf_engine.lock. */

/* Reading begins.  The device is seek-bound or not as configured, unless it was measured
 * before. */
void pf_health_start(struct pf_health *h);

/* The device was measured in `ns`; or could not be measured, and why. */
void pf_health_set_speed(struct pf_health *h, const char *unmeasured,
			 const struct pf_speed *speed, uint64_t ns);

/* Judge a read of the engine at this offset, which took `ns`, or has not returned after
 * that.  `error` is an errno, or 0. */
unsigned pf_health_judge_own_read(struct pf_health *h, uint64_t offset,
				int error, uint64_t ns);

/* Judge a read of the checker that stalled.  `ns` is its time without the gate. */
unsigned pf_health_judge_checker_read(struct pf_health *h,
				      const struct pf_read *read, uint64_t ns);

/* Judge a read of the checker that failed at this offset. */
unsigned pf_health_judge_failed_read(struct pf_health *h, uint64_t offset);

/* These need no lock. */

/* Returns true if the device must be measured, because its kind is a guess. */
bool pf_health_needs_speed(const struct pf_health *h);

/* Returns true if only a few requests may be in flight, because they may fail.  The
 * checker then needs its own readahead. */
bool pf_health_limits_requests(const struct pf_health *h);

/* Sample the disks' counters, unless that was done recently. */
void pf_health_sample_disks(struct pf_health *h);

/* Returns 1 if a disk has a request now, 0 if none has, -1 if that is not known. */
int pf_health_query_disks(const struct pf_health *h);

#endif
