/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The one model of how long reading takes: bytes and requests, each at the pace
 * of the device.  A forecast takes the pace from the measured speed; a running check
 * corrects it by what it has read so far (progress.h).
 */
#ifndef E2PF_ESTIMATE_H
#define E2PF_ESTIMATE_H

#include "device/speed.h"
#include "engine/engine.h"
#include "report.h"

/* The time that something is likely to take, in seconds. */
struct e2pf_estimate {
	double expected, low, high;
};

/* What is to be read. */
struct e2pf_work {
	double bytes, requests;
};

/* Seconds for each of them. */
struct e2pf_pace {
	double byte, request;
};

/* The pace of reads that are requested ahead, many at a time and sorted, on a
 * device with `heads` heads.  If it was not measured, a usual one. */
struct e2pf_pace e2pf_pace_ahead(const struct e2pf_speed *speed, unsigned heads);

/* What is read, by class. */
struct e2pf_reading {
	const struct e2pf_class_count *count;
	/* For each class the bytes that the kernel reads ahead of a check that reads
	 * it alone; 0: a check does not read it. */
	const uint32_t *windows;
	unsigned classes;
	uint32_t block_size;		/* bytes */
};

/* How long a check takes that reads this on a device with `heads` heads and computes
 * for `cpu` seconds: the stock one, and one that prefetches.  0 if the device was too
 * busy. */
void e2pf_estimate_check(const struct e2pf_reading *reading,
			 const struct e2pf_speed *speed, unsigned heads,
			 double cpu, struct e2pf_estimate *stock,
			 struct e2pf_estimate *prefetch);

/*
 * How long a check that took `took` seconds would have taken without
 * prefetching: what was read ahead for it would have been waited for, and what
 * it has waited for that all the same would not.  0 if the device was not
 * measured or too busy, or is so fast that the processor decides.
 */
struct e2pf_estimate e2pf_estimate_without(const struct e2pf_report *r, double took);

#endif
