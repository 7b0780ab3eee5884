/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading ahead of the kernel's send of a btrfs subvolume, from the mounted
 * filesystem: what is newer than the parent, and what is compared with it.
 *
 * The session is one of session.h without an engine: its settings, limits,
 * statistics and decisions are those of all sends of this process.  From one
 * thread at a time, but for e2pf_send_came_out().
 */
#ifndef E2PF_SEND_H
#define E2PF_SEND_H

#include "session.h"

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

/* `name` is the subvolume, for the statistics; `settings` may be NULL.  NULL
 * without memory. */
struct e2pf_session *e2pf_send_new(const char *name,
				   const struct e2pf_settings *settings);

/*
 * Begin to read ahead of a send that is about to begin.  NULL, or why this one
 * is left alone, in words that stay.
 */
const char *e2pf_send_start(struct e2pf_session *session,
			    const struct e2pf_send_request *request);

/* The send has written so many bytes more.  From any thread. */
void e2pf_send_came_out(struct e2pf_session *session, uint64_t bytes);

/* The send has ended: end the threads; wait for them at most `milliseconds`.
 * False when one that waits for a device is left behind: the session must then
 * not be closed. */
bool e2pf_send_stop(struct e2pf_session *session, int milliseconds);

#endif
