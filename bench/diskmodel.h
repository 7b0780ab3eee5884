/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Shared by the parts of the diskmodel program: counters, the device, and the
 * simulation without one.
 */
#ifndef E2PF_BENCH_DISKMODEL_H
#define E2PF_BENCH_DISKMODEL_H

#include <stdbool.h>
#include <stdio.h>

#include "model.h"

/* stats.c: counters of requests since the last reset. */
struct dm_stats {
	uint64_t requests[3];	/* by enum dm_op */
	uint64_t bytes[3];
	uint64_t errors;
	uint64_t bad_touches;	/* of bad sectors, by all requests, */
	uint64_t bad_touched;	/* and bad sectors touched at least once */
	uint64_t depth_time;	/* outstanding requests x ns */
	uint64_t busy;		/* ns with anything outstanding */
	uint64_t changed;	/* when `depth' last changed */
	unsigned int depth, max_depth;
	double cpu;		/* processor seconds used before the reset */
	FILE *trace;		/* NULL: none */
};

uint64_t dm_now(void);
void dm_stats_reset(struct dm_stats *st, uint64_t now);
void dm_stats_begin(struct dm_stats *st, uint64_t now);
void dm_stats_end(struct dm_stats *st, const struct dm_req *req, uint64_t now,
		  bool failed);
/* Format one JSON object on one line.  Returns the length, less than @size. */
#define DM_JSON_SIZE 1024
int dm_stats_json(struct dm_stats *st, uint64_t now, char *buf, size_t size);
/* Text lines: start (ns), offset, length, r/w/f, latency (ns). */
int dm_trace_open(struct dm_stats *st, const char *path);

/* serve.c */
struct dm_range {
	uint64_t off, len;
	uint64_t delay;		/* ns, before it fails, */
	bool readable;		/* or is read all the same */
	bool stops;		/* and nothing that comes later before it */
	bool touched;		/* since the last reset */
};

struct dm_serve {
	struct dm_params params;
	const char *image;
	const char *mountpoint;
	struct dm_range bad[64];	/* bad sectors */
	unsigned int nr_bad;
	uint64_t compensate;	/* ns that the path to the host takes by
				   itself */
	int ready_fd;		/* a byte is written here once mounted; -1:
				   none */
	bool read_only;
};

/* Serve until a signal or unmount.  Returns the exit status. */
int dm_serve(struct dm_serve *serve);

/*
 * simulate.c: serve the reads on standard input, `NS OFFSET LENGTH' per line, on the
 * simulation's own clock and a device of @size bytes: each at its time, or with
 * @depth in flight if that is not 0.  Prints the number of each and when it ended,
 * then how many commands each disk has served.  Returns the exit status.
 */
int dm_simulate(const struct dm_params *p, uint64_t size, size_t depth);

#endif
