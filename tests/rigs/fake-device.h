/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A simulated device and clock.  The test drives both: a readahead
 * completes at once or when the test says so, a call blocks while the test
 * holds it, and the clock stands still until it is moved.
 */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include <pthread.h>

#include "prefetch/device.h"

#define FAKE_EVENTS 65536

enum fake_op { FAKE_WILLNEED, FAKE_READ, FAKE_OPS };

struct fake_event {
	enum fake_op op;
	uint64_t block;
	uint64_t count;
	int worker;		/* fake_worker() of the caller */
};

struct fake_device {
	struct pf_device dev;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	const unsigned char *image;	/* NULL: reads leave the buffer alone */
	uint32_t block_size;
	uint64_t blocks;
	uint64_t clock;		/* ns */
	/* Per block. */
	unsigned char *resident, *in_flight, *in_part, *bad;
	unsigned *asked;	/* times a worker requested it while missing */
	/* Set by the test. */
	/* Called after each reading of the clock, by its caller. */
	void (*on_now)(struct fake_device *f);
	bool strict;		/* abort on a call outside the device */
	bool late;		/* a willneed stays in flight */
	bool fails_at_once;	/* arrives() learns of bad blocks */
	bool held[FAKE_OPS];	/* calls of workers block */
	int held_worker;		/* only this worker is held; -1: all */
	uint64_t tick;		/* ns each read takes */
	uint64_t miss_ns;	/* and if it reads unrequested blocks */
	uint64_t ask_ns;	/* ns each willneed that reads takes, */
	uint64_t burst;		/* but for so many, which pass at once */
	uint64_t ask_block_ns;	/* and for each block it reads */
	/* Recorded by the device. */
	unsigned blocked[FAKE_OPS];
	uint64_t missing_asked;	/* blocks of willneed that were missing */
	uint64_t requests;	/* calls of willneed */
	uint64_t reads;		/* calls of read */
	uint64_t missing_read;	/* blocks read without being requested */
	uint64_t bad_read;	/* reads of workers that met a bad block */
	/* Requests that reached the device, by whomever, and their blocks; and how
	 * often it had to go back, by more than a sixteenth of it: the first one
	 * counts. */
	uint64_t reached, reached_blocks, sweeps, last;
	struct fake_event *event;	/* or NULL: not recorded */
	size_t events;
};

/* `image` has `size` bytes and must outlive the device. */
void fake_new(struct fake_device *f, const void *image, uint64_t size,
	      uint32_t block_size);
/* The same without a record of its calls, which may be many. */
void fake_new_unrecorded(struct fake_device *f, const void *image,
			 uint64_t size, uint32_t block_size);
void fake_free(struct fake_device *f);

void fake_set_resident(struct fake_device *f, uint64_t block, uint64_t count,
		       bool resident);
void fake_set_bad(struct fake_device *f, uint64_t block, uint64_t count);
/* Their pages are in the cache, written in part. */
void fake_set_in_part(struct fake_device *f, uint64_t block, uint64_t count);
/* From now on arrives() is known. */
void fake_tell(struct fake_device *f);
/* Everything in flight arrives. */
void fake_complete(struct fake_device *f);
void fake_set_late(struct fake_device *f, bool late);
void fake_hold(struct fake_device *f, enum fake_op op, bool hold);
/* Hold only this worker and let the others proceed. */
void fake_hold_only(struct fake_device *f, int worker);
void fake_advance(struct fake_device *f, uint64_t ns);
uint64_t fake_missing_asked(struct fake_device *f);
unsigned fake_asked(struct fake_device *f, uint64_t block);
unsigned fake_blocked(struct fake_device *f, enum fake_op op);

#endif
