/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of the diskmodel program: counters, faults, and the
 * simulation without a device.
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
	uint64_t latency;	/* sum, ns */
	uint64_t depth_time;	/* outstanding requests x ns */
	uint64_t busy;		/* ns with anything outstanding */
	uint64_t changed;	/* when `depth' last changed */
	uint64_t start;		/* time of the reset */
	unsigned int depth, max_depth;
	uint64_t late;		/* sum of ns replies were behind the model */
	uint64_t max_late;
	double cpu;		/* processor seconds used before the reset */
	FILE *trace;		/* NULL: none */
};

uint64_t dm_now(void);
void dm_stats_reset(struct dm_stats *st, uint64_t now);
void dm_stats_begin(struct dm_stats *st, uint64_t now);
/* @due is when the model wanted the reply, @error 0 or an errno. */
void dm_stats_end(struct dm_stats *st, const struct dm_req *req, uint64_t due,
		  uint64_t now, int error);
/* Format one JSON object on one line.  Returns the length, less than @size. */
#define DM_JSON_SIZE 1024
int dm_stats_json(struct dm_stats *st, const char *name, uint64_t now,
		  char *buf, size_t size);
/* Text lines: start (ns), offset, length, r/w/f, latency (ns). */
int dm_trace_open(struct dm_stats *st, const char *path);

/* faults.c: requests that fail or are slow. */
struct dm_fault {
	enum { DM_FAULT_EIO, DM_FAULT_SLOW, DM_FAULT_AFTER } kind;
	uint64_t off, len;	/* AFTER: off is a number of requests */
	uint64_t delay;		/* ns added to a request that hits it */
};

struct dm_faults {
	struct dm_fault list[64];
	unsigned int nr;
	uint64_t seen;		/* requests so far */
};

/*
 * Add a fault described as eio:OFF+LEN[:DELAY], slow:OFF+LEN:DELAY or
 * eio-after:N.  Returns 0, or -1 if it cannot be parsed.
 */
int dm_fault_add(struct dm_faults *f, const char *text);
/* What happens to the next request: returns an errno or 0, and sets a delay in
 * ns. */
int dm_fault_check(struct dm_faults *f, const struct dm_req *req,
		   uint64_t *delay);

/* serve.c */
struct dm_serve {
	struct dm_params params;
	const char *image;
	const char *mountpoint;
	const char *trace;	/* or NULL */
	const char *json;	/* counters at the end; NULL: standard error */
	struct dm_faults faults;
	uint64_t compensate;	/* ns that the path to the host takes by
				   itself */
	uint64_t spin;		/* ns before a reply during which not to sleep;
				   DM_NEVER: as the machine's timers require */
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
