/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The device's health: how fast it is, whether it is stalled or degraded, and when to give
 * up: doc/architecture.md, "A device that fails".
 */
#ifndef PREFETCH_HEALTH_H
#define PREFETCH_HEALTH_H

#include <stdatomic.h>

#include "engine.h"

/* A device that takes this long for a request is stalled, whatever else was in
 * flight. */
#define PF_STALLED_NS 1000000000u

struct pf_health {
	const struct pf_options *options;
	struct pf_device *dev;		/* the first one, whose clock is used */
	/* Any thread reads these without the lock. */
	atomic_uint stalled;		/* the device is left to the checker for
					   this many more quick reads; 0: it is
					   not stalled */
	atomic_uint degraded;		/* reads that failed or took PF_STALLED_NS;
					   0: the device is not degraded */
	atomic_uint failed_offsets;	/* where a read has failed */
	/* The disks' counter as it was last sampled, and when; 0: never. */
	atomic_uint_fast64_t sampled_at, busy_ns;
	/* Written while there are no workers: as measured, or seek_bound as
	 * configured. */
	struct pf_speed speed;

	/* These need the lock. */
	const char *unmeasured;		/* why it is not known; NULL: it is, or
					   was not asked for */
	uint64_t degraded_at;		/* offset of the first degraded read, */
	uint64_t failed_at;		/* and of the last one that failed */
	uint64_t errors;		/* reads of ours that failed */
};

void pf_health_init(struct pf_health *h,
		    const struct pf_options *options,
		    struct pf_device *dev);

/* These need the lock. */

/* Reading begins, with a device of the kind that the configuration names unless it was
 * measured before. */
void pf_health_start(struct pf_health *h);

/* It was measured in `ns`, or why not. */
void pf_health_set_speed(struct pf_health *h, const char *unmeasured,
			 const struct pf_speed *speed, uint64_t ns);

/* A read of ours at this offset took `ns`, or has not ended after that, and failed with
 * `error`, an errno or 0. */
unsigned pf_health_judge_own_read(struct pf_health *h, uint64_t offset,
				int error, uint64_t ns);

/* A read of the checker stalled, and took `ns` of the device's time; or it has failed. */
unsigned pf_health_judge_checker_read(struct pf_health *h,
				      const struct pf_read *read, uint64_t ns);
unsigned pf_health_judge_failed_read(struct pf_health *h, uint64_t offset);

/* These do not. */

/* Is the device to be measured, because its kind is a guess? */
bool pf_health_needs_speed(const struct pf_health *h);

/* Are few requests to be in flight, because they may fail?  Also then the checker's own
 * readahead is needed. */
bool pf_health_limits_requests(const struct pf_health *h);

/* Sample the disks' counters, unless that was done a moment ago. */
void pf_health_sample_disks(struct pf_health *h);

/* 1 if a disk reads something now, 0 if none does, -1 if that is not known. */
int pf_health_query_disks(const struct pf_health *h);

#endif
