/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * The state of a modelled device, which the files of the simulation share.
 *
 * sim.c has the queue of completions and the interface of model.h, sim_disk.c
 * the heads and how requests are spread over disks, sim_flash.c the devices
 * without a position.
 */
#ifndef E2PF_BENCH_SIM_H
#define E2PF_BENCH_SIM_H

#include "model.h"

#define NSEC 1000000000ULL
#define MAX_PARTS 16384	/* outstanding */

/* The part of a request that one spindle serves. */
struct part {
	struct dm_req *req;
	uint64_t off;		/* on the spindle */
	uint64_t arrival;	/* at the host, then at the drive */
	uint32_t len;
};

/* The state of a head between two accesses. */
struct head_state {
	uint64_t done;		/* when the host had the data */
	uint64_t head;		/* byte after the last one asked for */
	uint64_t since;		/* when the head passed it */
	uint64_t buf_lo;	/* the drive holds from here to the head */
};

struct spindle {
	struct head_state at;	/* after the last access */
	struct head_state to;	/* after the one being served */
	uint64_t phase;		/* disks do not turn in step */
	uint64_t stream;	/* end of the last request sent here */
	uint64_t sweep;		/* position of the elevator */
	unsigned int batch;	/* requests since it last checked the oldest */
	bool busy;
	struct part cur;
	struct part queue[DM_MAX_DEPTH];	/* the drive's queue */
	unsigned int nr_queue;
	uint64_t served;	/* commands since the reset */
	struct part *host;	/* the host's queue, in order of arrival */
	unsigned int nr_host;
};

/* A rate limiter: the time from which it would admit commands if it had no
 * burst. */
struct limiter {
	uint64_t next;
};

struct dm_sim {
	struct dm_params p;
	uint64_t size;		/* bytes of the image */
	uint64_t capacity;	/* bytes of one spindle */
	uint64_t track;		/* bytes per turn */
	uint64_t turn;		/* ns per turn */
	uint64_t link_free;
	uint64_t quick;		/* reads left that take no time */
	struct limiter ops, bytes;
	unsigned int nr_parts;	/* the most that what is outstanding can have */
	uint64_t *channel;	/* when each becomes free */
	uint64_t *restored;	/* when each chunk of a snapshot has arrived; 0:
				   not asked for */
	uint64_t nr_restored;
	struct dm_req *ending;	/* known completions, in their order */
	struct spindle *spindle;
};

static inline uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How much later @a is than @b; 0 if it is not. */
static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline uint64_t span(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static inline uint64_t transfer(uint64_t len, uint64_t rate)
{
	return rate ? len * NSEC / rate : 0;
}

/* sim_disk.c */
/* The disk whose command ends first, or NULL. */
struct spindle *dm_disk_event(const struct dm_sim *sim);
/* That command ends.  Returns the request if it was the last part of one. */
struct dm_req *dm_disk_done(struct dm_sim *sim, struct spindle *s);
void dm_disk_park(struct dm_sim *sim);

/* Split a read into single commands for each spindle. */
void dm_issue(struct dm_sim *sim, struct dm_req *req, uint64_t now);
/* An upper bound for the parts of @req on one spindle at a time. */
unsigned int dm_max_parts(const struct dm_sim *sim, const struct dm_req *req);

/* sim_flash.c */
/* When a device without a position has served @req. */
uint64_t dm_positionless(struct dm_sim *sim, const struct dm_req *req,
			 uint64_t now);

#endif
