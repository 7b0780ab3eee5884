/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Reads a list of leaves and file data of a mounted btrfs in device order, by several
 * threads with one request in flight each.
 */
#ifndef BTRFS_SWEEP_H
#define BTRFS_SWEEP_H

#include <pthread.h>
#include <stdatomic.h>

#include "send_items.h"
#include "send_mounted.h"
#include "prefetch/session.h"

/* Bytes of an extent that are read ahead.  After these, the kernel's own readahead
 * is at full speed. */
#define BT_MAX_AHEAD (UINT64_C(1) << 20)

struct bt_sweep {
	const struct bt_mounted *fs;
	_Atomic(unsigned) threads;	/* 1 to PF_MAX_THREADS */
	struct bt_jobs jobs;
	/* Called with the items of leaves whose job says so, on any of the threads. */
	bt_item_sink accept;
	void *ctx;
	pthread_mutex_t lock;		/* protects `next`, and what accept() changes */
	size_t next;			/* of the jobs, an index */
	_Atomic(bool) stop;		/* begin no other request */
	_Atomic(uint64_t) bytes, requests, errors;
};

/* `sweep` is zeros.  The filesystem may be opened later; accept() is given `ctx`. */
void bt_sweep_init(struct bt_sweep *sweep, const struct bt_mounted *fs,
		   bt_item_sink accept, void *ctx);

/* Free the jobs, after the last thread has ended. */
void bt_sweep_free(struct bt_sweep *sweep);

/* Add the filesystem's devices, which are open, to the session, and choose memory and
 * threads. */
void bt_sweep_choose(struct bt_sweep *sweep, struct pf_session *session);

/* Do all jobs, in device order, with all threads; this thread is one of them. */
void bt_sweep(struct bt_sweep *sweep);

/* Do one job.  Returns whether something was read from a device, as far as the kernel
 * counts that. */
bool bt_sweep_job(struct bt_sweep *sweep, struct bt_job *job);

#endif
