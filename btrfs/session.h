/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SPDX-FileCopyrightText: the e2prefetch contributors */
/*
 * A session on a btrfs filesystem that a check has open.  Everything else goes
 * through session.h, with the same session.
 */
#ifndef BTRFS_SESSION_H
#define BTRFS_SESSION_H

#include "source.h"
#include "prefetch/session.h"

/* A device as the check has opened it. */
struct bt_opened {
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
struct pf_session *bt_session_open(struct bt_opened *opened,
				   unsigned count, const char *name,
				   const struct pf_settings *settings,
				   const char **why);

/* Its source, which learns from the check's reads. */
struct bt_source *bt_session_source(const struct pf_session *session);

#endif
