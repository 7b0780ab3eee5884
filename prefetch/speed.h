/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A device's speed: whether it is seek-bound (spindle.h), and what a request and a
 * byte cost.  Measured in the same way before a check and by `e2prefetch probe`.
 */
#ifndef PREFETCH_SPEED_H
#define PREFETCH_SPEED_H

#include <stdbool.h>
#include <stdint.h>

#include "device.h"

/* Reads that are made one at a time, and then reads that are in flight together. */
#define PF_SPEED_READS_QD1 3u
#define PF_SPEED_READS_QD8 8u
#define PF_SPEED_READS (PF_SPEED_READS_QD1 + PF_SPEED_READS_QD8)

/* Bytes of each read.  A sample must be at least twice as long. */
#define PF_SPEED_BYTES 4096u

/* All zero: not measured. */
struct pf_speed {
	bool seek_bound;	/* a read at queue depth 1 takes milliseconds, and a
				   deep queue does not make it cheap */
	uint64_t latency_ns;	/* of a small read far from the last */
	uint64_t min_latency_ns; /* of the fastest of these reads; others may have
				   waited for the processor, too */
	uint64_t latency_qd8_ns;	/* of each of eight reads in flight together */
	uint64_t request_ns;	/* cost of one more request while others are in
				   flight, without the latency of the first */
	uint64_t byte_ps;	/* picoseconds; 0: not measured */
};

/* Ranges with metadata, in which the device is measured. */
struct pf_speed_samples {
	uint64_t bytes;		/* of the filesystem on this device */
	uint64_t count;		/* of samples, in the order of the device */
	/* Start and length of a sample in bytes; a length of 0: none.  They may
	 * be anything: what lies beyond the device is not read. */
	uint64_t (*at)(void *ctx, uint64_t index, uint64_t *offset);
	/* Returns true if these bytes may be read.  NULL: any may. */
	bool (*may_read)(void *ctx, uint64_t offset, uint64_t length);
	void *ctx;
};

/*
 * Measure the device by reads in samples that are not cached and far from each other.
 * `with_bytes`: measure the cost of a byte, too, if a sample is long enough.
 *
 * Returns NULL; or, with *speed unchanged, why nothing could be measured: a text that
 * follows the device's name.  The measurement ends after a read at queue depth 1 that
 * takes half a second.
 */
const char *pf_speed_measure(struct pf_device *dev,
			     const struct pf_speed_samples *samples,
			     bool with_bytes, struct pf_speed *speed);

#endif
