/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session on a btrfs filesystem that a check has open.  What is not here
 * goes through session.h, with the same session.
 */
#ifndef E2PF_BTRFS_SESSION_H
#define E2PF_BTRFS_SESSION_H

#include "session.h"

/* A device as the check has it open. */
struct e2pf_btrfs_opened {
	int fd;			/* the check's own, only looked at */
	int index;		/* out: of the device, -1 where it is none of
				   the filesystem's */
};

/*
 * Open a session for the filesystem on these devices, on descriptors of its
 * own; descriptors for one device share an index.  `name` is for the
 * statistics; `settings` may be NULL.  Starts nothing.  NULL, and in *why the
 * reason in words, when it must stand aside.
 */
struct e2pf_session *e2pf_btrfs_open(struct e2pf_btrfs_opened *opened,
				     unsigned count, const char *name,
				     const struct e2pf_settings *settings,
				     bool exact, const char **why);

/* Does this byte of a device lie in a chunk of the chunk tree? */
bool e2pf_btrfs_session_in_system(const struct e2pf_session *session,
				  unsigned device, uint64_t offset);

/* Choose threads, order and budget by what the devices are, and start. */
void e2pf_btrfs_start(struct e2pf_session *session);

/*
 * The check asks for readahead of its own.  True where it may be dropped: the
 * block is cached, or the check is going to wait for a worker that reads it.
 * Of a copy that the check does not read, the place is changed to the one that
 * it does.  After the start.
 */
bool e2pf_btrfs_brings(struct e2pf_session *session, unsigned *device,
		       uint64_t *offset, uint64_t length);

/*
 * As e2pf_session_end(), and then wait for requests that are under way and let
 * go of the devices.
 */
bool e2pf_btrfs_end(struct e2pf_session *session, int milliseconds);

/* Write the statistics of a check or a send that was left alone before it had
 * a session. */
errcode_t e2pf_btrfs_write_none(const char *name,
				const struct e2pf_decisions *decisions,
				FILE *out);

#endif
