/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* The options of the engine: how it reads, from a start to the next stop. */
#ifndef PF_OPTIONS_H
#define PF_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The kernel's counters of the disks below the devices: since some time,
 * nanoseconds in which one was busy, added up; and requests they have now. */
struct pf_disk_counters {
	uint64_t busy_ns, in_flight;
};

/* The source gets them with the budget and `seeks` as they are known by then. */
struct pf_options {
	unsigned threads;	/* workers, if the device does not seek */
	unsigned seek_threads;	/* if it seeks: sweeps it can serve at once */
	bool seeks;		/* read in device order, and let the checker
				   wait at the gate */
	bool measure;		/* seeks is a guess: measure it */
	bool has_checker;	/* it uses what is read ahead; if there is none,
				   the budget is a total */
	bool sampled;		/* without a checker: nothing is read if all
				   samples are cached */
	uint64_t budget;	/* bytes ahead of the checker, at most */
	/* Each may be NULL. */
	void *ctx;
	/* Asked from time to time: bytes that may be ahead by the memory that is
	 * left now.  If `budget` is less, that counts. */
	uint64_t (*limit)(void *ctx);
	/* False if they cannot be counted.  Called by any thread, with and without
	 * the lock. */
	bool (*count_disks)(void *ctx, struct pf_disk_counters *disks);
	/* Called before the first of the workers starts, by the thread that
	 * starts them. */
	void (*before_threads)(void);
	bool drain;		/* workers wait for their requests before they
				   end: a page that is being read cannot be
				   dropped from the page cache */
};

#endif
