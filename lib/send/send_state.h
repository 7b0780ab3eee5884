/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/* What send.c, which decides what is read, and send_work.c, whose threads read
 * it, have in common. */
#ifndef E2PF_SEND_STATE_H
#define E2PF_SEND_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "device/rate.h"
#include "items.h"
#include "mounted.h"
#include "send.h"

#define TREES_MOST 16u

/* Bytes read ahead of an extent.  After these, the kernel's own readahead, of
 * 4 MiB, is at full speed. */
#define PIECE_MOST (UINT64_C(1) << 20)

/* The keys that are wanted in one tree. */
struct wanted {
	uint64_t tree;
	struct e2pf_ranges ranges;
};

/* For the decisions, the sums over all sends so far. */
struct sum {
	uint64_t sends;			/* with readahead */
	uint64_t changed;		/* leaves */
	uint64_t leaves, pieces;	/* that were to be read, of data */
	uint64_t resident;		/* changed leaves left out because
					   samples were cached */
	bool early;			/* a send ended before everything was
					   read */
};

struct send {
	struct e2pf_session base;	/* base.last: sums over all sends */
	struct e2pf_mounted fs;
	struct e2pf_slot_set asked;	/* tree blocks that were planned */
	struct e2pf_slot_set named;	/* leaves whose address records name */
	_Atomic(size_t) unfound;	/* of these, named in this part */
	/* The request. */
	uint64_t tree, parent;
	bool no_data, as_stored;
	struct e2pf_btrfs_ptr root, parent_root;

	/* The part that is being read; `jobs' is what a sweep reads. */
	struct e2pf_jobs jobs, data;
	struct wanted wanted[TREES_MOST];
	struct e2pf_ranges files;	/* in the changed leaves */
	struct e2pf_ranges records;	/* of the extent tree */
	uint64_t stream;		/* bytes that the send has written, at
					   least, when it has come to the end of
					   the window */
	/* The end of the window before: the same, and the bytes requested until
	 * then; and until the end of the one before that. */
	uint64_t part_stream, part_bytes, bytes_before;

	pthread_mutex_t lock;		/* protects `data', `wanted', `rate' and
					   `next' while workers run, and all
					   members below */
	pthread_cond_t changed;
	size_t next;			/* of the jobs, an index */
	struct e2pf_rate rate;
	bool running, gone;
	pthread_t conductor;

	_Atomic(bool) stop, waiting;
	_Atomic(uint64_t) came_out;	/* bytes that the send has written */
	_Atomic(uint64_t) inline_bytes;	/* of files in the leaves of this part */
	_Atomic(uint64_t) bytes, requests, errors;	/* of this send */
	uint64_t began;			/* ns */
	struct sum sum;
};

static inline uint64_t send_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint32_t send_nodesize(const struct send *s)
{
	return s->fs.map.super.nodesize;
}

/* Wait until the limits allow a request of `bytes` bytes.  Returns false if the
 * send has ended. */
bool send_within_limits(struct send *s, uint64_t bytes);
/* Whether the planned changed leaves and all that belongs to them seem to be
 * cached.  Reads a few of them to find out. */
bool send_is_cached(struct send *s);
/* Do all jobs of s->jobs with all workers, one of which is this thread, and wait
 * for them. */
void send_sweep(struct send *s);

#endif
