/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A device as bench/model.h describes it, on the clock of sim-threads.h, under
 * a page cache that evicts what came first.  The kernel's own readahead is left
 * out: what is counted is what the engine and the checker ask for.
 */
#ifndef SIM_DEVICE_H
#define SIM_DEVICE_H

#include "device/device.h"
#include "model.h"
#include "sim-threads.h"

#define SIM_PAGE 4096u

struct sim_device {
	struct e2pf_device dev;
	struct sim_events events;	/* for sim_run() */
	/* What the device was asked for. */
	uint64_t requests;
	uint64_t bytes;
	/* How often it had to go back: requests that begin before the previous
	 * one did, by more than a sixteenth of the device; and the first one.
	 * Two workers that are near each other are one sweep. */
	uint64_t sweeps;
	/* Private. */
	const unsigned char *image;
	struct dm_params params;
	struct dm_sim *sim;
	char *page;		/* the state of each */
	uint64_t *arrived;	/* the pages that are cached, a ring */
	uint64_t room, arrivals;
	uint64_t last;		/* offset of the last request */
	unsigned in_flight;
};

/* `image` has `size` bytes, and outlives the device; at most `cache` of them are
 * cached.  Aborts without memory. */
void sim_device_new(struct sim_device *d, const struct dm_params *params,
		    const void *image, uint64_t size, uint64_t cache);
void sim_device_free(struct sim_device *d);

#endif
