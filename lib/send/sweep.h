/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Reads a list of leaves and file data of a mounted btrfs in device order, by several
 * threads with one request in flight each.
 */
#ifndef E2PF_SEND_SWEEP_H
#define E2PF_SEND_SWEEP_H

#include <pthread.h>
#include <stdatomic.h>

#include "items.h"
#include "mounted.h"
#include "session.h"

/* Bytes of an extent that are read ahead.  After these, the kernel's own readahead
 * is at full speed. */
#define E2PF_AHEAD_MOST (UINT64_C(1) << 20)

struct e2pf_sweep {
	const struct e2pf_mounted *fs;
	unsigned threads;		/* 1 to E2PF_MAX_THREADS */
	struct e2pf_jobs jobs;
	/* Called with the items of leaves whose job says so, on any of the threads. */
	e2pf_btrfs_item_sink accept;
	void *ctx;
	pthread_mutex_t lock;		/* protects `next`, and what accept() changes */
	size_t next;			/* of the jobs, an index */
	_Atomic(bool) stop;		/* begin no other request */
	_Atomic(uint64_t) bytes, requests, errors;
};

/* Add the filesystem's devices, which are open, to the session, and choose memory and
 * threads. */
void e2pf_sweep_choose(struct e2pf_sweep *sweep, struct e2pf_session *session);

/* Do all jobs, in device order, with all threads; this thread is one of them. */
void e2pf_sweep(struct e2pf_sweep *sweep);

/* Do one job.  Returns whether something was read from a device, as far as the kernel
 * counts that. */
bool e2pf_sweep_job(struct e2pf_sweep *sweep, struct e2pf_job *job);

#endif
