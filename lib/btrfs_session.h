/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session on a btrfs filesystem that a check has open: its devices, its
 * source of work and its engine, put together.
 */
#ifndef E2PF_BTRFS_SESSION_H
#define E2PF_BTRFS_SESSION_H

#include <stdio.h>

#include "decisions.h"
#include "e2prefetch.h"
#include "engine/engine.h"

struct e2pf_btrfs_session;

/* A device as the check has it open. */
struct e2pf_btrfs_opened {
	int fd;			/* the check's own, only looked at */
	int index;		/* out: of the device, -1 where it is none of
				   the filesystem's */
};

/*
 * Open a session for the filesystem on these devices, on descriptors of its
 * own; descriptors for one device share an index.  `settings` may be NULL.
 * Starts nothing.  NULL, and in *why the reason in words, when it must stand
 * aside.
 */
struct e2pf_btrfs_session *e2pf_btrfs_session_open(
		struct e2pf_btrfs_opened *opened, unsigned count,
		const struct e2pf_settings *settings, const char **why);

/* Does this byte of a device lie in a chunk of the chunk tree? */
bool e2pf_btrfs_session_in_system(const struct e2pf_btrfs_session *session,
				  unsigned device, uint64_t offset);

/* Choose threads, order and budget by what the devices are, and start. */
void e2pf_btrfs_session_start(struct e2pf_btrfs_session *session);

/* For the reports of the check's reads; also before the start. */
struct e2pf_engine *e2pf_btrfs_session_engine(
		struct e2pf_btrfs_session *session);

/*
 * The check asks for read-ahead of its own.  True where nobody need ask the
 * device for what is read ahead: it is in memory, or the check is going to wait
 * for a worker that brings it.  Of a copy that the check does not read, the place is changed to
 * the one that it does.  After the start.
 */
bool e2pf_btrfs_session_brings(struct e2pf_btrfs_session *session,
			       unsigned *device, uint64_t *offset,
			       uint64_t length);

/*
 * End all threads, wait for what they have asked the devices for, and let go
 * of the devices, keeping the statistics; at most `milliseconds`.  False when
 * a thread that waits for a device is left behind: then the session must not
 * be closed.
 */
bool e2pf_btrfs_session_end(struct e2pf_btrfs_session *session,
			    int milliseconds);

void e2pf_btrfs_session_close(struct e2pf_btrfs_session *session);

/* Add what the session has decided. */
void e2pf_btrfs_session_describe(struct e2pf_btrfs_session *session,
				 struct e2pf_decisions *list);

/* Add what the run has come to (summary.h), if anything was read ahead. */
void e2pf_btrfs_session_summarize(struct e2pf_btrfs_session *session,
				  struct e2pf_decisions *list);

/* Write the statistics of a session; of NULL, those of a check that was left
 * alone.  `name` is the device as the user named it, `decisions` are written
 * before the session's own.  0 or an errno. */
int e2pf_btrfs_write_stats(struct e2pf_btrfs_session *session,
			   const char *name,
			   const struct e2pf_decisions *decisions, FILE *out);

#endif
