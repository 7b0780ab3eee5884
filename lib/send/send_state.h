/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of a send share.
 *
 *	send.c		when it begins and ends, part by part, and how far
 *			ahead it may be
 *	send_plan.c	which leaves and data are read
 *	send_work.c	the threads that read them, within the limits
 */
#ifndef E2PF_SEND_STATE_H
#define E2PF_SEND_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "btrfs/slots.h"
#include "device/rate.h"
#include "jobs.h"
#include "mounted.h"
#include "send.h"
#include "tree_walk.h"

#define CLONES_MOST 64u
#define TREES_MOST 16u

/* Keys that are wanted of a tree. */
struct wanted {
	uint64_t tree;
	struct e2pf_btrfs_ranges ranges;
};

struct part {
	uint64_t bytes;			/* asked for, to the end of it */
	uint64_t stream;		/* the send has written, at least, when
					   it has come so far */
};

/* Of all sends so far. */
struct sum {
	uint64_t sends;			/* that were read ahead of */
	uint64_t changed;		/* leaves */
	uint64_t leaves;		/* of all trees, to be searched for */
	uint64_t pieces;		/* of data, to be read */
	uint64_t resident;		/* of these, left out: samples were
					   cached */
	uint64_t planned, bytes;	/* to be had; asked for */
	uint64_t unread;		/* nodes that were not what they should
					   be */
	uint64_t peak;			/* bytes ahead of a send */
	uint64_t ns;
	bool early;			/* a send ended before all was read */
};

struct send {
	struct e2pf_session base;
	struct e2pf_mounted *fs;
	struct e2pf_slots asked;	/* tree blocks */
	/* The request. */
	uint64_t tree, parent;
	uint64_t clone[CLONES_MOST];
	size_t clones;
	bool no_data, as_stored;
	struct e2pf_btrfs_ptr root, parent_root;

	/* The part that is read. */
	struct e2pf_jobs jobs, data;
	struct wanted wanted[TREES_MOST];
	struct e2pf_btrfs_ranges records;	/* of the extent tree */
	struct part *part;
	size_t parts, part_room;
	uint64_t stream;		/* of the parts so far */
	_Atomic(size_t) next;		/* job */

	pthread_mutex_t lock;		/* `data', `wanted' and `rate' while
					   workers run, and what follows */
	pthread_cond_t changed;
	struct e2pf_rate rate;
	bool running, gone;
	pthread_t conductor;

	_Atomic(bool) stop, waiting;
	_Atomic(uint64_t) came_out;	/* bytes */
	_Atomic(uint64_t) bytes;	/* asked for, of this send */
	_Atomic(uint64_t) requests, errors;
	uint64_t began;			/* ns */
	struct sum sum;
};

static inline uint64_t send_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* send_plan.c */
/* Plan the next changed leaves, and those of other trees with files that are
 * in them.  False when there are none. */
bool send_plan_leaves(struct send *s, struct e2pf_tree_walk *walk,
		      uint64_t newer, uint64_t older);
/* Plan the records of the data found: where they are used, and their
 * checksums. */
void send_plan_records(struct send *s);
/* Plan the folders, and the files that share an extent. */
void send_plan_wanted(struct send *s);
/* For a walk: one that the end of the send finds under way reads no more. */
bool send_read_node(void *send, const struct e2pf_btrfs_ptr *ptr, void *block);

/* send_work.c */
/* Wait until a request of so many bytes is within the limits.  False when the
 * send has ended. */
bool send_within_limits(struct send *s, uint64_t bytes);
/* Read what is planned, and wait for it. */
void send_sweep_leaves(struct send *s);
void send_sweep_data(struct send *s);

#endif
