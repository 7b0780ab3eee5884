/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading ahead of the kernel's send of a btrfs subvolume, from the mounted
 * filesystem: what is newer than the parent, and what is compared with it.
 *
 * From one thread at a time, but for e2pf_send_came_out().
 */
#ifndef E2PF_BTRFS_SEND_H
#define E2PF_BTRFS_SEND_H

#include <stdio.h>

#include "decisions.h"
#include "device/topology.h"
#include "e2prefetch.h"

struct e2pf_send;

/* What BTRFS_IOC_SEND is asked for. */
struct e2pf_send_request {
	int fd;				/* the subvolume */
	uint64_t parent;		/* its tree, 0 in a full send */
	const uint64_t *clones;		/* trees that may be cloned from */
	size_t clone_count;
	bool no_data;			/* contents of files are left out */
	bool as_stored;			/* compressed data are sent as they
					   are, past the page cache */
};

/* `settings` may be NULL.  NULL without memory. */
struct e2pf_send *e2pf_send_new(const struct e2pf_settings *settings);

/*
 * Begin to read ahead of a send that is about to begin.  NULL, or why this one
 * is left alone, in words that stay.
 */
const char *e2pf_send_start(struct e2pf_send *send,
			    const struct e2pf_send_request *request);

/* The send has written so many bytes more.  From any thread. */
void e2pf_send_came_out(struct e2pf_send *send, uint64_t bytes);

/* The send has ended: end the threads; at most `milliseconds`.  False when one
 * that waits for a device is left behind: then nothing may be freed. */
bool e2pf_send_stop(struct e2pf_send *send, int milliseconds);

/* After e2pf_send_stop() has returned true.  NULL is allowed. */
void e2pf_send_free(struct e2pf_send *send);

/* Of all sends so far. */
struct e2pf_send_figures {
	unsigned threads;		/* 0: nothing was begun */
	uint64_t budget;		/* bytes */
	unsigned sharing;		/* processes */
	struct e2pf_topology topo;	/* of the first device */
	uint32_t nodesize;		/* bytes */
	uint64_t sends;			/* that were read ahead of */
	uint64_t tree, parent;		/* of the last */
	uint64_t generation;		/* of that parent */
	uint64_t changed;		/* leaves */
	uint64_t leaves;		/* of all trees, to be searched for */
	uint64_t pieces;		/* of data, to be read */
	uint64_t resident;		/* of these, left out: samples were in
					   memory */
	uint64_t planned, bytes;	/* to be had; asked for */
	uint64_t requests, errors;
	uint64_t unread;		/* nodes that were not what they should
					   be */
	uint64_t peak;			/* bytes ahead of a send */
	uint64_t ns;
	bool early;			/* a send ended before all was read */
};

/* After e2pf_send_stop(), whatever it returned. */
void e2pf_send_get_figures(const struct e2pf_send *send,
			   struct e2pf_send_figures *figures);

/* Add what was decided. */
void e2pf_send_describe(const struct e2pf_send_figures *figures,
			bool threads_by_user, bool memory_by_user,
			struct e2pf_decisions *list);

/* Write the statistics of a send; `name` is the subvolume. 0 or an errno. */
int e2pf_send_write_stats(const struct e2pf_send_figures *figures,
			  const char *name,
			  const struct e2pf_decisions *decisions, FILE *out);

#endif
