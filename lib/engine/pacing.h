/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Pacing: what the device can take.  Whether it is stuck, what it was measured to be, what a request costs, and which gaps are
 * therefore worth reading through.
 */
#ifndef E2PF_PACING_H
#define E2PF_PACING_H

#include <stdatomic.h>

#include "device/speed.h"
#include "requests.h"

struct e2pf_engine;
struct e2pf_read;

/* A device that takes this long for a request is stuck, whatever else was in
 * flight. */
#define E2PF_STUCK_NS 1000000000u

/* Written by pacing.c alone. */
struct e2pf_pacing {
	/* Any thread reads it without the lock: the device is left to the checker
	 * for this many more quick reads; 0: it is not stuck. */
	atomic_uint stuck;
	/* The device may be failing, a read of ours or of the checker has failed or
	 * taken E2PF_STUCK_NS: only what the check reads is requested; and little of
	 * it at a time, if one has failed, or holds up the others. */
	atomic_bool suspect, careful;
	atomic_uint failures;		/* places at which a read has failed */
	/* The disks as they were last looked at, and when; 0: never. */
	atomic_uint_fast64_t looked_at, busy_ns;

	/* These need the lock. */
	struct e2pf_speed speed;	/* as measured, or has_head as
					   configured */
	const char *unmeasured;		/* why it is not known; NULL: it is, or
					   was not asked for */
	unsigned signs;			/* reads that failed or took so long, */
	uint64_t suspect_at;		/* and the place of the first, bytes; */
	uint64_t failed_at;		/* of the last one that failed */
};

/* These need the engine's lock. */

/* Reading begins, with a device of the kind that the configuration names unless it was
 * measured before. */
void e2pf_pacing_start(struct e2pf_engine *e);

/* If the kind of the device is a guess, measure it.  Releases the lock while it
 * reads. */
void e2pf_pacing_measure(struct e2pf_engine *e);

/* A read of ours at this place took `ns`, or has not ended after that, and failed with
 * `error`, an errno or 0: whether the device is failing, and whether it is stuck and left
 * to the checker. */
void e2pf_pacing_judge_ours(struct e2pf_engine *e, uint64_t offset, int error,
			    uint64_t ns);

/* A read of the checker took `ns` of the device's time: the same, or whether it no
 * longer is stuck. */
void e2pf_pacing_judge_checker(struct e2pf_engine *e,
			       const struct e2pf_read *read, uint64_t ns);

/* A read of the checker has failed: leave the device to it. */
void e2pf_pacing_read_failed(struct e2pf_engine *e, uint64_t offset);

void e2pf_pacing_stats(const struct e2pf_engine *e,
		       struct e2pf_engine_stats *stats);

/* These do not. */

/* Look at the disks' counters, unless that was done a moment ago. */
void e2pf_pacing_count_disks(struct e2pf_engine *e);

/* 1 if a disk reads something now, 0 if none does, -1 if that is not known. */
int e2pf_pacing_disks_read(const struct e2pf_engine *e);

/* The largest gap to read through, bytes, while requests have `mean` bytes. */
uint64_t e2pf_gap(const struct e2pf_engine *e, uint64_t mean);

#endif
