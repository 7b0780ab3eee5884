/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * Reads the leaves that a walk of a directory of a mounted btrfs needs, in device order.
 * A session without an engine: pf_session_stop() ends the reading.
 */
#ifndef BTRFS_WALK_H
#define BTRFS_WALK_H

#include "prefetch/session.h"

/* Create a session for a walk of the directory `fd`, which may be closed afterwards.
 * `subvolumes`: the walk enters subvolumes below it, too.  Returns NULL, and sets *why
 * to the reason, if the filesystem cannot be read ahead. */
struct pf_session *bt_walk_open(int fd, const char *name, bool subvolumes,
				const struct pf_settings *settings,
				const char **why);

/* Whether the walk may go on beside the reading: the device is not seek-bound, and each
 * leaf is read once, whoever comes to it first.  Called by any thread. */
bool bt_walk_serves_both(struct pf_session *session);

/* Read until all is read, `budget` bytes or the memory that may be used are used up, or
 * pf_session_interrupt() was called on another thread. */
void bt_walk_read(struct pf_session *session, uint64_t budget);

#endif
