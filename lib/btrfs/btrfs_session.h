/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session on a btrfs filesystem that a check has open.  Everything else goes
 * through session.h, with the same session.
 */
#ifndef E2PF_BTRFS_SESSION_H
#define E2PF_BTRFS_SESSION_H

#include "session.h"

/* A device as the check has opened it. */
struct e2pf_btrfs_opened {
	int fd;			/* the check's own; only examined */
	int index;		/* out: the device's index, -1 if it is not a
				   device of the filesystem */
};

/*
 * Open a session for the filesystem on these devices, through descriptors of
 * its own.  Descriptors of the same device get the same index.  `name` is for
 * the statistics; `settings` may be NULL.  Starts nothing.  If the filesystem
 * cannot be prefetched, returns NULL and sets *why to the reason in words.
 */
struct e2pf_session *e2pf_btrfs_open(struct e2pf_btrfs_opened *opened,
				     unsigned count, const char *name,
				     const struct e2pf_settings *settings,
				     bool exact, const char **why);

/* True if this byte of a device lies in a chunk of the chunk tree. */
bool e2pf_btrfs_session_in_system(const struct e2pf_session *session,
				  unsigned device, uint64_t offset);

/* Choose threads, order and budget from the devices' topology, and start. */
void e2pf_btrfs_start(struct e2pf_session *session);

/*
 * The check requests readahead.  Returns true if that request may be dropped:
 * the block is cached, or the check is going to wait for a worker that reads
 * it.  If the check asks for one copy of a block but will read another, *device
 * and *offset are changed to the copy that it will read.  Call it after the
 * start.
 */
bool e2pf_btrfs_serves(struct e2pf_session *session, unsigned *device,
		       uint64_t *offset, uint64_t length);

/*
 * Like e2pf_session_end(), but then also wait for requests in flight and close
 * the devices.
 */
bool e2pf_btrfs_end(struct e2pf_session *session, int milliseconds);

/* Write the statistics of a check or a send that was left alone before it had a
 * session. */
errcode_t e2pf_btrfs_write_none(const char *name,
				const struct e2pf_decisions *decisions,
				FILE *out);

/* True if the page cache of what the check has read should be dropped. */
bool e2pf_btrfs_session_used_once(const struct e2pf_session *session);

#endif
