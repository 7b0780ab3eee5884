/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Pacing: what the device can take.  Which gaps are worth reading through; whether the
 * device is stuck or suspect, how few requests it may then have in flight, and when to give
 * up: doc/architecture.md, "A device that fails".
 */
#ifndef E2PF_PACING_H
#define E2PF_PACING_H

#include <stdatomic.h>

#include "engine.h"
#include "schedule.h"

/* A device that takes this long for a request is stuck, whatever else was in
 * flight. */
#define E2PF_STUCK_NS 1000000000u

struct e2pf_pacing {
	const struct e2pf_engine_config *cfg;
	struct e2pf_device *dev;	/* the first one, whose clock is used */
	/* Any thread reads these without the lock. */
	atomic_uint stuck;		/* the device is left to the checker for
					   this many more quick reads; 0: it is
					   not stuck */
	atomic_uint suspects;		/* reads that failed or took E2PF_STUCK_NS;
					   0: the device is not suspect */
	atomic_uint failed_places;	/* at which a read has failed */
	/* The disks as they were last looked at, and when; 0: never. */
	atomic_uint_fast64_t looked_at, busy_ns;
	/* Written while there are no workers: as measured, or seeks as
	 * configured. */
	struct e2pf_speed speed;

	/* These need the lock. */
	const char *unmeasured;		/* why it is not known; NULL: it is, or
					   was not asked for */
	uint64_t suspect_at;		/* offset of the first suspect read, */
	uint64_t failed_at;		/* and of the last one that failed */
	uint64_t errors;		/* reads of ours that failed */
};

void e2pf_pacing_init(struct e2pf_pacing *p,
		      const struct e2pf_engine_config *cfg,
		      struct e2pf_device *dev);

/* These need the lock. */

/* Reading begins, with a device of the kind that the configuration names unless it was
 * measured before. */
void e2pf_pacing_start(struct e2pf_pacing *p);

/* It was measured in `ns`, or why not. */
void e2pf_pacing_measured(struct e2pf_pacing *p, const char *unmeasured,
			  const struct e2pf_speed *speed, uint64_t ns);

/* A read of ours at this place took `ns`, or has not ended after that, and failed with
 * `error`, an errno or 0. */
unsigned e2pf_pacing_judge_ours(struct e2pf_pacing *p, uint64_t offset,
				int error, uint64_t ns);

/* A read of the checker stalled, and took `ns` of the device's time; or it has failed. */
unsigned e2pf_pacing_judge_checker(struct e2pf_pacing *p,
				   const struct e2pf_read *read, uint64_t ns);
unsigned e2pf_pacing_read_failed(struct e2pf_pacing *p, uint64_t offset);

/* These do not. */

/* Is the device to be measured, because its kind is a guess? */
bool e2pf_pacing_wants_speed(const struct e2pf_pacing *p);

/* Are few requests to be in flight, because they may fail?  Also then the checker's own
 * readahead is needed. */
bool e2pf_pacing_is_careful(const struct e2pf_pacing *p);

/* Look at the disks' counters, unless that was done a moment ago. */
void e2pf_pacing_count_disks(struct e2pf_pacing *p);

/* 1 if a disk reads something now, 0 if none does, -1 if that is not known. */
int e2pf_pacing_disks_read(const struct e2pf_pacing *p);

/* The largest gap to read through, bytes, while requests have `mean` bytes. */
uint64_t e2pf_gap(const struct e2pf_pacing *p, uint64_t mean);

#endif
